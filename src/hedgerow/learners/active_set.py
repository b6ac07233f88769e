"""A point as a convex combination of vertices that never forgets one: what away steps need.

One part of a learner's state, [count, capacity, merged | w | sizes | rows]: how many vertices there
are and may be, how often two were merged; for each vertex its weight and its size, and the vertices
as `kernels/atoms.py` has them.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow.inputs import Vector
from hedgerow.kernels import atoms

Array = Any
COUNT, CAPACITY, MERGED, HEADER = range(4)
DEPENDENT = 1e-9
"""A pivot below this share of the largest entry shows that vertices are affinely dependent."""


def part_size(n: int, capacity: int) -> int:
    """Return how many numbers the part has."""
    return HEADER + capacity * (n + 2)


def scratch_size(n: int, capacity: int) -> int:
    """Return how many numbers of scratch memory the kernels need."""
    return max(n, (n + 1) * (n + 1) if capacity >= n + 2 else 0)


def begin(part: Vector, vertex: Vector, capacity: int) -> None:
    """Start with one vertex, of weight 1."""
    part[CAPACITY] = capacity
    restart(part, vertex)


@kernel(atoms.views, write, whole)
def unpack(part: Array, n: int) -> Any:
    """Return the weights, the sizes and the rows, which are flat."""
    K = int(part[CAPACITY])
    sizes, rows = HEADER + K, HEADER + 2 * K
    return part[HEADER:sizes], part[sizes:rows], part[rows : rows + K * n]


@kernel(nothing, write, read)
def restart(part: Array, v: Array) -> None:
    """Keep one vertex, of weight 1."""
    w, sizes, rows = unpack(part, len(v))
    sizes[0] = atoms.encode(rows[: len(v)], v)
    w[0] = part[COUNT] = 1.0


@kernel(nothing, write, write)
def mix(x: Array, part: Array) -> None:
    """Make the weights sum to one again, and write the sum of w_k a_k into x."""
    n, count = len(x), int(part[COUNT])
    w, sizes, rows = unpack(part, n)
    total = 0.0
    for k in range(count):
        total += w[k]
    for i in range(n):
        x[i] = 0.0
    for k in range(count):
        w[k] /= total
        atoms.add(x, rows[k * n : (k + 1) * n], int(sizes[k]), w[k])


@kernel(whole, write, read, write)
def worst(part: Array, d: Array, a: Array) -> int:
    """Find the vertex of largest <d, a_k>, the away vertex; write it into a."""
    n, k, most = len(d), 0, -math.inf
    _, sizes, rows = unpack(part, n)
    for j in range(int(part[COUNT])):
        product = atoms.inner(rows[j * n : (j + 1) * n], int(sizes[j]), d)
        if product > most:
            k, most = j, product
    for i in range(n):
        a[i] = 0.0
    atoms.add(a, rows[k * n : (k + 1) * n], int(sizes[k]), 1.0)
    return k


@kernel(number, write, whole, whole)
def longest_away(part: Array, k: int, n: int) -> float:
    """Return the largest tau for which x + tau (x - a_k) stays in the hull: w_k/(1 - w_k)."""
    w = unpack(part, n)[0]
    return w[k] / (1.0 - w[k]) if w[k] < 1.0 else math.inf


@kernel(nothing, write, whole, whole)
def drop(part: Array, k: int, n: int) -> None:
    """Remove a vertex; the last one takes its place, and `mix` rescales the weights."""
    w, sizes, rows = unpack(part, n)
    last = int(part[COUNT]) - 1
    w[k], sizes[k] = w[last], sizes[last]
    for i in range(n):
        rows[k * n + i] = rows[last * n + i]
    part[COUNT] = last


@kernel(nothing, write, whole, whole, number)
def step_away(part: Array, k: int, n: int, tau: float) -> None:
    """Move the weights as x += tau (x - a_k) does."""
    w = unpack(part, n)[0]
    for j in range(int(part[COUNT])):
        w[j] *= 1.0 + tau
    w[k] = max(0.0, w[k] - tau)


@kernel(whole, write, write, whole)
def find(part: Array, row: Array, size: int) -> int:
    """Return the place of a vertex, or how many there are if it is new."""
    n, count = len(row), int(part[COUNT])
    _, sizes, rows = unpack(part, n)
    for k in range(count):
        if int(sizes[k]) == size:
            i = 0
            while i < n and rows[k * n + i] == row[i]:
                i += 1
            if i == n:
                return k
    return count


@kernel(whole, write, whole)
def lightest(part: Array, n: int) -> int:
    """Return the vertex of least weight."""
    w, k = unpack(part, n)[0], 0
    for j in range(1, int(part[COUNT])):
        if w[j] < w[k]:
            k = j
    return k


@kernel(nothing, write, whole, write)
def merge(part: Array, n: int, a: Array) -> None:
    """Replace the two lightest vertices by their mean, which is no vertex; x stays. a is memory."""
    w, sizes, rows = unpack(part, n)
    k = lightest(part, n)
    mass = w[k]
    for i in range(n):
        a[i] = 0.0
    atoms.add(a, rows[k * n : (k + 1) * n], int(sizes[k]), mass)
    drop(part, k, n)
    k = lightest(part, n)
    atoms.add(a, rows[k * n : (k + 1) * n], int(sizes[k]), w[k])
    w[k] += mass
    for i in range(n):
        a[i] /= w[k]
    sizes[k] = atoms.encode(rows[k * n : (k + 1) * n], a)
    part[MERGED] += 1.0


@kernel(whole, write, whole, whole)
def eliminate(matrix: Array, m: int, columns: int) -> int:
    """Reduce a matrix of m rows and more columns; return the first column without a pivot.

    The first columns then form the identity, so that column has the coordinates of the vector in
    terms of those before it. Gauss and Jordan, with the largest pivot of a column.
    """
    largest = 0.0
    for i in range(m * columns):
        largest = max(largest, abs(matrix[i]))
    for c in range(m):
        p = c
        for r in range(c + 1, m):
            if abs(matrix[r * columns + c]) > abs(matrix[p * columns + c]):
                p = r
        pivot = matrix[p * columns + c]
        if abs(pivot) <= DEPENDENT * largest:
            return c
        for j in range(columns):
            one, two = matrix[c * columns + j], matrix[p * columns + j] / pivot
            matrix[p * columns + j], matrix[c * columns + j] = one, two
        for r in range(m):
            factor = matrix[r * columns + c]
            if r != c and factor != 0.0:
                for j in range(columns):
                    matrix[r * columns + j] -= factor * matrix[c * columns + j]
    return m


@kernel(nothing, write, whole, write)
def reduce(part: Array, n: int, matrix: Array) -> None:
    """Drop one of n + 2 vertices without moving x (Caratheodory): they are affinely dependent.

    Column k - 1 of the matrix is a_k - a_0. With coordinates y of column c in terms of those before
    it, a_{c+1} - a_0 = sum of y_k (a_{k+1} - a_0); moving the weights along this dependency, until
    one of them is 0, changes no sum.
    """
    w, sizes, rows = unpack(part, n)
    columns = int(part[COUNT]) - 1
    for i in range(n * columns):
        matrix[i] = 0.0
    for k in range(columns + 1):
        row, size = rows[k * n : (k + 1) * n], int(sizes[k])
        for j in range(size):
            i, entry = (j, row[j]) if size == n else (int(row[j]), row[size + j])
            if k > 0:
                matrix[i * columns + k - 1] += entry
            else:
                for c in range(columns):
                    matrix[i * columns + c] -= entry
    c = eliminate(matrix, n, columns)
    # the weight of a_{c+1} goes down by tau, that of a_{k+1} up by tau y_k, that of a_0 by the rest
    rest = 1.0
    for k in range(c):
        rest -= matrix[k * columns + c]
    gone, tau = c + 1, w[c + 1]
    for k in range(c + 1):
        y = rest if k == 0 else matrix[(k - 1) * columns + c]
        if y < 0.0 and -w[k] / y < tau:
            gone, tau = k, -w[k] / y
    for k in range(c + 1):
        y = rest if k == 0 else matrix[(k - 1) * columns + c]
        w[k] = max(0.0, w[k] + tau * y)
    w[c + 1] = max(0.0, w[c + 1] - tau)
    drop(part, gone, n)


@kernel(nothing, write, read, number, write)
def step_towards(part: Array, v: Array, sigma: float, scratch: Array) -> None:
    """Move the weights as x += sigma (v - x) does."""
    n = len(v)
    if sigma >= 1.0:
        restart(part, v)
        return
    w, sizes, rows = unpack(part, n)
    for j in range(int(part[COUNT])):
        w[j] *= 1.0 - sigma
    row = scratch[:n]
    size = atoms.encode(row, v)
    k = find(part, row, size)
    if k == int(part[CAPACITY]):
        if k >= n + 2:
            reduce(part, n, scratch)
        else:
            merge(part, n, row)
        k = int(part[COUNT])
        size = atoms.encode(row, v)
    if k == int(part[COUNT]):
        part[COUNT] += 1.0
        w[k], sizes[k] = 0.0, size
        for i in range(n):
            rows[k * n + i] = row[i]
    w[k] += sigma
