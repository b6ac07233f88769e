"""Yesterday's same minute: what a rule would have done, one period later."""

from __future__ import annotations

from typing import Any

from hedgerow.inputs import Vector, as_count
from hedgerow.policies.around import Around
from hedgerow.protocols.late_feedback import takes_late
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.snapshot import State


class SameTime(Around):
    """Plays what a rule learnt from the round one period ago, such as yesterday's same minute.

    After round t the rule's new decision, for example the programme of that round, is remembered
    and played in round t + period. Until then the rule's own decisions are played.

    Args:
        policy: the rule, such as `last_round(X)`; it belongs to this one from now on.
        period: the number of rounds in a period, 1440 for a day of minutes.

    >>> from hedgerow.baselines import last_round
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = SameTime(last_round(Simplex(2)), period=2)
    >>> policy.ask()
    array([0.5, 0.5])

    """

    def __init__(self, policy: ResumablePolicy[Any, Any], period: int):
        self.policy, self.period = policy, as_count(period, "period")
        self._state = State(plans=self.period * policy.decision_set.dim, t=1)

    def ask(self) -> Vector:
        """Return what the round one period ago taught the rule."""
        t = int(self._state["t"][0])
        rule: ResumablePolicy[Any, Any] = self.policy
        return rule.ask() if t < self.period else self._plans[t % self.period].copy()

    def tell(self, cost: Any, constraint: Any) -> None:
        """Report the round to the rule, and remember its next decision for the next period.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.

        """
        t, rule = int(self._state["t"][0]), self.policy
        if takes_late(rule):  # what is seen is about the decision that was played
            rule.tell(cost, constraint, at=self.ask())
        else:
            rule.tell(cost, constraint)
        self._plans[t % self.period] = self.policy.ask()
        self._state["t"][0] += 1.0

    @property
    def _plans(self) -> Vector:
        return self._state["plans"].reshape(self.period, -1)

    @property
    def _configuration(self) -> object:
        return (self.period,)
