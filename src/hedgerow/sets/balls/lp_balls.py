"""Balls of the p-norms, and their parts without negative entries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_number, as_point, as_vector, freeze
from hedgerow.sets.balls.boxes import LinfBall, corners
from hedgerow.sets.balls.l1_l2_balls import L1Ball, L2Ball, NormBall
from hedgerow.sets.compiled import Compiled, KernelWorkspace
from hedgerow.sets.decision_set import FullDimensional, HasLinearDescription, ProjectableSet, Rows
from hedgerow.sets.validation import as_size

NEWTON_STEPS = 100
"""More than Newton's method needs from above on a convex function of these sizes."""
CURVED = 1.001
"""Below this exponent a solution is polished in x itself."""
ROUNDING = 4e-16
"""Relative changes below this are rounding."""


@dataclass(frozen=True, eq=False)
class LpBall(NormBall):
    """The ball {|x_1|^p + ... + |x_n|^p <= radius^p} of the p-norm, 1 <= p <= infinity.

    Oracle: entries -sign(c) |c|^(q - 1) scaled to the sphere, with 1/p + 1/q = 1, O(n). With
    p = 1, 2 and infinity it is the ball of `L1Ball`, `L2Ball` and `LinfBall`, vertex by vertex.
    Projection: a root in one variable, O(n) a step. Diameter: 2 radius max(1, n^(1/2 - 1/p)),
    exact.

    Args:
        n: the number of coordinates.
        p: the exponent, at least 1, `math.inf` among them.
        radius: the largest norm.

    >>> LpBall(2, 3.0, radius=9.0 ** (1.0 / 3.0)).lmo([-1.0, 4.0]).round(12)
    array([ 1., -2.])

    """

    n: int
    p: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self, p=as_exponent(self.p))

    @cached_property
    def _twin(self) -> L1Ball | L2Ball | LinfBall | None:
        """The same set, where it has a class of its own."""
        if self.p == math.inf:
            return LinfBall(self.n, self.radius)
        if self.p == 2.0:
            return L2Ball(self.n, self.radius)
        return L1Ball(self.n, self.radius) if self.p == 1.0 else None

    def norm(self, x: ArrayLike) -> float:
        """Return the p-norm; powers neither overflow nor vanish."""
        return p_norm(as_vector(x, "x", self), self.p)

    @property
    def diameter(self) -> float:
        """The distance of opposite points: on an axis up to p = 2, else on the diagonal."""
        return 2.0 * self.radius * max(1.0, math.pow(self.n, 0.5 - 1.0 / self.p))

    @property
    def is_polytope(self) -> bool:
        """Whether p is 1 or infinity."""
        return self.p in (1.0, math.inf)

    @property
    def strong_convexity(self) -> float:
        """(p - 1) n^(1/2 - 1/p) / radius up to p = 2, and 0 above: on the axes it is flat.

        ||s x + (1 - s) y||_p^2 <= radius^2 - (p - 1) s (1 - s) ||x - y||_p^2, so that a step of
        p-norm (p - 1) s (1 - s) ||x - y||_p^2 / (2 radius) stays inside; the p-norm is between 1
        and n^(1/p - 1/2) times the Euclidean one.

        Reference: D. Garber and E. Hazan, Faster rates for the Frank-Wolfe method over
        strongly-convex sets, ICML 2015.
        """
        if self.p > 2.0:
            return 0.0
        return (self.p - 1.0) * math.pow(self.n, 0.5 - 1.0 / self.p) / self.radius

    @property
    def pyramidal_width(self) -> float:
        """That of the l1 ball or of the cube, for p = 1 and infinity."""
        return 0.0 if self._twin is None else self._twin.pyramidal_width

    @property
    def _has_rows(self) -> bool:
        return self.p in (1.0, math.inf)

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against c, against the first axis if c = 0 and p is finite."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self))

    @cached_property
    def compiled(self) -> Compiled:
        """A few passes over the costs."""
        if self._twin is not None:
            return self._twin.compiled
        numbers = np.array([self.radius, self.p])
        return Compiled(kernels.balls.against_power, kernels.tangents.everywhere, numbers=numbers)

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and the distance of the sphere: on the diagonal up to p = 2."""
        return np.zeros(self.n), self.radius * min(1.0, self.n ** (0.5 - 1.0 / self.p))

    def rows(self) -> Rows:
        """Return those of the twin: p = 1 and infinity have one."""
        self._require(HasLinearDescription)
        assert self._twin is not None
        return self._twin.rows()

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return x radius / norm(x) and its opposite; what the twin does if there is one."""
        if self._twin is not None:
            return self._twin.decompose(x)
        return super().decompose(x)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw x radius / norm(x) or its opposite; what the twin draws if there is one."""
        if self._twin is not None:
            return self._twin.sample(x, rng)
        return super().sample(x, rng)

    def _shrink(self, y: Vector) -> Vector:
        if self._twin is not None:
            return self._twin.project(y)
        return np.copysign(shrunk(np.abs(y) / self.radius, self.p) * self.radius, y)

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        if isinstance(self._twin, L1Ball):
            return self._twin._surface(x)
        norm = self.norm(x)
        if norm == 0.0:
            return np.ones(1), self.lmo(x)[None, :]
        return np.ones(1), x[None, :] * (self.radius / norm)

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:  # noqa: ARG002
        vertex: Vector = self._surface(x)[1][0]
        return vertex


@dataclass(frozen=True, eq=False)
class NonnegativeLpBall(FullDimensional, ProjectableSet):
    """The part {x >= 0, x_1^p + ... + x_n^p <= radius^p} of the p-norm's ball, 1 <= p <= infinity.

    With p = 1 it is the solid simplex {x >= 0, x_1 + ... + x_n <= radius}, with infinity a cube.
    Oracle: that of `LpBall` on the entries of c below 0, zero elsewhere, O(n). Projection: that
    of max(y, 0) on the ball. Diameter: exact, attained by points with disjoint supports.

    Args:
        n: the number of coordinates.
        p: the exponent, at least 1, `math.inf` among them.
        radius: the largest norm.

    >>> NonnegativeLpBall(3, 1.0, radius=2.0).lmo([0.5, -1.0, -0.2])
    array([0., 2., 0.])
    >>> NonnegativeLpBall(3, 2.0, radius=5.0).lmo([1.0, -3.0, -4.0])
    array([0., 3., 4.])

    """

    n: int
    p: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        freeze(
            self,
            n=as_count(self.n, "n"),
            p=as_exponent(self.p),
            radius=as_size(self.radius, "radius"),
        )

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @cached_property
    def _ball(self) -> LpBall:
        return LpBall(self.n, self.p, self.radius)

    @property
    def diameter(self) -> float:
        """The distance of two points, each on half of the axes, or on one up to p = 2.

        Points x, y >= 0 are furthest apart where no axis has both, so that
        ||x - y||^2 = ||x||^2 + ||y||^2, and ||x|| <= radius max(1, k^(1/2 - 1/p)) on k axes.
        """
        half, rest = self.n // 2, self.n - self.n // 2
        power = max(0.0, 1.0 - 2.0 / self.p)
        return self.radius * math.sqrt((half**power if half else 0.0) + rest**power)

    @property
    def is_polytope(self) -> bool:
        """Whether p is 1 or infinity."""
        return self.p in (1.0, math.inf)

    @property
    def pyramidal_width(self) -> float:
        """The radius over sqrt(n) for p = 1 and infinity, exact; it is attained at zero.

        For p = 1 two opposite faces of the solid simplex, one of them with k vertices other than
        zero and the other with zero, are radius / sqrt(k) apart.
        """
        return self.radius / math.sqrt(self.n) if self.is_polytope else 0.0

    @property
    def _has_rows(self) -> bool:
        return self.p in (1.0, math.inf)

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the entries of c below 0; stay at zero if there are none."""
        c = as_direction(c, self)
        if self.p > 1.0:
            return KernelWorkspace(self.compiled).lmo(c)
        v, i = np.zeros(self.n), int(np.argmin(c))
        v[i] = self.radius if c[i] < 0.0 else 0.0
        return v

    @cached_property
    def compiled(self) -> Compiled:
        """A few passes over the costs."""
        return Compiled(
            kernels.balls.against_power_above_zero,
            kernels.tangents.everywhere,
            numbers=np.array([self.radius, self.p]),
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether no entry is negative and the norm is at most the radius."""
        x = as_vector(x, "x", self)
        slack = tol * max(1.0, self.radius)
        return bool(x.min() >= -slack and self._ball.contains(np.maximum(x, 0.0), tol))

    def start(self) -> Vector:
        """Return the centre of `ball()`."""
        return self.ball()[0]

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point of the ball to max(y, 0): it has no negative entry."""
        return self._ball.project(np.maximum(as_point(y, "y", self), 0.0))

    def ball(self) -> tuple[Vector, float]:
        """Return (r, ..., r) and r, with r so that the p-norms of centre and step sum to `radius`.

        A step of length r has a p-norm of at most r max(1, n^(1/p - 1/2)).
        """
        farthest = max(1.0, self.n ** (1.0 / self.p - 0.5))
        r = self.radius / (self.n ** (1.0 / self.p) + farthest)
        return np.full(self.n, r), r

    def rows(self) -> Rows:
        """Return bounds, and for p = 1 one row for the sum."""
        self._require(HasLinearDescription)
        lower, upper = np.zeros(self.n), np.full(self.n, self.radius)
        if self.p > 1.0:
            return Rows(lower, upper)
        from scipy import sparse

        total = sparse.csr_array(np.ones((1, self.n)))
        return Rows(lower, upper, A_ub=total, b_ub=np.array([self.radius]))

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the vertices that mix to x radius / norm(x), and zero; corners of the cube."""
        x = np.maximum(self._inside(x), 0.0)
        if self.p == math.inf:
            return corners(np.minimum(x / self.radius, 1.0), 0.0, self.radius)
        share = min(1.0, self._ball.norm(x) / self.radius)
        if share == 0.0:
            return np.ones(1), np.zeros((1, self.n))
        weights, vertices = self._ball._surface(x)
        if share == 1.0:
            return weights, vertices
        return np.append(share * weights, 1.0 - share), np.vstack([vertices, np.zeros(self.n)])

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return one vertex of the decomposition, drawn by its weight."""
        weights, vertices = self.decompose(x)
        vertex: Vector = vertices[rng.choice(weights.size, p=weights / weights.sum())].copy()
        return vertex


def as_exponent(value: Any) -> float:
    """Return the exponent of a norm, at least 1; infinity is one."""
    p = math.inf if isinstance(value, float) and value == math.inf else as_number(value, "p")
    if p < 1.0:
        raise ValueError(
            f"p must be at least 1, math.inf among them, got {p:g}: below 1 the ball is not convex"
        )
    return p


def p_norm(x: Vector, p: float) -> float:
    """Return the p-norm of x; powers neither overflow nor vanish."""
    largest = float(np.abs(x).max(initial=0.0))
    if largest == 0.0 or p == math.inf:
        return largest
    return largest * math.pow((np.abs(x / largest) ** p).sum(), 1.0 / p)


def shrunk(a: Vector, p: float) -> Vector:
    """Project a >= 0, which lies outside, on the unit ball of the p-norm, 1 < p < infinity.

    The nearest point solves x + mu x^(p - 1) = a; its norm falls as mu rises, from norm(a) at 0.
    At the root the largest entry is at most 1, so mu >= max(a) - 1, and x^(p - 1) <= a / mu, so
    mu is at most the dual norm of a.
    """
    from scipy.optimize import brentq

    def excess(mu: float) -> float:
        return p_norm(_stationary(a, mu, p), p) - 1.0

    low, high = max(0.0, float(a.max()) - 1.0), p_norm(a, p / (p - 1.0))
    if excess(low) <= 0.0:  # by no more than rounding
        mu = low
    elif excess(high) >= 0.0:
        mu = high
    else:
        mu = brentq(excess, low, high, xtol=1e-17, rtol=4.0 * ROUNDING)
    nearest = _stationary(a, float(mu), p)
    nearest /= p_norm(nearest, p)
    return nearest


def _stationary(a: Vector, mu: float, p: float) -> Vector:
    """Solve x + mu x^(p - 1) = a by Newton's method from above, on whichever form is convex.

    With t = x^(p - 1) it reads t^s + mu t = a, s = 1/(p - 1), which is convex for p < 2.
    """
    if mu == 0.0:
        return a.copy()
    if p >= 2.0:
        x = np.minimum(a, (a / mu) ** (1.0 / (p - 1.0)))
        return _falling_root(x, a, 1.0, mu, p - 1.0)
    s = 1.0 / (p - 1.0)
    x = _falling_root(np.minimum(a ** (p - 1.0), a / mu), a, mu, 1.0, s) ** s
    for _ in range(2 if p < CURVED else 0):  # x = t^s has s times the rounding of t
        some = x > 0.0
        power = mu * x[some] ** (p - 1.0)
        step = (x[some] + power - a[some]) / (1.0 + (p - 1.0) * power / x[some])
        x[some] = np.clip(x[some] - step, 0.5 * x[some], 2.0 * x[some])
    return x


def _falling_root(x: Vector, a: Vector, slope: float, factor: float, power: float) -> Vector:
    """Solve slope x + factor x^power = a from a start above the roots, power >= 1."""
    for _ in range(NEWTON_STEPS):
        lower = factor * x ** (power - 1.0)
        step = (slope * x + lower * x - a) / (slope + power * lower)
        step[x == 0.0] = 0.0
        x = np.maximum(x - step, 0.0)
        if (np.abs(step) <= ROUNDING * x).all():
            break
    return x
