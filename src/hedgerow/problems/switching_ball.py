"""Phases in which cost and constraint pull a ball's first coordinate apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count, as_number
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.balls import L2Ball


@dataclass(frozen=True, eq=False)
class SwitchingBall(LinearProblem):
    """The cost pushes the first coordinate one way, then the other; the constraint holds it back.

    In a phase of sign s: f_t(x) = <-s e_1 + noise, x>, g_t(x) = <s e_1 + noise, x> - 1/10. The
    origin keeps every constraint with slack. With growth 1.6 each phase is that much longer than
    the one before; with growth 1 all phases last sqrt(T) rounds.

    Args:
        n: the dimension.
        horizon: the number of rounds.
        seed: fixes everything.
        growth: the ratio of successive phase lengths.

    """

    n: int = 10
    horizon: int = 4000
    seed: int = 0
    growth: float = 1.6
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        as_count(self.seed, "seed", least=0)
        if as_number(self.growth, "growth") < 1.0:
            raise ValueError(f"growth must be at least 1, got {self.growth:g}")
        object.__setattr__(self, "decision_set", L2Ball(self.n))
        object.__setattr__(self, "feasible", np.zeros(self.n))

    def _signs(self) -> Vector:
        length = 8.0 if self.growth > 1.0 else math.sqrt(self.horizon)
        signs = np.empty(self.horizon)
        begin, sign = 0, 1.0
        while begin < self.horizon:
            end = begin + math.ceil(min(length, self.horizon))
            signs[begin:end] = sign
            begin, sign, length = end, -sign, length * self.growth
        return signs

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        costs, limits = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        signs, done = self._signs(), 0
        for k in chunk_lengths(self.horizon, size):
            s = signs[done : done + k]
            done += k
            c = 0.3 / math.sqrt(self.n) * costs.standard_normal((k, self.n))
            a = 0.3 / math.sqrt(self.n) * limits.standard_normal((k, self.n))
            c[:, 0] -= s
            a[:, 0] += s
            yield LinearChunk(c, np.zeros(k), a, np.full(k, -0.1))
