"""How well each method kept its constraints, in the numbers that objectives are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow.report.escaping import in_html
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, described

HEADS = ("method", "constraint", "violated %", "worst", "p95", "longest", "minutes", "unit")
NOTE = (
    "Violated: the share of rounds with a violation. Worst and p95: the largest violation, and "
    "what 95 % of all rounds do not exceed, in the constraint's unit. Longest: the most violated "
    "rounds in a row, or minutes where a round's length is known. Means over seeds; worst and "
    "longest are the largest."
)
Level = Mapping[str, Any]


def service_section(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: Sequence[Row]
) -> str:
    """Return the table of service levels; empty where runs have not recorded them."""
    lines = []
    for row in sorted(rows, key=lambda row: sum(row.rank)):
        runs = [run.record.get("service") or [] for run in summary.runs[row.place, row.config]]
        for levels in zip(*runs, strict=False):
            cells = (described(row.config), *_cells(levels))
            lines.append("".join(f"<td>{in_html(cell)}</td>" for cell in cells))
    if not lines:
        return ""
    head = "".join(f"<th>{name}</th>" for name in HEADS)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = in_html(f"How often and how far, {place.problem}, T = {place.horizon}, {preset}")
    return (
        f'<h3>{title} constants</h3><p class="soft">{NOTE}</p>'
        f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
    )


def _cells(levels: Sequence[Level]) -> tuple[str, ...]:
    """Return the cells of one constraint, over the seeds of a method."""
    minutes = [level["violated_minutes"] for level in levels]
    longest = max(level["longest_minutes"] or level["longest_streak"] for level in levels)
    known = None not in minutes
    return (
        str(levels[0]["constraint"]),
        f"{100.0 * float(np.mean([level['violated_share'] for level in levels])):.2f}",
        f"{max(level['worst'] for level in levels):.3g}",
        f"{float(np.mean([level['p95'] for level in levels])):.3g}",
        f"{longest:g}{' min' if known else ''}",
        f"{float(np.mean(minutes)):g}" if known else "",
        str(levels[0]["unit"]),
    )
