"""Sets whose points all have the same sum, and random subsets of fixed size."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_point, as_vector
from hedgerow.sets.compiled import NO_INDEX, Compiled, Index, KernelWorkspace, free_mask
from hedgerow.sets.decision_set import ProjectableSet, Rows

Whole = NDArray[np.int64]
ROUNDING = 1e-12
"""Sums that agree up to this, relative to their size, count as equal."""


class FixedSum(ProjectableSet):
    """A set whose points have one sum; some coordinates may be fixed as well."""

    @property
    @abstractmethod
    def _free(self) -> NDArray[np.bool_]:
        """Which coordinates move; none if the set is a single point, else two or more."""

    def tangent(self, c: ArrayLike) -> Vector:
        """Subtract the mean where coordinates move, and zero the rest: they change no value."""
        return self.compiled.tangent(as_vector(c, "the direction", self))

    @property
    @abstractmethod
    def compiled(self) -> Compiled:
        """The set's kernels, with `_measure`, `_label` and `_members`."""

    @property
    def _measure(self) -> Callable[..., float]:
        """The compiled tangent norm; the simplest one where all coordinates move."""
        return kernels.tangents.balanced if self._free.all() else kernels.tangents.grouped

    @property
    def _label(self) -> Index:
        return NO_INDEX if self._free.all() else free_mask(self._free)

    @property
    def _members(self) -> Vector:
        moving = float(self._free.sum())
        return np.array([self.dim - moving, moving])

    def hull(self) -> tuple[Vector, Vector]:
        """Return the start and the columns (1, ..., 1, -j, 0, ..., 0) / sqrt(j (j + 1))."""
        moving = np.flatnonzero(self._free)
        j = np.arange(1, moving.size)
        basis = np.zeros((self.dim, j.size))
        basis[moving] = np.triu(np.ones((moving.size, j.size)))
        basis[moving[1:], j - 1] = -j
        return self.start(), basis / np.sqrt(j * (j + 1.0))


class CappedSum(FixedSum):
    """The set {0 <= x <= cap, x_1 + ... + x_n = total} with caps of at most the total."""

    n: int

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def is_polytope(self) -> bool:
        """Yes, a box cut by a plane."""
        return True

    @property
    @abstractmethod
    def _cap(self) -> Vector:
        """The largest value of each coordinate."""

    @property
    @abstractmethod
    def _total(self) -> float:
        """What the coordinates sum to."""

    @property
    def _free(self) -> NDArray[np.bool_]:
        cap = self._cap
        single = float(cap.sum()) <= self._total * (1.0 + ROUNDING)
        return np.zeros(self.dim, np.bool_) if single else cap > 0.0

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= cap and the sum is the total."""
        x = as_vector(x, "x", self)
        slack = tol * max(1.0, self._total)
        excess = abs(float(x.sum()) - self._total)
        return bool(x.min() >= -slack and (x <= self._cap + slack).all() and excess <= slack)

    def start(self) -> Vector:
        """Return the same share of every cap."""
        cap = self._cap
        return cap * min(1.0, self._total / (float(cap.sum()) or 1.0))

    def project(self, y: ArrayLike) -> Vector:
        """Return clip(y - mu, 0, cap) for the one mu that gives the sum, a few passes of O(n)."""
        y = as_point(y, "y", self)
        if not self._free.any():
            return self.start()
        return KernelWorkspace(self.compiled).project(y)

    def ball(self) -> tuple[Vector, float]:
        """Return the largest ball in the hull, r = 0 for a single point.

        With m free coordinates a ball of radius r touches x_i = r sqrt(1 - 1/m) =: t on each side,
        so it fits if 2t <= cap_i, m t <= total and m t <= sum of caps - total.
        """
        free, cap = self._free, self._cap
        m = int(free.sum())
        if m == 0:
            return self.start(), 0.0
        spare = float(cap.sum()) - self._total
        t = min(0.5 * float(cap[free].min()), self._total / m, spare / m)
        inner = np.where(free, np.maximum(cap - 2.0 * t, 0.0), 0.0)
        share = max(0.0, self._total - m * t) / (float(inner.sum()) or 1.0)
        return np.where(free, t + share * inner, 0.0), t / math.sqrt(1.0 - 1.0 / m)

    def rows(self) -> Rows:
        """Return one equation and the bounds."""
        from scipy import sparse

        ones = sparse.csr_array(np.ones((1, self.dim)))
        return Rows(np.zeros(self.dim), self._cap, A_eq=ones, b_eq=np.array([self._total]))


def mixture(parts: Iterable[tuple[float, Vector]]) -> tuple[Vector, Vector]:
    """Return weights and vertices, each part being given with its share of what is left."""
    left, weights, vertices = 1.0, [], []
    for share, vertex in parts:
        if share > 0.0:
            weights.append(left * share)
            vertices.append(vertex)
            left *= 1.0 - share
    return np.array(weights), np.array(vertices)


def systematic_subsets(p: Vector, k: int) -> tuple[Vector, Vector]:
    """Return the weights and members of the at most n subsets that systematic sampling can draw.

    Lay the shares p_1, ..., p_n, which sum to k, end to end, and take the k places u, u + 1, ...
    for one u in [0, 1): i is a member if one of them falls on its interval, which happens with
    probability p_i. Lengths are rounded to whole multiples of 2^-q, q >= 44 up to n = 1e5, so all
    that follows is exact: every subset has k members, and the weights sum to one.

    Reference: Madow, On the theory of systematic sampling (1949).
    """
    ends, unit = _ends(p, k)
    cuts = np.unique(ends % unit)  # where the subset changes as u grows; k units give the 0
    return np.diff(cuts, append=unit) / unit, _members(ends, unit, cuts[:, None])


def systematic_draw(p: Vector, k: int, rng: np.random.Generator) -> Vector:
    """Return the members of one random subset as zeros and ones, O(n)."""
    ends, unit = _ends(p, k)
    return _members(ends, unit, rng.integers(unit))


def _members(ends: Whole, unit: int, u: Whole | np.int64) -> Vector:
    places = -((u - ends) // unit)  # how many of u, u + unit, ... lie before each end
    return np.diff(places, prepend=0, axis=-1).astype(np.float64)


def _ends(p: Vector, k: int) -> tuple[Whole, int]:
    """Return where the intervals end, in whole units, each 0 to 1 long and the last at k."""
    n = p.size
    unit = 1 << min(52, 61 - n.bit_length())
    ends = np.cumsum(np.rint(p * unit).astype(np.int64))
    missing = k * unit - int(ends[-1])
    movable = np.cumsum(p * (1.0 - p))  # shares 0 and 1 stay what they are
    if missing and movable[-1] > 0.0:
        ends += np.rint(movable / movable[-1] * missing).astype(np.int64)
    full = unit * np.arange(1, n + 1)
    ends = np.clip(ends, np.maximum(0, full - (n - k) * unit), np.minimum(full, k * unit))
    ends = np.maximum.accumulate(ends)
    return full + np.minimum.accumulate(ends - full), unit
