"""Remembered vertices, and the point that they mix to."""

from __future__ import annotations

import numpy as np

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.snapshot import State, Stateful

SAME = 1e-6
"""Vertices nearer than this, in diameters, count as one."""
MOST_STEPS = 200
"""The most pairwise steps of one descent."""


class Atoms(Stateful):
    """A point x = sum of w_k a_k: atom 0 is the bulk, any point of the set; the others vertices.

    There is room for `capacity` atoms. A vertex for which there is none takes the place of the
    vertex without weight that the oracle gave longest ago; where all have weight, the lightest is
    merged into the bulk, a_0 := (w_0 a_0 + w_k a_k) / (w_0 + w_k). Neither moves x. Squared
    distances of all atoms are kept: they are the Gram matrix as far as mixtures can feel it, and
    lose nothing to cancellation where the set is far from the origin.

    Memory: capacity (n + capacity + 3) float64. Vertices with at most n/2 nonzero entries are
    stored, multiplied and compared as sparse ones: time goes with their entries, not with n.

    Args:
        start: the first bulk, with all the weight.
        capacity: how many atoms, at least 2.
        diameter: of the set.

    """

    def __init__(self, start: Vector, capacity: int, diameter: float):
        n = start.size
        self._same2 = (SAME * diameter) ** 2
        self._state = State(
            rows=capacity * n, sizes=capacity, w=capacity, last=capacity, D=capacity**2, count=1
        )
        state = self._state
        self._rows, self._D = state["rows"].reshape(-1, n), state["D"].reshape(-1, capacity)
        self._sizes, self._w, self._last = state["sizes"], state["w"], state["last"]
        self._rows[0], self._sizes[0], self._w[0], state["count"][0] = start, n, 1.0, 1.0
        self._gradient, self._new = np.empty(capacity), np.empty(n)

    @property
    def count(self) -> int:
        """How many atoms there are."""
        return int(self._state["count"][0])

    @property
    def weights(self) -> Vector:
        """The weights w, a copy."""
        return self._w[: self.count].copy()

    @property
    def distances2(self) -> Vector:
        """The squared distances of all pairs, a copy."""
        return self._D[: self.count, : self.count].copy()

    def points(self) -> Vector:
        """Return the atoms as the rows of a matrix."""
        points = np.zeros((self.count, self._new.size))
        for point, row, size in zip(points, self._rows, self._sizes, strict=False):
            kernels.atoms.add(point, row, int(size), 1.0)
        return points

    def mix(self, x: Vector) -> None:
        """Write sum of w_k a_k into x."""
        kernels.atoms.mixture(x, self._rows, self._sizes, self._w, self.count)

    def descend(self, d: Vector, beta: float, tolerance: float) -> None:
        """Lower <d, x'> + beta ||x' - x||^2 on the hull of the atoms, by pairwise steps."""
        kernels.atoms.products(self._gradient, self._rows, self._sizes, self.count, d)
        self._settle(beta, tolerance)

    def lacks(self, v: Vector, d: Vector) -> float:
        """Return how much lower <d, v> is than <d, a_k> for every atom; negative if it is not."""
        kernels.atoms.products(self._gradient, self._rows, self._sizes, self.count, d)
        return float(self._gradient[: self.count].min() - d @ v)

    def descend_towards(
        self, k: int, sigma: float, d: Vector, beta: float, tolerance: float
    ) -> None:
        """Step by sigma towards atom k first, x' = x + sigma (a_k - x), then descend."""
        kernels.atoms.products(self._gradient, self._rows, self._sizes, self.count, d)
        kernels.pairwise.step_towards(self._w, self._gradient, self._D, self.count, k, beta, sigma)
        self._settle(beta, tolerance)

    def _settle(self, beta: float, tolerance: float) -> None:
        kernels.pairwise.descend(
            self._w, self._gradient, self._D, self.count, beta, tolerance, MOST_STEPS
        )
        kernels.pairwise.normalise(self._w, self.count)

    def admit(self, v: Vector, t: float) -> int:
        """Remember a vertex that the oracle gave in round t; return which atom it is."""
        k = kernels.atoms.admit(
            self._rows,
            self._sizes,
            self._w,
            self._last,
            self._D,
            self.count,
            v,
            self._new,
            self._same2,
        )
        self._last[k] = t
        self._state["count"][0] = max(self.count, k + 1)
        return int(k)
