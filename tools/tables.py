"""Evidence files, and tables in Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hedgerow.baselines.methods import METHODS
from hedgerow.policies.presets import Preset

ROOT = Path(__file__).parents[1]
DOCS, EVIDENCE = ROOT / "docs", ROOT / "evidence"
OPENED: set[str] = set()
"""The evidence files that were read so far."""


@cache
def read(name: str) -> Any:
    """Read a file of evidence: JSON as it is, CSV as a list of rows."""
    OPENED.add(name)
    path = EVIDENCE / name
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    names = list(head)
    lines = [names, ["---"] * len(names), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def named(method: str, preset: Preset = "practical") -> str:
    """Return a method's name, those that play as it does, and what its numbers must say."""
    twins = [name for name, other in METHODS.items() if other.plays_as == method]
    names = " = ".join(f"`{name}`" for name in (method, *twins))
    said = [METHODS[method].remarks(preset)]
    said += [f"the last {len(twins)} {METHODS[twins[0]].remarks(preset)}"] if twins else []
    remarks = "; ".join(text for text in said if text)
    return f"{names} ({remarks})" if remarks else names


def counted_once(methods: Iterable[str]) -> list[str]:
    """Return the methods without those that play as another one does."""
    return [name for name in methods if not METHODS[name].plays_as]
