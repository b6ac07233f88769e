"""Agents and policies: a policy plays a Gymnasium environment, an agent plays a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad, first_order, first_order_each
from hedgerow.inputs import Vector, as_vector
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet

Observation = dict[str, Any]
"""What an agent observes: `round`, `decision`, and value and gradient of cost and constraint."""


def first_observation(decision_set: DecisionSet) -> Observation:
    """Return the observation before round 1, of which nothing was seen."""
    nothing = EvalGrad(0.0, np.zeros(decision_set.dim))
    return make_observation(0, decision_set.start(), nothing, nothing)


def make_observation(t: int, x: Vector, cost: EvalGrad, constraint: EvalGrad) -> Observation:
    """Return what was seen of round t at the decision x, as arrays."""
    return {
        "round": np.array([t], dtype=np.int64),
        "decision": np.array(x, dtype=np.float64),
        "cost": np.array([cost.value], dtype=np.float64),
        "cost_gradient": np.array(cost.grad, dtype=np.float64),
        "constraint": np.array([constraint.value], dtype=np.float64),
        "constraint_gradient": np.array(constraint.grad, dtype=np.float64),
    }


class PolicyAgent:
    """A policy as an agent of a `ProblemEnv`: a function from observations to actions.

    Call it with each observation once, in order. An observation of `reset`, whose `round` is 0,
    reports nothing; the policy goes on from where it is, so give a new policy to each episode.

    Args:
        policy: one that learns from values and gradients, such as `projection_free_coco(X)`.

    """

    def __init__(self, policy: Policy[EvalGrad, EvalGrad]):
        if getattr(policy, "feedback", first_order) not in (first_order, first_order_each):
            raise TypeError(
                f"an observation has a value and a gradient of cost and constraint, and "
                f"{type(policy).__name__} learns from something else; choose a policy with "
                "first_order feedback, such as projection_free_coco(X)"
            )
        self.policy = policy

    def __call__(self, observation: Observation) -> Vector:
        """Report the observed round and return the next decision."""
        if int(observation["round"][0]) > 0:
            seen = (
                EvalGrad(float(observation[name][0]), observation[f"{name}_gradient"])
                for name in ("cost", "constraint")
            )
            self.policy.tell(*seen)
        return self.policy.ask()


class AgentPolicy:
    """An agent, trained or written by hand, as a policy for `simulate`, `play` and comparisons.

    Args:
        decision_set: where it plays.
        act: returns an action for an observation of `ProblemEnv`, such as
            `lambda observation: model.predict(observation)[0]`. It is called once per round.

    """

    feedback = staticmethod(first_order)
    oblivious_only = False

    def __init__(self, decision_set: DecisionSet, act: Callable[[Observation], Any]):
        self.decision_set, self._act, self._t = decision_set, act, 0
        self._x = self._decide(first_observation(decision_set))

    def _decide(self, observation: Observation) -> Vector:
        X = self.decision_set
        x = as_vector(self._act(observation), "the agent's action", X)
        if not X.contains(x, 1e-6):
            raise ValueError(
                f"the agent's action after round {self._t} lies outside of {X!r}; let it return a "
                "point of the set, such as X.project(x) or X.lmo(c)"
            )
        return x.copy()

    def ask(self) -> Vector:
        """Return the agent's action."""
        return self._x.copy()

    def tell(self, cost: EvalGrad, constraint: EvalGrad, /) -> None:
        """Show the round to the agent, which then acts."""
        self._t += 1
        self._x = self._decide(make_observation(self._t, self._x, cost, constraint))
