"""The nearest point of a described set, by a quadratic programme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.solvers import loaded

if TYPE_CHECKING:
    from scipy import sparse

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
