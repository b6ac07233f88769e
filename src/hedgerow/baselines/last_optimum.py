"""The linear programme of the last rounds: their cheapest action within the limits."""

from __future__ import annotations

import numpy as np

from hedgerow.baselines.cheapest_vertex import vertices_about
from hedgerow.baselines.feasible_leader import cheapest_in_rows
from hedgerow.baselines.recent_rounds import RecentRounds
from hedgerow.baselines.simple_rule import SimpleRule
from hedgerow.feedback import Constraints, EvalGrad, first_order_each
from hedgerow.inputs import Vector, as_count
from hedgerow.protocols.late_feedback import as_play
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription
from hedgerow.snapshot import records_call
from hedgerow.surrogates.queued import checked, checked_each


class LastRound(SimpleRule):
    """Plays what would have been best in the last round.

    x_{t+1} = argmin over X of <grad f_t, x> with g_t(x) <= 0, where curved functions count by their
    tangents; where no point satisfies that, one of least g_t(x). For one constraint the solution
    lies between two vertices, which a few oracle calls find on any set (`vertices_about`).
    Several constraints need a linear programme over the set's rows; on a set without rows the most
    violated one counts. There is no guarantee.

    Args:
        decision_set: where to play.
        rounds: solve the mean of about this many last rounds instead, as `RecentRounds` has it; of
            several constraints the most violated one then counts.

    """

    feedback = staticmethod(first_order_each)

    def __init__(self, decision_set: DecisionSet, rounds: int = 1):
        rounds = as_count(rounds, "rounds")
        super().__init__(decision_set, RecentRounds.sizes(decision_set.dim) if rounds > 1 else {})
        has_rows = decision_set.supports(HasLinearDescription) and rounds == 1
        self._rows = decision_set.rows() if has_rows else None
        self._recent = RecentRounds(self._state, rounds, 0.0) if rounds > 1 else None

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Solve the round.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        state, X = self._state, self.decision_set
        seen_at = state["x"] if at is None else as_play(at, X, state["x"])
        f, parts = checked(cost, "cost", X), checked_each(constraint, X)
        if self._recent is not None:
            self._recent.observe(f, parts, seen_at)
            limit = EvalGrad(float(state["offset"][0]), state["limit"])
            state["x"][:] = self._by_oracle(state["cost"], limit, np.zeros(X.dim))
        elif len(parts) > 1 and self._rows is not None:
            state["x"][:] = self._by_rows(f.grad, parts, seen_at)
        else:
            state["x"][:] = self._by_oracle(f.grad, max(parts, key=lambda g: g.value), seen_at)

    def _by_oracle(self, cost: Vector, g: EvalGrad, seen_at: Vector) -> Vector:
        """Return the point between two vertices at which the limit holds exactly."""
        offset = g.value - float(g.grad @ seen_at)
        cheap, safe = vertices_about(self._lmo, cost, g.grad, offset)
        over, under = (float(g.grad @ vertex) + offset for vertex in (cheap, safe))
        if over <= 0.0 or under > 0.0 or over == under:
            return safe
        x: Vector = cheap + (over / (over - under)) * (safe - cheap)
        return x

    def _by_rows(self, cost: Vector, parts: list[EvalGrad], seen_at: Vector) -> Vector:
        """Return the solution of the linear programme, or the present play without one."""
        assert self._rows is not None
        slopes = np.array([g.grad for g in parts])
        limits = slopes @ seen_at - [g.value for g in parts]
        for costs in (cost, None):  # without costs, the least violation
            self._state["calls"][0] += 1.0
            x = cheapest_in_rows(self._rows, costs, slopes, limits)
            if x is not None:
                return x
        return self._state["x"].copy()


@records_call
def last_round(
    decision_set: DecisionSet, horizon: int | None = None, *, rounds: int = 1
) -> LastRound:
    """Play the cheapest action within the limits of the last round, by a linear programme.

    Args:
        decision_set: where to play.
        horizon: not used.
        rounds: solve the mean of about this many last rounds instead.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = last_round(Simplex(2))
    >>> x = policy.ask()
    >>> cost = EvalGrad(x[1], np.array([0.0, 1.0]))
    >>> policy.tell(cost, EvalGrad(x[0] - 0.3, np.array([1.0, 0.0])))
    >>> policy.ask().round(9)  # at most 0.3 of the first, which costs nothing
    array([0.3, 0.7])

    """
    del horizon
    return LastRound(decision_set, rounds)
