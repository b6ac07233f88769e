"""Polytopes given by linear inequalities, equations and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_array, as_direction, as_point, as_vector, freeze, read_only
from hedgerow.sets.decision_set import FlatSet, Rows, Workspace
from hedgerow.sets.derived import clip_length
from hedgerow.sets.hulls import Interior, interior
from hedgerow.sets.solvers import Programme, WarmStartedLP, linear_programme, loaded, nearest_point

if TYPE_CHECKING:
    from scipy import sparse

MANY = 400
"""More linear programmes than this are not solved to find bounds: they must be given."""
LEAST_SIDE, LARGEST_SIDE = 1e-4, 1e15
"""The largest right-hand side or bound lies between these: HiGHS takes 1e-10 for nothing and 1e20
for infinite."""


@dataclass(frozen=True, eq=False)
class Polytope(FlatSet):
    """The polytope {A_ub x <= b_ub, A_eq x = b_eq, lower <= x <= upper}, which must be bounded.

    Oracle: one linear programme by HiGHS, to its tolerance of 1e-10; `minimum` is a true lower
    bound by duality. A workspace stores the model and starts from the last basis when the package
    `highspy` is installed: the value is that of `lmo`, and so is the vertex up to rounding.
    Projection: a QP by `piqp` when it is installed, else by the oracle alone. Diameter: a bound,
    the diagonal of the bounding box (of the given bounds above 200 dimensions).

    Args:
        A_ub: the inequalities' coefficients, dense or sparse, shape (m, n).
        b_ub: the inequalities' right-hand sides.
        A_eq: the equations' coefficients, shape (k, n).
        b_eq: the equations' right-hand sides.
        lower: the least values, one number or n; 0 unless given, as in `scipy.optimize.linprog`.
        upper: the largest values, one number or n; infinite unless given. Infinite bounds are
            replaced by those that the rows imply, by at most 400 linear programmes.

    Reference: Huangfu and Hall, Parallelizing the dual revised simplex method (2018), for HiGHS.

    >>> X = Polytope([[1.0, 2.0]], [2.0])
    >>> X.lmo([-1.0, -1.0]), X.project([1.0, 1.0]).round(6)
    (array([2., 0.]), array([0.8, 0.6]))

    """

    A_ub: sparse.csr_array
    b_ub: Vector
    A_eq: sparse.csr_array
    b_eq: Vector
    lower: Vector
    upper: Vector

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: ArrayLike | None = None,
        A_eq: Any = None,
        b_eq: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ):
        n = _dimension(A_ub, A_eq, lower, upper)
        for name, matrix, side in (("ub", A_ub, b_ub), ("eq", A_eq, b_eq)):
            rows, right = _rows(name, matrix, side, n)
            freeze(self, **{f"A_{name}": rows, f"b_{name}": right})
        low = _bounds(lower, 0.0, "lower", n)
        high = _bounds(upper, np.inf, "upper", n)
        if (low > high).any():
            i = int(np.argmax(low > high))
            raise ValueError(
                f"a polytope needs lower <= upper in every coordinate, got lower[{i}] = {low[i]:g} "
                f"> upper[{i}] = {high[i]:g}"
            )
        freeze(self, lower=low, upper=high)
        self._check_size()
        self._bound()

    def _check_size(self) -> None:
        """Refuse numbers that the LP solver cannot tell from zero or from infinity."""
        sides = np.abs(np.concatenate([self.b_ub, self.b_eq, self.lower, self.upper]))
        size = float(sides[np.isfinite(sides)].max(initial=0.0))
        if size != 0.0 and not LEAST_SIDE <= size <= LARGEST_SIDE:
            raise ValueError(
                "the largest right-hand side or bound of a polytope must be between "
                f"{LEAST_SIDE:g} and {LARGEST_SIDE:g}, got {size:g}; divide all of them by it and "
                "wrap the polytope in Scaled"
            )

    def _bound(self) -> None:
        """Refuse an empty or unbounded polytope, and make all bounds finite."""
        if self._solve(np.zeros(self.dim)).status != 0:
            raise ValueError(
                "no point satisfies all rows and bounds; loosen some right-hand side or bound"
            )
        for name, sign in (("lower", 1.0), ("upper", -1.0)):
            bounds = np.array(getattr(self, name))
            open_ones = np.flatnonzero(np.isinf(bounds))
            if open_ones.size > MANY:
                raise ValueError(
                    f"{open_ones.size} {name} bounds are infinite, at most {MANY} may be; "
                    f"give finite {name} bounds"
                )
            for i in open_ones:
                axis = np.zeros(self.dim)
                axis[i] = sign
                result = self._solve(axis)
                if result.status != 0:
                    raise ValueError(
                        f"a decision set must be bounded, but x[{i}] has no {name} bound; give one"
                    )
                # A little wider: the bound only has to be true, the rows imply a better one.
                bounds[i] = sign * (result.fun - 1e-6 * (1.0 + abs(result.fun)))
            freeze(self, **{name: bounds})

    def _solve(self, c: Vector) -> Any:
        return linear_programme(
            c, self.A_ub, self.b_ub, self.A_eq, self.b_eq, self.lower, self.upper
        )

    def _optimum(self, c: Vector) -> Any:
        result = self._solve(c)
        if result.status != 0:
            raise RuntimeError(
                f"the LP solver failed ({result.message.strip()}); choose units that bring the "
                "rows' coefficients closer to 1"
            )
        return result

    def _in_short(self) -> str:
        return f"{self.dim} variables, {self.b_ub.size + self.b_eq.size} rows"

    @property
    def dim(self) -> int:
        """The number of columns."""
        return self.lower.size

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The diagonal of the bounding box, or of the given bounds if there are many."""
        if 2 * self.dim <= MANY:
            return super()._known_diameter
        return float(np.linalg.norm(self.upper - self.lower)), False

    @property
    def is_polytope(self) -> bool:
        """Yes, a bounded set given by rows."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the solver's vertex, moved into the bounds."""
        x: Vector = self._optimum(_unit(as_direction(c, self.dim))[0]).x
        return np.clip(x, self.lower, self.upper)

    def minimum(self, c: ArrayLike) -> float:
        """Return the dual value: true for any multipliers, because the bounds are finite."""
        c, exponent = _unit(as_vector(c, "the direction", self.dim))
        result = self._optimum(c)
        below = np.minimum(result.ineqlin.marginals, 0.0)
        free = result.eqlin.marginals
        reduced = c - below @ self.A_ub - free @ self.A_eq
        bound = float(below @ self.b_ub + free @ self.b_eq)
        bound += float(np.minimum(reduced * self.lower, reduced * self.upper).sum())
        return math.ldexp(bound, exponent)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x satisfies every row and bound."""
        excess = self._excess(as_vector(x, "x", self.dim))
        return max(float(part.max(initial=0.0)) for part in excess) <= tol

    def _excess(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """By how much x breaks rows, equations and bounds, relative to sizes above 1."""
        return (
            (self.A_ub @ x - self.b_ub) / np.maximum(1.0, np.abs(self.b_ub)),
            np.abs(self.A_eq @ x - self.b_eq) / np.maximum(1.0, np.abs(self.b_eq)),
            (self.lower - x) / np.maximum(1.0, np.abs(self.lower)),
            (x - self.upper) / np.maximum(1.0, np.abs(self.upper)),
        )

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the row or bound that y breaks most, or None if it breaks none by 1e-9."""
        y = as_vector(y, "y", self.dim)
        excess = self._excess(y)
        worst = int(np.argmax([part.max(initial=0.0) for part in excess]))
        if excess[worst].max(initial=0.0) <= 1e-9:
            return None
        i = int(np.argmax(excess[worst]))
        if worst < 2:
            row: Vector = (self.A_eq if worst else self.A_ub)[[i]].toarray()[0]
            return -row if worst and row @ y < self.b_eq[i] else row
        a = np.zeros(self.dim)
        a[i] = -1.0 if worst == 2 else 1.0
        return a

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point, up to rounding, by a QP if its answer can be proved."""
        y = clip_length(as_point(y, "y", self.dim))
        size = float(np.max(self.upper - self.lower)) or 1.0
        x = nearest_point(
            Programme(
                (y - self.lower) / size,
                self.A_ub,
                (self.b_ub - self.A_ub @ self.lower) / size,
                self.A_eq,
                (self.b_eq - self.A_eq @ self.lower) / size,
                (self.upper - self.lower) / size,
            )
        )
        if x is None:
            return super().project(y)
        return np.clip(self.lower + size * x, self.lower, self.upper)

    def rows(self) -> Rows:
        """Return the rows as given, with finite bounds."""
        return Rows(self.lower, self.upper, self.A_eq, self.b_eq, self.A_ub, self.b_ub)

    @cached_property
    def _interior(self) -> Interior:
        from scipy import sparse

        eye = sparse.eye_array(self.dim)
        rows = sparse.csr_array(sparse.vstack([self.A_ub, eye, -eye]))
        right = np.concatenate([self.b_ub, self.upper, -self.lower])
        size = float(np.max(self.upper - self.lower))
        return interior(rows, right, self.A_eq, self.start(), size)

    @property
    def _flat(self) -> Vector:
        return self._interior.flat

    def hull(self) -> tuple[Vector, Vector]:
        """Return the inner ball's centre and the null space of all rows that are always tight."""
        return self._interior.centre.copy(), self._interior.basis.copy()

    def ball(self) -> tuple[Vector, float]:
        """Return the largest ball in the hull, r = 0 for a point."""
        return self._interior.centre.copy(), self._interior.radius

    def workspace(self) -> Workspace:
        """Return a hot-started model if `highspy` can be loaded."""
        highs = loaded("highspy")
        return Workspace(self) if highs is None else WarmStartedLP(self, self.rows(), highs)


def _unit(c: Vector) -> tuple[Vector, int]:
    """Return c scaled by a power of two to entries of at most 1, and the exponent."""
    exponent = math.frexp(float(np.abs(c).max()))[1]
    return np.ldexp(c, -exponent), exponent


def _dimension(A_ub: Any, A_eq: Any, lower: Any, upper: Any) -> int:
    """Return the number of coordinates that the first given part has."""
    for name, given in (("A_ub", A_ub), ("A_eq", A_eq), ("lower", lower), ("upper", upper)):
        shape = np.shape(given) if given is not None else ()
        if name.startswith("A") and given is not None and len(shape) != 2:
            raise ValueError(f"{name} must have two dimensions, got shape {shape}")
        if shape and shape[-1] > 0:
            return int(shape[-1])
    raise ValueError("a polytope needs rows or a vector of bounds, to know its dimension")


def _rows(name: str, A: Any, b: ArrayLike | None, n: int) -> tuple[sparse.csr_array, Vector]:
    """Return the matrix and the right-hand side, empty if neither is given."""
    from scipy import sparse

    if (A is None) != (b is None):
        raise ValueError(f"A_{name} and b_{name} come together, got only one of them")
    if A is None or b is None:
        return sparse.csr_array((0, n)), read_only(np.zeros(0))
    is_sparse: bool = sparse.issparse(A)
    matrix = sparse.csr_array(A if is_sparse else as_array(A, f"A_{name}"), copy=True)
    matrix.data = as_array(matrix.data, f"A_{name}")
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise ValueError(f"A_{name} must have shape (rows, {n}), got {matrix.shape}")
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix, read_only(as_vector(b, f"b_{name}", matrix.shape[0]))


def _bounds(given: ArrayLike | None, default: float, name: str, n: int) -> Vector:
    """Return n bounds, infinite ones allowed."""
    bounds = np.asarray(default if given is None else given)
    if bounds.dtype.kind not in "fiu" or bounds.shape not in ((), (n,)) or np.isnan(bounds).any():
        raise ValueError(
            f"{name} must be one number or {n} numbers, infinite ones allowed, got {given!r}"
        )
    return read_only(np.broadcast_to(bounds.astype(np.float64), n))
