"""The table of methods: bounds, needs and sources, for the documents."""

from __future__ import annotations

import inspect

from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Method


def methods_markdown() -> str:
    """Return one row for each method, with a link to its code."""
    head = "| method | source | regret | CCV | per round | sees | needs | specification |"
    return "\n".join([head, "|---" * 8 + "|", *map(_row, METHODS.values())])


def _row(method: Method) -> str:
    module = inspect.getmodule(getattr(method.build, "func", method.build))
    assert module is not None
    path = module.__name__.replace(".", "/")
    cells = (
        f"[`{method.name}`](../src/{path}.py)",
        method.source,
        method.regret,
        method.ccv,
        method.per_round,
        method.sees,
        method.needs,
        method.confidence + (f"; plays as `{method.plays_as}`" if method.plays_as else ""),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
