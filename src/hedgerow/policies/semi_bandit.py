"""Semi-bandit play: only what was used is measured, as in networks."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from hedgerow.feedback import EvalGrad, SemiBanditFeedback, needs, semi_bandit
from hedgerow.inputs import RNG, Vector, as_count, as_gradient, as_number, as_positive, as_seed
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.paper import projection_free_long_term
from hedgerow.policies.theorem import LINEAR, OBLIVIOUS, Theorem
from hedgerow.protocols.late_feedback import refuse_late
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet, HasInnerBall, HasSampling
from hedgerow.snapshot import Restorable, State, records_call


class SemiBandit(StatefulPlayer):
    """Plays 0/1 vertices and learns from the coefficients of the coordinates it used.

    The fractional policy's play x_t is mixed with an interior point, x~_t = (1 - gamma) x_t +
    gamma c, so that every coordinate has a chance; a vertex with mean x~_t is played. Coordinate e
    is used with probability x~_{t,e}, so coefficient/x~_{t,e} on the used ones, and zero
    elsewhere, is an unbiased estimate of all coefficients, which the inner policy learns from.

    What is proved: the estimates are unbiased, also of the signed constraint value at x_t. Nothing
    is proved of the CCV, which needs the positive part of a value that is only estimated; and no
    rate is claimed for the mixture of estimates and practical steps. Oblivious games only.

    Args:
        policy: the fractional policy; its surrogate should be signed.
        seed: fixes the draws.
        exploration: gamma, above 0 and below 1.

    """

    oblivious_only = True
    feedback = staticmethod(semi_bandit)

    def __init__(self, policy: ConstrainedPolicy[EvalGrad], seed: int, exploration: float):
        X = self.decision_set = policy.decision_set
        for capability in (HasSampling, HasInnerBall):
            if not X.supports(capability):
                raise ValueError(
                    f"semi-bandit play needs {capability.meaning}, {type(X).__name__} has no "
                    f"{capability.method}(); use another set or full feedback"
                )
        if as_positive(exploration, "exploration") >= 1.0:
            raise ValueError(f"exploration must be below 1, got {exploration:g}")
        self.policy, self.exploration = policy, exploration
        self._centre = X.ball()[0]
        for direction in (np.ones(X.dim), -np.ones(X.dim)):
            _check_binary(X.lmo(direction))
        self._rng = np.random.default_rng(as_count(seed, "seed", least=0))
        self._state = State(vertex=X.dim)
        self._draw()

    def _chances(self) -> Vector:
        return (1.0 - self.exploration) * self.policy.ask() + self.exploration * self._centre

    def _draw(self) -> None:
        vertex = self.decision_set.sample(self._chances(), self._rng)
        _check_binary(vertex)
        self._state["vertex"][:] = vertex

    @property
    def certificate(self) -> NoReturn:
        """There is none: this says why."""
        raise AttributeError(
            "a semi-bandit policy has no certificate: it estimates the coefficients that it did "
            "not see, and an estimate proves nothing; hindsight(problem) finds the regret of a "
            "recorded run"
        )

    @property
    def oracle_calls(self) -> int:
        """The inner policy's."""
        return self.policy.oracle_calls

    def guarantees(self) -> tuple[Theorem, ...]:
        """Return what is proved of the estimates."""
        return (Theorem("unbiased estimates", (), (OBLIVIOUS, LINEAR)),)

    def ask(self) -> Vector:
        """Return the vertex to play."""
        return self._state["vertex"].copy()

    def tell(
        self,
        cost: SemiBanditFeedback,
        constraint: SemiBanditFeedback,
        *,
        at: Vector | None = None,
    ) -> None:
        """Estimate all coefficients from the used ones and pass them on.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: refused unless it is the present vertex: the chances it was drawn with are not kept.

        """
        refuse_late(self, at)
        used = self._state["vertex"] > 0.5
        x, chances = self.policy.ask(), self._chances()
        seen = []
        for name, part in (("cost", cost), ("constraint", constraint)):
            needs(SemiBanditFeedback, part, "semi-bandit play", name)
            coefficients = as_gradient(
                part.coefficients, f"the vector of used coefficients of the {name}", int(used.sum())
            )
            offset = as_number(part.offset, f"the offset of the {name}")
            estimate = np.zeros(self.decision_set.dim)
            estimate[used] = coefficients / chances[used]
            seen.append(EvalGrad(float(estimate @ x) + offset, estimate))
        self.policy.tell(*seen)
        self._draw()

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"policy": self.policy}


def _check_binary(vertex: Vector) -> None:
    if not np.isin(vertex, (0.0, 1.0)).all():
        raise ValueError("semi-bandit play needs 0/1 vertices: paths, subsets, trees, matchings")


@records_call
def semi_bandit_coco(
    decision_set: DecisionSet, horizon: int, seed: int | None = None, *, rng: RNG | None = None
) -> SemiBandit:
    """Semi-bandit play of a long-term constraint: `SemiBandit` over `projection_free_long_term`.

    Exploration min(1/2, T^{-1/4}); tested empirically, not proved. Report the signed sum of
    violations; the CCV of single vertices grows linearly in T.

    Args:
        decision_set: a set of 0/1 vertices that can be sampled, with an interior point.
        horizon: the number of rounds T.
        seed: fixes the draws.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """
    T, seed = as_count(horizon, "horizon"), as_seed(seed, rng)
    return SemiBandit(projection_free_long_term(decision_set), seed, min(0.5, T**-0.25))
