"""Draw docs/reference/sets.png: norm balls, simplices, rankings, subsets and a mixture of paths."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.inputs import Vector

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
MIDDLE = {"ha": "center", "va": "center"}


def outline(X: hr.DecisionSet, basis: Vector) -> Vector:
    """Return the border of a flat set, in coordinates of a plane: the oracle in all directions."""
    angles = 2.0 * np.pi * (np.arange(720) + 0.5) / 720.0
    directions = np.column_stack([np.cos(angles), np.sin(angles)]) @ basis.T
    return np.array([X.lmo(c) for c in directions]) @ basis


def draw(ax: Any, X: hr.DecisionSet, basis: Vector, colour: str, label: str) -> None:
    """Fill a flat set."""
    border = outline(X, basis)
    ax.fill(*border.T, facecolor=colour, alpha=0.15)
    ax.plot(*np.vstack([border, border[:1]]).T, color=colour, lw=1.6, label=label)


def balls(ax: Any) -> None:
    """Draw the norm balls of the plane."""
    plane = np.eye(2)
    draw(ax, hr.sets.LinfBall(2), plane, GREEN, "LinfBall(2)")
    draw(ax, hr.sets.KSparse(2, 2), plane, BLUE, "L2Ball(2) = KSparse(2, 2)")
    draw(ax, hr.sets.KSparse(2, 1), plane, ORANGE, "L1Ball(2) = KSparse(2, 1)")
    ax.set_title("Norm balls")


PLANE = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]).T / np.sqrt([2.0, 6.0])
"""Two orthonormal directions in the planes x + y + z = constant."""


def simplices(ax: Any) -> None:
    """Draw a simplex, one with caps, and what the oracle answers."""
    draw(ax, hr.sets.Simplex(3), PLANE, BLUE, "Simplex(3)")
    draw(ax, hr.sets.CappedSimplex(3, 0.6), PLANE, ORANGE, "CappedSimplex(3, 0.6)")
    for corner in np.eye(3):
        x, y = corner @ PLANE
        text = "({:.0f}, {:.0f}, {:.0f})".format(*corner)
        place = {"ha": "center", "va": "bottom" if y > 0.0 else "top"}
        ax.annotate(text, (x, y), (0, 3 if y > 0.0 else -3), textcoords="offset points", **place)
    ax.set_title("Simplices, in their plane")


def rankings(ax: Any) -> None:
    """Draw the permutahedron of three weights."""
    X = hr.sets.Permutahedron([3.0, 2.0, 1.0])
    draw(ax, X, PLANE, BLUE, "Permutahedron([3, 2, 1])")
    for order in permutations((1, 2, 3)):
        at = np.array(order) @ PLANE
        ax.plot(*at, "o", color=BLUE, ms=4)
        ax.text(*(1.23 * at), "".join(map(str, order)), **MIDDLE)
    ax.set_title("Rankings, in their plane")


def subsets(ax: Any) -> None:
    """Draw the hypersimplex of 2-subsets of 4, an octahedron, seen from the side."""
    vertices = np.array([v for v in np.ndindex(2, 2, 2, 2) if sum(v) == 2], dtype=np.float64)
    across = 0.5 * (vertices[:3] - vertices[:2:-1])  # the three diagonals, {3, 4} to {1, 2} first
    yaw, pitch = 0.45, 0.3
    right = np.cos(yaw) * across[1] + np.sin(yaw) * across[2]
    back = np.cos(yaw) * across[2] - np.sin(yaw) * across[1]
    up = np.cos(pitch) * across[0] + np.sin(pitch) * back
    depth = np.cos(pitch) * back - np.sin(pitch) * across[0]
    seen, far = vertices @ np.column_stack([right, up]), int(np.argmax(vertices @ depth))
    for i in range(6):
        for j in range(i):
            if np.abs(vertices[i] - vertices[j]).sum() == 2.0:
                hidden = far in (i, j)
                ax.plot(*seen[[i, j]].T, color=BLUE, lw=1.0 if hidden else 1.6, ls="-:"[hidden])
    for vertex, at in zip(vertices, seen, strict=True):
        ax.plot(*at, "o", color=BLUE, ms=4)
        one, two = np.flatnonzero(vertex) + 1
        inner = np.linalg.norm(at) < 0.9  # these two have space on the other side
        aside = np.array([-18.0 if inner else 20.0, 11.0]) * at / np.linalg.norm(at)
        offset = {"xytext": aside, "textcoords": "offset points"}
        ax.annotate(f"{{{one}, {two}}}", at, **offset, **MIDDLE)
    ax.plot([], [], color=BLUE, label="KSubsets(4, 2)")
    ax.set_title("Pairs of 4 items, an octahedron")


def paths(ax: Any) -> None:
    """Draw a DAG, two of its paths and their mixture."""
    place = {"s": (0.0, 0.8), "a": (1.0, 1.6), "b": (1.0, 0.0), "t": (2.0, 0.8)}
    edges = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
    X = hr.sets.DagPaths(edges, "s", "t")
    one, two = X.lmo([0.0, 1.0, 1.0, 0.0, 1.0]), X.lmo([0.0, 1.0, 0.0, 1.0, 0.0])
    mixture = 0.7 * one + 0.3 * two
    for (u, v), x, first, second in zip(edges, mixture, one, two, strict=True):
        (x0, y0), (x1, y1) = place[u], place[v]
        colour = GREY if x == 0.0 else GREEN if first and second else BLUE if first else ORANGE
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.0 + 2.0 * x}
        ax.annotate("", (x1, y1), (x0, y0), arrowprops=arrow | {"shrinkA": 9, "shrinkB": 9})
        aside = (0.22, 0.0) if x0 == x1 else (0.0, 0.2 * np.sign(y0 + y1 - 1.6))
        middle = (x0 + x1) / 2 + aside[0], (y0 + y1) / 2 + aside[1]
        ax.text(*middle, f"{x:.1f}", color=colour, **MIDDLE)
    for name, (x, y) in place.items():
        ax.plot(x, y, "o", ms=14, color="white", mec="black", mew=1.0, clip_on=False)
        ax.text(x, y - 0.01, name, **MIDDLE)
    for colour, label in ((BLUE, "s a t, weight 0.7"), (ORANGE, "s a b t, weight 0.3")):
        ax.plot([], [], color=colour, label=label)
    ax.plot([], [], color=GREEN, label="both")
    ax.set_title("A mixture of two paths")


def picture(file: Path) -> None:
    """Draw all panels."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"font.size": 8, "axes.titlesize": 9}):
        panels = (balls, simplices, rankings, subsets, paths)
        figure, axes = plt.subplots(1, len(panels), figsize=(12.5, 3.2), layout="constrained")
        for ax, panel in zip(axes, panels, strict=True):
            panel(ax)
            ax.set_box_aspect(1.0)
            ax.set_aspect("equal", adjustable="datalim")
            ax.margins(0.17)
            ax.axis("off")
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False)
        figure.savefig(file, dpi=150)
        plt.close(figure)
