"""The picture of docs/appendix/steer.md: weights and latency of the real loop over time."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from tables import read

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = ("#0072B2", "#009E73", "#E69F00")


def draw_steer(file: Path) -> None:
    """Draw shares as areas, the latency below, and events above both."""
    found = read("steer_real.json")
    minutes = found["faster"] / 60.0
    samples = np.array(found["weights"])
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(10, 6.2), sharex=True, layout="constrained", height_ratios=(3, 2)
    )
    upper.stackplot(
        samples[:, 0] * minutes,
        100.0 * samples[:, 1:].T,
        labels=found["backends"],
        colors=COLOURS,
        step="post",
    )
    upper.set(ylabel="share of the traffic, %", ylim=(0, 100))
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    latency = np.array([np.nan if one is None else one for one in found["latency"]])
    lower.plot((np.arange(latency.size) + 0.5) * minutes, latency, color="#333333", lw=1.2)
    lower.axhline(found["limit"], color="#D55E00", ls="--", lw=1.2)
    lower.text(0.3, found["limit"] + 3.0, f"limit {found['limit']:g} ms", color="#D55E00")
    lower.set(ylabel="mean latency, ms", xlabel="minutes of the story (ten times faster)")
    lower.set(xlim=(0, found["seconds"] * minutes), ylim=(0, None))
    before = -10.0
    for second, event in found["events"]:
        aside = 12 if second - before < 5.0 else 0  # so that names do not overlap
        before = second
        for axes in (upper, lower):
            axes.axvline(second * minutes, color="black", lw=0.8, alpha=0.6)
        upper.annotate(
            event,
            (second * minutes, 100),
            xytext=(aside, 6),
            textcoords="offset points",
            rotation=35,
            fontsize=8,
            ha="left",
            va="bottom",
            annotation_clip=False,
        )
    lower.grid(alpha=0.3)
    figure.savefig(file, dpi=110)
    plt.close(figure)
