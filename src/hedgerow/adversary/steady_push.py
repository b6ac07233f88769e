"""The game that shows what slow steps cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.balls import L2Ball


@dataclass(frozen=True, eq=False)
class SteadyPush(LinearProblem):
    """The easiest game there is, f_t(x) = x_1 on the unit ball, always; no constraint.

    Any learner that trusts its data pays O(1). Algorithm 1 with `PaperSteps` pays order T^{3/4}
    even here, so the rate of Theorem 2.1 is tight for it. Derivation: from the centre all plays
    are x_t = p_t e_1. With D = 2 and L = 1 the minimiser of F_t is -q_t e_1,
    q_t = min(1, t / (2 T^{3/4})), and sigma_t = min(1, 2/sqrt t). If p_t >= -q_t, then
    1 + p_{t+1} >= (1 - sigma_t)(1 + p_t) whatever the vertex; else the vertex is e_1 and
    1 + p_{t+1} = (1 - sigma_t)(1 + p_t) + 2 sigma_t. By induction, with sigma_{t-1} <= 2 sigma_t
    in the second case, 1 + p_{t+1} >= (1 - sigma_t)(1 - q_t). The sum of the right side, about
    T^{3/4} = D L T^{3/4} / 2, is below the regret.

    Args:
        n: the dimension.
        horizon: the number of rounds.

    >>> SteadyPush(horizon=10**6).paper_regret > 0.4 * 2.0 * (10**6) ** 0.75
    True

    """

    n: int = 3
    horizon: int = 4000
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", L2Ball(self.n))
        object.__setattr__(self, "feasible", np.zeros(self.n))

    @property
    def paper_regret(self) -> float:
        """What Algorithm 1 with `PaperSteps` loses at least, from the centre."""
        t = np.arange(1.0, self.horizon)
        sigma = np.minimum(1.0, 2.0 / np.sqrt(t))
        reached = np.minimum(1.0, t / (2.0 * self.horizon**0.75))
        return float(((1.0 - sigma) * (1.0 - reached)).sum())

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        for k in chunk_lengths(self.horizon, size):
            costs = np.zeros((k, self.n))
            costs[:, 0] = 1.0
            yield LinearChunk(costs, np.zeros(k), np.zeros((k, self.n)), np.zeros(k))
