"""The table of an experiment as CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from hedgerow.report.escaping import in_csv, in_latex
from hedgerow.report.mean import Mean
from hedgerow.report.summary import Row, described

HEADINGS = (
    "problem", "horizon", "method", "preset", "eagerness", "seeds",
    "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half",
    "regret", "regret_half", "ccv", "ccv_half",
    "oracle_calls_per_round", "projections_per_round", "microseconds_per_round", "ran",
    "rank_by_regret", "rank_by_ccv", "undominated",
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
            ]
        )
    return text.getvalue()


def as_latex(rows: Sequence[Row]) -> str:
    """Return a booktabs table, one block for each problem and horizon."""
    lines = [
        r"% needs \usepackage{booktabs}; e: eagerness; times: compiled (c) or through play",
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
            in_latex(described(row.config)),
            in_latex(row.config.preset),
            f"{row.config.eagerness:g}",
            _plus_minus(row.regret),
            _plus_minus(row.ccv),
            f"{row.rank[0]}/{row.rank[1]}",
            f"{row.oracle_calls + row.projections:.2f}",
            _number(row.microseconds, 3) + (" c" if row.ran == "compiled" else ""),
        )
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _number(x: float, digits: int) -> str:
    return f"{x:.{digits}g}" if math.isfinite(x) else ""


def _plus_minus(mean: Mean) -> str:
    return f"${mean}$".replace("±", r"\pm")
