"""Tables and the picture of limits that cannot be met, and of constraints of many parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from tables import read, table

mpl.use("Agg")
from matplotlib import pyplot as plt

SHOWN = ("for good after 30 rounds", "gradually", "every other 100 rounds", "by a drifting margin")
"""The cases of the picture."""
CHUNK = 25
"""A course of weights has one entry for this many rounds."""
NUMBERS = ("regret", "ccv", "violated", "worst", "microseconds")


def caps() -> str:
    """Return avoidable CCV, cost and violated rounds of each method at each cap."""
    found = read("unattainable.json")["caps"]
    rows = [
        [f"{cap} ms" if name == next(iter(found)) else "", name, *(f"{n:,.0f}" for n in row[cap])]
        for cap in next(iter(found.values()))
        for name, row in found.items()
    ]
    return table(["cap", "method", "avoidable CCV, ms", "cost", "violated rounds"], rows)


def networks() -> str:
    """Return how often a stricter cap led to more violation of a looser one, by method."""
    found, rows = read("unattainable.json")["networks"], []
    for method in dict.fromkeys(row["method"] for row in found):
        own = [row for row in found if row["method"] == method]
        counts = [str(sum(row[key] for row in own)) for key in ("pairs", "more", "quarter")]
        largest = f"{100.0 * max(row['of_free'] for row in own):.2g} %"
        ccv = f"{100.0 * sum(row['ccv'] for row in own) / len(own):.1f} %"
        rows.append([method, *counts, largest, ccv])
    heads = ["method", "pairs of caps", "more", "by more than a quarter", "at most", "CCV"]
    return table(heads, rows)


def weights() -> str:
    """Return the largest weight of each case."""
    rows = []
    for case, methods in read("unattainable.json")["weights"].items():
        largest = [f"{row['largest']:,.3g}" for row in methods.values()]
        rows.append([case, f"{methods['default']['rounds']:,}", *largest])
    return table(["the limit cannot be met", "rounds", "default", "tracking=False"], rows)


def attack() -> str:
    """Return what 900 games say of certificates and guards."""
    rows = []
    keys = ("games", "infeasible_rounds", "refuted", "feasible", "compared", "broken")
    found = read("limits_attack.json")
    for name, row in found.items():
        rows.append([name, *(f"{row[key]:,}" for key in keys)])
    rows.append(["all", *(f"{sum(row[key] for row in found.values()):,}" for key in keys)])
    head = ("games", "infeasible rounds", "refuted", "comparator known", "compared", "false")
    return table(["policy", *head], rows)


def many_parts() -> str:
    """Return regret, CCV and more of each method, practical and tuned; medians over seeds."""
    games: dict[str, dict[str, list[Any]]] = {}
    for row in read("many_parts.csv"):
        tuned = row["setting"] == "tuned"
        if tuned and row["eagerness"] == "1":
            continue  # the practical one
        name = f"{row['method']}, {row['eagerness']}" if tuned else row["method"]
        numbers = [float(row[key]) for key in NUMBERS]
        games.setdefault(row["game"], {}).setdefault(name, []).append(numbers)
    lines = []
    for game, methods in games.items():
        for name, found in methods.items():
            regret, ccv, violated, worst, time = np.median(found, axis=0)
            cells = (
                f"{regret:.0f}",
                f"{ccv:.3g}",
                f"{violated:.0f}",
                f"{worst:.2f}",
                f"{time:,.0f}",
            )
            lines.append([game if name == next(iter(methods)) else "", name, *cells])
    head = ["game", "method", "regret", "CCV", "violated", "worst round", "us per round"]
    return table(head, lines)


def draw_weights(file: Path) -> None:
    """Draw the weights' course in four cases."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    found = read("unattainable.json")["weights"]
    for ax, method in zip(axes, ("default", "tracking=False"), strict=True):
        for case, marker in zip(SHOWN, "os^v", strict=True):
            course = np.array(found[case][method]["course"])
            violated = np.flatnonzero(course > 0.0)
            rounds = CHUNK * (violated + 1)
            ax.plot(rounds, course[violated], marker, ms=2.5, alpha=0.6, label=case)
        ax.plot([25, 20_000], np.sqrt([25, 20_000]), ":", color="0.4", label=r"$\sqrt{t}$")
        ax.set(xscale="log", yscale="log", title=method, xlabel="round")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("weight, cost per ms")
    names = axes[0].get_legend_handles_labels()
    figure.legend(*names, fontsize=8, markerscale=2.0, loc="outside lower center", ncols=5)
    figure.savefig(file, dpi=110)
    plt.close(figure)
