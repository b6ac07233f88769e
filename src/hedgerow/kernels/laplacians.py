"""Linear equations with the Laplacian of a graph, (L + damping) x = right."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import index, kernel, nothing, number, read, whole, write, write_index
from hedgerow._engine.unowned_view import unowned_view

Index = Any
SMALLEST_PIVOT = 1e-11
DENSE = 200.0  # a direct solve may take this many operations for each node and edge


# links = [leaf | stem | degree | partner], one of each for every node
@kernel(whole, index, index, number, write, write, write_index)
def peel_leaves(
    tail: Index, head: Index, damping: float, diagonal: Any, right: Any, links: Index
) -> int:
    """Eliminate nodes that have one edge, again and again; return how many.

    leaf[k] hung on stem[k] by its last edge. Left to solve is the core: the nodes that still have a
    degree, and the edges between them, with the diagonal and the right-hand side that this writes.
    """
    nodes, links = len(diagonal), unowned_view(links)
    leaf, stem = links[:nodes], links[nodes : 2 * nodes]
    degree, partner = links[2 * nodes : 3 * nodes], links[3 * nodes : 4 * nodes]
    for v in range(nodes):
        degree[v] = np.uint32(0)
        partner[v] = np.uint32(0)
    for e in range(len(tail)):
        u, v = tail[e], head[e]
        degree[u] += np.uint32(1)
        degree[v] += np.uint32(1)
        partner[u] ^= v  # the exclusive or of all neighbours: of the last one, itself
        partner[v] ^= u
    count = 0
    for v in range(nodes):
        diagonal[v] = damping + degree[v]
        if degree[v] == 1:
            leaf[count] = v
            count += 1
    k = 0
    while k < count:
        node = leaf[k]
        if degree[node] == 0:  # the last node of a tree has nothing to hang on
            count -= 1
            leaf[k] = leaf[count]
            continue
        other = partner[node]
        stem[k] = other
        k += 1
        diagonal[other] = max(diagonal[other] - 1.0 / diagonal[node], 0.5 * damping)
        right[other] += right[node] / diagonal[node]
        degree[node] = np.uint32(0)
        degree[other] -= np.uint32(1)
        partner[other] ^= node
        if degree[other] == 1:
            leaf[count] = other
            count += 1
    return count


@kernel(whole, index, index, index, write_index, write_index, write_index, write_index)
def narrow_order(
    tail: Index, head: Index, degree: Index, begin: Index, near: Index, place: Index, node: Index
) -> int:
    """Number the nodes of the core breadth first, so that edges join near numbers; count them.

    `node` has them in this order, `place` the place of each. All edges must be in the core.

    Reference: Cuthill and McKee (1969).
    """
    nodes, total = len(degree), np.uint32(0)
    for v in range(nodes):
        total += degree[v]
        begin[v] = total
        place[v] = np.uint32(nodes)
    for e in range(len(tail)):
        u, v = tail[e], head[e]
        begin[u] -= np.uint32(1)
        near[begin[u]] = v
        begin[v] -= np.uint32(1)
        near[begin[v]] = u
    # Breadth first, from one root in each component of the core.
    first = last = 0
    for root in range(nodes):
        if degree[root] > 0 and place[root] == nodes:
            place[root] = np.uint32(last)
            node[last] = np.uint32(root)
            last += 1
        while first < last:
            u = node[first]
            first += 1
            for k in range(begin[u], begin[u] + degree[u]):
                v = near[k]
                if place[v] == nodes:
                    place[v] = np.uint32(last)
                    node[last] = v
                    last += 1
    return last


@kernel(number, index, index, write_index, write_index)
def envelope(tail: Index, head: Index, bottom: Index, begin: Index) -> float:
    """Write the last row of each column of the factor, and where columns begin; return its work.

    Rows that follow from elimination are within: bottoms never decrease.
    """
    for v in range(len(bottom)):
        bottom[v] = np.uint32(v)
    for e in range(len(tail)):
        low, high = min(tail[e], head[e]), max(tail[e], head[e])
        bottom[low] = max(bottom[low], high)
    operations, size, deepest = 0.0, 0, np.uint32(0)
    for v in range(len(bottom)):
        deepest = max(deepest, bottom[v])
        bottom[v] = deepest
        width = int(deepest) - v + 1
        operations += 0.5 * width * width
        begin[v] = np.uint32(size)
        size += width
    begin[len(bottom)] = np.uint32(size)
    return operations


@kernel(nothing, write, read, number)
def take_off(column: Any, other: Any, share: float) -> None:
    """Subtract a share of one column from another."""
    for j in range(len(column)):
        column[j] -= share * other[j]


@kernel(nothing, index, index, index, read, write, write)
def solve_directly(
    tail: Index, head: Index, begin: Index, diagonal: Any, factor: Any, x: Any
) -> None:
    """Replace the right-hand side x by the solution, by L D L^T inside the envelope.

    The matrix has -1 for each edge off its diagonal. Column k of the factor, which must be zero,
    begins with its diagonal, at begin[k].
    """
    nodes, factor = len(x), unowned_view(factor)
    for k in range(nodes):
        factor[begin[k]] = diagonal[k]
    for e in range(len(tail)):
        low, high = min(tail[e], head[e]), max(tail[e], head[e])
        factor[begin[low] + (high - low)] -= 1.0
    for k in range(nodes):
        column = factor[begin[k] : begin[k + 1]]
        pivot = column[0] = max(column[0], SMALLEST_PIVOT)
        for i in range(1, len(column)):
            if column[i] != 0.0:
                share, start = column[i] / pivot, begin[k + i]
                take_off(factor[start : start + len(column) - i], column[i:], share)
                x[k + i] -= share * x[k]
    for k in range(nodes - 1, -1, -1):
        column = factor[begin[k] : begin[k + 1]]
        left = x[k]
        for i in range(1, len(column)):
            left -= column[i] * x[k + i]
        x[k] = left / column[0]


@kernel(nothing, index, index, read, write)
def solve_iteratively(tail: Index, head: Index, diagonal: Any, x: Any) -> None:
    """Replace the right-hand side x by an approximate solution, by conjugate gradients."""
    nodes, size = len(x), 0.0
    residual, towards, image = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    for v in range(nodes):
        residual[v], towards[v], x[v] = x[v], x[v] / diagonal[v], 0.0
        size += residual[v] * towards[v]
    goal = size * min(1e-4, size)  # Newton's method needs no more digits far from its end
    for _ in range(2000):
        for v in range(nodes):
            image[v] = diagonal[v] * towards[v]
        for e in range(len(tail)):
            image[head[e]] -= towards[tail[e]]
            image[tail[e]] -= towards[head[e]]
        curvature = 0.0
        for v in range(nodes):
            curvature += towards[v] * image[v]
        if curvature <= 0.0:
            break
        share = size / curvature
        before = size
        size = 0.0
        for v in range(nodes):
            x[v] += share * towards[v]
            residual[v] -= share * image[v]
            size += residual[v] * residual[v] / diagonal[v]
        if size <= goal:
            break
        for v in range(nodes):
            towards[v] = residual[v] / diagonal[v] + size / before * towards[v]


@kernel(nothing, index, index, number, write, write_index, write)
def solve(tail: Index, head: Index, damping: float, x: Any, links: Index, scratch: Any) -> None:
    """Replace the right-hand side x by the solution of (L + damping) x = right.

    Trees are eliminated exactly. The core is solved directly where its envelope is narrow, else
    by conjugate gradients. Edges must join two different nodes. It works in 7 nodes + 4 edges + 1
    whole numbers and in 3 nodes numbers.
    """
    nodes, edges = len(x), len(tail)
    links, scratch = unowned_view(links), unowned_view(scratch)
    diagonal, inner_diagonal = scratch[:nodes], scratch[nodes : 2 * nodes]
    inner = scratch[2 * nodes : 3 * nodes]
    leaf, stem = links[:nodes], links[nodes : 2 * nodes]
    degree, place = links[2 * nodes : 3 * nodes], links[3 * nodes : 4 * nodes]
    node, begin = links[4 * nodes : 5 * nodes], links[5 * nodes : 6 * nodes + 1]
    bottom, rest = links[6 * nodes + 1 : 7 * nodes + 1], links[7 * nodes + 1 :]
    inner_tail, inner_head = rest[:edges], rest[edges : 2 * edges]
    peeled = peel_leaves(tail, head, damping, diagonal, x, links[: 4 * nodes])
    # The core: its edges, then its nodes renumbered so that the envelope is narrow.
    count = 0
    for e in range(edges):
        if degree[tail[e]] > 0 and degree[head[e]] > 0:
            inner_tail[count], inner_head[count] = tail[e], head[e]
            count += 1
    inner_tail, inner_head = inner_tail[:count], inner_head[:count]
    size = narrow_order(
        inner_tail, inner_head, degree, begin[:nodes], rest[2 * edges :], place, node
    )
    for e in range(count):
        inner_tail[e], inner_head[e] = place[inner_tail[e]], place[inner_head[e]]
    inner_diagonal, inner = inner_diagonal[:size], inner[:size]
    for k in range(size):
        inner_diagonal[k], inner[k] = diagonal[node[k]], x[node[k]]
    bottom, begin = bottom[:size], begin[: size + 1]
    if envelope(inner_tail, inner_head, bottom, begin) <= DENSE * (count + nodes):
        factor = np.zeros(begin[size])
        solve_directly(inner_tail, inner_head, begin, inner_diagonal, factor, inner)
    else:
        solve_iteratively(inner_tail, inner_head, inner_diagonal, inner)
    for v in range(nodes):
        if degree[v] == 0:
            x[v] /= diagonal[v]
    for k in range(size):
        x[node[k]] = inner[k]
    # Back to the leaves, the last one first: each needs the solution at its stem.
    for k in range(peeled - 1, -1, -1):
        x[leaf[k]] += x[stem[k]] / diagonal[leaf[k]]
