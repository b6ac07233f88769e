"""The main table and the verdicts for a terminal; at 80 columns no number is cut."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hedgerow.report.escaping import in_table
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, described
from hedgerow.report.verdicts import STAND_INS, Verdict

LEGEND = (
    "e       eagerness, tuned where a method has it: the value nearest to 1\n"
    "regret  cost above the best fixed action's; < 0: bought with violation.\n"
    "        In % of its cost or of the blind one's, the larger\n"
    "CCV     sum of max(0, g_t), in % of the best constraint-blind action's\n"
    "±       half the 95 % interval over seeds\n"
    "ranks   by regret, by CCV; * none is as good in both and better in one\n"
    "calls   linear minimisations + projections a round\n"
    "µs      a round, median; c ran compiled, p in Python through play:\n"
    "        c against p compares code, not algorithms; no letter: not recorded"
)
LETTERS = {"compiled": " c", "through play": " p", "partly compiled": " c+p", "": ""}


def summary_table(summary: Summary, place: ProblemAtHorizon, preset: str) -> Table:
    """Return the rows of one problem and preset, best ranks first."""
    table = _table(f"{place.problem}, T = {place.horizon}, {preset} constants")
    rows = sorted(summary.at(place, preset), key=lambda row: sum(row.rank))
    said = [described(row.config) for row in rows]
    remarks = [text for text in said if "(" in text]
    table.caption, table.caption_justify = (
        Text("\n").join([Text(LEGEND), *map(in_table, remarks)]),
        "left",
    )
    table.add_column("method", overflow="fold", min_width=6)
    for heading in ("e", "regret %", "CCV %", "ranks", "calls", "µs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(in_table, _cells(row)))
    return table


def verdict_table(judged: Sequence[Verdict], place: ProblemAtHorizon) -> Table:
    """Return the claims of the paper's experiments and what became of them."""
    table = _table(f"The paper's claims, on {place.problem}, T = {place.horizon}")
    table.add_column("claim", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for verdict in judged:
        table.add_row(in_table(verdict.claim), in_table(verdict.verdict))
    table.caption, table.caption_justify = STAND_INS, "left"
    return table


def _table(title: str) -> Table:
    return Table(
        title=in_table(title),  # a label is no markup
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )


def _cells(row: Row) -> tuple[str, ...]:
    star = "*" if row.undominated else " "
    time = f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else ""
    return (
        row.config.method,
        f"{row.config.eagerness:g}",
        str(row.regret).replace("± ", "±"),
        str(row.ccv).replace("± ", "±"),
        f"{row.rank[0]}/{row.rank[1]}{star}",
        f"{row.oracle_calls:.2f}+{row.projections:.2f}",
        time + LETTERS[row.ran],
    )
