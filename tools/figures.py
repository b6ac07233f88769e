"""Pictures of games: the front page, and eagerness."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import hedgerow as hr
from hedgerow.report.picture import COLOURS

mpl.use("Agg")
from matplotlib import pyplot as plt

HORIZON = 1200
SEED = 50  # the first that is held out: constants of the library were chosen on 0 to 9
PROJECTION_FREE = {
    "wang_2025": (8, -4),
    "garber_kretzu_2024_dpp": (8, -3),
    "garber_kretzu_2024_lpm": (8, -3),
}
PROJECTING = {
    "sinha_vaze_2024": (-52, -23),
    "guo_recoo": (-6, 13),
    "yi_2023": (7, 4),
    "liakopoulos_cold": (-50, 8),
    "mahdavi_2012": (-13, -15),
    "yu_neely_2020": (8, -3),
    "yuan_lamperski_2018": (8, -3),
    "jenatton_2016": (8, -3),
    "ferreira_clasp": (8, -3),
}
"""Methods of other papers, in their practical presets, and where their names stand."""
OURS, UNCONSTRAINED, RIVAL, FREE = "#0072B2", "#D55E00", "0.45", "#009E73"


def _made(name: str, paths: hr.DecisionSet) -> Any:
    """Build a method of `baselines`, with a horizon if it needs one."""
    build = getattr(hr.baselines, name)
    try:
        return build(paths)
    except TypeError:
        return build(paths, HORIZON)


def draw_front(path: Path) -> None:
    """Play one game with every method; draw regret and violation on white, and for the dark."""
    problem = hr.ShortestPath.random_network(nodes=120, edges=700, horizon=HORIZON, seed=SEED)
    paths, best = problem.decision_set, hr.hindsight(problem)
    asked = problem.threshold * np.arange(1, HORIZON + 1)
    course, plane = {}, {}

    def play(name: str, policy: Any) -> None:
        trace = hr.simulate(policy, problem)
        course[name] = 100.0 * np.cumsum(np.maximum(trace.violations, 0.0)) / asked
        plane[name] = course[name][-1], 100.0 * trace.regret(best) / best.cost

    play("hedgerow", hr.projection_free_coco(paths))
    play("no constraint", hr.unconstrained(paths))
    for name in (*PROJECTION_FREE, *PROJECTING):
        play(name, _made(name, paths))

    dark = path.with_stem(f"{path.stem}-dark")
    for file, style in ((path, "default"), (dark, "dark_background")):
        with plt.style.context(style):
            _draw_front(file, course, plane)


def _draw_front(path: Path, course: dict[str, Any], plane: dict[str, Any]) -> None:
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1.0, 1.35)
    )
    rounds = np.arange(1, HORIZON + 1)
    for name, colour, text in (
        ("no constraint", UNCONSTRAINED, "no constraint"),
        ("sinha_vaze_2024", RIVAL, "sinha_vaze_2024: a projection per round"),
        ("hedgerow", OURS, "Hedgerow: a shortest path per round"),
    ):
        left.plot(rounds, course[name], color=colour, lw=2, label=text)
    left.set(title="Violation over time", xlabel="round", yscale="log")
    left.set_ylabel("missing bandwidth so far, % of demand")
    left.legend(loc="center right", fontsize=8.5, bbox_to_anchor=(1.0, 0.66))

    for names, face, text in (
        (PROJECTION_FREE, FREE, "other projection-free methods"),
        (PROJECTING, "none", "methods that project"),
    ):
        x, y = np.array([plane[name] for name in names]).T
        edge = FREE if face == FREE else RIVAL
        right.scatter(x, y, s=38, c=face, edgecolors=edge, linewidths=1.5, label=text, zorder=3)
        for name, at in names.items():
            right.annotate(name, plane[name], at, textcoords="offset points", fontsize=7.5)
    right.scatter(*plane["no constraint"], s=60, c=UNCONSTRAINED, marker="X", zorder=3)
    right.annotate("no constraint", plane["no constraint"], (-82, -3), textcoords="offset points")
    right.scatter(*plane["hedgerow"], s=190, c=OURS, marker="*", zorder=4)
    right.annotate(
        "Hedgerow", plane["hedgerow"], (-8, 12), textcoords="offset points", weight="bold"
    )
    right.axhline(0.0, color="0.5", ls="--", lw=1)
    right.annotate("best fixed route", (100.0, 1.0), ha="right", fontsize=8, color="0.5")
    right.set(title="After 1200 rounds: lower left is better", xscale="log", xlim=(0.05, 130.0))
    right.set(xlabel="missing bandwidth, % of demand", ylabel="regret, % of the best fixed delay")
    right.legend(loc="upper left", fontsize=8.5)
    for axes in (left, right):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_formatter("{x:g}")
    left.yaxis.set_major_formatter("{x:g}")
    figure.savefig(path, dpi=150)
    plt.close(figure)


EAGERNESS = tuple(2.0**k for k in range(-3, 5))
GAMES: dict[str, Callable[[int], hr.Problem]] = {
    "paths, 60 nodes": lambda seed: hr.ShortestPath.random_network(60, 240, 800, seed=seed),
    "simplex": lambda seed: hr.problems.IidSimplex(horizon=1600, seed=seed),
    "ball, switching": lambda seed: hr.problems.SwitchingBall(horizon=1600, seed=seed),
    "subsets, drifting": lambda seed: hr.problems.DriftingSubsets(horizon=1600, seed=seed),
}
SEEDS = range(300, 310)


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
        found = np.median(runs, axis=0)
        ccv.append(float(found[0]))
        cost.append(float(found[1]))
    return ccv, cost


def draw_eagerness(file: Path) -> None:
    """Draw violation and cost by eagerness."""
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
