"""The threshold rule: the cheapest option that was under the limit less a margin."""

from __future__ import annotations

import numpy as np

from hedgerow.baselines.cheapest_vertex import listed_vertices, vertices_about
from hedgerow.baselines.recent_rounds import RecentRounds, as_margin, values_at
from hedgerow.baselines.simple_rule import SimpleRule
from hedgerow.feedback import Constraints, EvalGrad, first_order_each
from hedgerow.inputs import Vector, as_count
from hedgerow.protocols.late_feedback import as_play
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call
from hedgerow.surrogates.queued import checked_each


class ThresholdRule(SimpleRule):
    """Plays the cheapest vertex whose constraint was at most -margin in the last rounds.

    Where there is none, it plays the one whose constraint was least. An option's reading in a round
    is its value by the tangent at the decision, which is exact for linear rounds: then every option
    has a reading in every round. A simplex and the routes of a DAG are listed, up to 1000 vertices;
    of several constraints each must then be at most -margin. On other sets the oracle searches
    (`vertices_about`), which may miss a vertex inside the convex hull of others, and the most
    violated constraint counts. There is no guarantee.

    Args:
        decision_set: where to play.
        margin: the distance from the limit, in the constraint's unit. Left out, it is learnt:
            twice the mean change of the decision's reading from one round to the next.
        rounds: how many rounds a reading is the mean of; 1 is the last round.

    """

    feedback = staticmethod(first_order_each)

    def __init__(self, decision_set: DecisionSet, margin: float | None = None, rounds: int = 1):
        self._vertices = listed_vertices(decision_set)
        options = 0 if self._vertices is None else len(self._vertices)
        numbers = {"readings": options} | RecentRounds.sizes(decision_set.dim)
        super().__init__(decision_set, numbers)
        self.recent = RecentRounds(self._state, as_count(rounds, "rounds"), as_margin(margin))

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Read every option off the round, and choose one.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        state, X = self._state, self.decision_set
        seen_at = state["x"].copy() if at is None else as_play(at, X, state["x"])
        step = self.recent.observe(cost, constraint, seen_at)
        if self._vertices is None:
            offset = float(state["offset"][0]) + self.recent.margin
            state["x"][:] = vertices_about(self._lmo, state["cost"], state["limit"], offset)[1]
            return
        readings = values_at(self._vertices, checked_each(constraint, X), seen_at)
        state["readings"][:] += step * (readings - state["readings"])
        state["x"][:] = self._vertices[self._choose(self._vertices @ state["cost"])]

    def _choose(self, costs: Vector) -> int:
        """Return the number of the cheapest option under the threshold, or of the least reading."""
        readings = self._state["readings"]
        under = readings <= -self.recent.margin
        return int(np.argmin(np.where(under, costs, np.inf) if under.any() else readings))


@records_call
def threshold_rule(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    margin: float | None = None,
    rounds: int = 1,
) -> ThresholdRule:
    """Play the cheapest option that was under the limit less a margin in the last round.

    Args:
        decision_set: where to play.
        horizon: not used.
        margin: the distance from the limit, in the constraint's unit; learnt if left out.
        rounds: how many rounds a reading is the mean of.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = threshold_rule(Simplex(3), margin=10.0)
    >>> price, latency = np.array([1.0, 2.0, 3.0]), np.array([115.0, 105.0, 60.0])
    >>> x = policy.ask()
    >>> policy.tell(EvalGrad(price @ x, price), EvalGrad(latency @ x - 120.0, latency))
    >>> policy.ask()  # the first is 5 ms under the limit of 120 ms, the second 15 ms
    array([0., 1., 0.])

    """
    del horizon
    return ThresholdRule(decision_set, margin, rounds)
