"""Linear equations with the Laplacian of a graph, (L + damping) x = right."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.kernels.jit import index, kernel, nothing, number, read, whole, write, write_index

Index = Any
SMALLEST_PIVOT = 1e-11
DENSE = 200.0  # a direct solve may take this many operations for each node and edge


@kernel(whole, index, index, number, write, write, write_index, write_index)
def peel_leaves(
    tail: Index,
    head: Index,
    damping: float,
    diagonal: Any,
    right: Any,
    leaf: Index,
    stem: Index,
) -> int:
    """Eliminate nodes that have one edge, again and again; return how many.

    leaf[k] hung on stem[k] by its last edge. The edges that touch no leaf, the core, are left to
    solve, with the diagonal and the right-hand side that this writes.
    """
    nodes = len(diagonal)
    degree, partner = np.zeros(nodes, np.uint32), np.zeros(nodes, np.uint32)
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


@kernel(number, read, whole, whole, whole)
def dot(x: Any, a: int, b: int, width: int) -> float:
    """Multiply two stretches of x; four sums at a time keep the processor busy."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    k = np.uint64(0)
    i, j, n = np.uint64(a), np.uint64(b), np.uint64(width)
    four, one = np.uint64(4), np.uint64(1)
    while k + four <= n:
        s0 += x[i + k] * x[j + k]
        s1 += x[i + k + one] * x[j + k + one]
        s2 += x[i + k + np.uint64(2)] * x[j + k + np.uint64(2)]
        s3 += x[i + k + np.uint64(3)] * x[j + k + np.uint64(3)]
        k += four
    while k < n:
        s0 += x[i + k] * x[j + k]
        k += one
    return (s0 + s1) + (s2 + s3)


@kernel(nothing, index, index, write_index)
def narrow_order(tail: Index, head: Index, place: Index) -> None:
    """Number the nodes so that edges join near numbers: breadth first, then backwards.

    Reference: Cuthill and McKee (1969), reversed by George (1971).
    """
    nodes = len(place)
    begin = np.zeros(nodes + 1, np.uint32)
    for e in range(len(tail)):
        begin[tail[e]] += np.uint32(1)
        begin[head[e]] += np.uint32(1)
    leaf = begin[:nodes] == 1  # good places to begin
    total = np.uint32(0)
    for v in range(nodes + 1):
        total += begin[v]
        begin[v] = total
    near = np.empty(2 * len(tail), np.uint32)
    for e in range(len(tail)):
        u, v = tail[e], head[e]
        begin[u] -= np.uint32(1)
        near[begin[u]] = v
        begin[v] -= np.uint32(1)
        near[begin[v]] = u
    unseen = np.uint32(nodes)
    place[:] = unseen
    queue = np.empty(nodes, np.uint32)
    last = 0
    first = 0
    for attempt in range(2 * nodes):
        root = attempt % nodes
        if place[root] == unseen and (leaf[root] or attempt >= nodes):
            queue[last] = np.uint32(root)
            place[root] = np.uint32(nodes - 1 - last)
            last += 1
        while first < last:
            u = queue[first]
            first += 1
            for k in range(begin[u], begin[u + 1]):
                v = near[k]
                if place[v] == unseen:
                    queue[last] = v
                    place[v] = np.uint32(nodes - 1 - last)
                    last += 1


@kernel(number, index, index, index, write_index)
def profile(tail: Index, head: Index, place: Index, begin: Index) -> float:
    """Write where each row of the Cholesky factor begins; return the operations it would take."""
    nodes = len(place)
    first = np.arange(nodes, dtype=np.uint32)
    for e in range(len(tail)):
        u, v = place[tail[e]], place[head[e]]
        if u < v:
            first[v] = min(first[v], u)
        else:
            first[u] = min(first[u], v)
    operations, size = 0.0, 0
    begin[0] = np.uint32(0)
    for v in range(nodes):
        width = v - first[v] + 1
        operations += 0.5 * width * width
        size += width
        begin[v + 1] = np.uint32(size)
    return operations


@kernel(nothing, index, index, index, index, read, write)
def solve_directly(
    tail: Index, head: Index, place: Index, begin: Index, diagonal: Any, x: Any
) -> None:
    """Replace the right-hand side x by the solution, by Cholesky's method inside the profile.

    The matrix has -1 for each edge off its diagonal. Row i of the factor ends with its diagonal,
    before begin[i + 1], and holds the begin[i + 1] - begin[i] columns up to i.
    """
    nodes = len(x)
    factor = np.zeros(begin[nodes])
    right = np.empty(nodes)
    for v in range(nodes):
        factor[begin[place[v] + 1] - 1] = diagonal[v]
        right[place[v]] = x[v]
    for e in range(len(tail)):
        u, v = place[tail[e]], place[head[e]]
        if u > v:
            u, v = v, u
        factor[begin[v + 1] - 1 - (v - u)] -= 1.0
    for i in range(nodes):
        end = int(begin[i + 1]) - 1  # the diagonal of row i
        left = i - (end - int(begin[i]))  # its first column
        solved = right[i]
        pivot = factor[end]
        for j in range(left, i):
            end_j = int(begin[j + 1]) - 1
            width = min(j - left, end_j - int(begin[j]))
            entry = factor[end - (i - j)]
            if width > 0:
                entry -= dot(factor, end - (i - j) - width, end_j - width, width)
            if entry != 0.0:
                entry /= factor[end_j]
                factor[end - (i - j)] = entry
                pivot -= entry * entry
                solved -= entry * right[j]
        factor[end] = np.sqrt(max(pivot, SMALLEST_PIVOT))
        right[i] = solved / factor[end]
    for i in range(nodes - 1, -1, -1):
        end = int(begin[i + 1]) - 1
        right[i] /= factor[end]
        for k in range(int(begin[i]), end):
            right[i - (end - k)] -= factor[k] * right[i]
    for v in range(nodes):
        x[v] = right[place[v]]


@kernel(nothing, index, index, read, write)
def solve_iteratively(tail: Index, head: Index, diagonal: Any, x: Any) -> None:
    """Replace the right-hand side x by an approximate solution, by conjugate gradients."""
    nodes = len(x)
    residual = x.copy()
    towards = residual / diagonal
    image = np.empty(nodes)
    x[:] = 0.0
    size = 0.0
    for v in range(nodes):
        size += residual[v] * towards[v]
    goal = size * min(1e-4, size)
    for _ in range(2000):
        image[:] = diagonal * towards
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


@kernel(nothing, index, index, number, write)
def solve(tail: Index, head: Index, damping: float, x: Any) -> None:
    """Replace the right-hand side x by the solution of (L + damping) x = right.

    Trees are eliminated exactly. The core is solved directly where its profile is narrow, else
    by conjugate gradients. Edges must join two different nodes.
    """
    nodes = len(x)
    diagonal = np.empty(nodes)
    leaf, stem = np.empty(nodes, np.uint32), np.empty(nodes, np.uint32)
    peeled = peel_leaves(tail, head, damping, diagonal, x, leaf, stem)
    own = np.empty(peeled)
    gone = np.zeros(nodes, np.bool_)
    for k in range(peeled):
        gone[leaf[k]] = True
        own[k] = x[leaf[k]]
        x[leaf[k]] = 0.0
    ends = np.empty((2, len(tail)), np.uint32)
    count = 0
    for e in range(len(tail)):
        if not (gone[tail[e]] or gone[head[e]]):
            ends[0, count], ends[1, count] = tail[e], head[e]
            count += 1
    core_tail, core_head = ends[0, :count], ends[1, :count]
    place, begin = np.empty(nodes, np.uint32), np.empty(nodes + 1, np.uint32)
    narrow_order(core_tail, core_head, place)
    if profile(core_tail, core_head, place, begin) <= DENSE * (count + nodes):
        solve_directly(core_tail, core_head, place, begin, diagonal, x)
    else:
        solve_iteratively(core_tail, core_head, diagonal, x)
    for k in range(peeled - 1, -1, -1):
        x[leaf[k]] = (own[k] + x[stem[k]]) / diagonal[leaf[k]]
