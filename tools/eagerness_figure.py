"""The picture of docs/explanation/default.md: less violation for more cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import hedgerow as hr
from hedgerow.report.picture import COLOURS

EAGERNESS = tuple(2.0**k for k in range(-3, 5))
GAMES: dict[str, Callable[[int], hr.Problem]] = {
    "paths, 60 nodes": lambda seed: hr.ShortestPath.atlas_like(60, 240, 800, seed=seed),
    "simplex": lambda seed: hr.problems.IidSimplex(horizon=1600, seed=seed),
    "ball, switching": lambda seed: hr.problems.SwitchingBall(horizon=1600, seed=seed),
    "subsets, drifting": lambda seed: hr.problems.DriftingSubsets(horizon=1600, seed=seed),
}
SEEDS = (300, 301, 302)


def sweep(make: Callable[[int], hr.Problem]) -> tuple[list[float], list[float]]:
    """Return CCV and cost at each eagerness, both in per cent of the values at eagerness 1."""
    ccv, cost = [], []
    for e in EAGERNESS:
        runs = []
        for seed in SEEDS:
            problem = make(seed)
            unconstrained = hr.simulate(hr.unconstrained(problem.decision_set), problem)
            trace = hr.simulate(hr.projection_free_coco(problem.decision_set, eagerness=e), problem)
            spread = float(unconstrained.costs.max() - unconstrained.costs.min())
            more = (trace.cost - unconstrained.cost) / (spread * problem.horizon)
            runs.append((100.0 * trace.ccv / unconstrained.ccv, 100.0 * more))
        found = np.mean(runs, axis=0)
        ccv.append(float(found[0]))
        cost.append(float(found[1]))
    return ccv, cost


def draw_eagerness(file: Path) -> None:
    """Draw violation and cost by eagerness."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for colour, (name, make) in zip(COLOURS, GAMES.items(), strict=False):
        ccv, cost = sweep(make)
        left.plot(EAGERNESS, ccv, "o-", color=colour, ms=4, label=name)
        right.plot(EAGERNESS, np.array(cost) - cost[0], "o-", color=colour, ms=4)
    left.set(xscale="log", yscale="log", ylabel="CCV, % of the unconstrained policy's")
    right.set(xscale="log", ylabel="cost per round above that at 1/8,\n% of a round's range")
    for axes in (left, right):
        axes.set_xlabel("eagerness (default 1)")
        axes.set_xticks(EAGERNESS, ["1/8", "1/4", "1/2", "1", "2", "4", "8", "16"])
        axes.minorticks_off()
        axes.axvline(1.0, color="0.8", zorder=0)
        axes.grid(alpha=0.3)
    left.legend(fontsize=8)
    figure.savefig(file, dpi=110)
    plt.close(figure)
