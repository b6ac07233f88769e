"""What each constraint of each round counts in a policy's certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.feedback import Constraints, each_seen
from hedgerow.inputs import Vector
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.fallback import Fallback
from hedgerow.policies.master import RestrictedMaster
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.queued import GradientSurrogate


def has_proof(policy: object) -> bool:
    """Whether a policy's certificate is made of multipliers of its rounds' constraints."""
    if isinstance(policy, ConstrainedPolicy):
        kinds = (GradientSurrogate, CostOnlySurrogate, PerConstraintSurrogate)
        return isinstance(policy.surrogate, kinds)
    return isinstance(policy, Fallback | RestrictedMaster)


class Multipliers:
    """Adds up the multipliers of a policy while it plays.

    A surrogate weighs each round once, a restricted master may come back to a round that it
    remembers.

    Args:
        policy: one that `has_proof`.

    """

    def __init__(self, policy: Any):
        self._policy = policy
        self._of: dict[int, dict[int, float]] = {}
        self._rounds = self._largest = 0
        self._whole: dict[int, int] = {}  # the largest part of rounds that are told as a whole

    def see(self, seen: Constraints, parts: Constraints) -> None:
        """Take in what the policy is about to be told of a constraint, and all parts of that."""
        self._rounds += 1
        self._largest = int(np.argmax([part.value for part in each_seen(parts)]))
        if len(each_seen(seen)) == 1:
            self._whole[self._rounds] = self._largest

    def add(self) -> None:
        """Add the multipliers of the round that the policy was told."""
        policy = self._policy
        if isinstance(policy, Fallback):
            fell_back = policy.switched is not None and policy.switched < self._rounds
            policy = policy.plain if fell_back else policy.policy
        if isinstance(policy, RestrictedMaster):
            rows = policy.core.rows
            for j in np.flatnonzero(rows.multiplier).tolist():
                t = int(rows.born[j])
                self._pay(t, self._whole.get(t, int(rows.part[j])), float(rows.multiplier[j]))
        elif isinstance(policy.surrogate, PerConstraintSurrogate):
            for k, queue in enumerate(policy.surrogate.surrogates):
                self._pay(self._rounds, k, queue.weight)
        else:
            self._pay(self._rounds, self._largest, getattr(policy.surrogate, "weight", 0.0))

    def _pay(self, t: int, part: int, multiplier: float) -> None:
        if multiplier:
            own = self._of.setdefault(t, {})
            own[part] = own.get(part, 0.0) + multiplier

    def of(self, t: int) -> dict[int, float]:
        """Return the multipliers of the parts of round t."""
        return self._of.get(t, {})

    def array(self, rounds: int, parts: int) -> Vector:
        """Return all of them, a row for each round and a column for each part."""
        found = np.zeros((rounds, parts))
        for t, own in self._of.items():
            for part, multiplier in own.items():
                found[t - 1, part] = multiplier
        return found
