"""Algorithm 7's learner: follow the perturbed leader."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel, number, write
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE, REGULARISE
from hedgerow.inputs import RNG, Vector, as_positive, freeze
from hedgerow.kernels.ocg import add, perturb
from hedgerow.learners.kernel_learner import NO_RULE, NUMBERS, KernelLearner
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, CALLS, RULE = range(3)
"""The numbers of the state [x | L | t, calls | noise], after the vectors."""
OFFSET, FACTOR, DIM, SQUARES, FIRST = range(5)
"""The numbers of the noise schedule; an offset of 0 stands for the first loss's own."""


@dataclass(frozen=True)
class GaussianNoise:
    """The noise schedule eta_t = factor sqrt((offset + sum of ||loss||^2 so far) / N).

    Args:
        offset: what stands in for losses before the first. Algorithm 7 divided by V has 1/V^2,
            that is 1/T, with plain norms. None takes the first loss's own squared norm, so that the
            schedule has no unit, and measures losses along the set alone.
        factor: how much noise.

    """

    offset: float | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.offset is not None:
            freeze(self, offset=as_positive(self.offset, "offset"))
        freeze(self, factor=as_positive(self.factor, "factor"))

    def begin(self, dim: int) -> Vector:
        """Return the schedule's numbers before the first round."""
        return np.array([self.offset or 0.0, self.factor, float(dim), 0.0, 0.0])


@kernel(number, write)
def noise_scale(rule: Array) -> float:
    """eta_t = factor sqrt((offset + sum of ||loss||^2) / N); 1 while no loss was seen."""
    offset = rule[OFFSET] if rule[OFFSET] > 0.0 else rule[FIRST]
    eta = rule[FACTOR] * math.sqrt((offset + rule[SQUARES]) / rule[DIM])
    return eta if eta > 0.0 else 1.0


@kernel(*REGULARISE)
def next_noise_scale(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """Take in the size of a loss, plain where the offset was given; return eta_{t+1}, line 3."""
    size = loss[1] if rule[OFFSET] > 0.0 else loss[0]
    rule[SQUARES] += size
    if rule[FIRST] == 0.0:
        rule[FIRST] = size
    return noise_scale(rule)


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Lines 9, 3 and 4: L_t = L_{t-1} + s, and the direction L_t + eta_{t+1} p_{t+1}."""
    n = len(s)
    L, own = state[n : 2 * n], state[2 * n :]
    own[ROUND] += 1.0
    add(L, s)
    p = work[3 * n + NUMBERS :]  # the noise of this round
    perturb(work[:n], L, p, steps.regularise(own[RULE:], own[ROUND], loss))
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Line 5: x_{t+1} is the oracle's vertex."""
    for i in range(n):
        state[i] = work[n + i]
    state[2 * n + CALLS] += 1.0


class FTPL(KernelLearner):
    """Follow the perturbed leader: plays vertices, x_t = lmo(L_{t-1} + eta_t p_t).

    p_t is a fresh standard Gaussian vector each round and L_{t-1} the sum of linear losses. One
    oracle call per round; every play is a vertex, so nothing has to be sampled, and the set need
    not be convex. Oblivious games only.

    Args:
        decision_set: where to play; only its oracle is used.
        seed: fixes the noise.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        noise: the schedule eta_t.

    Reference: Abernethy, Lee and Tewari (2016); Algorithm 7 of the paper.

    """

    oblivious_only = draws = True
    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: DecisionSet,
        seed: int | None = None,
        noise: GaussianNoise | None = None,
        *,
        rng: RNG | None = None,
    ):
        self.noise, n = GaussianNoise() if noise is None else noise, decision_set.dim
        self._rng = np.random.default_rng(self._seed(seed, rng))
        rule = NO_RULE._replace(regularise=next_noise_scale)
        schedule = self.noise.begin(n)
        numbers = {"L": n, "t": 1, "calls": 1, "schedule": schedule.size}
        super().__init__(decision_set, numbers, rule, np.zeros(n), scratch=n)
        self._state["schedule"][:] = schedule
        self._drawn: tuple[int, Any] = (0, None)
        eta, p = noise_scale(self._state["schedule"]), self._noise()
        self._state["x"][:] = self._workspace.lmo(self._state["L"] + eta * p)  # x_1
        self._state["calls"][0] = 1.0

    @property
    def oracle_calls(self) -> int:
        """One per round, and one for the first play."""
        return int(self._state["calls"][0])

    def draw(self, rounds: int) -> Vector:
        """Return p of the next rounds, fresh every round, line 4."""
        self._drawn = rounds, self._rng.bit_generator.state
        return self._rng.standard_normal((rounds, self.decision_set.dim))

    def give_back(self, rounds: int) -> None:
        """Take back what was drawn for rounds that were not played."""
        drawn, before = self._drawn
        if rounds < drawn:
            self._rng.bit_generator.state = before
            self._rng.standard_normal((rounds, self.decision_set.dim))

    def _noise(self) -> Vector:
        return self._rng.standard_normal(self.decision_set.dim)
