"""The least theta of a model over a set: by its rows, or by vertices that its oracle finds."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from hedgerow.benchmarks.cuts import Model
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription, Rows
from hedgerow.sets.interior import linear_programme

MOST_CALLS = 2000
"""Oracle calls after which column generation ends with the gap it has."""
SHARES = (0.0, 0.5, 0.8)
"""How much of the best multipliers so far is mixed into the trials."""
USELESS = 1e-14
"""A vertex whose reduced cost is this small, relative to the sums in it, brings nothing."""


class Answer(NamedTuple):
    """A point of the set, the model's theta there, a proved lower bound and its multipliers."""

    x: Vector
    theta: float
    lower: float
    multipliers: Vector


class Master(Protocol):
    """Something that minimises models over one set."""

    def solve(self, model: Model, fallback: Model | None, accuracy: float) -> Answer | None:
        """Return the least theta, or None if no point of the set keeps the model's rows.

        Args:
            model: what to minimise.
            fallback: the model of the least violation, which always has a point, or None if the
                model itself always has one.
            accuracy: how far above the lower bound theta may stay.

        """
        ...

    def renewed(self) -> Master:
        """Return a master that knows what this one has found and has spent no calls."""
        ...


def master(X: DecisionSet) -> Master:
    """Return the master for a set."""
    return ByRows(X) if X.supports(HasLinearDescription) else ByColumns(X)


class ByRows:
    """One linear programme over the set's own description."""

    def __init__(self, X: DecisionSet):
        self.X, self.rows = X, X.rows()

    def solve(self, model: Model, fallback: Model | None, accuracy: float) -> Answer | None:  # noqa: ARG002
        """Solve the linear programme; the bound is the oracle's."""
        found = _least_theta(self.rows, model)
        if found is None:
            return None
        x, theta, y = found
        return Answer(x, theta, *model.bound(self.X, y))

    def renewed(self) -> ByRows:
        """Return itself: it spends no calls."""
        return self


class ByColumns:
    """Dantzig-Wolfe: mixtures of the vertices found so far, until no vertex has a reduced cost.

    Reference: Dantzig and Wolfe, Decomposition principle for linear programs (1960); trials
    between multipliers: Wentges, Weighted Dantzig-Wolfe decomposition (1997).
    """

    def __init__(self, X: DecisionSet):
        self.X = X
        self.vertices = X.lmo(np.zeros(X.dim))[None, :]
        self.calls = 1

    def renewed(self) -> ByColumns:
        """Return a master with the same vertices."""
        other = ByColumns(self.X)
        other.vertices = self.vertices
        return other

    def solve(self, model: Model, fallback: Model | None, accuracy: float) -> Answer | None:
        """Add vertices until theta is within `accuracy` of the bound, or the calls are spent."""
        lower, proof = -math.inf, np.zeros(model.offsets.size)
        while True:
            found = _least_theta(self._hull(), model)
            if found is None:
                before = len(self.vertices)
                if fallback is None or not self._reach(fallback):
                    return None
                if len(self.vertices) == before:  # only rounding tells the two models apart
                    return None
                continue
            x, theta, y = found
            lower, proof, grown = self._price(model, y, lower, proof)
            if theta - lower <= accuracy or not grown:
                return Answer(x, theta, lower, proof)

    def _reach(self, fallback: Model) -> bool:
        """Add vertices until their hull has a point that keeps the rows; False if it cannot."""
        lower, proof, grown = -math.inf, np.zeros(fallback.offsets.size), True
        while grown and lower <= 0.0:
            found = _least_theta(self._hull(), fallback)
            if found is None:
                return False
            _, theta, y = found
            if theta <= 0.0:
                return True
            lower, proof, grown = self._price(fallback, y, lower, proof)
        return False

    def _price(
        self, model: Model, y: Vector, lower: float, proof: Vector
    ) -> tuple[float, Vector, bool]:
        """Improve the bound, and add vertices of negative reduced cost; say if there was one.

        The multipliers jump from step to step, so those between them and the best ones so far are
        tried too: often their bounds are better, and so are their vertices.
        """
        grown, centre = False, proof
        for share in SHARES if math.isfinite(lower) else (0.0,):
            bound, trial = model.bound(self.X, (1.0 - share) * y + share * centre)
            if bound > lower:
                lower, proof = bound, trial
            if self.calls < MOST_CALLS:
                grown |= self._grow(trial @ model.slopes)
        return lower, proof, grown

    def _grow(self, direction: Vector) -> bool:
        """Add the best vertex in a direction; False if an old one is as good."""
        v = self.X.lmo(direction)
        self.calls += 1
        size = float(np.abs(direction) @ np.abs(v))
        if float(direction @ v) >= float((self.vertices @ direction).min()) - USELESS * size:
            return False
        self.vertices = np.vstack([self.vertices, v])
        return True

    def _hull(self) -> Rows:
        from scipy import sparse

        V, k = self.vertices, len(self.vertices)
        return Rows(
            np.zeros(k),
            np.full(k, np.inf),
            A_eq=sparse.csr_array(np.ones((1, k))),
            b_eq=np.ones(1),
            lift=sparse.csr_array((V - V[0]).T),
            shift=V[0],
        )


class SolverError(RuntimeError):
    """The LP solver gave up, on an ill-conditioned programme; what was proved before it stands."""


def _least_theta(rows: Rows, model: Model) -> tuple[Vector, float, Vector] | None:
    """Solve a model over described points: x, theta and multipliers, or None if infeasible.

    Rows and the units of theta and s are scaled to about 1 first.
    """
    from scipy import sparse

    P, p = model.slopes, model.offsets
    if rows.shift is not None:
        p = p + P @ rows.shift
    if rows.lift is not None:
        P = (rows.lift.T @ P.T).T
    sizes = np.abs(P).max(axis=1, initial=0.0)
    unit = _positive(sizes[model.theta].max(initial=0.0))
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
        limit = np.concatenate([rows.b_ub, limit])
    equations = rows.A_eq
    if equations is not None:
        equations = sparse.hstack([equations, sparse.csr_array((equations.shape[0], more))])
    n = rows.lower.size
    result = linear_programme(
        (np.arange(n + more) == n).astype(float),
        sparse.csr_array(sparse.vstack(blocks)),
        limit,
        equations,
        rows.b_eq,
        np.concatenate([rows.lower, [-np.inf], np.zeros(model.slacks)]),
        np.concatenate([rows.upper, np.full(more, np.inf)]),
    )
    if result.status == 2:
        return None
    if result.status != 0:
        raise SolverError(f"the LP solver stopped: {result.message}")
    x = result.x[:n] if rows.lift is None else rows.lift @ result.x[:n]
    x = x if rows.shift is None else x + rows.shift
    multipliers = -result.ineqlin.marginals[first:] * unit / sizes
    return np.asarray(x), unit * float(result.x[n]), multipliers


def _positive(size: float) -> float:
    return float(size) if size > 0.0 else 1.0
