"""React at once: a decision that the last readings forbid is mixed with the safest action."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector, as_count
from hedgerow.policies.around import Around
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.snapshot import State
from hedgerow.surrogates.queued import checked, checked_each


class LastLimit(Around):
    """Moves a policy's decision towards the safest action, as far as the last round asks for.

    The constraint of the last round, as a linear function c, predicts that of the next. Where
    c(y) > 0 for the policy's decision y, the decision is y + a (v - y): v is the action with the
    least c, and a the least number in [0, 1] for which c is satisfied, 1 if there is none. Several
    constraints are treated in order. The policy learns from the point that was really used, so its
    certificate holds for these decisions. One oracle call for each constraint that is exceeded.

    Args:
        policy: any policy that takes late feedback, such as `projection_free_coco`.
        constraints: how many constraints a round has.

    """

    def __init__(self, policy: ResumablePolicy[EvalGrad, Any], constraints: int = 1):
        self.policy = policy
        self.constraints = as_count(constraints, "constraints")
        n = policy.decision_set.dim
        self._state = State(slopes=n * self.constraints, offsets=self.constraints)
        self._slopes = self._state["slopes"].reshape(self.constraints, n)

    def ask(self) -> Vector:
        """Return the decision: the inner policy's, moved where the last round asks for it."""
        y: Vector = self.policy.ask()
        for slope, offset in zip(self._slopes, self._state["offsets"], strict=True):
            if (value := float(slope @ y + offset)) > 0.0:
                safest = self.decision_set.lmo(slope)
                reach = float(slope @ (y - safest))
                if reach > 0.0:
                    y = y + min(1.0, value / reach) * (safest - y)
        return y

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Pass the round on, and remember its constraints.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint, or of each of several.
            at: the point that was used; left out, the present decision.

        """
        X, play = self.decision_set, self.policy.ask()
        point = self.ask() if at is None else as_play(at, X, play)
        checked(cost, "cost", X)
        parts = checked_each(constraint, X)
        if len(parts) != self.constraints:
            raise ValueError(
                f"a round must have {self.constraints} constraints here, got {len(parts)}; report "
                "each of them in every round"
            )
        same = np.array_equal(point, play)
        self.policy.tell(cost, constraint, **({} if same else {"at": point}))
        for i, seen in enumerate(parts):
            self._slopes[i] = seen.grad
            self._state["offsets"][i] = seen.value - float(seen.grad @ point)
