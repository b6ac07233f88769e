"""The pictures of docs/explanation/idea.md and default.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORNERS = np.array([[0.3, 0.9], [1.5, 0.2], [3.3, 0.5], [4.0, 1.9], [2.9, 3.2], [0.9, 2.9]])
"""The corners of a small set of decisions, in order."""
COST, LIMIT, ALLOWED = np.array([1.0, 0.35]), np.array([-1.0, -0.6]), 3.0
"""f(x) = <COST, x> and g(x) = <LIMIT, x> + ALLOWED, which should be at most 0."""
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.45"
Point = NDArray[np.float64]


def lmo(direction: Point) -> Point:
    """Return the corner with the least product."""
    return CORNERS[int(np.argmin(CORNERS @ direction))]


def nearest(y: Point) -> Point:
    """Return the nearest point on the border of the set."""
    ends = np.roll(CORNERS, -1, axis=0)
    along = ends - CORNERS
    share = np.clip(((y - CORNERS) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    points = CORNERS + share[:, np.newaxis] * along
    return points[int(np.argmin(((points - y) ** 2).sum(axis=1)))]


def draw_ideas(folder: Path) -> None:
    """Write the pictures."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for name, size, columns, draw in (
        ("idea-loop.png", (8.0, 3.3), 1, _loop),
        ("idea-weight.png", (8.0, 3.3), 2, _weight),
        ("idea-step.png", (8.0, 3.3), 2, _step),
        ("default.png", (8.0, 4.4), 1, _remembered),
    ):
        figure, axes = plt.subplots(1, columns, figsize=size, layout="constrained", squeeze=False)
        draw(*axes[0])
        figure.savefig(folder / name, dpi=110)
        plt.close(figure)


def _loop(ax: Axes) -> None:
    """Draw who hands what to whom in one round."""
    from matplotlib.patches import FancyBboxPatch

    ax.set(xlim=(0, 16), ylim=(0, 6.6))
    ax.axis("off")
    boxes = (
        ((5.3, 0.3), (10.4, 6.0), "", "none", "0.75"),
        ((0.3, 2.2), (2.8, 2.0), "the world:\ncost and\nconstraint", "#f2f2f2", "0.4"),
        ((6.0, 0.8), (3.4, 1.6), "surrogate:\none loss\nfrom two", "#fdeee3", RED),
        ((11.6, 0.8), (3.4, 1.6), "oracle:\na shortest path,\na sort, ...", "#e4f4ee", GREEN),
        ((8.4, 4.2), (4.2, 1.4), "learner: moves\ntowards the corner", "#e3f0f8", BLUE),
    )
    for (x, y), (width, height), text, face, edge in boxes:
        shape = "round,pad=0,rounding_size=0.25"
        line = {"facecolor": face, "edgecolor": edge, "linewidth": 1.3}
        ax.add_patch(FancyBboxPatch((x, y), width, height, shape, **line))
        middle = x + width / 2, y + height / 2
        ax.text(*middle, text, ha="center", va="center", fontsize=10)
    ax.text(15.5, 5.85, "the policy", ha="right", fontsize=10, color=GREY, style="italic")
    arrows = (
        ((8.4, 4.9), (3.1, 3.7), "ask:\nthe decision x", (4.2, 5.3)),
        ((3.1, 2.7), (6.0, 1.6), "tell:\nvalues, gradients", (3.4, 1.1)),
        ((9.4, 1.6), (11.6, 1.6), "direction", (10.5, 1.25)),
        ((13.0, 2.4), (11.7, 4.2), "corner", (13.0, 3.4)),
    )
    for begin, end, text, at in arrows:
        style = {"arrowstyle": "-|>", "linewidth": 1.6, "color": GREY, "mutation_scale": 14,
                 "shrinkA": 2, "shrinkB": 2}  # fmt: skip
        ax.annotate("", end, begin, arrowprops=style)
        ax.text(*at, text, ha="center", va="center", fontsize=9, color="0.25")


def _set(ax: Axes) -> None:
    ax.fill(*CORNERS.T, facecolor="#eef3f7", edgecolor="0.35", linewidth=1.2, zorder=1)
    ax.set(xlim=(-0.9, 4.9), ylim=(-0.7, 3.7), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


ARROW = {"arrowstyle": "-|>", "linewidth": 1.6, "mutation_scale": 13, "shrinkA": 4}


def _weight(left: Axes, right: Axes) -> None:
    """Draw the direction and its corner for three weights, and how the weight grows."""
    _set(left)
    wall = np.array([[0.9, (ALLOWED - 0.9) / 0.6], [3.05, (ALLOWED - 3.05) / 0.6]])
    left.plot(*wall.T, "--", color=GREY, linewidth=1.2)
    left.text(3.05, -0.45, "satisfied on this side", color=GREY, fontsize=9)
    x = np.array([1.3, 1.5])
    left.plot(*x, "o", color="black", markersize=6, zorder=4)
    for weight, colour in ((0.0, BLUE), (1.0, GREEN), (3.0, RED)):
        slope = COST + weight * LIMIT
        end, corner = x - 0.9 * slope / np.hypot(*slope), lmo(slope)
        left.annotate("", end, x, arrowprops={**ARROW, "color": colour})
        left.plot(*corner, "s", color=colour, markersize=8, zorder=4)
        side = (10, 2) if corner[0] > 2.0 else (-42, 2)
        left.annotate(f"w = {weight:g}", corner, side, textcoords="offset points", fontsize=9,
                      color=colour)  # fmt: skip
    left.set_title("Where to go: cost + w × violation", fontsize=10)
    queue = np.linspace(0.0, 3.0, 200)
    right.plot(queue, queue**3 / 9.0, color="black", linewidth=1.5, zorder=2)
    for weight, colour in ((0.0, BLUE), (1.0, GREEN), (3.0, RED)):
        right.plot(np.cbrt(9.0 * weight), weight, "s", color=colour, markersize=8, clip_on=False)
    right.set(
        xlabel="violation so far, in units of a scale", ylabel="weight w of a violation",
        xlim=(0, 3), ylim=(0, 3.1),
    )  # fmt: skip
    right.set_title("The weight grows with every violation", fontsize=10)
    right.spines[["top", "right"]].set_visible(False)
    right.tick_params(labelsize=8)


def _step(left: Axes, right: Axes) -> None:
    """Draw one step with a projection and one with an oracle, from the same point."""
    x, slope = np.array([2.0, 1.6]), np.array([1.2, 1.5])
    for ax in (left, right):
        _set(ax)
        ax.plot(*x, "o", color="black", markersize=6, zorder=4)
        ax.annotate("x", x, (7, 4), textcoords="offset points", fontsize=10)
    away = x - 1.1 * slope
    back = nearest(away)
    left.annotate("", away, x, arrowprops={**ARROW, "color": GREY})
    left.annotate("", back, away, arrowprops={**ARROW, "shrinkA": 0, "color": RED})
    left.plot(*back, "o", color=RED, markersize=6, zorder=4)
    left.text(1.5, -0.5, "back to the nearest point:\na quadratic programme", fontsize=9, color=RED)
    left.set_title("With projection: leave the set, come back", fontsize=10)
    corner = lmo(slope)
    moved = x + 0.45 * (corner - x)
    right.annotate("", x - 0.45 * slope, x, arrowprops={**ARROW, "color": GREY})
    right.plot(*np.array([x, corner]).T, ":", color=GREEN, linewidth=1.4)
    right.annotate("", moved, x, arrowprops={**ARROW, "color": GREEN})
    right.plot(*corner, "s", color=GREEN, markersize=8, zorder=4)
    right.plot(*moved, "o", color=GREEN, markersize=6, zorder=4)
    right.text(-0.8, -0.15, "the best corner:\none linear\nminimisation", fontsize=9, color=GREEN)
    right.set_title("Without: move towards a corner, never leave", fontsize=10)


COLUMNS = CORNERS[[0, 3, 5]]
"""Answers of the oracle that are remembered."""
ROWS = (np.array([-1.0, 0.12]), 1.75), (np.array([-0.5, 0.9]), -1.1)
"""Tangents of two violated rounds: <c, x> + b is at most 0 where they are satisfied."""
STIFFNESS = 100.0


def _mixture(target: Point) -> Point:
    """Return the mixture of columns that is nearest to a point and violates the rows little."""
    shares = np.array([(a, b, 1.0 - a - b) for a in _GRID for b in _GRID if a + b <= 1.0])
    points = shares @ COLUMNS
    far2 = ((points - target) ** 2).sum(axis=1)
    for c, b in ROWS:
        far2 += STIFFNESS * np.maximum(0.0, points @ c + b) ** 2
    return points[int(np.argmin(far2))]


_GRID = np.linspace(0.0, 1.0, 401)


def _remembered(ax: Axes) -> None:
    """Draw a round of the restricted master: columns, rows, the step, and the oracle's answer."""
    _set(ax)
    ax.set(xlim=(-2.2, 6.0), ylim=(-0.9, 3.9))
    ax.fill(*COLUMNS.T, facecolor="#cfe2f0", edgecolor=BLUE, linewidth=1.2, zorder=1)
    ax.plot(*COLUMNS.T, "s", color=BLUE, markersize=8, zorder=4)
    for c, b in ROWS:
        along = np.array([-c[1], c[0]]) / np.hypot(*c)
        foot = np.array([1.9, 1.6]) - (np.array([1.9, 1.6]) @ c + b) * c / float(c @ c)
        ends = np.array([foot - 2.6 * along, foot + 2.6 * along])
        ax.plot(*ends.T, "--", color=RED, linewidth=1.3)
    x, slope = _mixture(np.array([3.0, 2.1])), np.array([1.9, 1.5])
    step = x - slope
    y = _mixture(step)
    pull = y - step
    for c, b in ROWS:
        pull = pull + STIFFNESS * max(0.0, float(y @ c) + b) * c
    answer = lmo(pull)
    ax.annotate("", step, x, arrowprops={**ARROW, "color": GREY})
    ax.annotate("", y, step, arrowprops={**ARROW, "shrinkA": 0, "color": "black"})
    ax.annotate("", answer, y, arrowprops={**ARROW, "linestyle": ":", "color": GREEN})
    ax.plot(*answer, "s", color=GREEN, markersize=9, zorder=4)
    for point, text, offset, colour in (
        (x, "1  the decision", (8, 4), "black"),
        (step, "2  a step for the cost", (-130, -4), GREY),
        (y, "3  back, softly, to what\n     is remembered", (14, -2), "black"),
        (answer, "4  one oracle call:\n     a new column", (14, -16), GREEN),
    ):
        ax.plot(*point, "o", color=colour, markersize=6, zorder=5)
        ax.annotate(text, point, offset, textcoords="offset points", fontsize=9, color=colour)
    ax.text(4.25, 2.45, "columns: the oracle's\nanswers so far", fontsize=9, color=BLUE)
    ax.text(-2.1, 3.1, "rows: tangents of\nviolated rounds", fontsize=9, color=RED)
