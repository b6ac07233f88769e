"""The best fixed action in hindsight, with a proof of how good it is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.problem import LinearChunk, LinearProblem, Problem, Round
from hedgerow.sets.decision_set import DecisionSet, Described, Rows

TOLERANCE = 1e-9
"""Constraint values up to this share of the largest coefficient count as kept."""
NEW_ROWS = 40
"""At most this many violated rounds join the LP at a time."""


def hindsight(problem: Problem | DecisionSet, rounds: Iterable[Round] | None = None) -> Benchmark:
    """Return the best fixed action that keeps the constraint in every round.

    min over X of sum f_t(x) subject to g_t(x) <= 0 for all t, for linear rounds over sets with a
    linear description. An LP with constraint generation: only rounds that matter are loaded. The
    lower bound is the Lagrangian at the LP's multipliers, minimised by the set's own oracle, so
    it does not rest on the solver's word.

    Args:
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        rounds: recorded rounds, such as those of an adaptive game.

    """
    if isinstance(problem, Problem):
        X = problem.decision_set
        if isinstance(problem, LinearProblem):
            table = _stack(problem.chunks())
        else:
            table = _tabulate(problem if rounds is None else rounds)
    else:
        if rounds is None:
            raise TypeError("hindsight of a decision set needs the rounds: hindsight(X, rounds)")
        X, table = problem, _tabulate(rounds)
    if not X.supports(Described):
        raise NotImplementedError(
            f"hindsight needs a set with a linear description, {type(X).__name__} has none"
        )
    return _Programme(X, table).solve()


class _Programme:
    """The LP over a growing set of rounds."""

    def __init__(self, X: DecisionSet, table: LinearChunk):
        self.X, self.rows = X, X.rows()
        self.c, self.c0 = table.costs.sum(axis=0), float(table.cost_offsets.sum())
        self.A, self.d = table.constraints, table.constraint_offsets
        self.tolerance = TOLERANCE * max(1e-300, float(np.abs(self.A).max(initial=0.0)))

    def solve(self) -> Benchmark:
        active: list[int] = []
        while True:
            x, multipliers = _linear_programme(self.rows, self.c, self.A[active], self.d[active])
            if x is None:
                return self.least_violation(active)
            if not (new := self.violated(x, 0.0, active)):
                break
            active += new
        # Weak duality: min over X of the Lagrangian bounds every feasible action's cost.
        lagrangian = self.c + multipliers @ self.A[active]
        lower = self.X.minimum(lagrangian) + self.c0 + float(multipliers @ self.d[active])
        cost = float(self.c @ x) + self.c0
        return Benchmark(x, cost, lower, cost - lower, "optimal", self.worst(x))

    def least_violation(self, active: list[int]) -> Benchmark:
        """Return the action whose worst round is least bad: no action keeps them all."""
        while True:
            x, level = _least_level(self.rows, self.A[active], self.d[active])
            if not (new := self.violated(x, level, active)):
                break
            active = active + new
        cost = float(self.c @ x) + self.c0
        return Benchmark(x, cost, math.inf, math.inf, "infeasible", self.worst(x))

    def worst(self, x: Vector) -> float:
        return float(np.max(self.A @ x + self.d, initial=-math.inf))

    def violated(self, x: Vector, level: float, active: list[int]) -> list[int]:
        """Return the most violated rounds that the LP does not know yet."""
        excess = self.A @ x + self.d - level
        excess[active] = -math.inf
        order = np.argsort(-excess, kind="stable")[:NEW_ROWS]
        return [int(t) for t in order if excess[t] > self.tolerance]


def _linear_programme(rows: Rows, c: Vector, A: Vector, d: Vector) -> tuple[Vector | None, Vector]:
    """Minimise <c, x> over the rows and A x + d <= 0; return x (None if infeasible) and duals."""
    from scipy.optimize import linprog

    cost, matrix, limit, first = _in_lp_variables(rows, c, A, d)
    solve: Any = linprog  # its type stubs know no sparse rows
    result = solve(
        cost,
        A_ub=matrix,
        b_ub=limit,
        A_eq=rows.A_eq,
        b_eq=rows.b_eq,
        bounds=np.column_stack([rows.lower, rows.upper]),
        method="highs",
    )
    if result.status == 2:
        return None, np.zeros(len(d))
    if result.status != 0:
        raise RuntimeError(f"the LP solver stopped: {result.message}")
    multipliers = np.maximum(0.0, -result.ineqlin.marginals[first:]) if len(d) else np.zeros(0)
    return _point(rows, result.x), multipliers


def _least_level(rows: Rows, A: Vector, d: Vector) -> tuple[Vector, float]:
    """Minimise the largest entry of A x + d over the rows."""
    from scipy import sparse
    from scipy.optimize import linprog

    zero = np.zeros(A.shape[1])
    cost, matrix, limit, first = _in_lp_variables(rows, zero, A, d)
    level = np.zeros((matrix.shape[0], 1))
    level[first:] = -1.0
    equations = rows.A_eq
    if equations is not None:
        equations = sparse.hstack([equations, sparse.csr_array((equations.shape[0], 1))])
    solve: Any = linprog
    result = solve(
        np.append(np.zeros_like(cost), 1.0),
        A_ub=sparse.hstack([matrix, sparse.csr_array(level)]),
        b_ub=limit,
        A_eq=equations,
        b_eq=rows.b_eq,
        bounds=[*zip(rows.lower, rows.upper, strict=True), (None, None)],
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(f"the LP solver stopped: {result.message}")
    return _point(rows, result.x[:-1]), float(result.x[-1])


def _in_lp_variables(
    rows: Rows, c: Vector, A: Vector, d: Vector
) -> tuple[Vector, Any, Vector, int]:
    """Express cost and rounds in the description's own variables; say where the rounds begin."""
    from scipy import sparse

    if rows.shift is not None:
        d = d + A @ rows.shift
    if rows.lift is not None:
        c, A = rows.lift.T @ c, (rows.lift.T @ A.T).T
    blocks = [sparse.csr_array(A)] if rows.A_ub is None else [rows.A_ub, sparse.csr_array(A)]
    limit = -d if rows.b_ub is None else np.append(rows.b_ub, -d)
    first = 0 if rows.b_ub is None else len(rows.b_ub)
    return c, sparse.vstack(blocks), limit, first


def _point(rows: Rows, z: Vector) -> Vector:
    x = np.asarray(z) if rows.lift is None else rows.lift @ z
    return x if rows.shift is None else x + rows.shift


def _stack(chunks: Iterable[LinearChunk]) -> LinearChunk:
    parts = list(chunks)
    return LinearChunk(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _tabulate(rounds: Iterable[Round]) -> LinearChunk:
    """Collect rounds of linear functions; a Maximum of linear parts counts as several rounds."""
    costs, constraints = [], []
    for t, (cost, constraint) in enumerate(rounds, start=1):
        costs.append(_linear(cost, t))
        parts = constraint.parts if isinstance(constraint, Maximum) else (constraint,)
        constraints += [_linear(part, t) for part in parts]
    return LinearChunk(
        np.array([f.coefficients for f in costs]),
        np.array([f.offset for f in costs]),
        np.array([g.coefficients for g in constraints]),
        np.array([g.offset for g in constraints]),
    )


def _linear(function: Function, t: int) -> Linear:
    if not isinstance(function, Linear):
        raise NotImplementedError(
            f"hindsight solves linear rounds, round {t} has a {type(function).__name__}"
        )
    return function
