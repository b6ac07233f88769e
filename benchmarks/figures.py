"""The figures of `make bench`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def draw(results: dict[str, Any], out: Path) -> None:
    """Draw loops and runs as bars, and scale as lines with the memory floor."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(2, 2, figsize=(12, 7.5), layout="constrained")
        bars(axes[0, 0], *loop_bars(results), "microseconds per round, log scale")
        axes[0, 0].set_title("A round of projection_free_coco, 1200 edges", loc="left")
        bars(axes[0, 1], *run_bars(results), "seconds, log scale")
        axes[0, 1].set_title("A run of 1600 rounds", loc="left")
        edges(axes[1, 0], results)
        horizon(axes[1, 1], results)
        for suffix in ("png", "pdf"):
            figure.savefig(out / f"bench.{suffix}", dpi=150)
        plt.close(figure)


def loop_bars(results: dict[str, Any]) -> tuple[list[str], list[float]]:
    """Return the names and times of all loops."""
    rows = results["loops"]
    names = ["simulate (compiled loop)", *(row["peer"].split(":")[0] for row in rows)]
    return names, [1e6 * rows[0]["ours"], *(1e6 * row["theirs"] for row in rows)]


def run_bars(results: dict[str, Any]) -> tuple[list[str], list[float]]:
    """Return the names and times of all runs."""
    rows = results["figure_three"]
    return [row["method"] for row in rows], [row["seconds"] for row in rows]


def bars(ax: Any, names: list[str], values: list[float], label: str) -> None:
    """Draw horizontal bars with their numbers."""
    order = sorted(range(len(names)), key=lambda k: -values[k])
    ours = {name for name in names if name in ("simulate (compiled loop)", "projection_free_coco")}
    colours = [BLUE if names[k] in ours else GREY for k in order]
    drawn = ax.barh([names[k] for k in order], [values[k] for k in order], color=colours)
    ax.bar_label(drawn, fmt=three_digits, padding=3)
    ax.set_xscale("log")
    ax.set_xlim(right=4.0 * max(values))
    ax.set_xlabel(label)


def three_digits(value: float) -> str:
    """Return a number with three digits, never as a power of ten."""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"


def edges(ax: Any, results: dict[str, Any]) -> None:
    """Draw time against edges, above the floor."""
    rows, slope = results["edges"], results["exponents"]["edges"]
    m = [row["edges"] for row in rows]
    ax.loglog(m, [row["us_per_round"] for row in rows], "o-", color=BLUE, label="simulate")
    floor = [row["floor_us_per_round"] for row in rows]
    least = f"floor, exponent {results['exponents']['floor']:.2f}"
    ax.loglog(m, floor, "s--", color=GREY, label=least)
    ax.set(xlabel="edges", ylabel="microseconds per round")
    ax.set_title(f"Against edges: exponent {slope:.2f} from 10^4 on", loc="left")
    ax.legend(frameon=False, loc="lower right", fontsize=8)


def horizon(ax: Any, results: dict[str, Any]) -> None:
    """Draw the time per round against the horizon."""
    rows = results["horizon"]
    T = [row["horizon"] for row in rows]
    ax.semilogx(T, [row["us_per_round"] for row in rows], "o-", color=BLUE)
    ax.set(xlabel="rounds", ylabel="microseconds per round")
    ax.set_ylim(0.0, 1.3 * max(row["us_per_round"] for row in rows))
    slope = round(results["exponents"]["horizon"], 2) + 0.0  # no -0.00
    ax.set_title(f"Against rounds: exponent {slope:.2f}", loc="left")
