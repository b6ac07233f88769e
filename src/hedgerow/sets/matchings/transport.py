"""Transport plans between given marginals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_point, as_vector, freeze, read_only
from hedgerow.sets.decision_set import FlatSet, Rows
from hedgerow.sets.derived import clip_length
from hedgerow.sets.solvers import Programme, nearest_point
from hedgerow.sets.validation import check_coordinates, check_width

SMALLEST_SHARE = 1e-12
"""A supply or demand that is not zero is at least this share of the total."""
BALANCE = 1e-9
"""The totals of supply and demand agree up to this share; the demand is scaled to fit."""
GRID = 2.0**52
"""The simplex method counts in units of total / GRID, so that its flows are whole numbers."""
DENSE = 10**7
"""Up to this many entries of its rows a QP is solved: it makes them dense."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TransportPlans(FlatSet):
    """The transport polytope {x >= 0, rows sum to the supply, columns to the demand}.

    x.reshape(X.shape)[i, j] goes from source i to sink j. Vertices are the plans whose cells hold
    no cycle, at most m + n - 1 of them above zero.

    Oracle: the network simplex method on strongly feasible trees, exact, O(m + n) a pivot and a
    few pivots a node as a rule. Diameter: the least of three bounds, exact for a single point.
    Projection: a QP by `piqp` when it is installed and (m + n) m n is at most 10^7, else by the
    oracle alone.

    Args:
        supply: what each source has, at least 0.
        demand: what each sink wants, at least 0, with the same total up to 1e-9 of it.

    Reference: Cunningham, A network simplex method, Math. Program. 11 (1976).

    >>> X = TransportPlans([3.0, 1.0], [2.0, 2.0])
    >>> X.lmo([0.0, 1.0, 0.0, 3.0]).reshape(X.shape)
    array([[1., 2.],
           [1., 0.]])
    >>> X.start()
    array([1.5, 1.5, 0.5, 0.5])

    """

    supply: Vector
    demand: Vector
    _rows: NDArray[np.intp] = field(init=False, repr=False)
    _columns: NDArray[np.intp] = field(init=False, repr=False)
    _counts: tuple[Whole, Whole] = field(init=False, repr=False)

    def __init__(self, supply: ArrayLike, demand: ArrayLike):
        given = [as_vector(supply, "supply"), as_vector(demand, "demand")]
        for side, name in zip(given, ("supply", "demand"), strict=True):
            if not side.size or side.min() < 0.0 or not side.any():
                raise ValueError(
                    f"the {name} must hold numbers of at least 0, one of them above 0, got "
                    f"{side.size} numbers{f' from {side.min():g}' if side.size else ''}"
                )
            check_coordinates(side, name)
        a, b = given
        total, wanted = math.fsum(a), math.fsum(b)
        if abs(total - wanted) > BALANCE * total:
            raise ValueError(
                f"supply and demand must have the same total, got {total:g} and {wanted:g}; "
                "add a source or a sink for the difference"
            )
        b = b * (total / wanted)
        for side, name in ((a, "supply"), (b, "demand")):
            least = float(side[side > 0.0].min())
            if least < SMALLEST_SHARE * total:
                raise ValueError(
                    f"the {name} must be 0 or at least {SMALLEST_SHARE:g} of the total {total:g} "
                    f"at each place, got {least:g}; round it to 0"
                )
        check_width(total, "a transport polytope")
        rows, columns = np.flatnonzero(a > 0.0), np.flatnonzero(b > 0.0)
        counts = [np.rint(side / total * GRID).astype(np.int64) for side in (a, b)]
        counts = [counts[0][rows], counts[1][columns]]
        counts[1][np.argmax(counts[1])] += counts[0].sum() - counts[1].sum()
        freeze(self, supply=a, demand=b, _rows=rows, _columns=columns)
        freeze(self, _counts=tuple(read_only(part) for part in counts))

    def _in_short(self) -> str:
        return f"{self.supply.size} sources, {self.demand.size} sinks"

    @property
    def dim(self) -> int:
        """The number of cells, m n."""
        return self.supply.size * self.demand.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Sources by sinks."""
        return (self.supply.size, self.demand.size)

    @property
    def _total(self) -> float:
        return float(self.supply.sum())

    @property
    def _single(self) -> bool:
        """Whether there is one plan only."""
        return min(self._rows.size, self._columns.size) == 1

    @property
    def _most(self) -> Vector:
        """The largest value of each cell."""
        return np.minimum(self.supply[:, None], self.demand)

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The least of three bounds of ||x - y||, attained by a single point.

        The diagonal of the bounding box; and ||x - y||^2 <= ||x||^2 + ||y||^2 because no entry is
        below 0, where a row has a square of at most its sum times its largest entry.
        """
        if self._single:
            return 0.0, True
        most = self._most
        least = np.maximum(0.0, self.supply[:, None] + self.demand - self._total)
        box = float(((most - least) ** 2).sum())
        by_row = 2.0 * float(self.supply @ most.max(axis=1))
        by_column = 2.0 * float(self.demand @ most.max(axis=0))
        return math.sqrt(min(box, by_row, by_column)), False

    @property
    def is_polytope(self) -> bool:
        """Yes, a bounded set given by rows."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest plan."""
        c = as_direction(c, self.dim)
        rows, columns = self._rows, self._columns
        cost = np.ascontiguousarray(c.reshape(self.shape)[np.ix_(rows, columns)])
        nodes = rows.size + columns.size
        parent, flow = np.empty((2, nodes), np.int64)
        if kernels.transport.best_tree(cost, *self._counts, parent, flow, 10_000 + 1000 * nodes):
            raise RuntimeError(
                "the simplex method did not end on these costs; scale them to a smaller range"
            )
        carried = np.empty(cost.shape)
        sides = self.supply[rows], self.demand[columns]
        kernels.transport.carry(*sides, parent, flow, carried)
        plan = np.zeros(self.shape)
        plan[np.ix_(rows, columns)] = carried
        return plan.ravel()

    def _off(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """Return by how much cells are below zero, and rows and columns off their sums."""
        plan = x.reshape(self.shape)
        return -x, plan.sum(axis=1) - self.supply, plan.sum(axis=0) - self.demand

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x >= 0 and the sums are right, relative to totals above 1."""
        below, rows, columns = self._off(as_vector(x, "x", self.dim))
        off = max(float(below.max()), float(np.abs(rows).max()), float(np.abs(columns).max()))
        return off <= tol * max(1.0, self._total)

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the most violated condition, None if it is violated by 1e-9."""
        y = as_vector(y, "y", self.dim)
        if self.contains(y):
            return None
        below, rows, columns = self._off(y)
        a = np.zeros(self.shape)
        worst = [float(below.max()), float(np.abs(rows).max()), float(np.abs(columns).max())]
        if worst[0] == max(worst):
            a.flat[np.argmax(below)] = -1.0
        elif worst[1] == max(worst):
            i = int(np.argmax(np.abs(rows)))
            a[i] = np.sign(rows[i])
        else:
            j = int(np.argmax(np.abs(columns)))
            a[:, j] = np.sign(columns[j])
        return a.ravel()

    def start(self) -> Vector:
        """Return the independent plan, supply x demand / total."""
        return np.outer(self.supply, self.demand / self._total).ravel()

    def tangent(self, c: ArrayLike) -> Vector:
        """Subtract row and column means where goods move, and zero the rest."""
        c = as_vector(c, "the direction", self.dim)
        along = np.zeros(self.shape)
        if not self._single:
            cells = np.ix_(self._rows, self._columns)
            part = c.reshape(self.shape)[cells]
            part = part - part.mean(axis=1, keepdims=True)
            along[cells] = part - part.mean(axis=0)
        return along.ravel()

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest plan, by a QP if its answer can be proved."""
        y = clip_length(as_point(y, "y", self.dim))
        x = self._by_programme(y) if sum(self.shape) * self.dim <= DENSE else None
        return super().project(y) if x is None else x

    def _by_programme(self, y: Vector) -> Vector | None:
        from scipy import sparse

        size, rows = float(self._most.max()), self.rows()
        assert rows.A_eq is not None
        assert rows.b_eq is not None
        none = sparse.csr_array((0, self.dim)), np.zeros(0)
        sides, most = rows.b_eq / size, rows.upper / size
        x = nearest_point(Programme(y / size, *none, rows.A_eq, sides, most))
        return None if x is None else np.maximum(size * x, 0.0)

    def hull(self) -> tuple[Vector, Vector]:
        """Return the start and the products of zero-sum vectors."""
        from scipy.linalg import helmert

        bases = []
        for size, used in zip(self.shape, (self._rows, self._columns), strict=True):
            basis = np.zeros((size, used.size - 1))
            basis[used] = helmert(used.size).T
            bases.append(basis)
        return self.start(), np.kron(*bases).astype(np.float64, copy=False)

    def ball(self) -> tuple[Vector, float]:
        """Return the start and its distance to the nearest face x_ij = 0.

        The part of e_ij in the hull has norm sqrt((1 - 1/m) (1 - 1/n)).
        """
        if self._single:
            return self.start(), 0.0
        least = float(self.supply[self._rows].min() * self.demand[self._columns].min())
        norm = math.sqrt((1.0 - 1.0 / self._rows.size) * (1.0 - 1.0 / self._columns.size))
        return self.start(), (1.0 - 1e-12) * least / (self._total * norm)

    def rows(self) -> Rows:
        """Return the sums, that of the last column left out because the others imply it."""
        from scipy import sparse

        m, n = self.shape
        by_row = sparse.kron(sparse.eye_array(m), np.ones((1, n)))
        by_column = sparse.kron(np.ones((1, m)), sparse.eye_array(n))
        sums = sparse.csr_array(sparse.vstack([by_row, by_column]))[:-1]
        sides = np.concatenate([self.supply, self.demand[:-1]])
        return Rows(np.zeros(self.dim), self._most.ravel(), A_eq=sums, b_eq=sides)
