"""Sets of matrices given by their spectrum: the spectrahedron and the nuclear ball."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_point, as_vector, freeze
from hedgerow.sets.decision_set import FullDimensional
from hedgerow.sets.directions import moderate
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.sets.spectral.rank_one import (
    EPS,
    INNER,
    INSIDE,
    ITSELF,
    OUTER,
    RankOneVertices,
)
from hedgerow.sets.validation import as_size


@dataclass(frozen=True, eq=False)
class Spectrahedron(RankOneVertices):
    """The spectrahedron {X symmetric, X >= 0, tr X = trace}: density matrices, covariances.

    Its vertices are trace x v v' with ||v|| = 1. Oracle: an eigenvector of the least eigenvalue
    of (C + C')/2, O(n^2) per Lanczos step; `RankOneVertices` states its accuracy. Projection:
    the eigenvalues projected on the simplex, O(n^3). Diameter: sqrt(2) trace, exact.

    Args:
        n: the number of rows and of columns.
        trace: what the eigenvalues sum to.

    Reference: J. Kuczynski and H. Wozniakowski, Estimating the largest eigenvalue by the power
    and Lanczos algorithms with a random start, SIAM J. Matrix Anal. Appl. 13 (1992).

    >>> Spectrahedron(2).lmo([1.0, 0.0, 0.0, -1.0])
    array([0., 0., 0., 1.])

    """

    n: int
    trace: float = 1.0

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), trace=as_size(self.trace, "trace"))

    @property
    def shape(self) -> tuple[int, ...]:
        """A square matrix."""
        return self.n, self.n

    @property
    def diameter(self) -> float:
        """The distance of two vertices with orthogonal vectors."""
        return math.sqrt(2.0) * self.trace if self.n > 1 else 0.0

    def radius_around(self, x: ArrayLike) -> float:
        """Return the distance to the farthest vertex, trace x v v'."""
        return self._farthest(x, self.trace)

    def minimum(self, c: ArrayLike) -> float:
        """Return trace x least eigenvalue, less n roundings of the largest."""
        c, exponent = moderate(as_vector(c, "the direction", self))
        C = self._symmetric_part(c)
        least = float(np.linalg.eigvalsh(C)[0]) - self.n * EPS * float(np.linalg.norm(C))
        return float(np.ldexp(self.trace * least, exponent))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x is symmetric with the right trace and no negative eigenvalue."""
        x = as_vector(x, "x", self)
        return self._cut(x, tol) is None

    def start(self) -> Vector:
        """Return the centre, a multiple of the identity."""
        return (np.eye(self.n) * (self.trace / self.n)).ravel()

    def tangent(self, c: ArrayLike) -> Vector:
        """Keep the symmetric part and subtract the mean of its diagonal there."""
        return self._operand(as_vector(c, "the direction", self)).reshape(-1)

    def project(self, y: ArrayLike) -> Vector:
        """Project the eigenvalues of the symmetric part on the simplex."""
        values, vectors = np.linalg.eigh(self._symmetric_part(as_point(y, "y", self)))
        kept = Simplex(self.n, self.trace).project(values)
        root = (vectors * np.sqrt(kept))[:, kept > 0.0]
        projection: Vector = root @ root.T
        return projection.ravel()

    def hull(self) -> tuple[Vector, Vector]:
        """Return the centre and a basis of the symmetric matrices of trace zero."""
        n = self.n
        i, j = np.triu_indices(n, 1)
        basis = np.zeros((n, n, i.size + n - 1))
        pair = np.arange(i.size)
        basis[i, j, pair] = basis[j, i, pair] = math.sqrt(0.5)
        for k in range(1, n):  # (1, ..., 1, -k, 0, ..., 0) on the diagonal
            entries = np.append(np.ones(k), -float(k)) / math.sqrt(k * (k + 1.0))
            basis[range(k + 1), range(k + 1), i.size + k - 1] = entries
        return self.start(), basis.reshape(self.dim, -1)

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and trace / sqrt(n (n - 1)), the distance of the nearest face."""
        return self.start(), self.trace / math.sqrt(self.n * (self.n - 1)) if self.n > 1 else 0.0

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return a broken condition: skew part, trace, or the least eigenvector."""
        return self._cut(as_vector(y, "y", self), INSIDE)

    def _cut(self, y: Vector, tol: float) -> Vector | None:
        slack = tol * max(1.0, self.trace)
        Y = y.reshape(self.shape)
        skew = Y - Y.T
        if np.abs(skew).max() > slack:
            return skew.ravel()
        excess = float(np.trace(Y)) - self.trace
        if abs(excess) > slack:
            return math.copysign(1.0, excess) * np.eye(self.n).ravel()
        if np.linalg.eigvalsh(self._symmetric_part(y))[0] >= -slack:
            return None
        v = np.linalg.eigh(self._symmetric_part(y))[1][:, 0]
        return -np.outer(v, v).ravel()

    @property
    def _kind(self) -> int:
        return ITSELF

    def _operand(self, c: Vector, scratch: Vector | None = None) -> Vector:
        C = self._symmetric_part(c, scratch)
        diagonal = C.reshape(-1)[:: self.n + 1]
        diagonal -= diagonal.mean()
        return C

    def _vertex(self, C: Vector, v: Vector) -> Vector:  # noqa: ARG002
        return np.outer(self.trace * v, v).ravel()

    def _mixture(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        X = x.reshape(self.shape)
        values, vectors = np.linalg.eigh(self._symmetric_part(x))
        broken = max(
            -float(values[0]), abs(float(values.sum()) - self.trace), float(np.abs(X - X.T).max())
        )
        self._refuse_outside(broken, self.trace)
        positive = values > 0.0
        weights = values[positive] / values[positive].sum()
        return weights, self.trace * vectors.T[positive], vectors.T[positive]


@dataclass(frozen=True, eq=False)
class NuclearBall(FullDimensional, RankOneVertices):
    """The nuclear ball {X : sum of singular values <= radius}: matrices of low rank.

    Its vertices are radius x u v' with ||u|| = ||v|| = 1. Oracle: the leading pair of singular
    vectors, by the Lanczos method on products with C and C', O(rows x columns) per step; no
    matrix but C is formed; `RankOneVertices` states its accuracy. Projection: the singular values
    projected on the simplex, one SVD. Diameter: 2 radius, exact.

    Args:
        m: the number of rows.
        n: the number of columns.
        radius: the largest sum of singular values.

    Reference: M. Jaggi and M. Sulovsky, A simple algorithm for nuclear norm regularized problems,
    ICML 2010.

    >>> NuclearBall(2, 3).lmo([0.0, 0.0, 3.0, 1.0, 0.0, 0.0]).reshape(2, 3) + 0.0
    array([[ 0.,  0., -1.],
           [ 0.,  0.,  0.]])

    """

    m: int
    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        freeze(
            self,
            m=as_count(self.m, "m"),
            n=as_count(self.n, "n"),
            radius=as_size(self.radius, "radius"),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.m, self.n

    @property
    def diameter(self) -> float:
        """The distance of two opposite vertices."""
        return 2.0 * self.radius

    def radius_around(self, x: ArrayLike) -> float:
        """Return the distance to the farthest vertex, radius x u v'."""
        return self._farthest(x, self.radius)

    def minimum(self, c: ArrayLike) -> float:
        """Return -radius x largest singular value, with max(m, n) roundings of it added."""
        c, exponent = moderate(as_vector(c, "the direction", self))
        largest = float(_singular_values(self._operand(c))[0])
        largest *= 1.0 + max(self.shape) * EPS
        return float(np.ldexp(-self.radius * largest, exponent))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the singular values sum to at most the radius."""
        norm = float(_singular_values(self._operand(as_vector(x, "x", self))).sum())
        return norm <= self.radius + tol * max(1.0, self.radius)

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.dim)

    def project(self, y: ArrayLike) -> Vector:
        """Project the singular values on the simplex; a point inside stays as it is."""
        y = as_point(y, "y", self)
        left, values, right = _svd(self._operand(y))
        if values.sum() <= self.radius:
            return y.copy()
        kept = Simplex(values.size, self.radius).project(values)
        some = kept > 0.0
        return ((left * kept)[:, some] @ right[some]).ravel()

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and radius / sqrt(min(m, n)), from l1 <= sqrt(k) x l2 in R^k."""
        return np.zeros(self.dim), self.radius / math.sqrt(min(self.shape))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return u_1 v_1' + u_2 v_2' + ..., whose product with y is the sum of singular values."""
        left, values, right = _svd(self._operand(as_vector(y, "y", self)))
        if values.sum() <= self.radius + INSIDE * max(1.0, self.radius):
            return None
        return (left @ right).ravel()

    @property
    def _kind(self) -> int:
        return INNER if self.n <= self.m else OUTER

    def _operand(self, c: Vector, scratch: Vector | None = None) -> Vector:  # noqa: ARG002
        return c.reshape(self.shape)

    def _vertex(self, C: Vector, v: Vector) -> Vector:
        other = C @ v if self._kind == INNER else v @ C
        length = float(np.linalg.norm(other))
        if length == 0.0:  # C = 0, every vertex is as good
            other[0] = length = 1.0
        other *= -self.radius / length
        return (np.outer(other, v) if self._kind == INNER else np.outer(v, other)).ravel()

    def _mixture(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        left, values, right = _svd(self._operand(x))
        missing = self.radius - float(values.sum())
        self._refuse_outside(-missing, self.radius)
        # What is missing goes half to the first vertex and half to its opposite: they cancel.
        weights = np.append(values, 0.5 * max(missing, 0.0))
        weights[0] += weights[-1]
        some = weights > 0.0
        weights = weights[some] / weights.sum()
        left = self.radius * np.vstack([left.T, -left[:, 0]])[some]
        return weights, left, np.vstack([right, right[0]])[some]


def _svd(X: Vector) -> tuple[Vector, Vector, Vector]:
    left, values, right = np.linalg.svd(X, full_matrices=False)
    return left, values, right


def _singular_values(X: Vector) -> Vector:
    return np.asarray(np.linalg.svd(X, compute_uv=False), np.float64)
