"""Remembered vertices, and the point that they mix to: one part of a learner's state.

The part is [count, capacity, same2 | w | sizes | last | D | rows]: how many atoms there are and may
be, the squared distance below which vertices count as one, then for each atom its weight, its size
and the round of its last visit, all squared distances, and the atoms, as `kernels/atoms.py` has
them. w and the rows of D are padded to a multiple of eight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from hedgerow import kernels
from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.simd import WIDTH
from hedgerow.inputs import Vector
from hedgerow.kernels import atoms, pairwise
from hedgerow.kernels.vectors import dot

Array = Any
COUNT, CAPACITY, SAME2, HEADER = range(4)
SAME = 1e-6
"""Vertices nearer than this, in diameters, count as one."""
MOST_STEPS = 4
"""The most pairwise steps of one descent; what is left comes in later rounds. With 200 in its place
a round takes twice as long on small sets, and twelve development games cost and violate as much."""


def part_size(n: int, capacity: int) -> int:
    """Return how many numbers this many atoms take."""
    width = _padded(capacity)
    return HEADER + width + capacity * (n + width + 2)


def scratch_size(n: int, capacity: int) -> int:
    """Return how many numbers of scratch memory the kernels need: a vertex, and two by atom."""
    return n + 2 * _padded(capacity)


def _padded(count: int) -> int:
    return -(-count // WIDTH) * WIDTH  # as `pairwise.padded` has it


@kernel(atoms.views, write, whole)
def unpack(part: Array, n: int) -> Any:
    """Return the weights, sizes, last visits, squared distances and rows, each of them flat."""
    K = int(part[CAPACITY])
    width = pairwise.padded(K)
    sizes = HEADER + width
    D = sizes + 2 * K
    rows = D + K * width
    return (
        part[HEADER:sizes],
        part[sizes : sizes + K],
        part[sizes + K : D],
        part[D:rows],
        part[rows : rows + K * n],
    )


def begin(part: Vector, start: Vector, capacity: int, diameter: float) -> None:
    """One atom, the bulk, has all the weight."""
    n, width = start.size, _padded(capacity)
    rows = part_size(n, capacity) - capacity * n
    part[COUNT], part[CAPACITY], part[SAME2] = 1.0, capacity, (SAME * diameter) ** 2
    part[HEADER], part[HEADER + width] = 1.0, n  # its weight and its size
    part[rows : rows + n] = start


@kernel(nothing, write, write)
def mix(x: Array, part: Array) -> None:
    """Write sum of w_k a_k into x; the weights sum to one again."""
    count = int(part[COUNT])
    w, sizes, _, _, rows = unpack(part, len(x))
    pairwise.normalise(w, count)
    atoms.mixture(x, rows, sizes, w, count)


@kernel(atoms.scratch_views, write, write, whole)
def scratched(part: Array, scratch: Array, n: int) -> Any:
    """Return memory for a vertex, for the gradient by the weights, and for gains."""
    width = pairwise.padded(int(part[CAPACITY]))
    return scratch[:n], scratch[n : n + width], scratch[n + width : n + 2 * width]


@kernel(nothing, write, write, read)
def multiply(part: Array, scratch: Array, d: Array) -> None:
    """Write the gradient g_k = <d, a_k>."""
    count = int(part[COUNT])
    _, sizes, _, _, rows = unpack(part, len(d))
    g = scratched(part, scratch, len(d))[1]
    atoms.products(g, rows, sizes, count, d)
    for k in range(count, len(g)):
        g[k] = math.inf


@kernel(nothing, write, write, read)
def level(part: Array, scratch: Array, d: Array) -> None:
    """Make g what `multiply` would write, given that up to one constant for all atoms."""
    _, _, _, _, rows = unpack(part, len(d))
    g = scratched(part, scratch, len(d))[1]
    constant = dot(d, rows[: len(d)]) - g[0]
    for k in range(int(part[COUNT])):
        g[k] += constant


@kernel(types.boolean, write, write, whole, number, number)
def descend(part: Array, scratch: Array, n: int, beta: float, tolerance: float) -> bool:
    """Lower <g, w' - w> + beta ||x' - x||^2 on the hull of the atoms; say whether x has moved."""
    count = int(part[COUNT])
    w, _, _, D, _ = unpack(part, n)
    _, g, gain = scratched(part, scratch, n)
    return pairwise.descend(w, g, D, count, beta, tolerance, MOST_STEPS, gain) > 0


@kernel(number, write, write, read, read)
def lacks(part: Array, scratch: Array, v: Array, d: Array) -> float:
    """Return how much lower <d, v> is than every g_k = <d, a_k>; negative if it is not."""
    g = scratched(part, scratch, len(d))[1]
    return pairwise.least_of(g, int(part[COUNT])) - dot(d, v)


@kernel(whole, write, write, write, read, number)
def admit(part: Array, scratch: Array, v: Array, d: Array, t: float) -> int:
    """Remember a vertex that the oracle gave in round t, and its <d, v>; return which atom it is.

    The gradient is that of `multiply` with the same d.
    """
    count = int(part[COUNT])
    remembered = unpack(part, len(v))
    _, _, last, _, rows = remembered
    new, g, far2 = scratched(part, scratch, len(v))
    k = atoms.admit(remembered, count, v, new, far2, part[SAME2])
    last[k] = t
    part[COUNT] = max(count, k + 1)
    g[k] = dot(d, v)
    g[0] = dot(d, rows[: len(v)])  # by a merge it may have moved
    return k


@kernel(nothing, write, write, whole, whole, number, number)
def step_towards(part: Array, scratch: Array, n: int, k: int, beta: float, sigma: float) -> None:
    """X += sigma (a_k - x)."""
    w, _, _, D, _ = unpack(part, n)
    _, g, spread = scratched(part, scratch, n)
    pairwise.step_towards(w, g, D, int(part[COUNT]), k, beta, sigma, spread)


class Atoms:
    """A point x = sum of w_k a_k: atom 0 is the bulk, any point of the set; the others vertices.

    At most `capacity` atoms are stored. One more vertex replaces the vertex without weight that the
    oracle gave longest ago; where all have weight, the lightest is
    merged into the bulk, a_0 := (w_0 a_0 + w_k a_k) / (w_0 + w_k). Neither moves x. Squared
    distances of all atoms are kept: they are the Gram matrix as far as mixtures depend on it, and
    those of dense atoms lose nothing to cancellation where the set is far from the origin.

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
        weights: Vector = unpack(self._part, self._n)[0][: self.count].copy()
        return weights

    @property
    def sizes(self) -> Vector:
        """How many numbers each atom is stored with, n where it is dense."""
        sizes: Vector = unpack(self._part, self._n)[1][: self.count].copy()
        return sizes

    @property
    def distances2(self) -> Vector:
        """The squared distances of all pairs, a copy."""
        w, _, _, D, _ = unpack(self._part, self._n)
        squared: Vector = D.reshape(-1, w.size)[: self.count, : self.count].copy()
        return squared

    def points(self) -> Vector:
        """Return the atoms as the rows of a matrix."""
        points = np.zeros((self.count, self._n))
        _, sizes, _, _, rows = unpack(self._part, self._n)
        for point, row, size in zip(points, rows.reshape(-1, self._n), sizes, strict=False):
            kernels.atoms.add(point, row, int(size), 1.0)
        return points
