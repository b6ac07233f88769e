"""Runs of one game beside each other: a table for the terminal, and curves of regret and CCV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hedgerow.inputs import Vector
from hedgerow.policies.certificate import Certificate
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.trace import Trace
from hedgerow.report.escaping import in_figure, in_table
from hedgerow.report.picture import COLOURS, DASHES, canvas, save_figure


class Run(NamedTuple):
    """A game with the name that its curves have in a figure."""

    name: str
    trace: Trace
    certificate: Certificate


def draw_curves(runs: Sequence[Run], best_costs: Vector, budget: float, path: Path) -> Path:
    """Draw cumulative regret and CCV of several runs and return where the picture is.

    Args:
        runs: the games, all on the same rounds.
        best_costs: the benchmark's cost in each round.
        budget: the constraint's threshold per round, for percentages.
        path: the picture to write.

    """
    figure, ((left, right),) = canvas(1, 2, 9.5, 3.9)
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
    left.legend(frameon=False, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, dpi=150)


def run_table(runs: Sequence[Run], best: Benchmark, budget: float) -> Table:
    """Compare runs of one problem; `budget` is what the constraint asks for in each round."""
    rounds = len(runs[0].trace.costs)
    legend = [
        Text(
            f"best    the fixed action that keeps every round: {best.cost / rounds:.1f} ms,\n"
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
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 2),
        pad_edge=False,
        caption=Text("\n").join(legend),
        caption_justify="left",
    )
    table.add_column("policy", no_wrap=True)
    for heading in (
        "cost\nms",
        "regret\n%",
        "proved\n%",
        "CCV\n%",
        "signed\n%",
        "oracle\ncalls",
        "time\nµs",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, trace, certificate in runs:
        table.add_row(
            in_table(name),
            f"{trace.cost / rounds:.1f}",
            f"{100 * trace.regret(best) / best.cost:+.2f}",
            "-" if certificate.says_nothing else f"{100 * certificate / best.cost:+.2f}",
            f"{100 * trace.ccv / (rounds * budget):.2f}",
            f"{100 * trace.signed_ccv / (rounds * budget):+.2f}",
            f"{trace.oracle_calls}",
            f"{1e6 * trace.seconds / rounds:.0f}",
        )
    return table
