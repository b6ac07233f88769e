"""Remembered vertices, sparse where they are sparse.

A row has n numbers. With `size` nonzero entries, 2 size <= n, it is sparse: the indices and then
the values; otherwise it is the dense vector and its size is n.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numpy import uint32

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.simd import WIDTH, hsum, load, vabs
from hedgerow.kernels.vectors import dot

Array = Any
BLOCK = 4 * WIDTH
views = types.UniTuple(write, 3)
"""Weights, sizes and rows of atoms, each of them flat."""


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
