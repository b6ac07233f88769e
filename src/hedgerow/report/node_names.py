"""Names beside the nodes of a map: where there is room, and nearer to their own than to others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.report.escaping import in_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWDED = 0.3
"""A name that would cover more than this share of its own size is left out."""


class NodeNames:
    """Names beside their nodes, each where it covers least of other names and nodes.

    Args:
        axes: where they are written.
        places: of the nodes, in the units of the axes; all else is drawn already.
        size: of the letters, in points.

    """

    def __init__(self, axes: Axes, places: NDArray[np.float64], size: float):
        figure: Any = axes.figure
        figure.draw_without_rendering()  # so that places on the canvas are known
        self._axes, self._places, self._size = axes, places, size
        self._points = np.asarray(axes.transData.transform(places)) * 72.0 / figure.dpi
        self._taken = [np.array([x - 4.0, y - 4.0, x + 4.0, y + 4.0]) for x, y in self._points]

    def write(self, node: int, text: str, angle: float, colour: str = "") -> None:
        """Write a name, best at this angle; that of an end is in its colour, and always there."""
        from matplotlib.patheffects import withStroke

        away = 9.0 if colour else 6.0
        angles = [angle, *(angle + turn for turn in np.arange(1, 12) * math.pi / 6.0)]
        boxes = [self._box(node, text, away, way, bool(colour)) for way in angles]
        turned = [abs(math.sin(0.5 * (way - angle))) for way in angles]
        covered = [
            self._covered(box) + self._strange(node, box) + 0.5 * turn  # turned little, if equal
            for box, turn in zip(boxes, turned, strict=True)
        ]
        best = int(np.argmin(covered))
        if not colour and self._covered(boxes[best]) > CROWDED * np.prod(
            np.ptp(boxes[best].reshape(2, 2), axis=0)
        ):
            return
        self._taken.append(boxes[best])
        right, up = math.cos(angles[best]), math.sin(angles[best])
        self._axes.annotate(
            in_figure(text),
            tuple(self._places[node].tolist()),
            xytext=(away * right, away * up),
            textcoords="offset points",
            ha="left" if right > 0.35 else "right" if right < -0.35 else "center",
            va="bottom" if up > 0.35 else "top" if up < -0.35 else "center",
            fontsize=self._size,
            fontweight="bold" if colour else "normal",
            color=colour or "0.1",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )

    def _box(self, node: int, text: str, away: float, angle: float, bold: bool) -> Vector:
        """Return left, bottom, right and top of a name, in points, roughly."""
        wide, high = (0.75 if bold else 0.68) * self._size * len(text), 1.1 * self._size
        right, up = math.cos(angle), math.sin(angle)
        x, y = self._points[node] + away * np.array([right, up])
        left = x - wide * (0.0 if right > 0.35 else 1.0 if right < -0.35 else 0.5)
        bottom = y - high * (0.0 if up > 0.35 else 1.0 if up < -0.35 else 0.5)
        return np.array([left, bottom, left + wide, bottom + high])

    def _strange(self, node: int, box: Vector) -> float:
        """Return a penalty where a name is nearer to another node than to its own."""
        nearest = np.clip(self._points, box[:2], box[2:])
        away = np.linalg.norm(self._points - nearest, axis=1)
        return 20.0 if np.count_nonzero(away <= away[node]) > 1 else 0.0

    def _covered(self, box: Vector) -> float:
        """Return how much of other names and nodes a box covers, in square points."""
        taken = np.array(self._taken)
        sides = np.minimum(taken[:, 2:], box[2:]) - np.maximum(taken[:, :2], box[:2])
        return float(np.prod(np.maximum(sides, 0.0), axis=1).sum())


def free_angle(edges: NDArray[np.int64], places: NDArray[np.float64], node: int) -> float:
    """Return the middle of the widest angle between two neighbouring edges of a node."""
    touching = np.asarray(edges == node).any(axis=1)
    others = np.unique(edges[touching])
    ways = places[others[others != node]] - places[node]
    if not len(ways):
        return 0.0
    angles = np.sort(np.arctan2(ways[:, 1], ways[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2.0 * np.pi))
    widest = int(np.argmax(gaps))
    return float(angles[widest] + 0.5 * gaps[widest])
