"""A graph with a source and a target as a small drawing: columns by the number of edges from it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hedgerow.display import Svg, escaped
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.graph import Edges, Index, ends, hops_from, number_nodes

MOST_EDGES = 400
"""More edges are drawn as a sample."""
MOST_NAMES = 30
"""Up to this many nodes all have their names beside them, above only source and target."""
MOST_ARROWS = 120
LONGEST_NAME = 24
PASSES = 4
BEND = 0.12
"""How far an edge bends to its side, by its length: edges back and forth are two lines."""
STAGGER = 0.22
"""How far nodes of a full column stand aside of it, by its width: edges in it stay visible."""
EDGE, NODE, SOURCE, TARGET = "#8a93a0", "#2b6cb0", "#2f855a", "#c05621"
ARROW = (
    '<defs><marker id="hedgerow-arrow" viewBox="0 0 8 8" refX="11" refY="4" markerWidth="6" '
    f'markerHeight="6" orient="auto"><path d="M0,0.5 L8,4 L0,7.5 z" fill="{EDGE}"/></marker></defs>'
)


class SourceToTarget(DecisionSet):
    """A set of flows or walks from a source to a target: notebooks show it with its graph."""

    edges: Edges
    source: Hashable
    target: Hashable

    def _repr_html_(self) -> str:
        drawing = _drawing(self.edges, self.source, self.target)
        return f"<div>{escaped(repr(self))}</div>{drawing}"

    def start(self) -> Vector:
        """Return the path with the fewest edges."""
        return self.lmo(np.ones(self.dim))


def _drawing(edges: Edges, source: Hashable, target: Hashable) -> Svg:
    tail, head, first, last = ends(edges, source, target)
    names = list(number_nodes(edges)[2])
    places, width, height = _places(tail, head, first, last, len(names))
    drawn = np.unique(np.linspace(0, tail.size - 1, min(tail.size, MOST_EDGES)).astype(np.intp))
    arrows = drawn.size <= MOST_ARROWS
    end = ' marker-end="url(#hedgerow-arrow)"' if arrows else ""
    lines = "".join(
        f'<path d="{_curve(places[t], places[h])}" fill="none" stroke="{EDGE}"{end}/>'
        for t, h in zip(tail[drawn].tolist(), head[drawn].tolist(), strict=True)
    )
    few = len(names) <= MOST_NAMES
    nodes = "".join(
        _node(places[k], name, k == first, k == last, named=few or k in (first, last), few=few)
        for k, name in enumerate(names)
    )
    left_out = tail.size - drawn.size
    note = f"{drawn.size} of {tail.size} edges are drawn" if left_out else ""
    caption = f'<text x="8" y="{height - 6:g}" font-size="10" fill="currentColor">{note}</text>'
    return Svg(
        f'<svg role="img" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><title>{len(names)} nodes, {tail.size} edges</title>'
        f"{ARROW if arrows else ''}{lines}{nodes}{caption if note else ''}</svg>"
    )


def _places(
    tail: Index, head: Index, source: int, target: int, nodes: int
) -> tuple[Vector, float, float]:
    """Return where the nodes are, and how wide and high the picture is."""
    column = hops_from(source, tail, head, nodes)
    reached = np.isfinite(column)
    column[~reached] = column[reached].max() + 1.0  # no path leads there
    others = np.delete(column, target)
    column[target] = max(column[target], others[np.delete(reached, target)].max() + 1.0)
    rank, aside = np.zeros(nodes), np.zeros(nodes)
    for k in range(PASSES):  # each node goes where its neighbours are, so that few lines cross
        near = rank if k == 0 else _mean_rank(tail, head, rank, nodes)
        for c in np.unique(column):
            members = np.flatnonzero(column == c)
            order = members[np.argsort(near[members], kind="stable")]
            rank[order] = (np.arange(order.size) + 0.5) / order.size
            aside[order] = STAGGER * (np.arange(order.size) % 3 - 1.0) * (order.size > 2)
    columns = column.max() + 1.0
    fullest = np.unique(column, return_counts=True)[1].max()
    width = float(np.clip(110.0 * columns, 260.0, 760.0))
    height = float(np.clip(42.0 * fullest + 24.0, 110.0, 420.0))
    x = 40.0 + (width - 80.0) * (column + aside) / max(columns - 1.0, 1.0)
    return np.column_stack([x, 14.0 + (height - 40.0) * rank]), width, height


def _mean_rank(tail: Index, head: Index, rank: Vector, nodes: int) -> Vector:
    """Return the mean height of each node's neighbours, its own where it has none."""
    one, two = np.concatenate([tail, head]), np.concatenate([head, tail])
    many = np.bincount(one, minlength=nodes)
    total = np.bincount(one, rank[two], nodes)
    return np.asarray(np.where(many > 0, total / np.maximum(many, 1), rank))


def _curve(a: Any, b: Any) -> str:
    (x, y), (u, v) = a.tolist(), b.tolist()
    mid_x, mid_y = (x + u) / 2.0 + BEND * (v - y), (y + v) / 2.0 - BEND * (u - x)
    return f"M{x:.1f},{y:.1f} Q{mid_x:.1f},{mid_y:.1f} {u:.1f},{v:.1f}"


def _node(
    place: Any, name: Hashable, is_source: bool, is_target: bool, *, named: bool, few: bool
) -> str:
    x, y = place.tolist()
    colour = SOURCE if is_source else TARGET if is_target else NODE
    radius = 5.0 if is_source or is_target else 4.0 if few else 2.0
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>'
    if not named:
        return dot
    text = escaped(name, LONGEST_NAME)
    return (
        f'{dot}<text x="{x:.1f}" y="{y + 16.0:.1f}" font-size="10" text-anchor="middle" '
        f'fill="currentColor">{text}</text>'
    )
