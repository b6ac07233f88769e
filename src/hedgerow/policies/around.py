"""What a policy around a policy has in common with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hedgerow.policies.summary import Binding
from hedgerow.protocols.parts import Feedback
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, Stateful


class Around(Stateful):
    """A policy that changes the decisions of the policy inside it, which sees what was used."""

    policy: Any

    @property
    def decision_set(self) -> DecisionSet:
        """The inner policy's."""
        found: DecisionSet = self.policy.decision_set
        return found

    @property
    def feedback(self) -> Feedback:
        """The inner policy's."""
        found: Feedback = self.policy.feedback
        return found

    @property
    def oblivious_only(self) -> bool:
        """As the inner policy."""
        return bool(self.policy.oblivious_only)

    @property
    def oracle_calls(self) -> int:
        """The inner policy's; the few of this one are not counted."""
        return int(self.policy.oracle_calls)

    @property
    def weight(self) -> float | None:
        """The inner policy's weight on the constraint, where it has one."""
        return getattr(self.policy, "weight", None)

    def binding(self) -> tuple[Binding, ...]:
        """Return the past rounds that hold the inner policy's decision now, the dearest first."""
        return getattr(self.policy, "binding", tuple)()

    @property
    def certificate(self) -> Callable[..., Any]:
        """The inner policy's certificate, about the points that were used."""
        found: Callable[..., Any] = self.policy.certificate
        return found

    @property
    def _parts(self) -> Mapping[str, Restorable]:
        return {"policy": self.policy}
