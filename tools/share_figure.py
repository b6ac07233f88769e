"""The picture of docs/how-to/violated-share.md: the share of violated rounds so far."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from hedgerow.report.picture import COLOURS, save_figure
from tables import read

mpl.use("Agg")
from matplotlib import pyplot as plt

TARGET = 1.0
"""Per cent."""
HIGHEST = 40.0
"""Shares above it are cut off."""
LINES = {"default": (COLOURS[0], 2.0), "threshold rule": (COLOURS[1], 1.2),
         "PI control": ("0.45", 1.2)}  # fmt: skip


def draw_shares(path: Path) -> None:
    """Draw the share so far of each method on each game, with a target of 1 %."""
    courses = read("violated_share.json")
    figure, panels = plt.subplots(
        3, 4, figsize=(10, 6.4), sharex=True, sharey=True, layout="constrained"
    )
    *drawn, last = panels.flat
    for ax, (game, course) in zip(drawn, courses.items(), strict=True):
        for name, (colour, width) in LINES.items():
            share = np.minimum(100.0 * np.array(course[name]), HIGHEST)
            ax.plot(course["rounds"], share, color=colour, lw=width, label=name)
        ax.axhline(TARGET, color="0.2", lw=0.8, ls="--", label="target", zorder=0)
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=TARGET, linscale=0.6)
        ax.set_ylim(0.0, HIGHEST)
        ax.set_yticks([0.0, 1.0, 3.0, 10.0, 30.0], ["0", "1", "3", "10", "30"], minor=False)
        ax.yaxis.set_minor_locator(mpl.ticker.NullLocator())
        ax.set_title(game, fontsize=10)
        ax.grid(alpha=0.25)
    last.axis("off")
    last.legend(*drawn[0].get_legend_handles_labels(), loc="center", frameon=False)
    for ax in drawn[-4:]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("rounds so far")
    for ax in panels[:, 0]:
        ax.set_ylabel("violated so far, %")
    save_figure(figure, path, dpi=130)
    plt.close(figure)
