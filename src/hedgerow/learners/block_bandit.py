"""Algorithm 3: adaptive block bandit conditional gradient."""

from __future__ import annotations

from hedgerow.feedback import Eval
from hedgerow.learners.block_conditional_gradient import BlockConditionalGradient
from hedgerow.learners.blocks import BlockRule
from hedgerow.learners.horizon import warn_beyond
from hedgerow.sets.decision_set import DecisionSet


class BlockBandit(BlockConditionalGradient):
    """Adaptive block bandit conditional gradient: learns from the value of what it played.

    Each round of block m plays y_t = x_m + delta u_t with u_t uniform on the unit sphere of the
    affine hull, and estimates the gradient by (n/delta) f_t(y_t) u_t. After K rounds x_{m+1} is a
    near-minimiser over the shrunk set of F_m(x) = <sum of estimates, x> + ||x - x_1||^2/eta_m,
    found by at most K oracle calls (Algorithm 6), so at most one a round. Works in the coordinates
    of the set's affine hull, about the centre of its inner ball.

    The guarantee (Theorem 4.1, O(T^{3/4}) expected regret with `PaperBlocks`) is for losses that
    are fixed before each play, oblivious games only, and for runs in which no block reached its
    cap of K oracle calls: afterwards `capped_blocks` must be 0.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        steps: `PaperBlocks(horizon)` or `PracticalBlocks(horizon)`.
        seed: fixes the perturbations.

    """

    def __init__(self, decision_set: DecisionSet, steps: BlockRule, seed: int):
        super().__init__(decision_set, steps, seed, {})  # x_1 = 0, the only anchor, line 3

    def tell(self, loss: Eval) -> None:
        """Take the value at y_t; at the end of a block, move."""
        ends = self._gather(loss)  # grad_m = sum of (n/delta) f_t(y_t) u_t, lines 6 to 9
        if ends:
            L = float(self._state["lipschitz"][0])  # L_{mK}, the largest so far, line 2
            self._descend(L)  # x_{m+1} by Algorithm 6 on F_m from x_m, lines 10 to 12
        warn_beyond(int(self._state["t"][0]), self.steps.horizon)
