"""Linear and quadratic programmes, and the optional solvers for them."""

from __future__ import annotations

import logging
import math
from functools import cache
from importlib import import_module, util
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, Rows, Workspace
from hedgerow.snapshot import State

if TYPE_CHECKING:
    from scipy import sparse

_log = logging.getLogger("hedgerow")


@cache
def loaded(package: str) -> Any | None:
    """Return an optional solver, or None if it is not installed or cannot be loaded.

    The second happens to `highspy` where another copy of HiGHS is in the process already, such as
    that of OR-Tools. A warning is logged once, by the logger `hedgerow`.
    """
    if not util.find_spec(package):
        return None
    try:
        return import_module(package)
    except ImportError as error:
        _log.warning(  # shown on stderr even where logging is not set up
            "%s is installed but cannot be loaded (%s), perhaps because another package has loaded "
            "the same library before; going on without it, which is slower",
            package,
            error,
        )
        return None


def linear_programme(
    cost: Vector,
    A_ub: Any,
    b_ub: Any,
    A_eq: Any,
    b_eq: Any,
    lower: Vector,
    upper: Vector,
    seconds: float = math.inf,
) -> Any:
    """Minimise <cost, x> by HiGHS; costs should be about 1. Its status is 1 if it takes too long.

    At its tightest tolerance; at the usual one where that leads to numerical difficulties.
    """
    from scipy.optimize import linprog

    bounds: Any = np.column_stack([lower, upper])
    options: Any = {"time_limit": seconds} if seconds < math.inf else {}
    for tol in (1e-10, 1e-7):
        options["primal_feasibility_tolerance"] = options["dual_feasibility_tolerance"] = tol
        result = linprog(
            cost,
            A_ub,
            b_ub,
            A_eq,
            b_eq,
            bounds,
            method="highs-ds",
            options=options,
        )
        if result.status != 4:
            break
    return result


EXACT = 1e-10
"""The error of an answer that is good enough, relative to the width of the bounds."""


class Programme(NamedTuple):
    """Minimise ||x - target|| subject to A_ub x <= b_ub, A_eq x = b_eq, 0 <= x <= upper."""

    target: Vector
    A_ub: sparse.csr_array
    b_ub: Vector
    A_eq: sparse.csr_array
    b_eq: Vector
    upper: Vector


def nearest_point(programme: Programme) -> Vector | None:
    """Solve a programme of unit size by PIQP and one solve on the constraints it finds active.

    An interior-point method is fast but ends near the answer; once the active constraints are
    known, the answer is a least-squares problem, and multipliers of the right sign prove it.
    Returns None if `piqp` cannot be loaded or nothing could be proved.

    Reference: Schwan, Jiang, Kuhn and Jones, PIQP: a proximal interior-point quadratic programming
    solver (2023).
    """
    piqp = loaded("piqp")
    if piqp is None:
        return None
    from scipy import sparse

    target, A_ub, b_ub, A_eq, b_eq, upper = programme
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = EXACT
    solver.setup(
        sparse.csc_matrix(sparse.eye_array(target.size)),
        -target,
        sparse.csc_matrix(A_eq),
        b_eq,
        sparse.csc_matrix(A_ub),
        None,
        b_ub,
        np.zeros(target.size),
        upper,
    )
    solver.solve()
    found = solver.result
    x = np.asarray(found.x)
    low = found.z_bl > x
    high = (found.z_bu > upper - x) & ~low
    return _solve_active(programme, found.z_u > b_ub - A_ub @ x, low, high)


def _solve_active(programme: Programme, tight: Any, low: Any, high: Any) -> Vector | None:
    """Return the point nearest to the target on the active constraints, if it is the answer."""
    target, A_ub, b_ub, A_eq, b_eq, upper = programme
    A = np.vstack([A_ub[tight].toarray(), A_eq.toarray()])
    b = np.concatenate([b_ub[tight], b_eq])
    free = ~(low | high)
    x = np.where(low, 0.0, np.where(high, upper, target))
    x[free] += np.linalg.lstsq(A[:, free], b - A @ x)[0]
    multipliers = np.linalg.lstsq(A[:, free].T, (target - x)[free])[0]
    signed = int(tight.sum())
    multipliers[:signed] = np.maximum(multipliers[:signed], 0.0)
    # x is the answer for target - rest, and projecting moves no more than what is projected.
    rest = target - x - multipliers @ A
    rest[low], rest[high] = np.maximum(rest[low], 0.0), np.minimum(rest[high], 0.0)
    outside = np.concatenate([-x, x - upper, A_ub @ x - b_ub, np.abs(A_eq @ x - b_eq)])
    exact = max(float(np.linalg.norm(rest)), float(outside.max())) <= EXACT
    return x if exact else None


CLOSE = 0.1
"""Relative change of the costs up to which the primal simplex method is worth trying."""
DUAL, PRIMAL, UNLIMITED = 1, 4, 2**31 - 1
"""HiGHS's numbers for its simplex methods, and for no limit on pivots."""
TIE = 1e-9
"""A reduced cost below this, for costs of size 1, may mean several best vertices."""


class WarmStartedLP(Workspace):
    """The basis of the last solution of a set's linear programme; needs `highspy`.

    After a small change of the costs the primal simplex method is 10-20 times faster than a cold
    start, but after a large one up to 10 times slower; the default method, also started from the
    last basis, is faster than a cold start for both. So the primal one runs only while changes are
    small and few pivots were enough last time, and is cut short when it needs many. Where the best
    vertex is not unique, the set itself is asked, so that the answer does not depend on the past.
    The model is passed anew each time, for half of the gain: what HiGHS stores inside a model that
    stays alive, such as a factorisation, can be neither saved nor restored.
    """

    def __init__(self, decision_set: DecisionSet, rows: Rows, highs: Any):
        super().__init__(decision_set)
        self._rows, self._highs = rows, highs
        entries = rows.lower.size + _count(rows.b_ub) + _count(rows.b_eq)
        self._state = State(last=decision_set.dim, basis=entries, warm=1, quick=1)
        self._model: Any = None  # made when first used

    def lmo(self, c: Vector) -> Vector:
        """Change the costs and continue from the last basis."""
        highs, state = self._highs, self._state
        if self._model is None:
            self._model, self._programme = _solver(highs), _programme(highs, self._rows)
        model, pivots = self._model, 50 + len(self._rows.lower) // 4
        largest = float(np.abs(c).max())
        cost = np.ldexp(c, -int(np.frexp(largest)[1]))
        self._programme.col_cost_ = cost
        model.passModel(self._programme)
        optimal = False
        if state["warm"][0]:
            model.setBasis(self._basis(highs))
            near = np.linalg.norm(cost - state["last"]) <= CLOSE * np.linalg.norm(cost)
            if near and state["quick"][0]:
                optimal = _run(highs, model, PRIMAL, pivots)
        if not optimal:
            optimal = _run(highs, model, DUAL, UNLIMITED)
        basis = model.getBasis()
        state["basis"][:] = [int(status) for status in (*basis.col_status, *basis.row_status)]
        state["quick"][0] = model.getInfo().simplex_iteration_count <= pivots
        state["last"][:], state["warm"][0] = cost, 1.0
        if not optimal or self._ties():
            return self.decision_set.lmo(c)
        x: Vector = np.array(model.getSolution().col_value)
        return np.clip(x, self._rows.lower, self._rows.upper)

    def _basis(self, highs: Any) -> Any:
        """Return the basis of the last solution."""
        basis, columns = highs.HighsBasis(), self._rows.lower.size
        statuses = [highs.HighsBasisStatus(int(status)) for status in self._state["basis"]]
        basis.col_status, basis.row_status = statuses[:columns], statuses[columns:]
        basis.valid, basis.alien = True, False
        return basis

    def _ties(self) -> bool:
        """Whether a variable or row could enter the basis at no cost."""
        rows, solution, basis = self._rows, self._model.getSolution(), self._model.getBasis()
        basic = self._highs.HighsBasisStatus.kBasic
        movable = np.concatenate([rows.lower < rows.upper, np.ones(_count(rows.b_ub), np.bool_)])
        statuses = (*basis.col_status, *basis.row_status)[: movable.size]
        duals = np.concatenate([solution.col_dual, solution.row_dual])[: movable.size]
        flat = np.flatnonzero(movable & (np.abs(duals) <= TIE))
        return any(statuses[i] != basic for i in flat)


def _run(highs: Any, model: Any, strategy: int, pivots: int) -> bool:
    model.setOptionValue("simplex_strategy", strategy)
    model.setOptionValue("simplex_iteration_limit", pivots)
    model.run()
    return bool(model.getModelStatus() == highs.HighsModelStatus.kOptimal)


def _count(right: Vector | None) -> int:
    return 0 if right is None else right.size


def _solver(highs: Any) -> Any:
    model = highs.Highs()
    model.silent()
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        model.setOptionValue(name, 1e-10)
    return model


def _programme(highs: Any, rows: Rows) -> Any:
    """Describe the rows, inequalities before equations; the costs are set for each call."""
    from scipy import sparse

    blocks = [A for A in (rows.A_ub, rows.A_eq) if A is not None]
    right = [b for b in (rows.b_ub, rows.b_eq) if b is not None]
    matrix = sparse.csr_array(sparse.vstack(blocks)) if blocks else None
    lp = highs.HighsLp()
    lp.num_col_ = rows.lower.size
    lp.col_lower_, lp.col_upper_ = rows.lower, rows.upper
    if matrix is not None:
        high = np.concatenate(right)
        low = high.copy()
        low[: _count(rows.b_ub)] = -np.inf
        lp.num_row_, lp.row_lower_, lp.row_upper_ = high.size, low, high
        lp.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
    return lp
