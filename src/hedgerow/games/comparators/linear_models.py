"""Linear lower bounds of the rounds, the models that they make up, and their linear programmes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_number
from hedgerow.sets.decision_set import DecisionSet, Rows
from hedgerow.sets.solvers import linear_programme

if TYPE_CHECKING:
    from scipy import sparse

Numbers = NDArray[np.intp]
MODERATE = 1e3
"""Coordinates between 1/1000 and this need no other unit."""


class Cuts(NamedTuple):
    """k bounds <slopes, x> + offsets <= g_t(x), with the round t and, if exact, the row's number.

    A linear constraint is its own cut and has a row number; a tangent of a curved one has -1.
    """

    slopes: Vector
    offsets: Vector
    rounds: Numbers
    rows: Numbers

    @classmethod
    def none(cls, dim: int) -> Cuts:
        """Return an empty collection of cuts of this dimension."""
        empty = np.zeros(0, dtype=np.intp)
        return cls(np.zeros((0, dim)), np.zeros(0), empty, empty)

    def joined(self, *others: Cuts) -> Cuts:
        """Return these cuts followed by the others."""
        return Cuts(*(np.concatenate(column) for column in zip(self, *others, strict=True)))

    def taken(self, index: Any) -> Cuts:
        """Return the cuts that a NumPy index selects."""
        return Cuts(*(column[index] for column in self))

    def highest(self, x: Vector, most: int) -> Cuts:
        """Return the cuts that are highest at x, at most `most` of them, in their order."""
        if self.offsets.size <= most:
            return self
        return self.taken(np.sort(np.argsort(-(self.slopes @ x + self.offsets))[:most]))

    def known(self, x: Vector, horizon: int) -> Vector:
        """Return what the cuts say of max(0, g_t(x)), by round number; entry 0 is not used."""
        values = np.zeros(horizon + 1)
        np.maximum.at(values, self.rounds, self.slopes @ x + self.offsets)
        return values


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise theta over x in X and s >= 0 with slopes x + offsets <= theta or s_i or 0.

    `theta` marks the rows that are bounded by theta, `slack` is the number of the s_i that bounds
    a row, or -1. If there are any s_i, the last row is their sum.
    """

    slopes: Vector
    offsets: Vector
    theta: NDArray[np.bool_]
    slack: Numbers
    slacks: int = 0

    def extra(self) -> sparse.csr_array:
        """Return the coefficients of theta and s, rows x (1 + slacks)."""
        from scipy import sparse

        k, m = self.offsets.size, self.slacks
        of_theta, held = np.flatnonzero(self.theta), np.flatnonzero(self.slack >= 0)
        rows = np.concatenate([of_theta, held, np.full(m, k - 1)])
        columns = np.concatenate([np.zeros_like(of_theta), 1 + self.slack[held], 1 + np.arange(m)])
        values = np.repeat([-1.0, 1.0], [of_theta.size + held.size, m])
        return sparse.csr_array((values, (rows, columns)), shape=(k, 1 + m))

    def bound(self, X: DecisionSet, multipliers: Vector) -> tuple[float, Vector]:
        """Return a lower bound of theta and its multipliers, by one oracle call.

        Weak duality: the Lagrangian's least value over X bounds theta for all multipliers y >= 0
        of which those of theta's rows sum to 1 and those of each s_i to at most the last one. The
        solver's multipliers are scaled to satisfy that, so the bound does not rest on the solver.
        """
        y = np.maximum(0.0, multipliers)
        total = float(y[self.theta].sum())
        if not total > 0.0:
            return -np.inf, y
        y = y / total
        if self.slacks:
            held = self.slack >= 0
            sums = np.bincount(self.slack[held], y[held], self.slacks)
            share = np.divide(y[-1], sums, out=np.ones(self.slacks), where=sums > y[-1])
            y[held] *= share[self.slack[held]]
        return X.minimum(y @ self.slopes) + float(y @ self.offsets), y


def cheapest(costs: Cuts, limits: Cuts, budget: float, slack: float = 0.0) -> Model:
    """Return the model of the least cost, with each limit <= slack or a positive sum <= budget."""
    k, m = costs.offsets.size, limits.offsets.size
    if budget > 0.0 and m:
        part = _summed(limits)
        offsets = np.concatenate([costs.offsets, part.offsets])
        offsets[-1] = -budget - slack
        theta = np.arange(offsets.size) < k
        held = np.concatenate([np.full(k, -1), part.slack])
        return Model(np.vstack([costs.slopes, part.slopes]), offsets, theta, held, part.slacks)
    offsets = np.concatenate([costs.offsets, limits.offsets - slack])
    slopes = np.vstack([costs.slopes, limits.slopes])
    return Model(slopes, offsets, np.arange(k + m) < k, np.full(k + m, -1))


def least_worst(limits: Cuts) -> Model:
    """Return the model of the least worst limit."""
    m = limits.offsets.size
    return Model(limits.slopes, limits.offsets, np.ones(m, np.bool_), np.full(m, -1))


def least_sum(limits: Cuts) -> Model:
    """Return the model of the least sum of the limits' positive parts."""
    return _summed(limits)


def _summed(limits: Cuts) -> Model:
    names, slack = np.unique(limits.rounds, return_inverse=True)
    m, n = limits.slopes.shape
    return Model(
        np.vstack([limits.slopes, np.zeros((1, n))]),
        np.append(limits.offsets, 0.0),
        np.arange(m + 1) == m,
        np.append(slack, -1),
        names.size,
    )


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


class SolverError(RuntimeError):
    """The LP solver gave up, on an ill-conditioned programme; what was proved before it stands."""


def least_theta(
    rows: Rows, model: Model, deadline: Deadline
) -> tuple[Vector, float, Vector] | None:
    """Solve a model over described points: x, theta and multipliers, or None if infeasible.

    Rows and the units of x, theta and s are scaled to about 1 first.
    """
    from scipy import sparse

    # Points of the set are lift z + shift: rewrite the model's rows for z, in units of `size`.
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
    # The solver's tolerances are absolute, so every row is divided by its largest entry.
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
