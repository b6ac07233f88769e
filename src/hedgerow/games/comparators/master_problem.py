"""The least theta of a model over a set: by its rows, or by vertices that its oracle finds."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from hedgerow.games.comparators.linear_models import Deadline, Model, OutOfTimeError, least_theta
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription, Rows

MOST_CALLS = 2000
"""Oracle calls after which column generation ends with the gap it has."""
SHARES = (0.0, 0.5, 0.8)
"""How much of the best multipliers so far is mixed into the trials."""
USELESS = 1e-14
"""A vertex whose reduced cost is this small, relative to the sums in it, brings nothing."""
MANY_ROWS = 1000
"""Sets described by more rows are searched by vertices first: their linear programmes take long."""


class Answer(NamedTuple):
    """A point of the set, the model's theta there, a proved lower bound and its multipliers."""

    x: Vector
    theta: float
    lower: float
    multipliers: Vector


class Master(Protocol):
    """Minimises models over one set."""

    def solve(
        self, model: Model, fallback: Model | None, accuracy: float, deadline: Deadline
    ) -> Answer | None:
        """Return the least theta, or None if no point of the set satisfies the model's rows.

        Args:
            model: what to minimise.
            fallback: the model of the least violation, which always has a point, or None if the
                model itself always has one.
            accuracy: how far above the lower bound theta may stay, if there is time.
            deadline: when to stop; `OutOfTimeError` is raised if there is no answer by then.

        """
        ...

    def renewed(self) -> Master:
        """Return a master that knows what this one has found and has spent no calls."""
        ...


def master_for(X: DecisionSet) -> Master:
    """Return the quickest master for a set: by its rows where it knows them, else by vertices."""
    if not X.supports(HasLinearDescription):
        return ByColumns(X)
    rows = ByRows(X)
    return rows if rows.count <= MANY_ROWS else ColumnsThenRows(ByColumns(X), rows)


class ByRows:
    """One linear programme over the set's own description."""

    def __init__(self, X: DecisionSet):
        self.X, self.rows = X, X.rows()

    @property
    def count(self) -> int:
        """The number of rows that describe the set, without bounds of single coordinates."""
        sides = (self.rows.b_ub, self.rows.b_eq)
        return sum(side.size for side in sides if side is not None)

    def solve(
        self,
        model: Model,
        fallback: Model | None,  # noqa: ARG002
        accuracy: float,  # noqa: ARG002
        deadline: Deadline,
    ) -> Answer | None:
        """Solve the linear programme; the bound is the oracle's."""
        found = least_theta(self.rows, model, deadline)
        if found is None:
            return None
        x, theta, y = found
        return Answer(x, theta, *model.bound(self.X, y))

    def renewed(self) -> ByRows:
        """Return itself: it calls no oracle and remembers nothing."""
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

    def solve(
        self, model: Model, fallback: Model | None, accuracy: float, deadline: Deadline
    ) -> Answer | None:
        """Add vertices until theta is within `accuracy` of the bound, or time or calls are spent.

        Each turn adds a vertex or is the last, and after `MOST_CALLS` none is added.
        """
        lower, proof, answer = -math.inf, np.zeros(model.offsets.size), None
        while True:
            try:
                found = least_theta(self._hull(), model, deadline)
                if found is None:
                    before = len(self.vertices)
                    if fallback is None or not self._reach(fallback, deadline):
                        return None
                    if len(self.vertices) == before:  # only rounding tells the two models apart
                        return None
                    continue
            except OutOfTimeError:
                if answer is None:
                    raise
                return answer
            x, theta, y = found
            lower, proof, grown = self._price(model, y, lower, proof)
            answer = Answer(x, theta, lower, proof)
            if theta - lower <= accuracy or not grown:
                return answer

    def _reach(self, fallback: Model, deadline: Deadline) -> bool:
        """Add vertices until their hull has a point that satisfies the rows; False if it cannot."""
        lower, proof, grown = -math.inf, np.zeros(fallback.offsets.size), True
        while grown and lower <= 0.0:
            found = least_theta(self._hull(), fallback, deadline)
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


class ColumnsThenRows:
    """By vertices as long as calls are left, which mostly is enough; then by one programme.

    On paths in a graph of 2000 nodes and 30 000 edges the first takes a second, the second 25.
    """

    def __init__(self, columns: ByColumns, rows: ByRows):
        self.columns, self.rows = columns, rows

    def renewed(self) -> ColumnsThenRows:
        """Return a master with the same vertices."""
        return ColumnsThenRows(self.columns.renewed(), self.rows)

    def solve(
        self, model: Model, fallback: Model | None, accuracy: float, deadline: Deadline
    ) -> Answer | None:
        """Ask for vertices; solve the programme if they are not enough."""
        answer = None
        if self.columns.calls < MOST_CALLS:
            answer = self.columns.solve(model, fallback, accuracy, deadline)
            if self.columns.calls < MOST_CALLS:
                return answer
        try:
            return self.rows.solve(model, fallback, accuracy, deadline)
        except OutOfTimeError:
            if answer is None:
                raise
            return answer
