"""Balls of norms around the origin: what they share, and the l1, l2 and k-support balls."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_point, as_vector, freeze
from hedgerow.sets.compiled import Compiled, KernelWorkspace
from hedgerow.sets.decision_set import FullDimensional, ProjectableSet, Rows
from hedgerow.sets.directions import smallest
from hedgerow.sets.simplices.fixed_sum import systematic_draw, systematic_subsets
from hedgerow.sets.validation import as_size


class NormBall(FullDimensional, ProjectableSet):
    """The ball {norm(x) <= radius} of a norm that is at least the Euclidean one, equal on axes."""

    n: int
    radius: float

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), radius=as_size(self.radius, "radius"))

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def diameter(self) -> float:
        """The distance of two opposite vertices on an axis."""
        return 2.0 * self.radius

    def radius_around(self, x: ArrayLike) -> float:
        """Return ||x|| + diameter/2, exact in the centre, or the diameter if that is less."""
        away = float(np.linalg.norm(as_point(x, "x", self)))
        return min(self.diameter, 0.5 * self.diameter + away)

    @abstractmethod
    def norm(self, x: ArrayLike) -> float:
        """Return the norm whose ball this is."""

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the norm is at most the radius."""
        return bool(self.norm(x) <= self.radius + tol * max(1.0, self.radius))

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.n)

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point; a point inside stays as it is."""
        y = as_point(y, "y", self)
        return y.copy() if self.norm(y) <= self.radius else self._shrink(y)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the vertices that mix to x radius / norm(x), and the first one's opposite.

        The missing weight goes half to the first vertex and half to its opposite: they cancel.
        """
        x = self._inside(x)
        share = min(1.0, self.norm(x) / self.radius)
        weights, vertices = self._surface(x)
        if share == 1.0:
            return weights, vertices
        weights = np.append(share * weights, 0.5 * (1.0 - share))
        weights[0] += weights[-1]
        return weights, np.vstack([vertices, -vertices[0]])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw a vertex with mean x radius / norm(x), and turn it round often enough for x."""
        x = self._inside(x)
        keep = 0.5 + 0.5 * self.norm(x) / self.radius
        v = self._draw(x, rng)
        return v if rng.random() < keep else -v

    @abstractmethod
    def _shrink(self, y: Vector) -> Vector:
        """Return the projection of y, which lies outside."""

    @abstractmethod
    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        """Return at most n vertices that mix to x radius / norm(x), any vertex if x = 0."""

    @abstractmethod
    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        """Return a random vertex with mean x radius / norm(x), any vertex if x = 0."""


def signed_rows(n: int, cap: float, radius: float) -> Rows:
    """Return the rows of x = p - m with 0 <= p, m <= cap and sum(p + m) <= radius."""
    from scipy import sparse

    eye = sparse.eye_array(n)
    return Rows(
        np.zeros(2 * n),
        np.full(2 * n, cap),
        A_ub=sparse.csr_array(np.ones((1, 2 * n))),
        b_ub=np.array([radius]),
        lift=sparse.csr_array(sparse.hstack([eye, -eye])),
    )


def against(c: Vector, radius: float) -> Vector:
    """Return -radius c / ||c||, against the first axis if c = 0."""
    largest = float(np.abs(c).max())
    if largest == 0.0:
        v = np.zeros(c.size)
        v[0] = -radius
        return v
    unit = c / largest  # so that squares neither overflow nor vanish
    return unit * (-radius / math.sqrt(float(unit @ unit)))


@dataclass(frozen=True, eq=False)
class L1Ball(NormBall):
    """The cross-polytope {|x_1| + ... + |x_n| <= radius}: sparse signed vectors.

    Oracle: the largest entry of |c|, O(n). Projection: that of |y| on the simplex. Diameter:
    2 radius, exact.

    Args:
        n: the number of coordinates.
        radius: the largest sum of absolute values.

    >>> L1Ball(3).lmo([0.2, -1.0, 0.5])
    array([0., 1., 0.])

    """

    n: int
    radius: float = 1.0

    def norm(self, x: ArrayLike) -> float:
        """Return |x_1| + ... + |x_n|."""
        return kernels.balls.sum_of_sizes(as_vector(x, "x", self), np.empty(self.n))

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the largest entry of |c|, the first one if several."""
        c = as_direction(c, self)
        i = int(np.argmax(np.abs(c)))
        v = np.zeros(self.n)
        v[i] = self.radius if c[i] < 0.0 else -self.radius
        return v

    @cached_property
    def compiled(self) -> Compiled:
        """One pass over the costs."""
        return Compiled(
            kernels.balls.against_largest,
            kernels.tangents.everywhere,
            numbers=np.array([self.radius]),
            scratch=self.n,
            project=kernels.balls.nearest_in_cross,
        )

    @property
    def is_polytope(self) -> bool:
        """Yes, with 2 n vertices."""
        return True

    @property
    def pyramidal_width(self) -> float:
        """The radius over sqrt(n - 1), or the length 2 radius if n = 1: exact.

        The centre of a face of k < n vertices is radius / sqrt(k) away from zero, which is the
        nearest mixture of the others; opposite facets are 2 radius / sqrt(n) apart.
        """
        return self.radius / math.sqrt(self.n - 1) if self.n > 1 else 2.0 * self.radius

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and radius / sqrt(n), the distance of every facet."""
        return np.zeros(self.n), self.radius / math.sqrt(self.n)

    def rows(self) -> Rows:
        """Return the description by x = p - m with p, m >= 0 and sum(p + m) <= radius."""
        return signed_rows(self.n, self.radius, self.radius)

    def _shrink(self, y: Vector) -> Vector:
        return KernelWorkspace(self.compiled).project(y)

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        some = np.flatnonzero(x) if x.any() else np.zeros(1, np.intp)
        vertices = np.zeros((some.size, self.n))
        vertices[np.arange(some.size), some] = np.copysign(self.radius, x[some])
        return self._shares(x)[some], vertices

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        i = rng.choice(self.n, p=self._shares(x))
        v = np.zeros(self.n)
        v[i] = math.copysign(self.radius, x[i])
        return v

    def _shares(self, x: Vector) -> Vector:
        p = np.abs(x)
        if not p.any():
            p[0] = 1.0
        return p / float(p.sum())


@dataclass(frozen=True, eq=False)
class L2Ball(NormBall):
    """The Euclidean ball {||x|| <= radius}.

    Oracle: -radius c / ||c||, O(n). Every point of the sphere is a vertex, so two make any point.
    Diameter: 2 radius, exact.

    Args:
        n: the number of coordinates.
        radius: the largest norm.

    >>> L2Ball(2, radius=5.0).lmo([3.0, -4.0])
    array([-3.,  4.])

    """

    n: int
    radius: float = 1.0

    def norm(self, x: ArrayLike) -> float:
        """Return ||x||; squares neither overflow nor vanish."""
        largest, norm = kernels.balls.length(as_vector(x, "x", self), np.empty(self.n))
        return largest * norm

    def lmo(self, c: ArrayLike) -> Vector:
        """Go straight against c; against the first axis if c = 0."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self))

    @cached_property
    def compiled(self) -> Compiled:
        """A few passes over the costs."""
        return Compiled(
            kernels.balls.against,
            kernels.tangents.everywhere,
            numbers=np.array([self.radius]),
            project=kernels.balls.nearest,
        )

    @property
    def strong_convexity(self) -> float:
        """1 / radius, exact."""
        return 1.0 / self.radius

    def ball(self) -> tuple[Vector, float]:
        """Return the ball itself."""
        return np.zeros(self.n), self.radius

    def _shrink(self, y: Vector) -> Vector:
        return KernelWorkspace(self.compiled).project(y)

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        return np.ones(1), against(-x, self.radius)[None, :]

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:  # noqa: ARG002
        return against(-x, self.radius)


@dataclass(frozen=True, eq=False)
class KSparse(NormBall):
    """The ball of the k-support norm: the hull of {x : at most k nonzeros, ||x|| <= radius}.

    Its norm is ||x||_sp^2 = min of sum x_i^2 / theta_i over 0 <= theta <= 1, sum theta <= k. With
    k = 1 it is the l1 ball, with k = n the Euclidean one. Oracle: the k largest entries of |c|,
    normalised, O(n). Projection: a one-dimensional search, each step a projection on a capped
    simplex, O(n). Diameter: 2 radius, exact.

    Args:
        n: the number of coordinates.
        k: the most nonzeros of a vertex, 1 to n.
        radius: the Euclidean norm of the vertices.

    Reference: A. Argyriou, R. Foygel and N. Srebro, Sparse prediction with the k-support norm,
    NIPS 2012; A. McDonald, M. Pontil and D. Stamos, New perspectives on k-support and cluster
    norms, JMLR 17 (2016) (theta and the proximity operator).

    >>> KSparse(3, 2, radius=5.0).lmo([3.0, -4.0, 1.0])
    array([-3.,  4.,  0.])

    """

    n: int
    k: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self, k=as_count(self.k, "k"))
        if self.k > self.n:
            raise ValueError(f"k must be at most n = {self.n}, got {self.k}")

    def norm(self, x: ArrayLike) -> float:
        """Return the k-support norm, O(n + k log k)."""
        a = np.abs(as_vector(x, "x", self))
        largest = float(a.max()) or 1.0
        a /= largest
        return largest * math.sqrt(float(a @ np.maximum(a, self._level(a))))

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the k largest entries of |c|, the first ones if several."""
        c = as_direction(c, self)
        top = smallest(-np.abs(c), self.k)
        v = np.zeros(self.n)
        v[top] = against(c[top], self.radius)
        return v

    @property
    def is_polytope(self) -> bool:
        """Whether k = 1: the l1 ball."""
        return self.k == 1

    @property
    def strong_convexity(self) -> float:
        """1 / radius if k = n: the Euclidean ball; else 0, there are flat faces."""
        return 1.0 / self.radius if self.k == self.n else 0.0

    @property
    def pyramidal_width(self) -> float:
        """That of the l1 ball if k = 1."""
        return L1Ball(self.n, self.radius).pyramidal_width if self.k == 1 else 0.0

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and radius sqrt(k / n), least along (1, ..., 1)."""
        return np.zeros(self.n), self.radius * math.sqrt(self.k / self.n)

    def _level(self, a: Vector) -> float:
        """Return the tau of the best theta = min(1, a / tau), 0 if at most k entries are not 0.

        With the j largest entries at theta = 1, the others sum to (k - j) tau.
        """
        parts = np.partition(a, self.n - self.k)
        top = np.sort(parts[self.n - self.k :])
        others = float(parts[: self.n - self.k].sum())
        if others == 0.0:
            return 0.0
        open_places = np.arange(self.k, 0, -1)
        levels = (others + np.cumsum(top))[::-1] / open_places
        return float(levels[np.argmax(top[::-1] <= levels)])

    def _shrink(self, y: Vector) -> Vector:
        """Return y theta / (theta + mu/s) with theta = clip((a - mu) / s, 0, 1) and a = |y|.

        The sum of theta is k: w = s theta is the projection of a on the simplex with caps s and
        total k s, which gives mu. The norm of x rises with s; the root is found by Newton steps
        in a bracket, because mu/s is at most the dual norm of y over the radius.
        """
        largest = float(np.abs(y).max())
        a, radius, k = np.abs(y) / largest, self.radius / largest, self.k
        top = smallest(-a, k)
        head = float(np.linalg.norm(a[top]))
        beyond = float(a[~top].max(initial=0.0))
        if beyond <= (1.0 - radius / head) * a[top].min():  # the others do not matter
            return self.lmo(-y)
        low = beyond / (1.0 + head / radius)
        high = min(radius / math.sqrt(k), self._level(a))
        w, s, mu = np.empty(self.n), high, beyond
        for _ in range(100):
            mu = kernels.simplices.project_capped(a, np.full(self.n, s), k * s, mu, w)
            full = w >= s
            middle = (w > 0.0) & ~full
            m, q = int(middle.sum()), k - int(full.sum())
            if m > 0:
                mu = (float(a[middle].sum()) - q * s) / m  # the same, with less rounding
            squares = float(a[full] @ a[full]) / (s + mu) ** 2
            excess = s * s * (q + squares) - radius**2
            low, high = (low, s) if excess > 0.0 else (s, high)
            last, s = s, math.sqrt(low * high)
            if m > 0:
                slope = 2.0 * last * (q + squares * (1.0 - last * (m - q) / (m * (last + mu))))
                newton = last - excess / slope
                s = newton if low <= newton <= high else s
            if abs(excess) <= 4e-15 * radius**2 or abs(s - last) <= 1e-15 * last:
                break
        return np.copysign(np.where(full, a * (last / (last + mu)), w) * largest, y)

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        level = self._level(np.abs(x))
        if level == 0.0:
            return np.ones(1), against(-x, self.radius)[None, :]
        weights, members = systematic_subsets(np.minimum(1.0, np.abs(x) / level), self.k)
        return weights, members * self._lifted(x, level)

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        level = self._level(np.abs(x))
        if level == 0.0:
            return against(-x, self.radius)
        members = systematic_draw(np.minimum(1.0, np.abs(x) / level), self.k, rng)
        return members * self._lifted(x, level)

    def _lifted(self, x: Vector, level: float) -> Vector:
        """Return x / theta: any k members of it that theta can draw have norm `radius`."""
        return np.sign(x) * np.maximum(np.abs(x), level) * (self.radius / self.norm(x))
