"""Fair coins: the game that no learner can win."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count, as_vector, read_only
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.decision_set import DecisionSet


@dataclass(frozen=True, eq=False)
class RandomSigns(LinearProblem):
    """f_t(x) = e_t <c, x> with fair random signs e_t, no constraint: order sqrt(T) for everyone.

    Whoever plays x_t before e_t is drawn pays 0 on average. With E the sum of the signs and w the
    set's width along c, the best fixed action pays -(w/2)|E| plus a multiple of E, whose mean is 0.
    So the mean regret over the signs is (w/2) mean|E| for every learner, which lies between
    w sqrt(T/8) and w sqrt(T)/2. With c along a diameter, w = D L.

    Args:
        decision_set: where the game is played.
        direction: the vector c; its norm is the Lipschitz constant L.
        horizon: the number of rounds.
        seed: fixes the signs.

    Reference: Cesa-Bianchi and Lugosi, "Prediction, Learning, and Games" (2006), section 3.7;
    mean|E| = 2 m binom(T, m) / 2^T with m = ceil(T/2).

    >>> from hedgerow.sets.simplices import Simplex
    >>> round(RandomSigns(Simplex(2), np.array([1.0, -1.0]), horizon=4).expected_regret, 9)
    1.5

    """

    decision_set: DecisionSet
    direction: Vector
    horizon: int = 4000
    seed: int = 0
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        c = as_vector(self.direction, "the direction", self.decision_set.dim)
        object.__setattr__(self, "direction", read_only(c))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "feasible", self.decision_set.start())

    @property
    def expected_regret(self) -> float:
        """The mean regret over the signs, the same for every learner."""
        X, T = self.decision_set, self.horizon
        width = -X.minimum(-self.direction) - X.minimum(self.direction)
        m = (T + 1) // 2
        log_chance = math.lgamma(T + 1) - math.lgamma(m + 1) - math.lgamma(T - m + 1)
        return width * m * math.exp(log_chance - T * math.log(2.0))

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng = np.random.default_rng(self.seed)
        for k in chunk_lengths(self.horizon, size):
            signs = rng.choice([-1.0, 1.0], k)
            none = np.zeros((k, self.decision_set.dim))
            yield LinearChunk(np.outer(signs, self.direction), np.zeros(k), none, np.zeros(k))
