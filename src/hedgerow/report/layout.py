"""Where the nodes of a network are drawn, and where their labels fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.networks.network import Network
from hedgerow.report.escaping import in_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 600
"""Larger graphs are drawn on a circle: distances in the plane would show nothing."""
MOST_NAMES = 45
"""With more nodes than this only the ends and the busiest are named."""
PASSES = 60
"""Of the layout by latency."""
CROWDED = 0.3
"""A label that would cover more than this share of its own area is left out."""


class Layout(NamedTuple):
    """Positions in the plane, their meaning, and whether they are longitude and latitude."""

    places: NDArray[np.float64]
    meaning: str
    is_map: bool = False


def layout(network: Network) -> Layout:
    """Return the positions of the nodes: on the map, around the hub, by latency, or on a circle."""
    if network.coordinates is not None and not np.isnan(network.coordinates).all():
        return Layout(_on_the_map(network), "places on the map", is_map=True)
    if network.hub is not None:
        return Layout(_around(network), "distance from the hub grows with the latency to it")
    if len(network.nodes) > MOST_NODES:
        return Layout(circle(len(network.nodes)), "nodes on a circle")
    return Layout(_by_latency(network), "nodes that are near in latency are near here")


def _on_the_map(network: Network) -> NDArray[np.float64]:
    """Return longitude and latitude; a node without coordinates is amid its neighbours."""
    assert network.coordinates is not None
    places = network.coordinates[:, ::-1].copy()
    unknown = np.asarray(np.isnan(places).any(axis=1))
    middle = places[~unknown].mean(axis=0)
    for node in np.flatnonzero(unknown).tolist():
        touching = np.asarray(network.edges == node).any(axis=1)
        near = network.edges[touching].ravel()
        near = near[~unknown[near]]
        places[node] = places[near].mean(axis=0) if near.size else middle
    return places


def circle(count: int) -> NDArray[np.float64]:
    """Return points on the unit circle."""
    angle = 2.0 * np.pi * np.arange(count) / max(1, count)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _around(network: Network) -> NDArray[np.float64]:
    """Put the hub in the middle, and the others at a distance that grows with the latency."""
    n, hub = len(network.nodes), network.hub
    near = np.full(n, np.nan)
    for (a, b), ms in zip(network.edges.tolist(), network.latency_ms.tolist(), strict=True):
        if hub in (a, b):
            near[b if a == hub else a] = ms
    near[np.isnan(near)] = np.nanmax(near) if not np.isnan(near).all() else 1.0
    radius = 0.25 + 0.75 * np.sqrt(near / max(float(near.max()), 1e-9))
    places = np.zeros((n, 2))
    others = np.arange(n) != hub
    places[others] = radius[others, np.newaxis] * circle(n - 1)
    return places


def _by_latency(network: Network) -> NDArray[np.float64]:
    """Fit distances in the plane to the latencies of shortest routes; the source is on the left.

    Stress majorisation (de Leeuw, 1977) from a circle. networkx's Kamada-Kawai layout minimises the
    same stress about as well, but takes longer, and figures should not need networkx.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n, (tail, head) = len(network.nodes), network.edges.T
    least = max(1e-9, 0.05 * float(np.median(network.latency_ms)))  # no two nodes coincide
    links = np.full((n, n), np.inf)
    np.minimum.at(links, (tail, head), np.maximum(network.latency_ms, least))
    links = np.minimum(links, links.T)
    u, v = np.nonzero(np.isfinite(links))
    apart = shortest_path(csr_array((links[u, v], (u, v)), (n, n)), directed=False)
    far = float(apart[np.isfinite(apart)].max(initial=0.0)) or 1.0
    apart[np.isinf(apart)] = 1.3 * far  # pieces lie beside each other
    apart /= far
    np.fill_diagonal(apart, 1.0)
    weights = apart**-2.0  # errors count relative to the distance
    np.fill_diagonal(weights, 0.0)
    pull = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = 0.5 * circle(n)
    # Each pass minimises a quadratic majorant of the stress, so that the stress never grows.
    for _ in range(PASSES):
        gaps = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
        np.fill_diagonal(gaps, 1.0)
        push = -weights * apart / np.maximum(gaps, 1e-9)
        np.fill_diagonal(push, 0.0)
        np.fill_diagonal(push, -push.sum(axis=1))
        places = pull @ (push @ places)
    return _fitted(_turned(places, network.source, network.target))


def _turned(
    places: NDArray[np.float64], source: int | None, target: int | None
) -> NDArray[np.float64]:
    """Turn the longest way, or that from source to target, to lie from left to right."""
    if source is not None and target is not None:
        way = places[target] - places[source]
    else:
        way = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[2][0]
    if not np.linalg.norm(way) > 0.0:
        return places
    c, s = way / np.linalg.norm(way)
    return np.asarray((places - places.mean(axis=0)) @ np.array([[c, -s], [s, c]]))


def _fitted(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move and scale the places into the square from -1 to 1."""
    middle = 0.5 * (places.max(axis=0) + places.min(axis=0))
    half = max(float(np.ptp(places, axis=0).max()) / 2.0, 1e-9)
    return np.asarray((places - middle) / half)


class NodeLabels:
    """Labels beside their nodes, each where it covers least of other labels and nodes.

    Args:
        axes: to write on; all else must be drawn already.
        places: of the nodes, in the units of the axes.
        size: of the letters, in points.

    """

    def __init__(self, axes: Axes, places: NDArray[np.float64], size: float):
        figure: Any = axes.figure
        figure.draw_without_rendering()  # fixes the positions on the canvas
        self._axes, self._places, self._size = axes, places, size
        self._points = np.asarray(axes.transData.transform(places)) * 72.0 / figure.dpi
        self._taken = [np.array([x - 4.0, y - 4.0, x + 4.0, y + 4.0]) for x, y in self._points]

    def write(self, node: int, text: str, angle: float, colour: str = "") -> None:
        """Write a label, best at this angle; that of an end is coloured and never left out."""
        from matplotlib.patheffects import withStroke

        away = 9.0 if colour else 6.0
        angles = [angle, *(angle + turn for turn in np.arange(1, 12) * math.pi / 6.0)]
        boxes = [self._box(node, text, away, way, bool(colour)) for way in angles]
        turned = [abs(math.sin(0.5 * (way - angle))) for way in angles]
        covered = [
            self._covered(box) + self._misleading(node, box) + 0.5 * turn  # last: ties
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
        """Return left, bottom, right and top of a label, in points, roughly."""
        wide, high = (0.75 if bold else 0.68) * self._size * len(text), 1.1 * self._size
        right, up = math.cos(angle), math.sin(angle)
        x, y = self._points[node] + away * np.array([right, up])
        left = x - wide * (0.0 if right > 0.35 else 1.0 if right < -0.35 else 0.5)
        bottom = y - high * (0.0 if up > 0.35 else 1.0 if up < -0.35 else 0.5)
        return np.array([left, bottom, left + wide, bottom + high])

    def _misleading(self, node: int, box: Vector) -> float:
        """Return a penalty where a label is nearer to another node than to its own."""
        nearest = np.clip(self._points, box[:2], box[2:])
        away = np.linalg.norm(self._points - nearest, axis=1)
        return 20.0 if np.count_nonzero(away <= away[node]) > 1 else 0.0

    def _covered(self, box: Vector) -> float:
        """Return how much of other labels and nodes a box covers, in square points."""
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
