"""Remembered vertices, sparse where they are sparse, and the point that they mix to.

`rows` has n numbers for each atom. With `size` nonzero entries, 2 size <= n, a row is sparse: the
indices and then the values; otherwise it is the dense vector and its size is n. `D` has the squared
distances of each atom to all; its rows are as long as w, which is padded.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numpy import uint32

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, vabs
from hedgerow.kernels.vectors import dot

Array = Any
BLOCK = 4 * WIDTH
views = types.UniTuple(write, 5)
"""Weights, sizes, last visits, squared distances and rows of atoms, each of them flat."""
scratch_views = types.UniTuple(write, 3)


@kernel(whole, write, read)
def encode(row: Array, v: Array) -> int:
    """Write v as a row; return its size."""
    n, size, begin = len(v), 0, 0
    while begin < n:
        end = min(begin + BLOCK, n)
        if end - begin == BLOCK:  # most are zeros
            one, two = vabs(load(v, begin)), vabs(load(v, begin + WIDTH))
            three = vabs(load(v, begin + 2 * WIDTH))
            four = vabs(load(v, begin + 3 * WIDTH))
            if hsum(one + two + (three + four)) == 0.0:
                begin = end
        for i in range(begin, end):
            row[size] = i
            size += v[i] != 0.0
        begin = end
    if 2 * size > n:
        for i in range(n):
            row[i] = v[i]
        return n
    for j in range(size):
        row[size + j] = v[uint32(row[j])]
    for j in range(2 * size, n):
        row[j] = 0.0
    return size


@kernel(number, write, whole, read)
def inner(row: Array, size: int, d: Array) -> float:
    """Return <d, atom>."""
    if size == len(row):
        return dot(d, row)
    total = 0.0
    for j in range(size):
        total += d[uint32(row[j])] * row[size + j]
    return total


@kernel(nothing, write, write, whole, number)
def add(x: Array, row: Array, size: int, weight: float) -> None:
    """Add weight times the atom to x."""
    if size == len(row):
        for i in range(size):
            x[i] += weight * row[i]
    else:
        for j in range(size):
            x[uint32(row[j])] += weight * row[size + j]


@kernel(number, write, write)
def dense_distance2(a: Array, b: Array) -> float:
    """Return the squared distance of two dense vectors."""
    lanes, rest = broadcast(0.0), 0.0
    whole = len(a) - len(a) % WIDTH
    for i in range(0, whole, WIDTH):
        e = load(a, i) - load(b, i)
        lanes += e * e
    for i in range(whole, len(a)):
        rest += (a[i] - b[i]) * (a[i] - b[i])
    return hsum(lanes) + rest


@kernel(number, write, number, write, whole)
def distance2(v: Array, norm2: float, row: Array, size: int) -> float:
    """Return ||v - a||^2 for an atom a, given ||v||^2 as `norm2` has it: equal ones give 0."""
    if size == len(v):
        return dense_distance2(v, row)
    apart = inside = 0.0
    for j in range(size):
        i = uint32(row[j])
        e = row[size + j] - v[i]
        apart += e * e
        inside += v[i] * v[i]
    return apart + max(0.0, norm2 - inside)


@kernel(number, write, whole)
def squares(row: Array, size: int) -> float:
    """Return ||a||^2 for an atom a; a sparse one is added up in the order of `distance2`."""
    if size == len(row):
        return dot(row, row)
    total = 0.0
    for j in range(size, 2 * size):
        total += row[j] * row[j]
    return total


@kernel(nothing, write, write, write, write, whole)
def mixture(x: Array, rows: Array, sizes: Array, w: Array, count: int) -> None:
    """Write the sum of w_k a_k into x."""
    n = len(x)
    for i in range(n):
        x[i] = 0.0 + w[0] * rows[i]  # atom 0 is dense; adding 0.0 avoids -0.0
    for k in range(1, count):
        if w[k] > 0.0:
            add(x, rows[k * n : (k + 1) * n], int(sizes[k]), w[k])


@kernel(nothing, write, write, write, whole, read)
def products(g: Array, rows: Array, sizes: Array, count: int, d: Array) -> None:
    """g_k = <d, a_k>."""
    n = len(d)
    for k in range(count):
        g[k] = inner(rows[k * n : (k + 1) * n], int(sizes[k]), d)


@kernel(whole, write, write, whole)
def worst(w: Array, last: Array, count: int) -> int:
    """Return the vertex without weight that came longest ago, or else the lightest vertex."""
    k, least, oldest = 1, w[1], last[1]
    for i in range(2, count):
        if w[i] < least or (w[i] == least == 0.0 and last[i] < oldest):
            k, least, oldest = i, w[i], last[i]
    return k


@kernel(nothing, write, write, write, write, whole, whole)
def merge(rows: Array, sizes: Array, w: Array, D: Array, count: int, k: int) -> None:
    """Give atom k's weight to the bulk, atom 0, and move that so that the mixture stays.

    The new distances are Stewart's theorem, so that no other atom is read:
    ||(1 - theta) a + theta b - c||^2 = (1 - theta) ||a - c||^2 + theta ||b - c||^2
    - theta (1 - theta) ||a - b||^2. Each merge shrinks the rounding errors of those before.
    """
    n, width = len(rows) // len(sizes), len(w)
    bulk, theta = rows[:n], w[k] / (w[0] + w[k])
    for i in range(n):
        bulk[i] *= 1.0 - theta
    add(bulk, rows[k * n : (k + 1) * n], int(sizes[k]), theta)
    w[0] += w[k]
    w[k] = 0.0
    between = theta * (1.0 - theta) * D[k]
    for i in range(1, count):
        moved = max(0.0, (1.0 - theta) * D[i] + theta * D[k * width + i] - between)
        D[i] = D[i * width] = moved


@kernel(whole, views, whole, write, write, write, number)
def admit(atoms: Any, count: int, v: Array, new: Array, far2: Array, same2: float) -> int:
    """Find v among the vertices, or store it, in place of another if need be; return its place.

    `atoms` are w, sizes, last visits, D and rows; `new` and `far2` are scratch memory.
    """
    w, sizes, last, D, rows = atoms
    n, width = len(v), len(w)
    m = encode(new, v)
    norm2 = squares(new, m)
    for k in range(count):
        far2[k] = distance2(v, norm2, rows[k * n : (k + 1) * n], int(sizes[k]))
    for k in range(1, count):
        if far2[k] <= same2:
            return k
    k = count
    if count == len(sizes):
        k = worst(w, last, count)
        if w[k] > 0.0:
            merge(rows, sizes, w, D, count, k)
            far2[0] = distance2(v, norm2, rows[:n], n)
    sizes[k] = m
    w[k] = far2[k] = 0.0
    for i in range(n):
        rows[k * n + i] = new[i]
    for i in range(max(count, k + 1)):
        D[k * width + i] = D[i * width + k] = far2[i]
    return k
