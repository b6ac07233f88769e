"""Tables of an experiment as CSV and for a terminal of 80 columns, and of single runs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from hedgerow.protocols.benchmark import Benchmark
from hedgerow.report.escaping import in_csv, in_table, terminal_table
from hedgerow.report.plots import Run
from hedgerow.report.summary import (
    ProblemAtHorizon,
    Row,
    Summary,
    three_digits,
)
from hedgerow.report.verdicts import STAND_INS, Verdict, format_p

HEADINGS = (
    "problem", "horizon", "method", "preset", "eagerness", "seeds",
    "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half",
    "regret", "regret_half", "ccv", "ccv_half",
    "oracle_calls_per_round", "projections_per_round", "microseconds_per_round", "ran",
    "rank_by_regret", "rank_by_ccv", "undominated", "remarks",
)  # fmt: skip


def as_csv(summary: Summary) -> str:
    """Return all rows; columns `..._half` are half the width of the 95 % interval over seeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in summary.rows:
        means = (row.regret, row.ccv, row.regret_raw, row.ccv_raw)
        writer.writerow(
            [
                in_csv(row.place.problem),
                row.place.horizon,
                in_csv(row.config.method),
                in_csv(row.config.preset),
                row.config.eagerness,
                row.runs,
                *(_number(x, 6) for mean in means for x in (mean.value, mean.half)),
                _number(row.oracle_calls, 4),
                _number(row.projections, 4),
                _number(row.microseconds, 4),
                row.ran,
                *row.rank,
                int(row.undominated),
                in_csv(summary.names.remarks(*row.config[:2])),
            ]
        )
    return text.getvalue()


def _number(x: float, digits: int) -> str:
    return f"{x:.{digits}g}" if math.isfinite(x) else ""


LEGEND = (
    "e       eagerness; of several values the one nearest to 1 is shown\n"
    "regret  cost above the best fixed action's; < 0: bought with violation.\n"
    "        In % of its cost or of the unconstrained one's, the larger\n"
    "CCV     sum of max(0, g_t), in % of the best unconstrained action's\n"
    "±       half the 95 % interval over seeds\n"
    "ranks   by regret, by CCV; * none is as good in both and better in one\n"
    "calls   linear minimisations + projections per round\n"
    "µs      per round, median; c ran compiled, p in Python through play:\n"
    "        c against p compares code, not algorithms; no letter: not recorded"
)
FIRST_P = "p: Wilcoxon over paired seeds, Holm's correction, with the first kind of constants."
LETTERS = {"compiled": " c", "through play": " p", "partly compiled": " c+p", "": ""}


def summary_table(summary: Summary, place: ProblemAtHorizon, preset: str) -> Table:
    """Return the rows of one problem and preset, best ranks first."""
    rows = sorted(summary.at(place, preset), key=lambda row: sum(row.rank))
    names = summary.names
    remarks = [names.in_code(*r.config[:2]) for r in rows if names.remarks(*r.config[:2])]
    table = terminal_table(
        ("method", "e", "regret %", "CCV %", "ranks", "calls", "µs"),
        (_cells(row, names.labels.get(row.config.method, row.config.method)) for row in rows),
        "fr",
        title=f"{place}, {preset} constants, best sum of ranks first",
        caption=Text("\n").join([Text(LEGEND), *map(in_table, remarks)]),
    )
    table.columns[0].min_width = 6  # numbers are never cut: a narrow terminal folds the names
    return table


def verdict_table(judged: Sequence[Verdict], place: ProblemAtHorizon) -> Table:
    """Return the claims of the paper's experiments with the verdict on each."""
    rows = []
    for verdict in judged:
        said = [verdict.verdict, *dict.fromkeys(part.compared for part in verdict.parts)]
        p = format_p(verdict.parts[0].p) if verdict.parts else ""
        rows.append((verdict.claim, Text("\n").join(map(in_table, said)), p))
    title, caption = f"The claims of Sarkar et al. 2026, on {place}", f"{FIRST_P} {STAND_INS}"
    return terminal_table(("claim", "verdict", "p"), rows, "ffr", title=title, caption=caption)


def _cells(row: Row, name: str) -> tuple[str, ...]:
    return (
        name,
        f"{row.config.eagerness:g}",
        str(row.regret).replace("± ", "±"),
        str(row.ccv).replace("± ", "±"),
        f"{row.rank[0]}/{row.rank[1]}{'*' if row.undominated else ' '}",
        f"{row.oracle_calls:.2f}+{row.projections:.2f}",
        three_digits(row.microseconds) + LETTERS[row.ran],
    )


def run_table(runs: Sequence[Run], best: Benchmark, budget: float) -> Table:
    """Compare runs of one problem; `budget` is what the constraint asks for in each round."""
    rounds = len(runs[0].trace.costs)
    legend = [
        Text(
            f"best    the fixed action that satisfies every round: {best.cost / rounds:.1f} ms,\n"
            f"        proved optimal within {max(0.0, best.gap) / rounds:.1g} ms\n"
            "cost    per round\n"
            "regret  cost above best's, in % of it\n"
            "proved  bound of the regret, proved by the run alone, in % of best's cost\n"
            "CCV     sum of max(0, g_t), in % of what all rounds ask for\n"
            "signed  sum of g_t, where slack pays for violation, in the same unit\n"
            "time    ask, feedback and tell, for one round"
        )
    ]
    legend += [
        in_table(f"{run.name}: its certificate {run.certificate.says_nothing}")
        for run in runs
        if run.certificate.says_nothing is not None
    ]
    rows = [
        (
            name,
            f"{trace.cost / rounds:.1f}",
            f"{100 * trace.regret(best) / best.cost:+.2f}",
            "-" if certificate.says_nothing else f"{100 * certificate / best.cost:+.2f}",
            f"{100 * trace.ccv / (rounds * budget):.2f}",
            f"{100 * trace.signed_ccv / (rounds * budget):+.2f}",
            f"{trace.oracle_calls}",
            f"{1e6 * trace.seconds / rounds:.0f}",
        )
        for name, trace, certificate in runs
    ]
    units = (
        "cost\nms",
        "regret\n%",
        "proved\n%",
        "CCV\n%",
        "signed\n%",
        "oracle\ncalls",
        "time\nµs",
    )
    caption = Text("\n").join(legend)
    return terminal_table(("policy", *units), rows, "lr", caption=caption, padding=(0, 0, 0, 2))
