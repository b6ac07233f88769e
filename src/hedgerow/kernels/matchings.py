"""Random rounding in a bipartite graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import index, kernel, nothing, read, whole, write, write_index

Index = Any

INTEGRAL = 1e-12
"""Shares this close to 0 or 1 are taken as 0 or 1."""


@kernel(whole, whole, whole, index, write_index, write_index, read)
def _next_edge(v: int, came: int, begin: Index, around: Index, count: Index, x: Any) -> int:
    """Return an edge at v with a fractional share, not `came`, or -1; forget integral edges."""
    k = 0
    while k < count[v]:
        e = around[begin[v] + k]
        if x[e] <= INTEGRAL or x[e] >= 1.0 - INTEGRAL:
            count[v] -= np.uint32(1)
            around[begin[v] + k] = around[begin[v] + count[v]]
        elif e == came:
            k += 1
        else:
            return int(e)
    return -1


@kernel(nothing, write_index, whole, whole, write, whole, read, write_index)
def _shift(
    walk: Index, first: int, last: int, x: Any, fair: int, uniform: Any, used: Index
) -> None:
    """Move the edges walk[first .. last] up and down in turn, with mean 0, until one is integral.

    An unfair shift takes the smaller of the two moves: rounding errors, not chance, asked for it.
    """
    up = down = np.inf
    sign = 1.0
    for k in range(first, last):
        share = x[walk[k]]
        up = min(up, 1.0 - share if sign > 0.0 else share)
        down = min(down, share if sign > 0.0 else 1.0 - share)
        sign = -sign
    if fair:
        move = up if uniform[used[0]] * (up + down) < down else -down
        used[0] += np.uint32(1)
    else:
        move = up if up <= down else -down
    for k in range(first, last):
        x[walk[k]] += move
        move = -move


@kernel(nothing, index, write_index, index, index, write, read, whole)
def round_shares(
    begin: Index, around: Index, one: Index, two: Index, x: Any, uniform: Any, perfect: int
) -> None:
    """Round shares x, at most one in all at each node, to a matching whose mean is x.

    The edges at node v are around[begin[v] .. begin[v+1]]; edge e joins one[e] and two[e]. A walk
    along fractional edges closes a cycle, of even length, or is a path whose ends have slack;
    its edges move up and down in turn, with mean zero, until one of them is integral. Where the
    nodes have no slack (`perfect`), paths are rounding errors and go to the nearer end.
    """
    nodes = len(begin) - 1
    count = np.empty(nodes, np.uint32)
    for k in range(nodes):
        count[k] = begin[k + 1] - begin[k]
    place = np.full(nodes, -1, np.int64)  # of a node in the walk
    visited = np.empty(nodes + 1, np.uint32)
    walk = np.empty(nodes + 1, np.uint32)
    used = np.zeros(1, np.uint32)
    for root in range(nodes):
        origin = root
        length = 0
        from_end = False  # whether the walk began at a node with one fractional edge only
        while True:
            if length == 0:
                visited[0] = np.uint32(origin)
                place[origin] = 0
            v: Any = np.int64(visited[length])
            came: Any = np.int64(walk[length - 1]) if length > 0 else np.int64(-1)
            e = _next_edge(v, came, begin, around, count, x)
            if e >= 0:
                w = np.int64(one[e]) + np.int64(two[e]) - v
                walk[length] = np.uint32(e)
                length += 1
                if place[w] < 0:
                    place[w] = length
                    visited[length] = np.uint32(w)
                else:  # a cycle; what comes before it stays
                    _shift(walk, place[w], length, x, 1, uniform, used)
                    for k in range(place[w] + 1, length):
                        place[visited[k]] = -1
                    length = place[w]
                continue
            for k in range(length + 1):
                place[visited[k]] = -1
            if length == 0 and origin == root:
                break
            if length > 0 and not from_end:  # v is an end: walk again from there
                origin = v
                from_end = True
            else:
                if length > 0:
                    _shift(walk, 0, length, x, 1 - perfect, uniform, used)
                origin = root
                from_end = False
            length = 0
    for e in range(len(x)):
        x[e] = 1.0 if x[e] > 0.5 else 0.0
