"""The game that makes every learner choose between regret and violation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.boxes import Box


@dataclass(frozen=True, eq=False)
class FreshCoordinates(LinearProblem):
    """Round t is about coordinate t alone: worth taking, and forbidden with probability 1/2.

    On the box [0, w]^T: f_t(x) = -x_t and g_t(x) = e_t x_t with fair random signs e_t. The origin
    keeps every constraint; the best feasible action takes w where e_t = -1. A learner that plays
    p_t in coordinate t before e_t is drawn has mean regret w T/2 - sum p_t and mean CCV
    sum p_t / 2, so that over the signs

        E[regret] + 2 E[CCV] = w T / 2

    for every learner: none can keep both below w T / 6. The default width 1/sqrt(T) makes D = 1
    and L = 1, so both of order sqrt(T) at best; what was learnt in one round never helps in
    another.

    Args:
        horizon: the number of rounds T, and the dimension.
        seed: fixes the signs.
        width: the side w of the box; 1/sqrt(T) if left out.

    >>> game = FreshCoordinates(horizon=4)
    >>> game.decision_set.diameter, game.trade_off
    (1.0, 1.0)

    """

    horizon: int = 400
    seed: int = 0
    width: float | None = None
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        T = as_count(self.horizon, "horizon")
        width = T**-0.5 if self.width is None else as_positive(self.width, "width")
        object.__setattr__(self, "horizon", T)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "decision_set", Box(np.zeros(T), np.full(T, width)))
        object.__setattr__(self, "feasible", np.zeros(T))

    @property
    def trade_off(self) -> float:
        """The mean over the signs of regret + 2 CCV, the same for every learner."""
        return 0.5 * self.horizon * float(self.decision_set.upper[0])

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng, done = np.random.default_rng(self.seed), 0
        for k in chunk_lengths(self.horizon, size):
            rows = np.zeros((k, self.horizon))
            rows[np.arange(k), np.arange(done, done + k)] = 1.0
            done += k
            signs = rng.choice([-1.0, 1.0], (k, 1))
            yield LinearChunk(-rows, np.zeros(k), signs * rows, np.zeros(k))
