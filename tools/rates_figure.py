"""The picture of docs/explanation/rates.md: regret by horizon, and bounds by horizon."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import hedgerow as hr
from hedgerow.bounds import schedule_regret
from hedgerow.learners import AdaptiveOCG, AwayOCG
from hedgerow.learners.growth import best_growth
from hedgerow.learners.steps import CertificateSteps
from tables import read

mpl.use("Agg")
from matplotlib import pyplot as plt

SET = "simplex, 10"
PLAYED = {"the target turns": "o", "the last movement is dear": "^"}
PLAYERS = {"one step": "#D55E00", "away steps": "#0072B2"}
HORIZONS = np.logspace(1, 7, 61)


def draw_rates(file: Path) -> None:
    """Draw what was measured on one set, and what is proved on another."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for row in read("rates.json")["growth"]:
        if row["set"] == SET and row["game"] in PLAYED and row["player"] in PLAYERS:
            mark, colour = PLAYED[row["game"]], PLAYERS[row["player"]]
            label = f"{row['player']}: {row['game']}"
            left.plot(row["horizons"], row["regret"], f"{mark}-", ms=5, color=colour, label=label)
    T = np.array([1e3, 1e6])
    left.plot(T, 0.4 * T**0.5, ":", color="0.4", label="slope 1/2")
    left.set(xscale="log", yscale="log", xlabel="T", ylabel="regret", ylim=(1.0, 1500.0))
    left.set_title("Measured: two games on a simplex of 10")
    left.legend(fontsize=8, loc="lower right")

    X = hr.sets.Simplex(20)
    D, R = X.diameter, X.radius_around(X.start())
    rho = (R / D) ** 2
    for (name, colour), learner in zip(PLAYERS.items(), (AdaptiveOCG, AwayOCG), strict=True):
        growths = learner(X, CertificateSteps()).growths
        best = [
            schedule_regret(D, float(T), radius=R, growth=best_growth(growths, rho, float(T)))
            for T in HORIZONS
        ]
        right.plot(HORIZONS, 100.0 * np.array(best) / (D * HORIZONS), color=colour, label=name)
    right.axhline(100.0, color="0.6", ls=":", zorder=0, label="trivial")
    right.set(xscale="log", yscale="log", xlabel="T", ylabel="bound, % of D L T")
    right.set_title("Proved: regret on a simplex of 20")
    right.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=110)
    plt.close(figure)
