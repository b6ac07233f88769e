"""What the one knob of the paper's method does."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.report.curves import COLOURS
from hedgerow.report.escaping import in_figure
from hedgerow.report.picture import (
    CCV,
    REGRET,
    Picture,
    canvas,
    legend_above,
    scale_in_percent,
)
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary

METHOD = "projection_free_coco"
CAPTION = (
    "Twice the eagerness is half the violation_scale: the cumulative violation that may be spent. "
    "The knob moves along the trade-off. Bars: 95 % intervals over seeds."
)


def sensitivity_figure(summary: Summary) -> tuple[Picture, Any] | None:
    """Draw regret and CCV against eagerness; None where fewer than three values were played."""
    eager = _eager(summary)
    if not eager:
        return None
    figure, ((regret, ccv),) = canvas(1, 2, 9.5, 4.0)
    for k, (place, rows) in enumerate(eager.items()):
        at = [1.02**k * row.config.eagerness for row in rows]  # bars beside each other
        for ax, means in ((regret, [r.regret for r in rows]), (ccv, [r.ccv for r in rows])):
            ax.errorbar(
                at,
                [mean.value for mean in means],
                yerr=[mean.half if math.isfinite(mean.half) else 0.0 for mean in means],
                color=COLOURS[k % len(COLOURS)],
                marker="osD^vx*"[k % 7],
                label=in_figure(place.problem),
            )
    values = sorted({row.config.eagerness for rows in eager.values() for row in rows})
    for ax, label in ((regret, REGRET), (ccv, CCV)):
        ax.set_xscale("log", base=2)
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.set_xlabel("eagerness: 1 is the default")
        scale_in_percent(ax, "y", label)
    legend_above(figure, regret)
    return Picture("sensitivity", f"Sensitivity of {METHOD} to its one knob", CAPTION), figure


def _eager(summary: Summary) -> dict[ProblemAtHorizon, list[Row]]:
    found: dict[ProblemAtHorizon, list[Row]] = {}
    for place in summary.places:
        rows = [
            row
            for row in summary.rows
            if (row.place, row.config.method, row.config.preset) == (place, METHOD, "practical")
        ]
        if len(rows) > 2:
            found[place] = sorted(rows, key=lambda row: row.config.eagerness)
    return found
