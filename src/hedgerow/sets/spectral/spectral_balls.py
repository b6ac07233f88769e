"""Sets of matrices given by all of their eigenvalues or singular values."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_direction, as_point, as_vector, freeze
from hedgerow.sets.balls.boxes import LinfBall
from hedgerow.sets.balls.lp_balls import LpBall, NonnegativeLpBall, as_exponent
from hedgerow.sets.decision_set import DecisionSet, FullDimensional
from hedgerow.sets.directions import moderate
from hedgerow.sets.simplices.simplex import KSubsets
from hedgerow.sets.spectral.rank_one import EPS, INSIDE, ITSELF, RankOneVertices
from hedgerow.sets.spectral.spectrahedra import Spectrahedron
from hedgerow.sets.validation import as_size


class SingularValues(FullDimensional):
    """The matrices whose singular values lie in a set of vectors that no sign or order changes.

    Each question about a matrix U diag(s) V' is the same question about s: vertices, nearest
    points and mixtures have the same U and V. One full SVD, O(m n min(m, n)), exact up to
    rounding.
    """

    m: int
    n: int
    radius: float

    def __post_init__(self) -> None:
        freeze(
            self,
            m=as_count(self.m, "m"),
            n=as_count(self.n, "n"),
            radius=as_size(self.radius, "radius"),
        )

    @property
    @abstractmethod
    def values(self) -> LpBall | LinfBall:
        """The set of the singular values."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.m, self.n

    @property
    def dim(self) -> int:
        """The number of entries, row by row."""
        return self.m * self.n

    @property
    def diameter(self) -> float:
        """That of the set of singular values."""
        return self.values.diameter

    @property
    def strong_convexity(self) -> float:
        """That of the set of singular values, of which there are min(m, n).

        A ball around c that contains that set and no s outside gives one around U diag(c) V' that
        contains all matrices of the set and not U diag(s) V': by von Neumann's inequality a matrix
        is no further from its centre than some order of its singular values, with signs, from c.

        Reference: D. Garber and E. Hazan, Faster rates for the Frank-Wolfe method over
        strongly-convex sets, ICML 2015 (Schatten balls).
        """
        return self.values.strong_convexity

    def lmo(self, c: ArrayLike) -> Vector:
        """Keep the singular vectors of C and ask the set of singular values."""
        left, values, right = self._svd(moderate(as_direction(c, self))[0])
        return ((left * self.values.lmo(values)) @ right).ravel()

    def minimum(self, c: ArrayLike) -> float:
        """Return the least value over the singular values, less their roundings."""
        c, exponent = moderate(as_vector(c, "the direction", self))
        values = np.linalg.svd(c.reshape(self.shape), compute_uv=False)
        slack = max(self.shape) * EPS * float(values[0]) * math.sqrt(values.size)
        least = self.values.minimum(values) - slack * 0.5 * self.diameter
        return float(np.ldexp(least, exponent))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the singular values lie in their set."""
        x = as_vector(x, "x", self)
        return self.values.contains(np.linalg.svd(x.reshape(self.shape), compute_uv=False), tol)

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.dim)

    def project(self, y: ArrayLike) -> Vector:
        """Project the singular values; a point inside stays as it is."""
        y = as_point(y, "y", self)
        left, values, right = self._svd(y)
        nearest = self.values.project(values)
        if np.array_equal(nearest, values):
            return y.copy()
        return ((left * nearest) @ right).ravel()

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the mixture of the singular values, each with the singular vectors of x."""
        left, values, right = self._svd(as_vector(x, "x", self))
        weights, parts = self.values.decompose(values)
        return weights, ((left * parts[:, None, :]) @ right).reshape(weights.size, self.dim)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw singular values with the mean of those of x."""
        left, values, right = self._svd(as_vector(x, "x", self))
        return ((left * self.values.sample(values, rng)) @ right).ravel()

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and the radius of the inner ball of the singular values."""
        return np.zeros(self.dim), self.values.ball()[1]

    def separate(self, y: ArrayLike) -> Vector | None:
        """Separate the singular values."""
        left, values, right = self._svd(as_vector(y, "y", self))
        cut = self.values.separate(values)
        return None if cut is None else ((left * cut) @ right).ravel()

    def _svd(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        left, values, right = np.linalg.svd(x.reshape(self.shape), full_matrices=False)
        return left, values, right


@dataclass(frozen=True, eq=False)
class SchattenBall(SingularValues):
    """The ball {s_1^p + s_2^p + ... <= radius^p} of the singular values s, 1 <= p <= infinity.

    With p = 1 it is the nuclear ball, p = 2 the Frobenius ball, p = infinity the operator ball.
    Oracle: one full SVD, and `LpBall` on the singular values, O(m n min(m, n)); where p = 1,
    `NuclearBall` needs the leading pair only. Diameter: that of `LpBall`, exact.

    Args:
        m: the number of rows.
        n: the number of columns.
        p: the exponent, at least 1, `math.inf` among them.
        radius: the largest norm.

    >>> X = SchattenBall(2, 3, p=2.0, radius=5.0)
    >>> X.lmo([3.0, 0.0, 0.0, 0.0, 4.0, 0.0]).reshape(2, 3).round(6) + 0.0
    array([[-3.,  0.,  0.],
           [ 0., -4.,  0.]])

    """

    m: int
    n: int
    p: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self, p=as_exponent(self.p))

    @cached_property
    def values(self) -> LpBall:
        """The ball of the p-norm."""
        return LpBall(min(self.m, self.n), self.p, self.radius)


@dataclass(frozen=True, eq=False)
class OperatorBall(SingularValues):
    """The ball {largest singular value <= radius} of the operator norm: mixtures of isometries.

    Oracle: the polar factor -radius U V' of C = U S V', one full SVD, O(m n min(m, n)). It is the
    step of the Muon optimiser. Projection: the singular values cut at the radius. Diameter:
    2 radius sqrt(min(m, n)), exact.

    Args:
        m: the number of rows.
        n: the number of columns.
        radius: the largest singular value.

    >>> OperatorBall(2, 2).lmo([0.0, 3.0, -0.5, 0.0]).reshape(2, 2).round(6) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])

    """

    m: int
    n: int
    radius: float = 1.0

    @cached_property
    def values(self) -> LinfBall:
        """A cube."""
        return LinfBall(min(self.m, self.n), self.radius)


class Eigenvalues(DecisionSet):
    """What sets of symmetric matrices share that are given by a set of their eigenvalues."""

    n: int

    @property
    @abstractmethod
    def values(self) -> KSubsets | NonnegativeLpBall:
        """The set of the eigenvalues, in any order."""

    @property
    def shape(self) -> tuple[int, ...]:
        """A square matrix."""
        return self.n, self.n

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x is symmetric and its eigenvalues lie in their set."""
        X = as_vector(x, "x", self).reshape(self.shape)
        skew = np.abs(0.5 * X - 0.5 * X.T).max()
        symmetric = bool(skew <= tol * max(1.0, self.values.diameter))
        return symmetric and self.values.contains(np.linalg.eigvalsh(0.5 * X + 0.5 * X.T), tol)

    def start(self) -> Vector:
        """Return a multiple of the identity."""
        return np.diag(self.values.start()).ravel()

    def project(self, y: ArrayLike) -> Vector:
        """Project the eigenvalues of the symmetric part."""
        values, vectors = self._spectrum(as_point(y, "y", self))
        return _matrix(vectors, self.values.project(values))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the mixture of the eigenvalues, each with the eigenvectors of x."""
        values, vectors = self._spectrum(self._inside(x))
        weights, parts = self.values.decompose(values)
        return weights, np.array([_matrix(vectors, part) for part in parts])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw eigenvalues with the mean of those of x."""
        values, vectors = self._spectrum(self._inside(x))
        return _matrix(vectors, self.values.sample(values, rng))

    def ball(self) -> tuple[Vector, float]:
        """Return a multiple of the identity and the inner radius of the eigenvalues."""
        centre, radius = self.values.ball()
        return np.diag(centre).ravel(), radius

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the skew part if there is one, else separate the eigenvalues."""
        y = as_vector(y, "y", self)
        Y = y.reshape(self.shape)
        skew = 0.5 * Y - 0.5 * Y.T
        if np.abs(skew).max() > INSIDE * max(1.0, self.values.diameter):
            return skew.ravel()
        values, vectors = self._spectrum(y)
        cut = self.values.separate(values)
        return None if cut is None else _matrix(vectors, cut)

    def _inside(self, x: ArrayLike) -> Vector:
        x = as_vector(x, "x", self)
        if not self.contains(x):
            raise ValueError(
                f"only a point of the {type(self).__name__} is a mixture of its vertices, got one "
                "outside; project it first"
            )
        return x

    def _spectrum(self, x: Vector) -> tuple[Vector, Vector]:
        X = x.reshape(self.shape)
        values, vectors = np.linalg.eigh(0.5 * X + 0.5 * X.T)
        return values, vectors


@dataclass(frozen=True, eq=False)
class Fantope(Eigenvalues):
    """The Fantope {X symmetric, 0 <= X <= I, tr X = k}: mixtures of projections of rank k.

    With k = 1 it is the spectrahedron. Oracle: the eigenvectors of the k least eigenvalues of
    (C + C')/2 by LAPACK, or of the n - k others if these are fewer, O(n^3), exact up to rounding.
    Projection: the eigenvalues projected on the k-subsets. Diameter: sqrt(2 min(k, n - k)), exact.

    Args:
        n: the number of rows and of columns.
        k: the trace, 1 to n.

    Reference: V. Q. Vu, J. Cho, J. Lei and K. Rohe, Fantope projection and selection, NIPS 2013.

    >>> Fantope(3, 2).lmo(np.diag([3.0, 1.0, 2.0]).ravel()).reshape(3, 3).round(6) + 0.0
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])

    """

    n: int
    k: int

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), k=as_count(self.k, "k"))
        if self.k > self.n:
            raise ValueError(f"k must be at most n = {self.n}, got {self.k}")

    @cached_property
    def values(self) -> KSubsets:
        """The eigenvalues: k of them are 1 at a vertex."""
        return KSubsets(self.n, self.k)

    @property
    def dim(self) -> int:
        """The number of entries, row by row."""
        return self.n * self.n

    @property
    def diameter(self) -> float:
        """The distance of two projections, as orthogonal as they can be."""
        return math.sqrt(2.0 * min(self.k, self.n - self.k))

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the projection on the k eigenvectors of the least eigenvalues."""
        from scipy.linalg import eigh

        n, k = self.n, self.k
        C = self.tangent(moderate(as_direction(c, self))[0]).reshape(self.shape)
        if k == n:
            return np.eye(n).ravel()
        if 2 * k <= n:
            V = eigh(C, subset_by_index=(0, k - 1))[1]
            return np.asarray(V @ V.T).ravel()
        V = eigh(C, subset_by_index=(k, n - 1))[1]
        return (np.eye(n) - V @ V.T).ravel()

    def minimum(self, c: ArrayLike) -> float:
        """Return the sum of the k least eigenvalues, less n roundings of the largest for each."""
        if self.k == self.n:
            return super().minimum(c)
        c, exponent = moderate(as_vector(c, "the direction", self))
        values = self._spectrum(c)[0]
        slack = self.k * self.n * EPS * float(np.linalg.norm(c))
        return float(np.ldexp(values[: self.k].sum() - slack, exponent))

    def tangent(self, c: ArrayLike) -> Vector:
        """Keep the symmetric part and subtract the mean of its diagonal there."""
        t = Spectrahedron(self.n).tangent(c)
        return t if self.k < self.n else np.zeros(self.dim)

    def hull(self) -> tuple[Vector, Vector]:
        """Return the centre and a basis of the symmetric matrices of trace zero."""
        basis = Spectrahedron(self.n).hull()[1]
        return self.start(), basis if self.k < self.n else basis[:, :0]


@dataclass(frozen=True, eq=False)
class SolidSpectrahedron(RankOneVertices, Eigenvalues):
    """The matrices {X symmetric, X >= 0, tr X <= trace}: the spectrahedron and all below it.

    Its vertices are zero and trace x v v' with ||v|| = 1. Oracle: that of `Spectrahedron` if the
    least eigenvalue is below 0, else zero. Projection: the eigenvalues projected on the solid
    simplex, O(n^3). Diameter: sqrt(2) trace, exact, and trace if n = 1.

    Args:
        n: the number of rows and of columns.
        trace: what the eigenvalues sum to at most.

    >>> SolidSpectrahedron(2).lmo([1.0, 0.0, 0.0, -1.0])
    array([0., 0., 0., 1.])
    >>> SolidSpectrahedron(2).lmo([1.0, 0.0, 0.0, 2.0])
    array([0., 0., 0., 0.])

    """

    n: int
    trace: float = 1.0

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), trace=as_size(self.trace, "trace"))

    @cached_property
    def values(self) -> NonnegativeLpBall:
        """The solid simplex."""
        return NonnegativeLpBall(self.n, 1.0, self.trace)

    @property
    def diameter(self) -> float:
        """The distance of two vertices with orthogonal vectors."""
        return self.values.diameter

    def minimum(self, c: ArrayLike) -> float:
        """Return trace x least eigenvalue if that is below 0, less n roundings of the largest."""
        c, exponent = moderate(as_vector(c, "the direction", self))
        least = float(self._spectrum(c)[0][0]) - self.n * EPS * float(np.linalg.norm(c))
        return float(np.ldexp(self.trace * min(least, 0.0), exponent))

    def tangent(self, c: ArrayLike) -> Vector:
        """Keep the symmetric part."""
        return self._operand(as_vector(c, "the direction", self)).reshape(-1)

    def hull(self) -> tuple[Vector, Vector]:
        """Return zero and a basis of the symmetric matrices."""
        i, j = np.triu_indices(self.n)
        basis, pair = np.zeros((self.n, self.n, i.size)), np.arange(i.size)
        basis[i, j, pair] = basis[j, i, pair] = np.where(i == j, 1.0, math.sqrt(0.5))
        return np.zeros(self.dim), basis.reshape(self.dim, -1)

    @property
    def _kind(self) -> int:
        return ITSELF

    def _operand(self, c: Vector, scratch: Vector | None = None) -> Vector:
        return self._symmetric_part(c, scratch)

    def _vertex(self, C: Vector, v: Vector) -> Vector:
        if float(v @ (C @ v)) >= 0.0:
            return np.zeros(self.dim)
        return np.outer(self.trace * v, v).ravel()

    def _mixture(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        values, vectors = self._spectrum(self._inside(x))
        weights = np.maximum(values, 0.0) / self.trace
        rest = max(0.0, 1.0 - float(weights.sum()))
        weights = np.append(weights, rest)
        weights /= weights.sum()
        some = weights > 0.0
        right = np.vstack([vectors.T, np.zeros(self.n)])[some]
        return weights[some], self.trace * right, right


def _matrix(vectors: Vector, values: Vector) -> Vector:
    return np.asarray((vectors * values) @ vectors.T).ravel()
