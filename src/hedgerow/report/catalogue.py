"""Tables of all decision sets and of all methods, for the documents and `hedgerow list`."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

from rich.table import Table

from hedgerow import sets
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.constants import is_compiled
from hedgerow.policies.method import Method
from hedgerow.report.escaping import terminal_table
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.compositions.sums_and_images import Composed
from hedgerow.sets.compositions.wrappers import Affine
from hedgerow.sets.decision_set import CAPABILITIES, DecisionSet

EXACT, ORACLE, INHERITED, NONE = "yes", "oracle", "inner", "-"
LEGEND = (
    f"{EXACT}: a method of its own; {ORACLE}: through the oracle alone, to a stated tolerance; "
    f"{INHERITED}: if the sets inside can; {NONE}: no. Sorted by name."
)


class Entry(NamedTuple):
    """A decision set of the catalogue: what it is, its oracle, and what else it can do."""

    name: str
    sentence: str
    oracle: str
    capabilities: tuple[str, ...]


def catalogue() -> list[Entry]:
    """Return every public set, in order of name."""
    entries = []
    for name in dir(sets):
        cls = getattr(sets, name)
        if inspect.isclass(cls) and issubclass(cls, DecisionSet) and not inspect.isabstract(cls):
            text = inspect.getdoc(cls) or ""
            oracle = re.search(r"\bOracle: (.*?\.)(?:\s|$)", text, re.DOTALL)
            entries.append(
                Entry(
                    name,
                    " ".join(text.split("\n\n")[0].split()),
                    " ".join(oracle[1].split()) if oracle else "",
                    tuple(_support(cls, capability.method) for capability in CAPABILITIES),
                )
            )
    return entries


def _support(cls: type[DecisionSet], method: str) -> str:
    if cls is Product or issubclass(cls, Affine):
        return INHERITED
    if method == "rows" and issubclass(cls, Composed):
        return INHERITED
    if getattr(cls, method) is not getattr(DecisionSet, method):
        return EXACT
    return NONE if method == "rows" else ORACLE


def catalogue_table() -> Table:
    """Return the catalogue for a terminal."""
    heads = ("set", *(capability.method for capability in CAPABILITIES))
    rows = [(entry.name, *entry.capabilities) for entry in catalogue()]
    return terminal_table(heads, rows, "l", caption=LEGEND, padding=(0, 0, 0, 0))


def catalogue_markdown() -> str:
    """Return the catalogue for the documents."""
    methods = [capability.method for capability in CAPABILITIES]
    lines = [
        "| set | what | oracle |",
        "|---|---|---|",
        *(f"| `{e.name}` | {_cell(e.sentence)} | {_cell(e.oracle)} |" for e in catalogue()),
        "",
        "| set | " + " | ".join(f"`{method}`" for method in methods) + " |",
        "|---|" + "---|" * len(methods),
        *(f"| `{e.name}` | " + " | ".join(e.capabilities) + " |" for e in catalogue()),
        "",
        LEGEND,
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def methods_markdown() -> str:
    """Return one row for each method, with a link to its code."""
    head = (
        "| method | source | regret | CCV | per round | sees | needs | compiled | specification |"
    )
    return "\n".join([head, "|---" * 9 + "|", *map(_row, METHODS.values())])


def _row(method: Method) -> str:
    module = inspect.getmodule(getattr(method.build, "func", method.build))
    assert module is not None
    path = module.__name__.replace(".", "/")
    cells = (
        f"[`{method.name}`](../../src/{path}.py)",
        method.source,
        method.regret,
        method.ccv,
        method.per_round,
        method.sees,
        method.needs,
        "yes" if is_compiled(method) else "no",
        method.confidence,
    )
    return "| " + " | ".join(map(_cell, cells)) + " |"
