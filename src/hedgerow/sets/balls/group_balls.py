"""Balls of norms of groups of coordinates, disjoint or overlapping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, freeze, length
from hedgerow.sets.balls.l1_l2_balls import L1Ball, NormBall, against
from hedgerow.sets.compiled import Compiled, KernelWorkspace
from hedgerow.sets.compositions.oracle_only import ConvexHull
from hedgerow.sets.decision_set import FullDimensional
from hedgerow.sets.validation import as_size

Label = NDArray[np.intp]
PROVED = 1e-12
"""The relative error of a latent group norm that is good enough."""
EPS = float(np.finfo(np.float64).eps)
NEWTON_STEPS = 50
"""The most steps for one weight of the logarithms; it takes about three."""


@dataclass(frozen=True, eq=False)
class GroupBall(NormBall):
    """The ball {||x_G1|| + ... + ||x_Gk|| <= radius} of disjoint groups: few groups are not zero.

    Oracle: the group in which c is longest, normalised, O(n). Projection: that of the groups'
    lengths on the l1 ball, O(n). Diameter: 2 radius, exact.

    Args:
        groups: for each group its coordinates; each of 0 .. n - 1 is in exactly one group.
        radius: the largest sum of the groups' Euclidean norms.

    Reference: M. Yuan and Y. Lin, Model selection and estimation in regression with grouped
    variables, J. R. Stat. Soc. B 68 (2006).

    >>> GroupBall([[0, 1], [2]], radius=5.0).lmo([3.0, -4.0, 4.5])
    array([-3.,  4.,  0.])

    """

    groups: Sequence[Sequence[int]]
    radius: float = 1.0
    n: int = field(init=False, repr=False)
    _label: Label = field(init=False, repr=False)

    def __post_init__(self) -> None:
        members = _members(self.groups)
        every = np.concatenate(members)
        if np.unique(every).size != every.size:
            twice = int(np.bincount(every).argmax())
            raise ValueError(
                f"the groups must hold each of 0 .. {every.max()} exactly once, got {twice} more "
                "than once; groups that overlap make a LatentGroupBall"
            )
        label = np.empty(every.size, np.intp)
        label[every] = np.repeat(np.arange(len(members)), [m.size for m in members])
        freeze(self, groups=tuple(tuple(m.tolist()) for m in members), n=every.size, _label=label)
        super().__post_init__()

    def _in_short(self) -> str:
        return f"{len(self.groups)} groups, {self.n} coordinates"

    def _lengths(self, x: Vector) -> Vector:
        """Return the norm of each group; squares neither overflow nor vanish."""
        largest = float(np.abs(x).max()) or 1.0
        squares = np.bincount(self._label, (x / largest) ** 2, len(self.groups))
        return largest * np.sqrt(squares)

    def norm(self, x: ArrayLike) -> float:
        """Return the sum of the groups' Euclidean norms."""
        return math.fsum(self._lengths(as_vector(x, "x", self.n)).tolist())

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against c in the group where it is longest, the first one if several."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self.n))

    @cached_property
    def compiled(self) -> Compiled:
        """A few passes over the costs."""
        return Compiled(
            kernels.balls.against_largest_group,
            kernels.tangents.everywhere,
            index=self._label.astype(np.uint32),
            numbers=np.array([self.radius]),
            scratch=len(self.groups),
        )

    @property
    def is_polytope(self) -> bool:
        """Whether every group has one coordinate: the l1 ball."""
        return len(self.groups) == self.n

    @property
    def strong_convexity(self) -> float:
        """1 / radius for one group, the Euclidean ball; else 0, mixtures of groups are flat."""
        return 1.0 / self.radius if len(self.groups) == 1 else 0.0

    @property
    def pyramidal_width(self) -> float:
        """That of the l1 ball if every group has one coordinate."""
        return L1Ball(self.n, self.radius).pyramidal_width if self.is_polytope else 0.0

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and radius / sqrt(groups), from l1 <= sqrt(k) x l2 in R^k."""
        return np.zeros(self.n), self.radius / math.sqrt(len(self.groups))

    def _shrink(self, y: Vector) -> Vector:
        lengths = self._lengths(y)
        kept = L1Ball(lengths.size, self.radius).project(lengths)
        share = np.divide(kept, lengths, out=np.zeros(lengths.size), where=lengths > 0.0)
        return y * share[self._label]

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        lengths = self._lengths(x)
        some = np.flatnonzero(lengths)
        if not some.size:
            return np.ones(1), self.lmo(x)[None, :]
        unit = x / lengths.max()  # first, so that no tiny length is divided by
        mine = self._label == some[:, None]
        factors = self.radius / (lengths[some] / lengths.max())
        return lengths[some] / lengths.sum(), np.where(mine, unit * factors[:, None], 0.0)

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        lengths = self._lengths(x)
        if not lengths.any():
            return self.lmo(x)
        mine = self._label == rng.choice(lengths.size, p=lengths / lengths.sum())
        return np.where(mine, against(np.where(mine, -x, 0.0), self.radius), 0.0)


@dataclass(frozen=True, eq=False)
class LatentGroupBall(FullDimensional):
    """The hull of {x : ||x|| <= radius, x = 0 outside of one group} over groups that may overlap.

    The ball of the latent group norm: supports are unions of groups. All k-subsets as groups give
    `KSparse`. Oracle: the group in which c is longest, normalised, O(total size of the groups).
    Membership and decomposition: a convex programme with one variable for each group, by Newton's
    method, until a dual point proves the norm to 1e-12. Projection: by the oracle alone, to a
    stated tolerance. Diameter: 2 radius, exact.

    Args:
        groups: for each group its coordinates; each of 0 .. n - 1 is in at least one group.
        radius: the largest norm of a vertex.

    Reference: G. Obozinski, L. Jacob and J.-P. Vert, Group lasso with overlaps: the latent group
    lasso approach (2011).

    >>> LatentGroupBall([[0, 1], [1, 2]], radius=5.0).lmo([1.0, -4.0, 3.0])
    array([ 0.,  4., -3.])

    """

    groups: Sequence[Sequence[int]]
    radius: float = 1.0
    _sets: tuple[Label, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        freeze(self, radius=as_size(self.radius, "radius"), _sets=tuple(_members(self.groups)))
        freeze(self, groups=tuple(tuple(m.tolist()) for m in self._sets))

    def _in_short(self) -> str:
        return f"{len(self.groups)} groups, {self.dim} coordinates"

    @cached_property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return int(self._joined.max()) + 1

    @cached_property
    def _joined(self) -> Label:
        """The groups, one after the other."""
        return np.concatenate(self._sets)

    @property
    def _known_diameter(self) -> tuple[float, bool]:
        return 2.0 * self.radius, True

    @property
    def is_polytope(self) -> bool:
        """Whether every group has one coordinate: the l1 ball."""
        return all(group.size == 1 for group in self._sets)

    @property
    def strong_convexity(self) -> float:
        """1 / radius if one group has all coordinates: the Euclidean ball."""
        whole = any(group.size == self.dim for group in self._sets)
        return 1.0 / self.radius if whole else 0.0

    @property
    def pyramidal_width(self) -> float:
        """That of the l1 ball if every group has one coordinate."""
        return L1Ball(self.dim, self.radius).pyramidal_width if self.is_polytope else 0.0

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against c in the group where it is longest, the first one if several."""
        c = as_direction(c, self.dim)
        unit = c / (np.abs(c).max() or 1.0)
        starts = np.cumsum([0, *(g.size for g in self._sets[:-1])])
        mine = self._sets[int(np.argmax(np.add.reduceat(unit[self._joined] ** 2, starts)))]
        v = np.zeros(self.dim)
        v[mine] = against(unit[mine], self.radius)
        return v

    def norm(self, x: ArrayLike) -> float:
        """Return the least sum of ||v_G|| over x = sum of v_G, v_G zero outside of G."""
        x = as_vector(x, "x", self.dim)
        return math.fsum(self._split(x)[0].tolist())

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the norm is at most the radius; the Euclidean one is never larger."""
        most = self.radius + tol * max(1.0, self.radius)
        x = as_vector(x, "x", self.dim)
        return length(x) <= most and self.norm(x) <= most

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the parts v_G, lengthened, and an opposite of the first; fewer if too many."""
        x = as_vector(x, "x", self.dim)
        if not self.contains(x):
            raise ValueError(
                "only a point of the set is a mixture of its vertices, got one with norm "
                f"{self.norm(x):g}; project it first"
            )
        lengths, units = self._split(x)
        if not lengths.any():
            lengths, units = np.zeros(1), self.lmo(x)[None, :] / self.radius
        share = min(1.0, math.fsum(lengths.tolist()) / self.radius)
        weights = lengths * (share / (lengths.sum() or 1.0))
        first = int(np.argmax(weights))
        weights, vertices = np.append(weights, 0.0), self.radius * np.vstack([units, -units[first]])
        weights[[first, -1]] += 0.5 * (1.0 - share)
        weights, vertices = weights[weights > 0.0], vertices[weights > 0.0]
        if weights.size > self.dim + 1:
            return ConvexHull(vertices).decompose(x)
        return weights, vertices

    def _split(self, x: Vector) -> tuple[Vector, Vector]:
        """Return the lengths and the unit vectors of the best parts v_G, one row each.

        They are t_G x / theta on G, theta_i the sum of t_G over the groups of i, for the t >= 0
        that minimise sum x_i^2 / theta_i + sum t_G; the terms log t_G keep t positive and fade out.
        The point x / theta, shrunk until no group is longer than 1, bounds the norm from below.
        """
        size = float(np.abs(x).max())
        if size == 0.0:
            return np.zeros(1), np.zeros((1, self.dim))
        B, squares = self._incidence, (x / size) ** 2
        t = np.full(len(self.groups), math.sqrt(self.dim))
        for fading in 10.0 ** -np.arange(1.0, 17.0):
            t = _least(B, squares, t, fading)
            theta = B @ t
            lengths = np.sqrt(B.T @ (squares / theta**2))
            upper, lower = t @ lengths, float((squares / theta).sum()) / lengths.max()
            if upper - lower <= PROVED * upper:
                break
        units = (B * (x / size / theta)[:, None]).T
        some = lengths > 0.0
        return size * (t * lengths)[some], units[some] / lengths[some, None]

    @cached_property
    def _incidence(self) -> Vector:
        B = np.zeros((self.dim, len(self._sets)))
        for g, members in enumerate(self._sets):
            B[members, g] = 1.0
        return B

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.dim)


def _members(groups: Sequence[Sequence[int]]) -> list[Label]:
    """Return the coordinates of each group; every one of 0 .. n - 1 is in some group."""
    members = [np.asarray(group) for group in groups]
    if not members or any(m.ndim != 1 or not m.size or m.dtype.kind not in "iu" for m in members):
        raise ValueError(
            "there must be at least one group, and every group must be a list of at least one "
            "whole number; leave empty groups out"
        )
    every = np.concatenate(members)
    missing = np.setdiff1d(np.arange(int(every.max()) + 1), every)
    if every.min() < 0 or missing.size:
        what = f"{missing[0]} in none" if missing.size else f"the coordinate {every.min()}"
        raise ValueError(
            f"the groups must hold each of 0 .. {every.max()}, got {what}; a coordinate that shall "
            "stand alone is a group of its own"
        )
    return [np.unique(m).astype(np.intp) for m in members]


def _least(B: Vector, squares: Vector, t: Vector, fading: float) -> Vector:
    """Minimise sum squares / (B t) + sum t - fading sum log t over t > 0 by Newton's method."""

    def value(t: Vector) -> float:
        return float((squares / (B @ t)).sum() + t.sum() - fading * np.log(t).sum())

    for _ in range(NEWTON_STEPS):
        theta = B @ t
        slope = 1.0 - B.T @ (squares / theta**2) - fading / t
        # In units of t, so that groups of all sizes are seen alike.
        bend = (B * t).T @ ((2.0 * squares / theta**3)[:, None] * (B * t))
        bend[np.diag_indices(t.size)] += fading + EPS * float(np.trace(bend))
        step = -np.linalg.solve(bend, slope * t)
        fall = -float((slope * t) @ step)
        share = min(1.0, 0.9 / max(float(-step.min()), 1e-300))
        while share > EPS and value(t + share * step * t) > value(t) - 0.1 * share * fall:
            share *= 0.5
        if fall <= 1e-3 * fading or share <= EPS:
            break
        t = t + share * step * t
    return t
