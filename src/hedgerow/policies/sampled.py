"""Integral play from fractional policies: a real path, tree or matching each round."""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn, Protocol, runtime_checkable

import numpy as np

from hedgerow.feedback import EvalGrad, EvalLinear, linear, needs
from hedgerow.inputs import RNG, Vector, as_gradient, as_number
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.fallback import Fallback
from hedgerow.policies.theorem import LINEAR, OBLIVIOUS, Theorem
from hedgerow.protocols.late_feedback import refuse_late
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import HasSampling
from hedgerow.snapshot import Restorable, State


@runtime_checkable
class Stepping(Protocol):
    """A learner that moves by mixing: x_{t+1} = (1 - sigma) x_t + sigma v."""

    @property
    def last_step(self) -> tuple[Vector, float]:
        """The vertex v and the share sigma of the last move."""
        ...


class SampledPlay(StatefulPlayer):
    """Plays a random vertex X_t with mean x_t, the play of a fractional policy.

    The inner policy gets feedback at x_t, not at X_t: linear feedback is moved there. With that at
    the vertex it would be ruined, because a vertex violates in a constant share of rounds. The mean
    cost and the mean signed violation are those of x_t; the CCV is not, since E[g^+(X_t)] >=
    g^+(x_t), and is usually much larger.

    Args:
        policy: the fractional policy.
        seed: fixes the draws.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    feedback = staticmethod(linear)

    def __init__(
        self,
        policy: ConstrainedPolicy[EvalGrad] | Fallback,
        seed: int | None = None,
        *,
        rng: RNG | None = None,
    ):
        _check_policy(policy)
        if not policy.decision_set.supports(HasSampling):
            raise ValueError(
                f"sampled play needs {HasSampling.meaning}, {type(policy.decision_set).__name__} "
                "has no sample(); play the fractional policy itself"
            )
        self.policy, self.decision_set = policy, policy.decision_set
        self._rng = np.random.default_rng(self._seed(seed, rng))
        self._state = State(vertex=policy.decision_set.dim, switches=1)
        self._state["vertex"][:] = policy.decision_set.sample(policy.ask(), self._rng)

    @property
    def certificate(self) -> NoReturn:
        """There is none: this says why."""
        raise AttributeError(
            "a sampled policy has no certificate: its vertices are drawn at random, and a "
            "certificate is about every round as it was decided; policy.policy.certificate() is "
            "about the mixtures they were drawn from"
        )

    @property
    def oracle_calls(self) -> int:
        """The inner policy's."""
        return self.policy.oracle_calls

    @property
    def switches(self) -> int:
        """How often the vertex changed."""
        return int(self._state["switches"][0])

    def ask(self) -> Vector:
        """Return X_t."""
        return self._state["vertex"].copy()

    def tell(self, cost: EvalLinear, constraint: EvalLinear, *, at: Vector | None = None) -> None:
        """Move linear feedback from X_t to x_t, tell the inner policy, and draw the next vertex.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: refused unless it is the present vertex: the mean it was drawn from is not kept.

        """
        refuse_late(self, at)
        shift = self.policy.ask() - self._state["vertex"]
        self.policy.tell(
            self._moved(cost, "cost", shift), self._moved(constraint, "constraint", shift)
        )
        vertex = self._next()
        self._state["switches"][0] += not np.array_equal(vertex, self._state["vertex"])
        self._state["vertex"][:] = vertex

    def guarantees(self) -> tuple[Theorem, ...]:
        """Return what is proved of the draws; `policy.guarantees()` has that of the policy."""
        fixed = (OBLIVIOUS,) if isinstance(self, LazySampled) else ()
        return (Theorem("mean of the draws", (), (LINEAR, *fixed)),)

    def _moved(self, seen: EvalLinear, name: str, shift: Vector) -> EvalGrad:
        needs(EvalLinear, seen, "sampled play", name)
        value = as_number(seen.value, f"the value of the {name}")
        grad = as_gradient(seen.grad, f"the gradient of the {name}", self.decision_set)
        return EvalGrad(value + float(grad @ shift), grad)

    @abstractmethod
    def _next(self) -> Vector:
        """Draw a vertex whose mean is the inner policy's new play."""

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy}


def _check_policy(policy: object) -> None:
    """Check that this is a fractional policy that learns from gradients."""
    if not isinstance(policy, ConstrainedPolicy | Fallback):
        raise TypeError(
            f"sampled play draws the vertices of a fractional policy, such as "
            f"projection_free_coco(X), got a {type(policy).__name__}"
        )


class Sampled(SampledPlay):
    """Draws a new vertex in each round, from a decomposition of x_t.

    Safe against adaptive adversaries if the inner policy is, because each draw is independent. The
    vertex changes in most rounds.

    Args:
        policy: the fractional policy.
        seed: fixes the draws.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    @property
    def oblivious_only(self) -> bool:
        """As the inner policy."""
        return self.policy.oblivious_only

    def _next(self) -> Vector:
        return self.decision_set.sample(self.policy.ask(), self._rng)


class LazySampled(SampledPlay):
    """Rarely switches: moves to the learner's newest vertex with probability sigma_t, else stays.

    By induction the mean of X_t is x_t, without any decomposition. The vertex is kept for many
    rounds, so draws are correlated over time: larger deviations, and linear regret against an
    adversary that sees the held vertex. Oblivious games only.

    Args:
        policy: a fractional policy whose learner moves by mixing, as `AdaptiveOCG` does.
        seed: fixes the draws.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    oblivious_only = True

    def __init__(
        self,
        policy: ConstrainedPolicy[EvalGrad],
        seed: int | None = None,
        *,
        rng: RNG | None = None,
    ):
        _check_policy(policy)
        learner = getattr(policy, "learner", policy)
        if not isinstance(learner, Stepping):
            raise ValueError(
                f"lazy sampling follows (vertex, sigma) of each step, which "
                f"{type(learner).__name__} does not have; build the policy with "
                "tracking=False, or use Sampled"
            )
        super().__init__(policy, self._seed(seed, rng))

    def _next(self) -> Vector:
        assert isinstance(self.policy, ConstrainedPolicy)
        assert isinstance(self.policy.learner, Stepping)
        vertex, sigma = self.policy.learner.last_step
        return vertex if self._rng.random() < sigma else self._state["vertex"]
