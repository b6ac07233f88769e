"""Remembered vertices, sparse where they are sparse, and the point that they mix to.

Row k of `rows` holds atom k. With `size` nonzero entries, 2 size <= n, it is sparse: the indices
and then the values; otherwise it is the dense vector and its size is n. D[i, j] is the squared
distance of two atoms.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels.jit import kernel, nothing, number, read, whole, write

Array = Any
matrix = types.Array(types.float64, 2, "C")


@kernel(whole, write, read)
def encode(row: Array, v: Array) -> int:
    """Write v as a row; return its size."""
    n = len(v)
    size = 0
    for i in range(n):
        size += v[i] != 0.0
    if 2 * size > n:
        row[:] = v
        return n
    j = 0
    for i in range(n):
        if v[i] != 0.0:
            row[j] = i
            row[size + j] = v[i]
            j += 1
    row[2 * size :] = 0.0
    return size


@kernel(number, write, whole, read)
def inner(row: Array, size: int, d: Array) -> float:
    """Return <d, atom>."""
    total = 0.0
    if size == len(row):
        for i in range(size):
            total += d[i] * row[i]
    else:
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


@kernel(number, write, write, whole)
def distance2_from_dense(dense: Array, row: Array, size: int) -> float:
    """Return the squared distance of a dense vector and any row."""
    n = len(dense)
    total = 0.0
    j = 0
    for i in range(n):
        e = dense[i]
        if size == n:
            e -= row[i]
        elif j < size and int(row[j]) == i:
            e -= row[size + j]
            j += 1
        total += e * e
    return total


@kernel(number, write, whole, write, whole)
def distance2(a: Array, m: int, b: Array, k: int) -> float:
    """Return the squared distance of two rows: a sum of squares, so that equal ones give 0."""
    n = len(a)
    if m < n and k == n:
        return distance2_from_dense(b, a, m)
    if m == n:
        return distance2_from_dense(a, b, k)
    total = 0.0
    i = j = 0
    while i < m or j < k:
        if j == k or (i < m and a[i] < b[j]):
            e = a[m + i]
            i += 1
        elif i == m or b[j] < a[i]:
            e = b[k + j]
            j += 1
        else:
            e = a[m + i] - b[k + j]
            i += 1
            j += 1
        total += e * e
    return total


@kernel(nothing, write, matrix, write, write, whole)
def mixture(x: Array, rows: Array, sizes: Array, w: Array, count: int) -> None:
    """Write the sum of w_k a_k into x."""
    x[:] = 0.0
    for k in range(count):
        if w[k] > 0.0:
            add(x, rows[k], int(sizes[k]), w[k])


@kernel(nothing, write, matrix, write, whole, read)
def products(g: Array, rows: Array, sizes: Array, count: int, d: Array) -> None:
    """g_k = <d, a_k>."""
    for k in range(count):
        g[k] = inner(rows[k], int(sizes[k]), d)


@kernel(nothing, matrix, write, matrix, whole, whole)
def measure(rows: Array, sizes: Array, D: Array, count: int, k: int) -> None:
    """Measure the distances from atom k to all others."""
    for i in range(count):
        D[k, i] = D[i, k] = distance2(rows[i], int(sizes[i]), rows[k], int(sizes[k]))


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


@kernel(nothing, matrix, write, write, matrix, whole, whole)
def merge(rows: Array, sizes: Array, w: Array, D: Array, count: int, k: int) -> None:
    """Give atom k's weight to the bulk, atom 0, and move that so that the mixture stays.

    The new distances are Stewart's theorem, so that no other atom is read:
    ||(1 - theta) a + theta b - c||^2 = (1 - theta) ||a - c||^2 + theta ||b - c||^2
    - theta (1 - theta) ||a - b||^2. Each merge shrinks the rounding errors of those before.
    """
    if w[k] == 0.0:
        return
    theta = w[k] / (w[0] + w[k])
    for i in range(rows.shape[1]):
        rows[0, i] *= 1.0 - theta
    add(rows[0], rows[k], int(sizes[k]), theta)
    w[0] += w[k]
    w[k] = 0.0
    between = theta * (1.0 - theta) * D[0, k]
    for i in range(1, count):
        D[0, i] = D[i, 0] = max(0.0, (1.0 - theta) * D[0, i] + theta * D[k, i] - between)


@kernel(whole, matrix, write, write, write, matrix, whole, read, write, number)
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
    """Find v among the vertices, or make room for it and write it down; return its place."""
    size = encode(new, v)
    for k in range(1, count):
        if distance2(new, size, rows[k], int(sizes[k])) <= same2:
            return k
    k = count
    if count == len(sizes):
        k = worst(w, last, count)
        merge(rows, sizes, w, D, count, k)
    rows[k] = new
    sizes[k] = size
    w[k] = 0.0
    measure(rows, sizes, D, max(count, k + 1), k)
    return k
