"""The linear programmes of a search, solved within its time limit."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np

from hedgerow.games.comparators.cuts import Model
from hedgerow.inputs import Vector, as_number
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.solvers import linear_programme


class OutOfTimeError(RuntimeError):
    """The time limit was reached; what was proved before it stands."""


class Deadline:
    """A number of seconds from now on, None for as long as it takes."""

    def __init__(self, seconds: float | None = None):
        limit = math.inf if seconds is None else as_number(seconds, "time_limit")
        if not limit >= 0.0:
            raise ValueError(f"time_limit must be at least 0 seconds, or None, got {limit:g}")
        self._end = perf_counter() + limit

    def left(self) -> float:
        """Return the seconds left, perhaps infinite; raise `OutOfTimeError` if there are none."""
        seconds = self._end - perf_counter()
        if seconds <= 0.0:
            raise OutOfTimeError("the time limit was reached")
        return seconds


MODERATE = 1e3
"""Coordinates between 1/1000 and this need no other unit."""


class SolverError(RuntimeError):
    """The LP solver gave up, on an ill-conditioned programme; what was proved before it stands."""


def least_theta(
    rows: Rows, model: Model, deadline: Deadline
) -> tuple[Vector, float, Vector] | None:
    """Solve a model over described points: x, theta and multipliers, or None if infeasible.

    Rows and the units of x, theta and s are scaled to about 1 first.
    """
    from scipy import sparse

    size = _unit(rows)
    P, p = model.slopes, model.offsets
    if rows.shift is not None:
        p = p + P @ rows.shift
    if rows.lift is not None:
        P = (rows.lift.T @ P.T).T
    P = P * size
    sizes = np.abs(P).max(axis=1, initial=0.0)
    unit = _positive(sizes[model.theta].max(initial=0.0))
    if not sizes[model.theta].any():  # a single point: its value says what is large
        unit = _positive(np.abs(p[model.theta]).max(initial=0.0))
    units = np.full(1 + model.slacks, _positive(sizes[model.slack >= 0].max(initial=0.0)))
    if model.theta[-1] and model.slacks:
        unit = units[0]  # theta is the sum of the s_i
    units[0] = unit
    extra = model.extra() @ sparse.diags_array(units)
    sizes = np.maximum(sizes, np.abs(extra).max(axis=1).toarray().ravel())
    sizes[sizes == 0.0] = np.maximum(1.0, np.abs(p[sizes == 0.0]))
    ours = sparse.hstack([sparse.csr_array(P / sizes[:, None]), extra.multiply(1 / sizes[:, None])])
    first, more = 0, 1 + model.slacks
    blocks, limit = [ours], -p / sizes
    if rows.A_ub is not None and rows.b_ub is not None:
        first = rows.b_ub.size
        blocks.insert(0, sparse.hstack([rows.A_ub, sparse.csr_array((first, more))]))
        limit = np.concatenate([rows.b_ub / size, limit])
    equations = rows.A_eq
    if equations is not None:
        equations = sparse.hstack([equations, sparse.csr_array((equations.shape[0], more))])
    n = rows.lower.size
    result = linear_programme(
        (np.arange(n + more) == n).astype(float),
        sparse.csr_array(sparse.vstack(blocks)),
        limit,
        equations,
        None if rows.b_eq is None else rows.b_eq / size,
        np.concatenate([rows.lower / size, [-np.inf], np.zeros(model.slacks)]),
        np.concatenate([rows.upper / size, np.full(more, np.inf)]),
        deadline.left(),
    )
    if result.status == 2:
        return None
    if result.status != 0:
        deadline.left()  # perhaps that is why
        raise SolverError(f"the LP solver stopped: {result.message}")
    z = size * result.x[:n]
    x = z if rows.lift is None else rows.lift @ z
    x = x if rows.shift is None else x + rows.shift
    multipliers = -result.ineqlin.marginals[first:] * unit / sizes
    return np.asarray(x), unit * float(result.x[n]), multipliers


def _unit(rows: Rows) -> float:
    """Return a power of two in which bounds that are very small or large are moderate."""
    widths = rows.upper - rows.lower
    widest = float(widths.max(initial=0.0, where=np.isfinite(widths)))
    if widest == 0.0 or 1.0 / MODERATE <= widest <= MODERATE:
        return 1.0
    return math.ldexp(1.0, math.frexp(widest)[1])


def _positive(size: float) -> float:
    return float(size) if size > 0.0 else 1.0
