"""Regret and CCV over the rounds of a game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.protocols.trace import Trace
from hedgerow.report.escaping import in_figure
from hedgerow.report.files import save_figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, distinct for colour-blind readers and in print."""
DASHES = ("-", "-", (0, (4, 3)), "-.", ":")


class Run(NamedTuple):
    """A game with the name that its curves have in a figure."""

    name: str
    trace: Trace
    certificate: float


def draw_curves(runs: Sequence[Run], best_costs: Vector, budget: float, path: Path) -> Path:
    """Draw cumulative regret and CCV of several runs and return where the picture is.

    Args:
        runs: the games, all on the same rounds.
        best_costs: the benchmark's cost in each round.
        budget: the constraint's threshold per round, for percentages.
        path: the picture to write.

    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    T = len(best_costs)
    t = np.arange(1, T + 1)
    for run, colour, dash in zip(runs, COLOURS, DASHES, strict=False):
        style = {"color": colour, "linestyle": dash, "linewidth": 1.8}
        regret = np.cumsum(run.trace.costs - best_costs)
        ccv = np.cumsum(np.maximum(run.trace.violations, 0.0))
        left.plot(t, 100.0 * regret / best_costs.sum(), label=in_figure(run.name), **style)
        right.plot(t, 100.0 * ccv / (T * budget), **style)
    left.axhline(0.0, color="0.6", linewidth=0.8)
    left.set_title("Regret: cost above the best fixed action", fontsize=10, loc="left")
    left.set_ylabel("% of that action's total cost")
    right.set_title("CCV: cumulative constraint violation", fontsize=10, loc="left")
    right.set_ylabel("% of what all rounds ask for")
    right.set_yscale("log")
    right.set_ylim(bottom=1e-2)
    right.yaxis.set_major_formatter("{x:g}")
    for axes in (left, right):
        axes.set_xlabel("round t")
        axes.set_xlim(0, T)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, color="0.92", linewidth=0.8)
        axes.set_axisbelow(True)
    left.legend(frameon=False, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, dpi=150)
