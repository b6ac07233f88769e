"""A rule that advises: its decision joins that of the policy, and what it is worth is learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector
from hedgerow.policies.around import Around
from hedgerow.protocols.late_feedback import as_play
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.snapshot import Restorable

ADVISER = "rule"
"""The adviser's name in the policy."""


class WithAdviser(Around):
    """Asks a rule in every round and passes its decision to the policy as advice.

    Both learn from the point that was really used. The policy's bounds hold whatever the rule does.

    Args:
        policy: `projection_free_coco(X, advisers=["rule"])`.
        rule: any policy that takes late feedback, such as `last_round(X)`.

    """

    def __init__(self, policy: Any, rule: ResumablePolicy[EvalGrad, Any]):
        self.policy, self.rule = policy, rule

    def ask(self) -> Vector:
        """Return the policy's decision, with the rule's as advice."""
        decision: Vector = self.policy.ask(advice={ADVISER: self.rule.ask()})
        return decision

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Report what was seen at the point that was used to both.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint, or of each of several.
            at: the point that was used; left out, the present decision.

        """
        x, rule = self.ask(), self.rule
        point = x if at is None else as_play(at, self.decision_set, x)
        same = np.array_equal(point, x)
        self.policy.tell(cost, constraint, **({} if same else {"at": point}))
        told: Any = rule
        told.tell(cost, constraint, at=point)

    @property
    def _parts(self) -> Mapping[str, Restorable]:
        return {"policy": self.policy, "rule": self.rule}
