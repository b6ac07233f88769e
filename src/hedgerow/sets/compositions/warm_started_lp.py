"""A linear programme whose costs change: HiGHS keeps the last basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, Rows, Workspace
from hedgerow.snapshot import State

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
    The model is passed anew each time, for half of the gain: what HiGHS keeps inside a model that
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
