"""Remembered vertices, and the point that they mix to: one part of a learner's state.

The part is [count, capacity, same2 | w | sizes | last | D | rows]: how many atoms there are and may
be, the squared distance below which vertices count as one, then for each atom its weight, its size
and the round of its last visit, all squared distances, and the atoms as `kernels/atoms.py` has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.kernels import atoms, pairwise
from hedgerow.kernels.jit import kernel, nothing, number, read, whole, write
from hedgerow.kernels.vectors import dot

Array = Any
COUNT, CAPACITY, SAME2, HEADER = range(4)
SAME = 1e-6
"""Vertices nearer than this, in diameters, count as one."""
MOST_STEPS = 200
"""The most pairwise steps of one descent."""

views = types.Tuple((write, write, write, atoms.matrix, atoms.matrix))


def part_size(n: int, capacity: int) -> int:
    """Return how many numbers so many atoms take."""
    return HEADER + capacity * (n + capacity + 3)


@kernel(views, write, whole)
def opened(part: Array, n: int) -> Any:
    """Return the weights, sizes, last visits, squared distances and rows."""
    K = int(part[CAPACITY])
    D = HEADER + 3 * K
    rows = D + K * K
    return (
        part[HEADER : HEADER + K],
        part[HEADER + K : HEADER + 2 * K],
        part[HEADER + 2 * K : D],
        part[D:rows].reshape((K, K)),
        part[rows : rows + K * n].reshape((K, n)),
    )


@kernel(nothing, write, read, whole, number)
def begin(part: Array, start: Array, capacity: int, diameter: float) -> None:
    """One atom, the bulk, has all the weight."""
    n = len(start)
    part[COUNT], part[CAPACITY], part[SAME2] = 1.0, capacity, (SAME * diameter) ** 2
    w, sizes, _, _, rows = opened(part, n)
    w[0], sizes[0] = 1.0, n
    for i in range(n):
        rows[0, i] = start[i]


@kernel(nothing, write, write)
def mix(x: Array, part: Array) -> None:
    """Write sum of w_k a_k into x."""
    w, sizes, _, _, rows = opened(part, len(x))
    atoms.mixture(x, rows, sizes, w, int(part[COUNT]))


@kernel(nothing, write, write, number, number, whole)
def settle(part: Array, g: Array, beta: float, tolerance: float, n: int) -> None:
    """Descend from the gradient g by the weights, and make them sum to one."""
    count = int(part[COUNT])
    w, _, _, D, _ = opened(part, n)
    pairwise.descend(w, g, D, count, beta, tolerance, MOST_STEPS)
    pairwise.normalise(w, count)


@kernel(nothing, write, write, read, number, number)
def descend(part: Array, g: Array, d: Array, beta: float, tolerance: float) -> None:
    """Lower <d, x'> + beta ||x' - x||^2 on the hull of the atoms, by pairwise steps."""
    _, sizes, _, _, rows = opened(part, len(d))
    atoms.products(g, rows, sizes, int(part[COUNT]), d)
    settle(part, g, beta, tolerance, len(d))


@kernel(number, write, write, read, read)
def lacks(part: Array, g: Array, v: Array, d: Array) -> float:
    """Return how much lower <d, v> is than <d, a_k> for every atom; negative if it is not."""
    count = int(part[COUNT])
    _, sizes, _, _, rows = opened(part, len(d))
    atoms.products(g, rows, sizes, count, d)
    least = g[0]
    for k in range(1, count):
        least = min(least, g[k])
    return least - dot(d, v)


@kernel(nothing, write, write, whole, number, read, number, number)
def descend_towards(
    part: Array, g: Array, k: int, sigma: float, d: Array, beta: float, tolerance: float
) -> None:
    """Step by sigma towards atom k first, x' = x + sigma (a_k - x), then descend."""
    count = int(part[COUNT])
    w, sizes, _, D, rows = opened(part, len(d))
    atoms.products(g, rows, sizes, count, d)
    pairwise.step_towards(w, g, D, count, k, beta, sigma)
    settle(part, g, beta, tolerance, len(d))


@kernel(whole, write, write, read, number)
def admit(part: Array, new: Array, v: Array, t: float) -> int:
    """Remember a vertex that the oracle gave in round t; return which atom it is."""
    count = int(part[COUNT])
    w, sizes, last, D, rows = opened(part, len(v))
    k = atoms.admit(rows, sizes, w, last, D, count, v, new, part[SAME2])
    last[k] = t
    part[COUNT] = max(count, k + 1)
    return k


class Atoms:
    """A point x = sum of w_k a_k: atom 0 is the bulk, any point of the set; the others vertices.

    There is room for `capacity` atoms. A vertex for which there is none takes the place of the
    vertex without weight that the oracle gave longest ago; where all have weight, the lightest is
    merged into the bulk, a_0 := (w_0 a_0 + w_k a_k) / (w_0 + w_k). Neither moves x. Squared
    distances of all atoms are kept: they are the Gram matrix as far as mixtures can feel it, and
    lose nothing to cancellation where the set is far from the origin.

    Memory: capacity (n + capacity + 3) float64. Vertices with at most n/2 nonzero entries are
    stored, multiplied and compared as sparse ones: time goes with their entries, not with n.

    Args:
        part: the atoms in a learner's state, which this object reads.
        n: the dimension.

    """

    def __init__(self, part: Vector, n: int):
        self._part, self._n = part, n

    @property
    def count(self) -> int:
        """How many atoms there are."""
        return int(self._part[COUNT])

    @property
    def weights(self) -> Vector:
        """The weights w, a copy."""
        weights: Vector = opened(self._part, self._n)[0][: self.count].copy()
        return weights

    @property
    def sizes(self) -> Vector:
        """How many numbers each atom is stored with, n where it is dense."""
        sizes: Vector = opened(self._part, self._n)[1][: self.count].copy()
        return sizes

    @property
    def distances2(self) -> Vector:
        """The squared distances of all pairs, a copy."""
        D: Vector = opened(self._part, self._n)[3][: self.count, : self.count].copy()
        return D

    def points(self) -> Vector:
        """Return the atoms as the rows of a matrix."""
        points = np.zeros((self.count, self._n))
        _, sizes, _, _, rows = opened(self._part, self._n)
        for point, row, size in zip(points, rows, sizes, strict=False):
            kernels.atoms.add(point, row, int(size), 1.0)
        return points
