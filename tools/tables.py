"""Evidence files, and tables in Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hedgerow.baselines.methods import find_method
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


def facts(name: str) -> str:
    """Return a flat file of evidence as a table: a line for each key, a column for each part."""
    found = read(name)
    parts = found if isinstance(next(iter(found.values())), dict) else {"found": found}
    keys = [key for key, value in next(iter(parts.values())).items() if not isinstance(value, list)]
    rows = [[key.replace("_", " "), *(_fact(part[key]) for part in parts.values())] for key in keys]
    return table(["what", *parts], rows)


def _fact(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def named(method: str, preset: Preset = "practical") -> str:
    """Return a method's name, and what a reader of its numbers must know."""
    remarks = find_method(method).remarks(preset)
    return f"`{method}` ({remarks})" if remarks else f"`{method}`"
