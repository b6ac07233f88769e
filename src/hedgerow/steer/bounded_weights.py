"""A policy whose decisions are whole weights that change by a bounded amount."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector, as_vector
from hedgerow.policies.around import Around
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.snapshot import State
from hedgerow.steer.weights import WHOLE, least_weights, step_towards, whole_weights


class BoundedWeights(Around):
    """Follows a policy's decisions in whole weights, by at most `max_change` per round.

    A decision is weights / 256 with weights that sum to 256. It is one that a proxy really uses, so
    the policy inside is told about the point that was used, and its certificate is about that, too.
    The step begins at the decision that was last reported, so a decision that was never used
    changes nothing.

    Args:
        policy: any policy on shares that takes late feedback.
        max_change: the largest change of a share per round, above 0 and at most 1.
        min_shares: the least share of each backend.

    """

    def __init__(
        self, policy: ResumablePolicy[EvalGrad, Any], max_change: float, min_shares: Vector
    ):
        self.policy = policy
        n = policy.decision_set.dim
        self.least = least_weights(as_vector(min_shares, "min_shares", n))
        self.most = max(1, int(max_change * WHOLE))
        self._state = State(weights=n, begun=1)

    def ask(self) -> Vector:
        """Return whole weights as shares, one step from those that were last reported."""
        wanted = whole_weights(self.policy.ask(), self.least)
        if self._state["begun"][0] > 0.0:
            found = np.rint(self._state["weights"]).astype(np.int64)
            wanted = step_towards(found, wanted, self.most, self.least)
        return np.asarray(wanted / WHOLE)

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Pass on what was seen at the weights that were used.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint, or of each of several.
            at: the earlier decision that late feedback is about; left out, the present one.

        """
        present = self.ask()
        point = present if at is None else as_play(at, self.decision_set, present)
        self.policy.tell(cost, constraint, at=point)
        self._state["weights"][:] = point * WHOLE
        self._state["begun"][0] = 1.0
