"""Draw docs/appendix/beyond.png: regret and CCV along the sweep of eagerness, four games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from beyond_tables import LABELS
from tables import read

COLOURS = {
    "default": "#0072B2",
    "tracking": "#D55E00",
    "Sinha-Vaze, per game": "#009E73",
    "Wang": "#E69F00",
}
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
MARKS = dict(zip(COLOURS, "os^v", strict=True))
PANELS = {
    "G": "G: paths, rounds alike",
    "N1": "N1: 6 of 30, drifting",
    "S2b": "S2b: ball, phases of sqrt T",
    "S4": "S4: ball, an adversary that reacts",
}


def curve(sweeps: list[dict[str, Any]], game: str, method: str) -> tuple[Any, Any]:
    """The mean over seeds of CCV (geometric) and regret, at each eagerness."""
    runs = [s for s in sweeps if (s["game"], s["method"]) == (game, method)]
    ccv = np.exp(np.mean([np.log(np.maximum(s["ccv"], 1e-6)) for s in runs], axis=0))
    return ccv, np.mean([s["regret"] for s in runs], axis=0)


def panel(ax: Any, sweeps: list[dict[str, Any]], game: str) -> None:
    """Draw one game's trade-off; a larger mark is eagerness 1."""
    for method, colour in COLOURS.items():
        ccv, regret = curve(sweeps, game, method)
        run = next(s for s in sweeps if s["method"] == method)
        one = run["eagerness"].index(1.0)
        style = {"color": colour, "marker": MARKS[method]}
        ax.plot(ccv, regret, ms=4, lw=1.4, label=LABELS.get(method, method), **style)
        ax.plot(ccv[one], regret[one], ms=9, mec="black", **style)
    ax.set(xscale="log", title=PANELS[game])
    if game == "G":
        ax.set_yscale("symlog", linthresh=0.03)
    ax.grid(alpha=0.3)


def draw(file: Path) -> None:
    """Draw four games."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sweeps = read("beyond.json")["sweeps"]
    fig, axes = plt.subplots(2, 2, figsize=(10, 7.2), layout="constrained")
    for ax, game in zip(axes.flat, PANELS, strict=True):
        panel(ax, sweeps, game)
    for ax in axes[-1]:
        ax.set_xlabel("CCV, in units of Mg T$^{3/4}$ (log)")
    for ax in axes[:, 0]:
        ax.set_ylabel("regret, in units of Mf T$^{3/4}$")
    axes[0, 0].set_ylabel("regret, in units of Mf T$^{3/4}$ (symlog)")
    lines, labels = axes[0, 0].get_legend_handles_labels()
    title = "large mark: eagerness 1; lower left is better"
    fig.legend(lines, labels, title=title, loc="outside upper center", ncols=len(COLOURS))
    fig.savefig(file, dpi=110)
    plt.close(fig)
