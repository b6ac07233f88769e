"""Any policy without units: it is told costs and constraints of Lipschitz constant one."""

from __future__ import annotations

from dataclasses import replace
from typing import Generic, TypeVar, cast

import numpy as np

from hedgerow.feedback import EvalGrad, Full, needs
from hedgerow.functions import scaled
from hedgerow.inputs import Vector
from hedgerow.policies.summary import TOTALS, Summary, add_round, summary_of
from hedgerow.protocols.parts import Feedback, Policy
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.queued import checked

Seen = TypeVar("Seen", bound=EvalGrad | Full)
NEGLIGIBLE = 1e-150
"""Gradients below this are no gradients: dividing by them leaves float64."""


class Normalised(Stateful, Generic[Seen]):
    """Tells a policy f_t / Gf and g_t / Gg, so that it needs to know no Lipschitz constant.

    Gf and Gg are the largest tangent norms of grad f and grad g so far. The wrapped policy is
    built for Lipschitz constant 1. Multiplying all costs by a power of two, or all constraints by
    another, leaves the plays unchanged; other factors change them by rounding. What was told in
    earlier rounds keeps the unit it had then, so no theorem about the wrapped policy is claimed.
    Where no constraint's gradient has been felt the constraint is told as zero: no play can help.

    Args:
        policy: built for Lipschitz constant 1; the set's diameter is its own.

    """

    def __init__(self, policy: Policy[Seen, Seen]):
        self.policy = policy
        self._state = State(G=2, **dict.fromkeys(TOTALS, 1))

    @property
    def decision_set(self) -> DecisionSet:
        """Where the wrapped policy plays."""
        return self.policy.decision_set

    @property
    def feedback(self) -> Feedback:
        """What the wrapped policy learns from."""
        return self.policy.feedback

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations the wrapped policy has asked for."""
        return self.policy.oracle_calls

    @property
    def projections(self) -> int:
        """The wrapped policy's; 0 where it never projects."""
        return int(getattr(self.policy, "projections", 0))

    @property
    def oblivious_only(self) -> bool:
        """Whether the wrapped policy's guarantee fails against rounds that react to its plays."""
        return self.policy.oblivious_only

    def ask(self) -> Vector:
        """Return the wrapped policy's play."""
        return self.policy.ask()

    def summary(self) -> Summary:
        """Return the totals of the rounds so far, in their own units."""
        return summary_of(self._state, (None, None), self.oracle_calls, self.projections)

    def tell(self, cost: Seen, constraint: Seen) -> None:
        """Measure both gradients, then tell the round without units."""
        X = self.decision_set
        f, g = _checked(cost, "cost", X.dim), _checked(constraint, "constraint", X.dim)
        sizes = [X.tangent_norm(f.grad), X.tangent_norm(g.grad)]
        Gf, Gg = np.maximum(self._state["G"], sizes)
        self.policy.tell(_times(f, _unit(Gf)), _times(g, _unit(Gg)))
        self._state["G"][:] = Gf, Gg
        add_round(self._state, f.value, g.value)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy}


def _checked(seen: Seen, name: str, dim: int) -> Seen:
    if not isinstance(seen, Full):
        needs(EvalGrad, seen, "this policy", name)
    whole = checked(EvalGrad(seen.value, seen.grad), name, dim)
    return replace(seen, value=whole.value, grad=whole.grad)


def _unit(G: float) -> float:
    return 1.0 / float(G) if G > NEGLIGIBLE else 0.0


def _times(seen: Seen, factor: float) -> Seen:
    """Return what would be seen of the function times a factor."""
    told = replace(seen, value=factor * seen.value, grad=factor * seen.grad)
    if isinstance(told, Full):
        return cast(Seen, replace(told, function=scaled(told.function, factor)))
    declared = told.lipschitz
    return cast(Seen, replace(told, lipschitz=None if declared is None else factor * declared))
