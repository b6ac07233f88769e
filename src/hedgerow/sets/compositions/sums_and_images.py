"""Sets made of several sets or seen through a matrix: sums, hulls of unions, images."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_array, as_vector, freeze, length
from hedgerow.labels import Labels
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import (
    DecisionSet,
    Decomposable,
    FlatSet,
    HasLinearDescription,
    Rows,
    Workspace,
)
from hedgerow.sets.derived import approach, clip_length
from hedgerow.sets.projections.frank_wolfe import Oracle
from hedgerow.sets.validation import check_coordinates, check_width

TURN = 1e-8
"""By how much a direction is turned to break ties, relative to its largest entry."""
EPS = float(np.finfo(np.float64).eps)
UNDECIDED = 1e-7
"""Distances below this, relative to entries above 1, may be an error of the oracle-only method."""
ONE_TO_ONE = 1e-6
"""A matrix with a smaller ratio of singular values is not solved with."""


class Composed(FlatSet):
    """A set whose oracle puts together answers of other sets.

    Where minimisers tie, vertices of the parts need not make a vertex: on a simplex plus an l1
    ball, the answers to c = 0 may add up to the centre. So the oracles are called a second time,
    with c turned by 1e-8 in a fixed general direction, and that answer counts if it is as good up
    to rounding. The other capabilities are found through this oracle: exact up to rounding if all
    parts are polytopes, else to about 1e-8 near curved faces.
    """

    @property
    @abstractmethod
    def _sets(self) -> tuple[DecisionSet, ...]:
        """The sets whose oracles are called."""

    @property
    def is_polytope(self) -> bool:
        """Whether all sets inside are."""
        return all(X.is_polytope for X in self._sets)

    @property
    def diameter_is_exact(self) -> bool:
        """No: the diameters of the parts give a bound."""
        return False

    @abstractmethod
    def _best(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        """Return a minimiser of <c, x>, |c_i| <= 1; a vertex if it is the only one."""

    def lmo(self, c: ArrayLike) -> Vector:
        """Call the oracles of the parts twice, see above."""
        c = as_vector(c, "the direction", self)
        return self._ask_twice(c, [X.lmo for X in self._sets])

    def _ask_twice(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        largest = float(np.abs(c).max())
        if largest == 0.0:
            return self._best(self._general, oracles)
        unit = np.ldexp(c, -math.frexp(largest)[1])
        v, w = self._best(unit, oracles), self._best(unit + TURN * self._general, oracles)
        rounding = 4.0 * EPS * float(np.abs(unit) @ (np.abs(v) + np.abs(w)))
        return w if unit @ w <= unit @ v + rounding else v

    @property
    def _has_rows(self) -> bool:
        return all(X.supports(HasLinearDescription) for X in self._sets)

    def workspace(self) -> Workspace:
        """Return workspaces of the parts, with their warm starts."""
        return _ComposedWorkspace(self)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x is at most tol away, relative to entries above 1.

        Near curved faces the distance is known to about 1e-8; within 1e-7 a point is outside only
        if a hyperplane proves it.
        """
        x = clip_length(as_vector(x, "x", self))
        size = max(1.0, float(np.abs(x).max()))
        near = approach(self, x, 0.5 * tol * size, tol * size)
        distance = length(near.x - x)
        if distance <= tol * size or distance > UNDECIDED * size:
            return distance <= tol * size
        return distance - near.gap / distance <= tol * size

    @cached_property
    def _general(self) -> Vector:
        direction: Vector = np.sin(np.arange(1.0, self.dim + 1.0) ** 2)  # like noise, but the same
        return direction


class _ComposedWorkspace(Workspace):
    def __init__(self, composed: Composed):
        super().__init__(composed, [X.workspace() for X in composed._sets])
        self._composed = composed

    def lmo(self, c: Vector) -> Vector:
        return self._composed._ask_twice(c, [part.lmo for part in self.parts])


def check_set_type(value: object, what: str) -> None:
    """Refuse anything but a decision set."""
    if not isinstance(value, DecisionSet):
        raise TypeError(
            f"{what} is made of decision sets, got {type(value).__name__}; wrap an oracle of yours "
            "in OracleSet, and write (X, Y), not ([X, Y])"
        )


@dataclass(frozen=True, eq=False, init=False)
class Combined(Composed):
    """What is made of several sets of one dimension."""

    parts: tuple[DecisionSet, ...]
    _what: ClassVar[tuple[str, str]]

    @cached_property
    def _own_labels(self) -> Labels | None:
        """Those of the parts, where all have the same."""
        found = {part.labels for part in self.parts}
        return found.pop() if len(found) == 1 else None

    def __init__(self, *parts: DecisionSet):
        what, whole = self._what
        if not parts:
            raise ValueError(f"{what} needs at least one set, got none")
        for part in parts:
            check_set_type(part, what)
        if len({part.dim for part in parts}) > 1:
            raise ValueError(
                f"{what} is made of sets of one dimension, got {[part.dim for part in parts]}; an "
                "AffineImage brings one into the space of another"
            )
        freeze(self, parts=parts)
        check_width(self.diameter, whole)

    def _in_short(self) -> str:
        return f"{len(self.parts)} parts, {self.dim} coordinates"

    @property
    def dim(self) -> int:
        """The number of coordinates of each set."""
        return self.parts[0].dim

    @property
    def _sets(self) -> tuple[DecisionSet, ...]:
        return self.parts


@dataclass(frozen=True, eq=False, init=False)
class MinkowskiSum(Combined):
    """The sum {x_1 + ... + x_k : x_i in the i-th set} of sets of one dimension.

    Oracle: that of each set, twice, added up. Membership and projection: by the oracle alone, to
    a stated tolerance. Diameter: the sum of the diameters, a bound.

    Args:
        parts: the sets, at least one.

    >>> from hedgerow.sets.balls.boxes import Box
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> X = MinkowskiSum(Simplex(2), Box([0.0, 0.0], [1.0, 1.0]))
    >>> X.lmo([-1.0, -2.0]), X.contains([2.0, 0.0]), X.contains([2.0, 1.5])
    (array([1., 2.]), True, False)

    """

    _what = "a sum", "a sum of sets"

    @property
    def diameter(self) -> float:
        """The sum of the sets' diameters."""
        return math.fsum(X.diameter for X in self.parts)

    @property
    def strong_convexity(self) -> float:
        """1 / sum of 1 / alpha_i over the parts of more than one point, 0 if an alpha_i is 0.

        The best points of the parts in a direction add up to that of the sum, and so do the balls
        of radius 1 / alpha_i that touch them there and contain the parts.
        """
        alphas = [X.strong_convexity for X in self.parts if X.diameter > 0.0]
        return 1.0 / math.fsum(1.0 / a for a in alphas) if alphas and all(alphas) else 0.0

    def _best(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        total: Vector = np.sum([lmo(c) for lmo in oracles], axis=0)
        return total

    def minimum(self, c: ArrayLike) -> float:
        """Add the parts' lower bounds."""
        return math.fsum(X.minimum(c) for X in self.parts)

    def start(self) -> Vector:
        """Add the parts' starts."""
        total: Vector = np.sum([X.start() for X in self.parts], axis=0)
        return total

    def rows(self) -> Rows:
        """Put the parts' descriptions side by side and add up their points."""
        self._require(HasLinearDescription)
        return _mapped(Product(*self.parts).rows(), np.tile(np.eye(self.dim), len(self.parts)))


@dataclass(frozen=True, eq=False, init=False)
class ConvexHullOfUnion(Combined):
    """The mixtures of points of several sets of one dimension: the hull of their union.

    Oracle: that of each set, twice, and the best answer. Membership and projection: by the oracle
    alone, to a stated tolerance. Diameter: a bound, by the diameters and the distances of starts.

    Args:
        parts: the sets, at least one.

    Reference: E. Balas, Disjunctive programming: properties of the convex hull of feasible points,
    Discrete Appl. Math. 89 (1998) (the rows).

    >>> from hedgerow.sets.balls.l1_l2_balls import L1Ball
    >>> from hedgerow.sets.balls.boxes import LinfBall
    >>> X = ConvexHullOfUnion(L1Ball(2), LinfBall(2, radius=0.6))
    >>> X.lmo([-1.0, 0.0]), X.lmo([-1.0, -1.0]), X.contains([0.8, 0.3])
    (array([1., 0.]), array([0.6, 0.6]), True)

    """

    _what = "a union", "a hull of sets"

    @cached_property
    def diameter(self) -> float:
        """The largest distance that points of two of the sets, or of one, can have."""
        starts = [X.start() for X in self.parts]
        widths = [X.diameter for X in self.parts]
        pairs = [(i, j) for j in range(len(starts)) for i in range(j)]
        between = [widths[i] + widths[j] + length(starts[i] - starts[j]) for i, j in pairs]
        return max([*widths, *between])

    def _best(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        return min((lmo(c) for lmo in oracles), key=lambda v: float(c @ v))

    def minimum(self, c: ArrayLike) -> float:
        """Return the least of the parts' lower bounds."""
        return min(X.minimum(c) for X in self.parts)

    def start(self) -> Vector:
        """Return the mean of the parts' starts."""
        mean: Vector = np.mean([X.start() for X in self.parts], axis=0)
        return mean

    def rows(self) -> Rows:
        """Return Balas's description: x sums z_i in s_i times the i-th set, the s_i sum to 1."""
        self._require(HasLinearDescription)
        from scipy import sparse

        side = Product(*self.parts).rows()
        owner = np.repeat(np.arange(len(self.parts)), [X.rows().lower.size for X in self.parts])
        k, size = len(self.parts), owner.size
        shares = sparse.csr_array((np.ones(size), (np.arange(size), owner)), shape=(size, k))
        eye = sparse.eye_array(size)
        inequalities = [
            sparse.hstack([eye, -sparse.diags_array(side.upper) @ shares]),
            sparse.hstack([-eye, sparse.diags_array(side.lower) @ shares]),
        ]
        rows = [X.rows() for X in self.parts]
        if side.A_ub is not None:
            inequalities.append(_homogeneous(side.A_ub, [r.b_ub for r in rows]))
        equations = [sparse.csr_array(np.append(np.zeros(size), np.ones(k))[None, :])]
        if side.A_eq is not None:
            equations.append(_homogeneous(side.A_eq, [r.b_eq for r in rows]))
        A_ub, A_eq = sparse.vstack(inequalities), sparse.vstack(equations)
        shifts = [np.zeros(self.dim) if r.shift is None else r.shift for r in rows]
        lifts = [sparse.eye_array(self.dim) if r.lift is None else r.lift for r in rows]
        return Rows(
            np.append(np.minimum(side.lower, 0.0), np.zeros(k)),
            np.append(np.maximum(side.upper, 0.0), np.ones(k)),
            sparse.csr_array(A_eq),
            np.append(1.0, np.zeros(A_eq.shape[0] - 1)),
            sparse.csr_array(A_ub),
            np.zeros(A_ub.shape[0]),
            sparse.csr_array(sparse.hstack([*lifts, sparse.csr_array(np.array(shifts).T)])),
        )


@dataclass(frozen=True, eq=False)
class AffineImage(Composed):
    """The image {A x + b : x in inner} under a matrix A of any shape and rank.

    Oracle: that of the inner set in the direction A' c, twice. Membership: of the only preimage
    if A has independent columns, with singular values within 1e6 of each other; else by the
    oracle alone, to a stated tolerance, as projection always is. Diameter: the largest singular
    value times that of the inner set, a bound; exact if all singular values are equal.

    Args:
        inner: the set.
        matrix: A, shape (m, n) with n the dimension of the inner set.
        offset: b, length m; zero unless given.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> AffineImage(Simplex(3), [[0.0, 1.0, 2.0], [5.0, 3.0, 5.0]]).lmo([0.0, 1.0])
    array([1., 3.])

    """

    inner: DecisionSet
    matrix: Vector
    offset: Vector
    _sizes: Vector = field(init=False, repr=False)

    def __init__(self, inner: DecisionSet, matrix: ArrayLike, offset: ArrayLike | None = None):
        check_set_type(inner, "an image")
        A = as_array(matrix, "matrix")
        if A.ndim != 2 or A.shape[1] != inner.dim or not A.size:
            raise ValueError(
                f"matrix must have one column for each of the set's {inner.dim} coordinates, got "
                f"shape {A.shape}"
            )
        shift = np.zeros(len(A)) if offset is None else as_vector(offset, "offset", len(A))
        check_coordinates(A, "matrix")
        check_coordinates(shift, "offset")
        freeze(self, inner=inner, matrix=A, offset=shift, _sizes=np.linalg.svd(A, compute_uv=False))
        check_width(self.diameter, "an image of a set")

    def _in_short(self) -> str:
        return f"{self.dim} x {self.inner.dim} matrix"

    @cached_property
    def _own_labels(self) -> Labels | None:
        """The inner set's, where each coordinate is a multiple of a different one of them."""
        labels, used = self.inner.labels, self.matrix != 0.0
        places = used.argmax(axis=1)
        if labels is None or (used.sum(axis=1) != 1).any() or len(set(places)) < self.dim:
            return None
        return tuple(labels[i] for i in places.tolist())

    @property
    def dim(self) -> int:
        """The number of rows of the matrix, m."""
        return len(self.matrix)

    @property
    def diameter(self) -> float:
        """The inner set's diameter times the largest singular value."""
        return float(self._sizes[0]) * self.inner.diameter

    @property
    def diameter_is_exact(self) -> bool:
        """Whether the matrix stretches all directions alike, and the inner set's is exact."""
        alike = self._one_to_one and bool(self._sizes[-1] >= (1.0 - 1e-14) * self._sizes[0])
        return alike and self.inner.diameter_is_exact

    @property
    def strong_convexity(self) -> float:
        """The inner set's times least / largest^2 singular value, 0 if the image is flat.

        The image of a ball of radius r contains one of radius r x least, and the distance of two
        points is at most that of their preimages times the largest.
        """
        m, n = self.matrix.shape
        largest, least = float(self._sizes[0]), float(self._sizes[-1])
        if m > n or least <= ONE_TO_ONE * largest:
            return 0.0
        return self.inner.strong_convexity * (least / largest) / largest

    @property
    def pyramidal_width(self) -> float:
        """The inner set's times the least singular value, if A has independent columns.

        Then faces are images of faces, and no distance shrinks by more.
        """
        return float(self._sizes[-1]) * self.inner.pyramidal_width if self._one_to_one else 0.0

    @property
    def _one_to_one(self) -> bool:
        m, n = self.matrix.shape
        return m >= n and bool(self._sizes[-1] > ONE_TO_ONE * self._sizes[0])

    def _image(self, x: Vector) -> Vector:
        return x @ self.matrix.T + self.offset

    @property
    def _sets(self) -> tuple[DecisionSet, ...]:
        return (self.inner,)

    def _best(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        return self._image(oracles[0](c @ self.matrix))

    def minimum(self, c: ArrayLike) -> float:
        """Move the inner set's lower bound in the direction A' c."""
        c = as_vector(c, "the direction", self)
        return self.inner.minimum(c @ self.matrix) + float(c @ self.offset)

    def start(self) -> Vector:
        """Map the inner set's start."""
        return self._image(self.inner.start())

    @cached_property
    def _inverse(self) -> Vector:
        return np.asarray(np.linalg.pinv(self.matrix), np.float64)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x has a preimage in the inner set, up to tol, relative to entries above 1."""
        x = as_vector(x, "x", self)
        if not self._one_to_one:
            return super().contains(x, tol)
        size = max(1.0, float(np.abs(self.offset).max()), self.diameter)
        if float(np.abs(x).max()) > 1e3 * size:
            return False
        z = self._inverse @ (x - self.offset)
        off = float(np.abs(self._image(z) - x).max())
        return off <= tol * size and self.inner.contains(z, tol * size / float(self._sizes[0]))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Map the vertices that mix to the preimage if there is one only; else by the oracle."""
        x = as_vector(x, "x", self)
        if not (self._one_to_one and self.inner.supports(Decomposable) and self.contains(x)):
            return super().decompose(x)
        weights, vertices = self.inner.decompose(self._inverse @ (x - self.offset))
        return weights, self._image(vertices)

    def rows(self) -> Rows:
        """Describe the inner set and map its points."""
        self._require(HasLinearDescription)
        rows = _mapped(self.inner.rows(), self.matrix)
        return replace(rows, shift=self.offset if rows.shift is None else rows.shift + self.offset)


def _mapped(rows: Rows, matrix: Vector) -> Rows:
    """Return the rows whose points are those of `rows` times a matrix."""
    from scipy import sparse

    lift = matrix if rows.lift is None else matrix @ rows.lift
    shift = None if rows.shift is None else matrix @ rows.shift
    return replace(rows, lift=sparse.csr_array(lift), shift=shift)


def _homogeneous(A: Any, sides: list[Vector | None]) -> Any:
    """Return [A, -b], with each part's right-hand sides in a column of its own."""
    from scipy import linalg, sparse

    columns = [np.zeros((0, 1)) if b is None else b[:, None] for b in sides]
    return sparse.hstack([A, -sparse.csr_array(linalg.block_diag(*columns))])
