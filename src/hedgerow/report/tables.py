"""Tables of an experiment as CSV, as LaTeX and for a terminal of 80 columns, and of single runs."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from hedgerow.protocols.benchmark import Benchmark
from hedgerow.report.escaping import in_csv, in_latex, in_table, terminal_table
from hedgerow.report.naming import remarks_of
from hedgerow.report.plots import Run
from hedgerow.report.summary import (
    WHICH,
    Mean,
    MethodConfig,
    ProblemAtHorizon,
    Row,
    Summary,
    Which,
    described,
    representatives,
    three_digits,
)
from hedgerow.report.verdicts import IGNORED, STAND_INS, Verdict, format_p

HEADINGS = (
    "problem", "horizon", "method", "preset", "eagerness", "seeds",
    "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half",
    "regret", "regret_half", "ccv", "ccv_half",
    "oracle_calls_per_round", "projections_per_round", "microseconds_per_round", "ran",
    "rank_by_regret", "rank_by_ccv", "undominated", "remarks",
)  # fmt: skip


def as_csv(rows: Sequence[Row]) -> str:
    """Return all rows; columns `..._half` are half the width of the 95 % interval over seeds."""
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
        names: names of the methods; the default is their names in code, with remarks.
        played: the rows among which the best are found; the default is `rows`.

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
            title = f"{in_latex(row.place.problem)}, $T={row.place.horizon}$"
            lines += [r"\midrule", rf"\multicolumn{{8}}{{l}}{{\emph{{{title}}}}} \\"]
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
        chosen = representatives(row.config for row in field)
        kept = [row for row in field if row.config in chosen]
        for which in WHICH:
            values = {row.config: getattr(row, which).value for row in kept}
            levels = sorted(set(values.values()))[:2]
            for row in kept:
                if values[row.config] in levels:
                    command = (r"\mathbf", r"\underline")[levels.index(values[row.config])]
                    found[row.place, row.config, which] = command
    return found


def _plus_minus(mean: Mean, mark: str | None = None) -> str:
    value, *half = str(mean).split(" ± ")
    shown = f"{mark}{{{value}}}" if mark and value else value
    return "$" + r" \pm ".join([shown, *half]) + "$"


LEGEND = (
    "e       eagerness, tuned where a method has it: the value nearest to 1\n"
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
    remarks = [text for row in rows if "(" in (text := described(row.config))]
    table = terminal_table(
        ("method", "e", "regret %", "CCV %", "ranks", "calls", "µs"),
        map(_cells, rows),
        "fr",
        title=f"{place}, {preset} constants",
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
    title, caption = f"The paper's claims, on {place}", f"{FIRST_P} {STAND_INS}"
    return terminal_table(("claim", "verdict", "p"), rows, "ffr", title=title, caption=caption)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.config.method,
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
