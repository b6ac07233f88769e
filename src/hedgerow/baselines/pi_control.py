"""Proportional-integral control of the share that the safe option gets."""

from __future__ import annotations

from hedgerow.baselines.recent_rounds import RecentRounds, as_margin
from hedgerow.baselines.simple_rule import SimpleRule
from hedgerow.feedback import Constraints, EvalGrad, first_order
from hedgerow.inputs import Vector, as_count, as_number
from hedgerow.protocols.late_feedback import as_play
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call
from hedgerow.surrogates.queued import most_violated

MEMORY = 20
"""About how many rounds decide which options are the cheap one and the safe one."""
PROPORTIONAL, INTEGRAL = 0.2, 0.1


class ProportionalIntegral(SimpleRule):
    """Splits between a cheap and a safe vertex, x = (1 - u) cheap + u safe.

    The share u is set by a PI controller in velocity form,

        u_{t+1} = u_t + proportional (e_t - e_{t-1}) + integral e_t, within [0, 1],

    where e_t = (g_t(x_t) + margin) / reach and reach is how much lower the constraint is at the
    safe vertex than at the cheap one: an error of 1 is the whole way between the two, so the gains
    have no unit. Staying within [0, 1] is the anti-windup. The cheap vertex has the least mean cost
    of the last rounds, the safe one the least mean constraint, by two oracle calls per round. Of
    several constraints the most violated one counts. There is no guarantee.

    Args:
        decision_set: where to play.
        margin: how far below the limit it aims, in the constraint's unit. Left out, it is learnt:
            twice the mean distance of a round's constraint from the mean of the rounds before it.
        proportional: the gain on the change of the error.
        integral: the gain on the error.
        rounds: how many rounds the means are about.

    Reference: Astrom and Hagglund, Advanced PID Control (2006), section 3.5.

    """

    feedback = staticmethod(first_order)

    def __init__(
        self,
        decision_set: DecisionSet,
        margin: float | None = None,
        proportional: float = PROPORTIONAL,
        integral: float = INTEGRAL,
        rounds: int = MEMORY,
    ):
        numbers = {"share": 1, "error": 1} | RecentRounds.sizes(decision_set.dim)
        super().__init__(decision_set, numbers)
        self.proportional = _as_gain(proportional, "proportional")
        self.integral = _as_gain(integral, "integral")
        self.recent = RecentRounds(self._state, as_count(rounds, "rounds"), as_margin(margin))

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Move the share by the error of this round.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        state, X = self._state, self.decision_set
        seen_at = state["x"].copy() if at is None else as_play(at, X, state["x"])
        self.recent.observe(cost, constraint, seen_at)
        cheap, safe = self._lmo(state["cost"]), self._lmo(state["limit"])
        reach = float(state["limit"] @ (cheap - safe))
        distance = most_violated(constraint, X).value + self.recent.margin
        error = min(1.0, max(-1.0, distance / reach)) if reach > 0.0 else 0.0
        change = self.proportional * (error - state["error"][0]) + self.integral * error
        state["share"][0] = min(1.0, max(0.0, state["share"][0] + change))
        state["error"][0] = error
        state["x"][:] = cheap + state["share"][0] * (safe - cheap)


def _as_gain(gain: float, name: str) -> float:
    if not as_number(gain, name) >= 0.0:
        raise ValueError(f"{name} must be at least 0, got {gain:g}; 0 leaves that part out")
    return float(gain)


@records_call
def proportional_integral(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    margin: float | None = None,
    proportional: float = PROPORTIONAL,
    integral: float = INTEGRAL,
    rounds: int = MEMORY,
) -> ProportionalIntegral:
    """Split between a cheap and a safe option by PI control of the constraint's value.

    Args:
        decision_set: where to play.
        horizon: not used.
        margin: how far below the limit it aims, in the constraint's unit; learnt if left out.
        proportional: the gain on the change of the error.
        integral: the gain on the error.
        rounds: how many rounds decide which options are cheap and safe.

    """
    del horizon
    return ProportionalIntegral(decision_set, margin, proportional, integral, rounds)
