"""LiteLLM's strategies on one trace: the table and the picture of docs/how-to/litellm.md."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from hedgerow.report.picture import COLOURS, save_figure
from tables import read, table

mpl.use("Agg")
from matplotlib import pyplot as plt

FILE = "litellm_routing.json"
PLACES = {
    "simple-shuffle, equal": (8, -3),
    "simple-shuffle, best fixed weights": (9, 5),
    "cost-based-routing": (8, -3),
    "latency-based-routing": (-103, -3),
    "latency-based-routing, buffer 1": (-143, -3),
    "Hedgerow": (8, -6),
    "Hedgerow, 10 % of intervals over": (-136, -3),
    "Hedgerow with the rule last_round": (-40, 9),
}
"""Where the names stand, in points from the dot."""


def setting() -> str:
    """Return what was replayed."""
    s = read(FILE)["setting"]
    return (
        f"LiteLLM {s['litellm']}, {s['requests']} requests through its router with mocked "
        f"responses and delays, intervals of {s['interval']} requests, a mean of at most "
        f"{s['objective_ms']:.0f} ms. Four deployments drift, and one is five times as slow for "
        "15 % of the time. Prices are per million tokens. Shares that are chosen anew for each "
        f"interval, knowing it beforehand, would cost {s['foresight']['price']:.2f}."
    )


def replay() -> str:
    """Return price and latency of every strategy."""
    rows = [
        [
            f"**{name}**" if name.startswith("Hedgerow") else name,
            f"{row['price']:.2f}",
            f"{row['mean_ms']:.0f} ms",
            f"{row['measured_mean_ms']:.0f} ms",
            f"{row['p95_ms']:.0f} ms",
            f"{100.0 * row['intervals_over']:.0f} %",
            f"{row['excess_ms']:.0f} ms",
        ]
        for name, row in read(FILE)["strategies"].items()
    ]
    return table(
        ["strategy", "price", "mean", "measured mean", "95 %", "intervals over", "mean excess"],
        rows,
    )


def draw_litellm(path: Path) -> None:
    """Draw price against excess of every strategy, and the shares over time."""
    found = read(FILE)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, row in found["strategies"].items():
        ours = name.startswith("Hedgerow")
        colour = COLOURS[0] if ours else "0.45"
        left.plot(row["price"], row["mean_ms"], "o" if ours else "s", color=colour)
        left.annotate(
            name,
            (row["price"], row["mean_ms"]),
            PLACES[name],
            textcoords="offset points",
            fontsize=7.5,
            color=colour,
        )
    left.axhline(found["setting"]["objective_ms"], color=COLOURS[1], lw=1.2, ls="--")
    left.text(0.9, found["setting"]["objective_ms"] - 10, "objective", color=COLOURS[1], va="top")
    left.set(title="Price against latency", xlabel="price per million tokens")
    left.set(ylabel="mean latency, ms", xlim=(0.8, 4.6))
    shares = 100.0 * np.array(found["strategies"]["Hedgerow"]["shares"])
    names = ("spot", "regional", "standard", "premium")
    right.stackplot(
        np.arange(1, len(shares) + 1), shares.T, labels=names, colors=COLOURS[2:6], alpha=0.85
    )
    begin, end = 0.55 * len(shares), 0.7 * len(shares)
    for edge in (begin, end):
        right.axvline(edge, color="0.2", lw=1.0, ls=":")
    right.text((begin + end) / 2, 101, "incident: standard", ha="center", va="bottom", fontsize=8)
    right.set(xlabel=f"interval of {found['setting']['interval']} requests", ylabel="share, %")
    right.set(xlim=(1, len(shares)), ylim=(0, 100))
    right.set_title("Hedgerow's shares", pad=16)
    handles, labels = right.get_legend_handles_labels()
    right.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    save_figure(figure, path, dpi=150)
    plt.close(figure)
