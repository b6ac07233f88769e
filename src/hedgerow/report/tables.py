"""The table of an experiment: as CSV, as LaTeX, and for a terminal with 80 columns."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hedgerow.report.escaping import in_csv, in_latex, in_table
from hedgerow.report.naming import remarks_of
from hedgerow.report.paired import worded_p
from hedgerow.report.summary import (
    Mean,
    MethodConfig,
    ProblemAtHorizon,
    Row,
    Summary,
    Which,
    described,
    standing,
    three_digits,
)
from hedgerow.report.verdicts import IGNORED, STAND_INS, Verdict

HEADINGS = (
    "problem", "horizon", "method", "preset", "eagerness", "seeds",
    "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half",
    "regret", "regret_half", "ccv", "ccv_half",
    "oracle_calls_per_round", "projections_per_round", "microseconds_per_round", "ran",
    "rank_by_regret", "rank_by_ccv", "undominated", "remarks",
)  # fmt: skip


def as_csv(rows: Sequence[Row]) -> str:
    """Return all rows; `half` is half the width of the 95 % interval over seeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in rows:
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
                in_csv(remarks_of(row.config.method, row.config.preset)),
            ]
        )
    return text.getvalue()


def as_latex(
    rows: Sequence[Row],
    names: Mapping[str, str] | None = None,
    played: Sequence[Row] | None = None,
) -> str:
    """Return a booktabs table, one block for each problem and horizon.

    The best regret and CCV of each problem and preset are bold and the second are underlined,
    among all methods that played and do not ignore the constraint.

    Args:
        rows: what to show.
        names: what methods are called; left out, by their names in code, with remarks.
        played: the rows among which the best are found; left out, those that are shown.

    """
    marks = _marks(rows if played is None else played)
    lines = [
        r"% needs \usepackage{booktabs}; \pm: half the 95 % interval over seeds; bold: best, "
        f"underlined: second, of all methods that played with a CCV below {IGNORED:g} %; "
        "e: eagerness; c: compiled",
        r"\begin{tabular}{llrrrrrr}",
        r"\toprule",
        r"Method & Constants & $e$ & Regret (\%) & CCV (\%) & Ranks & Calls/round & "
        r"$\mu$s/round \\",
    ]
    last = None
    for row in rows:
        if row.place != last:
            last = row.place
            name = in_latex(row.place.problem)
            lines += [
                r"\midrule",
                rf"\multicolumn{{8}}{{l}}{{\emph{{{name}, $T={row.place.horizon}$}}}} \\",
            ]
        cells = (
            in_latex((names or {}).get(row.config.method) or described(row.config)),
            in_latex(row.config.preset),
            f"{row.config.eagerness:g}",
            _plus_minus(row.regret, marks.get((row.place, row.config, "regret"))),
            _plus_minus(row.ccv, marks.get((row.place, row.config, "ccv"))),
            f"{row.rank[0]}/{row.rank[1]}",
            f"{row.oracle_calls + row.projections:.2f}",
            three_digits(row.microseconds) + (" c" if row.ran == "compiled" else ""),
        )
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _number(x: float, digits: int) -> str:
    return f"{x:.{digits}g}" if math.isfinite(x) else ""


def _marks(rows: Sequence[Row]) -> dict[tuple[ProblemAtHorizon, MethodConfig, Which], str]:
    """Return the command for each best and second number of a problem and preset."""
    fields: dict[tuple[ProblemAtHorizon, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.ccv.value < IGNORED:
            fields[row.place, row.config.preset].append(row)
    found = {}
    for field in fields.values():
        chosen = standing(row.config for row in field)
        kept = [row for row in field if row.config in chosen]
        values: dict[Which, Callable[[Row], float]] = {
            "regret": lambda row: row.regret.value,
            "ccv": lambda row: row.ccv.value,
        }
        for which, value in values.items():
            levels = sorted({value(row) for row in kept})[:2]
            for row in kept:
                if value(row) in levels:
                    command = (r"\mathbf", r"\underline")[levels.index(value(row))]
                    found[row.place, row.config, which] = command
    return found


def _plus_minus(mean: Mean, mark: str | None = None) -> str:
    value, *half = str(mean).split(" ± ")
    shown = f"{mark}{{{value}}}" if mark and value else value
    return "$" + r" \pm ".join([shown, *half]) + "$"


LEGEND = (
    "e       eagerness, tuned where a method has it: the value nearest to 1\n"
    "regret  cost above the best fixed action's; < 0: bought with violation.\n"
    "        In % of its cost or of the blind one's, the larger\n"
    "CCV     sum of max(0, g_t), in % of the best constraint-blind action's\n"
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
    table.add_column("p", justify="right", no_wrap=True)
    for verdict in judged:
        p = worded_p(verdict.parts[0].p) if verdict.parts else ""
        said = [verdict.verdict, *dict.fromkeys(part.compared for part in verdict.parts)]
        lines = Text("\n").join(map(in_table, said))
        table.add_row(in_table(verdict.claim), lines, in_table(p))
    table.caption, table.caption_justify = f"{FIRST_P} {STAND_INS}", "left"
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
    time = three_digits(row.microseconds)
    return (
        row.config.method,
        f"{row.config.eagerness:g}",
        str(row.regret).replace("± ", "±"),
        str(row.ccv).replace("± ", "±"),
        f"{row.rank[0]}/{row.rank[1]}{star}",
        f"{row.oracle_calls:.2f}+{row.projections:.2f}",
        time + LETTERS[row.ran],
    )
