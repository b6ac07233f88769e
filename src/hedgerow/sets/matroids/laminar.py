"""Laminar matroids: limits on sets that are nested or disjoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.compiled import Compiled, Index, pack_uint32
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.directions import ascending
from hedgerow.sets.matroids.matroid_bases import Bases, Label


@dataclass(frozen=True, eq=False)
class LaminarMatroid(Bases):
    """The largest choices within a limit on each group of elements, groups nested or disjoint.

    {0 <= x <= 1, x sums to at most its capacity on each group, and to the rank on all}. Vertices
    are the bases, as 0/1 vectors: regions in countries, with limits on both.

    Oracle: greedy, one sort, then O(n x depth). Diameter: a bound, exact if two bases attain it.
    Projection and decomposition: by the oracle alone.

    Args:
        n: the number of elements, 0 .. n - 1.
        groups: lists of elements, any two of them nested or disjoint.
        capacities: how many elements of each group may be taken, at least 0.

    Reference: Edmonds, Submodular functions, matroids, and certain polyhedra (1970).

    >>> X = LaminarMatroid(4, [[0, 1], [0, 1, 2, 3]], [1, 2])
    >>> X.lmo([1.0, 2.0, 3.0, 4.0]), X.rank
    (array([1., 0., 1., 0.]), 2)

    """

    n: int
    groups: Sequence[Sequence[int]]
    capacities: Sequence[int]
    rank: int = field(init=False, repr=False)
    _inner: Index = field(init=False, repr=False)
    _outer: Index = field(init=False, repr=False)
    _most: Index = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n, count = as_count(self.n, "n"), len(self.groups)
        if count != len(self.capacities):
            raise ValueError(
                f"every group needs a capacity, got {count} groups and {len(self.capacities)} "
                "capacities"
            )
        most = [as_count(k, "a capacity", least=0) for k in self.capacities]
        members = [np.unique(np.asarray(group)) for group in self.groups]
        for group in members:
            if (
                group.size == 0
                or group.dtype.kind not in "iu"
                or not 0 <= group[0] <= group[-1] < n
            ):
                raise ValueError(
                    f"every group must be a list of at least one of the elements 0 .. {n - 1}"
                )
        inner, outer = np.full(n, count), np.full(count, count)  # `count` stands for no group
        for k in sorted(range(count), key=lambda k: -members[k].size):  # stable
            around = np.unique(inner[members[k]])
            if around.size > 1:
                raise ValueError(
                    f"any two groups must be nested or disjoint, but group {k} crosses another one"
                )
            inner[members[k]], outer[k] = k, around[0]
        freeze(self, _inner=inner.astype(np.uint32), _outer=outer.astype(np.uint32))
        freeze(self, _most=np.minimum(most, n).astype(np.uint32))
        freeze(self, n=n, groups=tuple(tuple(g.tolist()) for g in members), capacities=tuple(most))
        freeze(self, rank=int(self.lmo(np.zeros(n)).sum()))

    @property
    def dim(self) -> int:
        """The number of elements."""
        return self.n

    def independent(self, chosen: list[int]) -> bool:
        """Whether no group has more of the chosen elements than its capacity."""
        return not chosen or int(self._first(np.asarray(chosen, np.uint32)).sum()) == len(chosen)

    def _first(self, order: Index) -> Vector:
        base = np.empty(self.n)
        kernels.matroids.first_laminar(order, self._inner, self._outer, self._most, base)
        return base

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the base of least total cost; ties go to the first element."""
        return self._first(ascending(as_direction(c, self)).astype(np.uint32))

    @cached_property
    def component(self) -> Label:
        """The connected components: e and b are in one if e can replace b in a base."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        base = self.lmo(np.zeros(self.n)) > 0.0
        pairs: list[tuple[int, int]] = []
        for e in np.flatnonzero(~base).tolist():
            k = int(self._inner[e])
            while np.count_nonzero(base[list(self.groups[k])]) < self.capacities[k]:
                k = int(self._outer[k])  # up to the smallest group around e that is full
            pairs += [(e, b) for b in self.groups[k] if base[b]]
        one, two = zip(*pairs, strict=True) if pairs else ((), ())
        graph = sparse.csr_array((np.ones(len(pairs)), (one, two)), shape=(self.n, self.n))
        return connected_components(graph, directed=False)[1].astype(np.intp)

    @cached_property
    def compiled(self) -> Compiled:
        """One sort, then the greedy method."""
        label = (self.component + 1).astype(np.uint32)
        return Compiled(
            kernels.matroids.cheapest_laminar,
            kernels.tangents.grouped,
            pack_uint32(self._most.size, self._inner, self._outer, self._most),
            label=label,
            members=np.bincount(label).astype(np.float64),
        )

    def _sums(self, x: Vector) -> Vector:
        return np.array([x[list(group)].sum() for group in self.groups])

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= 1 sums to the rank, and to at most its capacity on each group."""
        x = as_vector(x, "x", self)
        excess = (self._sums(x) - self.capacities).max(initial=0.0)
        off = max(-float(x.min()), float(x.max()) - 1.0, abs(float(x.sum()) - self.rank))
        return max(off, float(excess)) <= tol

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of a violated inequality, None if none fails by above 1e-9."""
        y = as_vector(y, "y", self)
        if self.contains(y):
            return None
        a, away = np.zeros(self.n), np.maximum(-y, y - 1.0)
        excess, total = self._sums(y) - self.capacities, float(y.sum()) - self.rank
        worst = max(float(away.max()), abs(total), float(excess.max(initial=0.0)))
        if worst == abs(total):
            a[:] = np.sign(total)
        elif worst == away.max():
            i = int(np.argmax(away))
            a[i] = 1.0 if y[i] > 0.5 else -1.0
        else:
            a[list(self.groups[int(np.argmax(excess))])] = 1.0
        return a

    def rows(self) -> Rows:
        """Return one row for each group, one equation and the bounds; nested rows are integral."""
        from scipy import sparse

        column = np.concatenate([np.asarray(g, np.intp) for g in self.groups] or [np.zeros(0, int)])
        row = np.repeat(np.arange(len(self.groups)), [len(g) for g in self.groups])
        shape = (len(self.groups), self.n)
        sums = sparse.csr_array((np.ones(column.size), (row, column)), shape=shape)
        return Rows(
            np.zeros(self.n),
            np.ones(self.n),
            A_eq=sparse.csr_array(np.ones((1, self.n))),
            b_eq=np.array([float(self.rank)]),
            A_ub=sums,
            b_ub=np.asarray(self.capacities, np.float64),
        )
