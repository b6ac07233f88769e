"""The table of an experiment as CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from hedgerow.report.experiment.summary import Mean, Row

HEADINGS = (
    "problem", "horizon", "method", "preset", "eagerness", "seeds",
    "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half",
    "regret", "regret_half", "ccv", "ccv_half",
    "oracle_calls_per_round", "projections_per_round", "microseconds_per_round",
    "rank_by_regret", "rank_by_ccv", "undominated",
)  # fmt: skip


def as_csv(rows: Sequence[Row]) -> str:
    """Return all rows; `half` is half the width of the 95 % interval over seeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in rows:
        means = [x for mean in (row.regret, row.ccv, row.regret_raw, row.ccv_raw) for x in mean]
        writer.writerow(
            [
                *row.place,
                *row.entrant,
                row.runs,
                *(f"{x:.6g}" if math.isfinite(x) else "" for x in means),
                f"{row.oracle_calls:.4g}",
                f"{row.projections:.4g}",
                f"{row.microseconds:.4g}" if math.isfinite(row.microseconds) else "",
                *row.rank,
                int(row.undominated),
            ]
        )
    return text.getvalue()


def as_latex(rows: Sequence[Row]) -> str:
    """Return a booktabs table, one block for each problem and preset."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{llrrrrr}",
        r"\toprule",
        r"Method & Constants & Regret (\%) & CCV (\%) & Ranks & Calls/round & $\mu$s/round \\",
    ]
    last = None
    for row in rows:
        if row.place != last:
            last = row.place
            name = _escaped(row.place.problem)
            lines += [
                r"\midrule",
                rf"\multicolumn{{7}}{{l}}{{\emph{{{name}, $T={row.place.horizon}$}}}} \\",
            ]
        cells = (
            _escaped(str(row.entrant)),
            row.entrant.preset,
            _plus_minus(row.regret),
            _plus_minus(row.ccv),
            f"{row.rank[0]}/{row.rank[1]}",
            f"{row.oracle_calls + row.projections:.2f}",
            f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else "",
        )
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _plus_minus(mean: Mean) -> str:
    half = rf" \pm {mean.half:.2g}" if math.isfinite(mean.half) else ""
    return f"${mean.value:.3g}{half}$"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("%", r"\%")
