"""Sets cut by halfspaces and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import (
    Vector,
    as_array,
    as_number,
    as_point,
    as_vector,
    freeze,
    length,
)
from hedgerow.sets.compositions.polytope import Polytope
from hedgerow.sets.compositions.sums_and_images import AffineImage, Composed, check_set_type
from hedgerow.sets.decision_set import (
    DecisionSet,
    HasLinearDescription,
    Rows,
)
from hedgerow.sets.derived import clip_length
from hedgerow.sets.projections.frank_wolfe import Oracle

THINNEST = 1e-9
"""What a cut must leave, in units of the set's width along the normal."""
EPS = float(np.finfo(np.float64).eps)
PIVOTS = 10_000
"""The most oracle calls of one direction; a polytope takes a few."""


@dataclass(frozen=True, eq=False)
class HalfspaceCut(Composed):
    """The part {x in inner : <normal, x> <= bound} of a set.

    Oracle: the inner oracle on c + lambda normal, with the multiplier lambda at which one answer
    satisfies the bound and one violates it, both best; what lies between them on the plane is the
    answer. Exact on polytopes, after finitely many calls, and up to rounding elsewhere.
    Membership: that of the inner set. Projection: a root in one variable where the inner set can
    project, else by the oracle alone. Diameter: that of the inner set, a bound.

    Args:
        inner: the set.
        normal: the normal of the plane, not zero.
        bound: the largest <normal, x>; more than 1e-9 of the inner set's width along the normal
            has to be left.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> X = HalfspaceCut(Simplex(3), [1.0, 0.0, 0.0], 0.3)
    >>> X.lmo([-2.0, -1.0, 0.0]), X.project([1.0, 0.0, 0.0])
    (array([0.3, 0.7, 0. ]), array([0.3 , 0.35, 0.35]))

    """

    inner: DecisionSet
    normal: Vector
    bound: float
    _unit: Vector = field(init=False, repr=False)
    _level: float = field(init=False, repr=False)
    _lowest: Vector = field(init=False, repr=False)

    def __init__(self, inner: DecisionSet, normal: ArrayLike, bound: float):
        check_set_type(inner, "a cut")
        a = as_vector(normal, "normal", inner.dim)
        size = length(a)
        if size == 0.0:
            raise ValueError("the normal of a halfspace must not be zero, got only zeros")
        unit, level = a / size, as_number(bound, "bound") / size
        lowest, highest = inner.lmo(unit), inner.lmo(-unit)
        least, most = float(unit @ lowest), float(unit @ highest)
        if level - least <= THINNEST * (most - least) or level < least:
            raise ValueError(
                f"a halfspace must leave more than a face of the set: <normal, x> is at least "
                f"{size * least:g} and at most {size * most:g} there, got the bound {bound:g}; "
                "give a larger bound"
            )
        freeze(
            self,
            inner=inner,
            normal=a,
            bound=float(bound),
            _unit=unit,
            _level=level,
            _lowest=lowest,
        )

    def _in_short(self) -> str:
        return f"{self.inner!r}, {self.dim} coordinates"

    @property
    def dim(self) -> int:
        """The inner set's dimension."""
        return self.inner.dim

    @property
    def shape(self) -> tuple[int, ...]:
        """The inner set's shape."""
        return self.inner.shape

    @property
    def diameter(self) -> float:
        """The inner set's diameter."""
        return self.inner.diameter

    @property
    def _sets(self) -> tuple[DecisionSet, ...]:
        return (self.inner,)

    def _best(self, c: Vector, oracles: Sequence[Oracle]) -> Vector:
        return self._solve(c, oracles[0])[0]

    def minimum(self, c: ArrayLike) -> float:
        """Return the inner set's bound for c + lambda normal, less lambda times the bound."""
        c = as_vector(c, "the direction", self.dim)
        largest = float(np.abs(c).max()) or 1.0
        x, t = self._solve(c / largest, self.inner.lmo)
        proved = self.inner.minimum(c / largest + t * self._unit) - t * self._level
        return largest * min(proved, float(c / largest @ x))

    def _solve(self, c: Vector, lmo: Oracle) -> tuple[Vector, float]:
        """Return the minimiser and lambda.

        For each point v of the inner set and lambda >= 0 the least <c, x> over the cut is at most
        <c + lambda a, v> - lambda b, if v is best there: a line in lambda. Where the lines of a
        point above the plane and of one below meet, either no point is better, or one is, which
        takes the place of one of them.
        """
        a, b, t = self._unit, self._level, 0.0
        high, low = lmo(c), self._lowest
        if float(a @ high) <= b:
            return high, t
        for _ in range(PIVOTS):
            step = high - low
            t = max(0.0, -float(c @ step) / float(a @ step))
            d = c + t * a  # <d, high> = <d, low>
            v = lmo(d)
            sizes = np.abs(c) + t * np.abs(a)
            rounding = 8.0 * EPS * float(sizes @ (np.abs(v) + np.abs(high) + np.abs(low)))
            if float(d @ (low - v)) <= rounding:
                break
            high, low = (v, low) if float(a @ v) > b else (high, v)
        share = (b - float(a @ low)) / float(a @ (high - low))
        return low + min(max(share, 0.0), 1.0) * (high - low), t

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x lies in the inner set and below the plane."""
        x = as_vector(x, "x", self.dim)
        if not self.inner.contains(x, tol):
            return False
        size = max(1.0, abs(self._level), float(np.abs(x).max()))
        return float(self._unit @ x) <= self._level + tol * size

    def start(self) -> Vector:
        """Return the inner set's start, moved towards the lowest point until it is below."""
        x = self.inner.start()
        above = float(self._unit @ x) - self._level
        if above <= 0.0:
            return x
        drop = float(self._unit @ (x - self._lowest))
        return x + min(1.0, above / drop) * (self._lowest - x)

    def project(self, y: ArrayLike) -> Vector:
        """Project y - t normal on the inner set, with t so that the answer lies on the plane.

        As y - x - t a is normal to the inner set at the answer x, t <= ||y - x|| D / depth, D the
        diameter and depth what the lowest point is below the plane.
        """
        from scipy.optimize import brentq

        y = clip_length(as_point(y, "y", self.dim))
        a, b, D = self._unit, self._level, self.diameter

        def above(t: float) -> float:
            return float(a @ self.inner.project(y - t * a)) - b

        x = self.inner.project(y)
        if float(a @ x) <= b:
            return x
        most = (length(y - x) + D) * D / (b - float(a @ self._lowest))
        t = brentq(above, 0.0, most, xtol=1e-2 * EPS * D, rtol=4.0 * EPS, maxiter=1000)
        # What lies between the last points above and below is as near, up to the rounding of t.
        margin = 8.0 * EPS * t + 0.1 * EPS * D
        high, low = (self.inner.project(y - s * a) for s in (max(0.0, t - margin), t + margin))
        over, under = float(a @ high) - b, b - float(a @ low)
        if under < 0.0:
            low, under = self._lowest, b - float(a @ self._lowest)
        return high + max(0.0, over) / (max(0.0, over) + under or 1.0) * (low - high)

    def rows(self) -> Rows:
        """Add one row to the inner set's."""
        self._require(HasLinearDescription)
        return with_rows(self.inner.rows(), self._unit[None, :], np.array([self._level]))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Separate y from the inner set; return the normal if y lies in it, but above the plane."""
        y = as_vector(y, "y", self.dim)
        if self.contains(y):
            return None
        if self.inner.contains(y):
            return self._unit.copy()
        return self.inner.separate(y)


def intersect(
    decision_set: DecisionSet,
    A_ub: Any = None,
    b_ub: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> DecisionSet:
    """Return {x in decision_set : A_ub x <= b_ub, lower <= x <= upper} for a set that has `rows`.

    It is a `Polytope`, or the `AffineImage` of one where the rows live in more variables: one
    linear programme for each call of the oracle.

    Args:
        decision_set: the set, with `HasLinearDescription`.
        A_ub: coefficients of further inequalities, shape (m, dim).
        b_ub: their right-hand sides.
        lower: the least values, one number or dim; none unless given.
        upper: the largest values, one number or dim; none unless given.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> intersect(Simplex(3), upper=[0.5, 1.0, 0.2]).lmo([-3.0, -1.0, -2.0]).round(9)
    array([0.5, 0.3, 0.2])

    """
    X = decision_set
    check_set_type(X, "an intersection")
    if not X.supports(HasLinearDescription):
        raise ValueError(
            f"{type(X).__name__} has no rows() to add others to; cut it by one plane with "
            "HalfspaceCut, or give a set that supports HasLinearDescription"
        )
    blocks, sides = [np.zeros((0, X.dim))], [np.zeros(0)]
    if (A_ub is None) != (b_ub is None):
        raise ValueError("A_ub and b_ub belong together, got one of them; give both or neither")
    if A_ub is not None and b_ub is not None:
        A = as_array(A_ub, "A_ub")
        if A.ndim != 2 or A.shape[1] != X.dim:
            raise ValueError(f"A_ub must have {X.dim} columns, got shape {A.shape}")
        blocks.append(A)
        sides.append(as_vector(b_ub, "b_ub", len(A)))
    for sign, name, limits in ((-1.0, "lower", lower), (1.0, "upper", upper)):
        if limits is not None:
            ends = as_array(limits, name)
            if ends.shape not in ((), (X.dim,)):
                raise ValueError(f"{name} must be one number or {X.dim}, got shape {ends.shape}")
            blocks.append(sign * np.eye(X.dim))
            sides.append(sign * np.broadcast_to(ends, (X.dim,)))
    rows = with_rows(X.rows(), np.vstack(blocks), np.concatenate(sides))
    cut = Polytope(rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, rows.lower, rows.upper)
    if rows.lift is None and rows.shift is None:
        return cut
    lift = np.eye(X.dim) if rows.lift is None else rows.lift.toarray()
    return AffineImage(cut, lift, rows.shift)


def with_rows(rows: Rows, A: Vector, b: Vector) -> Rows:
    """Return a description with the inequalities A x <= b added, x the points that it describes."""
    from scipy import sparse

    lifted = sparse.csr_array(A if rows.lift is None else A @ rows.lift)
    side = b if rows.shift is None else b - A @ rows.shift
    if rows.A_ub is None or rows.b_ub is None:
        return replace(rows, A_ub=lifted, b_ub=side)
    A_ub = sparse.csr_array(sparse.vstack([rows.A_ub, lifted]))
    return replace(rows, A_ub=A_ub, b_ub=np.append(rows.b_ub, side))
