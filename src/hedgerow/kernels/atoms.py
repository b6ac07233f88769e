"""Remembered vertices, sparse where they are sparse, and the point that they mix to.

`rows` has n numbers for each atom. With `size` nonzero entries, 2 size <= n, a row is sparse: the
indices and then the values; otherwise it is the dense vector and its size is n. `D` has the squared
distances of each atom to all; its rows are as long as w, which has room for more than the atoms.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels.jit import kernel, nothing, number, read, whole, write
from hedgerow.kernels.simd import WIDTH, broadcast, hsum, load, vabs
from hedgerow.kernels.vectors import dot

Array = Any
BLOCK = 4 * WIDTH
views = types.UniTuple(write, 5)
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
        row[size + j] = v[int(row[j])]
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
        total += d[int(row[j])] * row[size + j]
    return total


@kernel(nothing, write, write, whole, number)
def add(x: Array, row: Array, size: int, weight: float) -> None:
    """Add weight times the atom to x."""
    if size == len(row):
        for i in range(size):
            x[i] += weight * row[i]
    else:
        for j in range(size):
            x[int(row[j])] += weight * row[size + j]


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


@kernel(number, write, write, whole, write, whole)
def distance2(v: Array, new: Array, m: int, row: Array, size: int) -> float:
    """Return the squared distance of v and an atom: a sum of squares, so that equal ones give 0.

    `new` is v as a row of size m. Sparse atoms are taken out of v, and v is put together again.
    """
    n = len(v)
    if size == n:
        return dense_distance2(v, row)
    total = 0.0
    for j in range(size):
        i = int(row[j])
        e = row[size + j] - v[i]
        total += e * e
        v[i] = 0.0
    if m == n:
        total += dot(v, v)
        for i in range(n):
            v[i] = new[i]
    else:
        for j in range(m):
            i = int(new[j])
            total += v[i] * v[i]
            v[i] = new[m + j]
    return total


@kernel(number, write, write, whole, number)
def part_of_distance2(v: Array, row: Array, size: int, enough: float) -> float:
    """Return a part of the squared distance of v and an atom: above `enough` it may end."""
    n, total = len(v), 0.0
    for j in range(size):
        e = row[j] - v[j] if size == n else row[size + j] - v[int(row[j])]
        total += e * e
        if total > enough:
            break
    return total


@kernel(nothing, write, write, write, write, whole)
def mixture(x: Array, rows: Array, sizes: Array, w: Array, count: int) -> None:
    """Write the sum of w_k a_k into x."""
    n = len(x)
    for i in range(n):
        x[i] = 0.0
    for k in range(count):
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
    k = 1
    for i in range(2, count):
        if w[i] == 0.0 and w[k] == 0.0:
            if last[i] < last[k]:
                k = i
        elif w[i] < w[k]:
            k = i
    return k


@kernel(nothing, write, write, write, write, whole, whole)
def merge(rows: Array, sizes: Array, w: Array, D: Array, count: int, k: int) -> None:
    """Give atom k's weight to the bulk, atom 0, and move that so that the mixture stays.

    The new distances are Stewart's theorem, so that no other atom is read:
    ||(1 - theta) a + theta b - c||^2 = (1 - theta) ||a - c||^2 + theta ||b - c||^2
    - theta (1 - theta) ||a - b||^2. Each merge shrinks the rounding errors of those before.
    """
    if w[k] == 0.0:
        return
    n, room = len(rows) // len(sizes), len(w)
    bulk, theta = rows[:n], w[k] / (w[0] + w[k])
    for i in range(n):
        bulk[i] *= 1.0 - theta
    add(bulk, rows[k * n : (k + 1) * n], int(sizes[k]), theta)
    w[0] += w[k]
    w[k] = 0.0
    between = theta * (1.0 - theta) * D[k]
    for i in range(1, count):
        moved = max(0.0, (1.0 - theta) * D[i] + theta * D[k * room + i] - between)
        D[i] = D[i * room] = moved


@kernel(whole, write, write, write, write, write, whole, write, write, number)
def admit(
    rows: Array,
    sizes: Array,
    w: Array,
    last: Array,
    D: Array,
    count: int,
    v: Array,
    new: Array,
    same2: float,
) -> int:
    """Find v among the vertices, or make room for it and write it down; return its place.

    `new` is scratch memory, and v is left as it was.
    """
    n, room = len(v), len(w)
    m = encode(new, v)
    for k in range(1, count):
        row, size = rows[k * n : (k + 1) * n], int(sizes[k])
        part = part_of_distance2(v, row, size, same2)
        if part <= same2 and distance2(v, new, m, row, size) <= same2:
            return k
    k = count
    if count == len(sizes):
        k = worst(w, last, count)
        merge(rows, sizes, w, D, count, k)
    sizes[k] = m
    w[k] = 0.0
    for i in range(n):
        rows[k * n + i] = new[i]
    for i in range(max(count, k + 1)):
        far2 = distance2(v, new, m, rows[i * n : (i + 1) * n], int(sizes[i]))
        D[k * room + i] = D[i * room + k] = far2
    return k
