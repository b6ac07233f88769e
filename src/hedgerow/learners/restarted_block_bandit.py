"""Block bandit conditional gradient by doubling: blocks that were too steep start it again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow._engine.kernel import kernel, number
from hedgerow.inputs import RNG, Vector, as_count, as_positive, freeze
from hedgerow.learners.block_bandit import (
    END_BLOCK,
    GUESS,
    LIPSCHITZ,
    RESTARTS,
    SQUARES,
    BlockConditionalGradient,
    numbers_of,
    vectors_of,
)
from hedgerow.learners.block_rules import BLOCK_BETA, Block, BlockRule, Regulariser, Seen, called
from hedgerow.sets.decision_set import DecisionSet


@kernel(number, number, number)
def doubled(guess: float, need: float) -> float:
    """Return the guess, doubled until it covers the need.

    >>> doubled(1.5, 4.0)
    6.0
    """
    while guess < need:
        guess *= 2.0
    return guess


@kernel(*BLOCK_BETA)
def wang_beta(rule: Vector, lipschitz: float, bound: float, squares: float) -> float:
    """Return n M L T^{3/4} / (c D); rule = [n M / (c D), T^{3/4}]."""
    return rule[0] * lipschitz * rule[1]


@kernel(*END_BLOCK)
def double_guess(state: Vector, n: int) -> float:
    """Return the guess, doubled until it covers the block's steepest loss, which is forgotten.

    A guess that was too low begins an epoch: an empty sum, and the anchor x_m.
    """
    own, need = numbers_of(state, n), numbers_of(state, n)[LIPSCHITZ]
    own[LIPSCHITZ] = 0.0
    if own[GUESS] == 0.0:
        own[GUESS] = need
    if own[GUESS] < need:
        own[GUESS] = doubled(own[GUESS], need)
        own[RESTARTS] += 1.0
        own[SQUARES] = 0.0
        x, anchor, S, _ = vectors_of(state, n)
        for i in range(n):
            anchor[i] = x[i]
            S[i] = 0.0
    return own[GUESS]


@dataclass(frozen=True)
class WangBlocks:
    """The constants of BFW-TVC: delta = c T^{-1/4}, K = ceil(sqrt T), eps = 4 D^2 / sqrt T.

    eta = c D / (n M L T^{3/4}), with L the learner's guess.

    Args:
        horizon: the number of rounds T.
        bound: M, a bound of the absolute values of the costs.
        c: how far to perturb, as a length; below r T^{1/4}, where r is the set's inner radius.

    """

    horizon: int
    bound: float
    c: float

    def __post_init__(self) -> None:
        freeze(
            self, horizon=as_count(self.horizon, "horizon"), bound=as_positive(self.bound, "bound")
        )
        freeze(self, c=as_positive(self.c, "c"))

    def begin(self, dim: int, radius: float, diameter: float) -> Block:  # noqa: ARG002
        """Refuse a set whose inner ball is smaller than the perturbation."""
        T = self.horizon
        delta = self.c * T**-0.25
        if delta >= radius:
            raise ValueError(
                f"bandit play needs delta < inner radius, got {delta:.3g} >= {radius:.3g} at "
                f"T = {T}; make c smaller than {radius * T**0.25:.3g}"
            )
        epsilon = 4.0 * diameter**2 / math.sqrt(T)
        return Block(math.ceil(math.sqrt(T)), delta, epsilon, centred=False)

    def beta(self, dim: int, diameter: float, seen: Seen) -> float:
        """Return n M L T^{3/4} / (c D)."""
        return called(self.regulariser(dim, diameter), seen)

    def regulariser(self, dim: int, diameter: float) -> Regulariser:
        """Return the kernel of beta and its numbers."""
        scale = dim * self.bound / (self.c * diameter)
        return wang_beta, np.array([scale, self.horizon**0.75])


class RestartedBlockBandit(BlockConditionalGradient):
    """Block bandit conditional gradient by doubling: learns from values, restarts when too steep.

    Each round of block m plays y_t = x_m + delta u_t, u_t uniform on the unit sphere of the affine
    hull, and estimates the gradient by (n/delta) f_t(y_t) u_t. After K rounds: if a loss of the
    block was declared steeper than the guess, the guess is doubled until it covers it and an epoch
    begins, with an empty sum and the anchor x_m. Then x_{m+1} is a near-minimiser over the shrunk
    set of F(x) = <sum of the epoch's estimates, x> + ||x - anchor||^2/eta, by at most K oracle
    calls (Wang et al. set no cap, and write x for y). Works in the coordinates of the set's affine
    hull.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `WangBlocks(...)` or `PracticalBlocks(horizon)`; it takes the guess for the largest
            Lipschitz constant.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        guess: the first guess, in units of loss per length; left out, the largest Lipschitz
            constant that the first block declares.

    Reference: Wang, Wan and Zhang, Revisiting projection-free online learning with time-varying
    constraints, AAAI 2025 (the learner inside BFW-TVC).

    """

    end_block = double_guess

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: BlockRule,
        seed: int | None = None,
        guess: float | None = None,
        *,
        rng: RNG | None = None,
    ):
        first = 0.0 if guess is None else as_positive(guess, "guess")
        super().__init__(decision_set, steps, self._seed(seed, rng))
        self._state["guess"][0] = first

    @property
    def guess(self) -> float:
        """The steepness that the current epoch allows for; 0 while none was seen or given."""
        return float(self._state["guess"][0])

    @property
    def restarts(self) -> int:
        """How often it has started again."""
        return int(self._state["restarts"][0])
