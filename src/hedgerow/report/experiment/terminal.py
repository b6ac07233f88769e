"""The main table and the verdicts for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hedgerow.report.experiment.summary import Mean, Place, Summary
from hedgerow.report.experiment.verdicts import Verdict


def summary_table(summary: Summary, place: Place, preset: str) -> Table:
    """Return the rows of one problem and preset, best ranks first."""
    table = Table(
        title=f"{place.problem}, T = {place.horizon}, {preset} constants",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        caption=(
            "regret  cost above the best fixed action's, in % of it; < 0: bought\n"
            "CCV     sum of max(0, g_t), in % of what ignoring the constraint would violate\n"
            "ranks   by regret, by CCV; * no other method is better in both\n"
            "calls   linear minimisations + projections a round; µs a round\n"
            "±       half the 95 % interval over seeds"
        ),
        caption_justify="left",
    )
    table.add_column("method", no_wrap=True)
    for heading in ("regret %", "CCV %", "ranks", "calls", "µs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in sorted(summary.at(place, preset), key=lambda row: sum(row.rank)):
        star = "*" if row.undominated else " "
        table.add_row(
            str(row.entrant),
            _shown(row.regret),
            _shown(row.ccv),
            f"{row.rank[0]}/{row.rank[1]}{star}",
            f"{row.oracle_calls:.2f}+{row.projections:.2f}",
            f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else "",
        )
    return table


def verdict_table(judged: Sequence[Verdict], place: Place) -> Table:
    """Return the claims of the paper's experiments and what became of them."""
    table = Table(
        title=f"The paper's claims, on {place.problem}, T = {place.horizon}",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("claim", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for verdict in judged:
        table.add_row(verdict.claim, verdict.verdict)
    return table


def _shown(mean: Mean) -> str:
    return f"{mean.value:.3g}" + (f" ±{mean.half:.2g}" if math.isfinite(mean.half) else "")
