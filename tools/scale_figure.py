"""The picture of docs/how-to/scale.md: time and memory by demands, and a large game."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from tables import read

mpl.use("Agg")
from matplotlib import pyplot as plt

SOLVERS = {"simplex": ("HiGHS simplex", "s"), "ipm": ("HiGHS interior point", "^"),
           "pdlp": ("HiGHS PDLP", "v")}  # fmt: skip
GAME = {"shortest paths": "#D55E00", "ECMP": "#009E73", "ours": "#0072B2"}


def draw_scale(file: Path) -> None:
    """Draw time and memory per round against demands, and violations of a large game."""
    data = read("scale.json")
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
    sizes = data["growth"]["sizes"]
    pairs = [row["pairs"] for row in sizes]
    for threads, style in (("1", "o-"), ("2", "o--")):
        seconds = [row["seconds"][threads] for row in sizes]
        label = f"ours, {threads} thread{'s' * (threads != '1')}"
        left.plot(pairs, seconds, style, color="#0072B2", ms=4, label=label)
    left.plot(pairs, [row["floor_seconds"] for row in sizes], ":", color="0.4", label="floor")
    workers = [row for row in data["dask"]["rows"] if not row["killed"]]
    for row in workers:
        left.plot(data["dask"]["pairs"], row["seconds"], "x", color="#CC79A7", ms=6,
                  label="ours, Dask workers" if row is workers[0] else None)  # fmt: skip
    for solver, (label, mark) in SOLVERS.items():
        found = [
            (row["pairs"], row["solvers"][solver]["seconds"])
            for row in data["solvers"]
            if row["solvers"][solver]["status"] == "Optimal"
        ]
        if found:
            left.plot(*np.array(found).T, f"{mark}-", color="0.6", ms=4, label=label)
    left.set(xscale="log", yscale="log", xlabel="demands", ylabel="seconds per round")
    left.set_title("Time per round")
    left.legend(fontsize=7)
    peak = [row["peak_gb"] for row in sizes]
    middle.plot(pairs, peak, "o-", color="#0072B2", ms=4, label="whole process")
    state = [row["pairs"] * row["state_bytes_per_demand"] / 2**30 for row in sizes]
    middle.plot(pairs, state, ":", color="0.4", label="shares and learners")
    middle.set(xscale="log", yscale="log", xlabel="demands", ylabel="GB")
    middle.set_title("Memory")
    middle.legend(fontsize=7)
    for name, colour in GAME.items():
        curve = 100.0 * np.array(data["game"]["methods"][name]["curve"])
        right.plot(np.arange(1, curve.size + 1), curve, color=colour, lw=1.2, label=name)
    right.set(yscale="symlog", xlabel="round", ylabel="traffic above the limit, %", ylim=(0, None))
    right.set_title(f"{data['game']['pairs']:,} demands, two failures")
    right.legend(fontsize=7)
    figure.savefig(file, dpi=150)
    plt.close(figure)
