"""Other people's solvers, each set up once and in its best configuration, as functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Act, installed

from hedgerow.sets import Rows

PRECISE = 1e-9
"""Absolute and relative tolerance of the interior-point QP solver."""
SPLIT = 1e-6
"""The same for OSQP, whose iterations are first-order."""


def linprog(rows: Rows) -> Act:
    """Return a cold HiGHS solve for a direction."""
    from scipy import optimize

    bounds = np.column_stack([rows.lower, rows.upper])

    def solve(c: Any) -> float:
        found = optimize.linprog(c, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, bounds)
        return float(found.fun)

    return solve


def qp_solvers(rows: Rows, *, dense: bool) -> dict[str, Act | None]:
    """Return the QP solvers that find the nearest point; `dense` ones only on small sets."""
    peers: dict[str, Act | None] = {"PIQP": piqp(rows), "OSQP": osqp(rows)}
    return peers | {"quadprog": quadprog(rows)} if dense else peers


def piqp(rows: Rows) -> Act | None:
    """Return PIQP's sparse solver; only the target changes between calls."""
    package = installed("piqp")
    if package is None:
        return None
    P, lift = _objective(rows)
    solver = package.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = PRECISE
    lower, upper = rows.lower.copy(), rows.upper.copy()
    ineq = (None, None) if rows.A_ub is None else (_csc(rows.A_ub), rows.b_ub)
    eq = (None, None) if rows.A_eq is None else (_csc(rows.A_eq), rows.b_eq)
    solver.setup(_csc(P), np.zeros(P.shape[0]), *eq, ineq[0], None, ineq[1], lower, upper)

    def project(y: Any) -> Any:
        solver.update(c=-(lift.T @ y))
        solver.solve()
        return lift @ solver.result.x

    return project


def osqp(rows: Rows) -> Act | None:
    """Return OSQP, which starts from its last answer."""
    package = installed("osqp")
    if package is None:
        return None
    from scipy import sparse

    P, lift = _objective(rows)
    blocks, low, high = [sparse.eye_array(P.shape[0])], [rows.lower], [rows.upper]
    if rows.A_eq is not None and rows.b_eq is not None:
        blocks, low, high = [*blocks, rows.A_eq], [*low, rows.b_eq], [*high, rows.b_eq]
    if rows.A_ub is not None and rows.b_ub is not None:
        least = np.full(rows.b_ub.size, -np.inf)
        blocks, low, high = [*blocks, rows.A_ub], [*low, least], [*high, rows.b_ub]
    solver = package.OSQP()
    solver.setup(
        _csc(sparse.triu(P)),
        np.zeros(P.shape[0]),
        _csc(sparse.vstack(blocks)),
        np.concatenate(low),
        np.concatenate(high),
        verbose=False,
        eps_abs=SPLIT,
        eps_rel=SPLIT,
        max_iter=20000,
    )

    def project(y: Any) -> Any:
        solver.update(q=-(lift.T @ y))
        return lift @ solver.solve(raise_error=False).x

    return project


def quadprog(rows: Rows) -> Act | None:
    """Return quadprog's dense active-set method, for sets in their own coordinates."""
    package = installed("quadprog")
    if package is None or rows.lift is not None:
        return None
    n = rows.lower.size
    eye = np.eye(n)
    finite = np.isfinite(rows.upper)
    parts, sides = [eye, -eye[finite]], [rows.lower, -rows.upper[finite]]
    equations = 0
    if rows.A_ub is not None and rows.b_ub is not None:
        parts, sides = [*parts, -rows.A_ub.toarray()], [*sides, -rows.b_ub]
    if rows.A_eq is not None and rows.b_eq is not None:
        parts, sides = [rows.A_eq.toarray(), *parts], [rows.b_eq, *sides]
        equations = rows.b_eq.size
    C, b = np.vstack(parts).T.copy(), np.concatenate(sides)
    return lambda y: package.solve_qp(eye, y, C, b, equations)[0]


def _objective(rows: Rows) -> tuple[Any, Any]:
    """Return P and the matrix L that makes points, x = L z: the objective is ||L z - y||^2 / 2."""
    from scipy import sparse

    n = rows.lower.size
    lift = sparse.eye_array(n, format="csr") if rows.lift is None else rows.lift
    return sparse.csc_array(lift.T @ lift), lift


def _csc(matrix: Any) -> Any:
    from scipy import sparse

    columns = sparse.csc_matrix(matrix)
    columns.sort_indices()  # PIQP needs it and does not say so
    return columns
