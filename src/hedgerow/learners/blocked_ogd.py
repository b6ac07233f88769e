"""Blocked online gradient descent with a linear oracle (Garber and Kretzu 2022)."""

from __future__ import annotations

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_gradient, as_number
from hedgerow.learners.followed_blocks import FollowedBlocks
from hedgerow.learners.loo_blocks import LooRule
from hedgerow.sets.decision_set import DecisionSet


class BlockedOGD(FollowedBlocks):
    """LOO-BOGD: gradient descent on an infeasible point that a feasible one follows.

    Block m plays one point x_m for K rounds, then
    y_{m+1} = y~_m - eta (sum of the block's gradients at x_m) and
    (x_{m+1}, y~_{m+1}) = an approximately feasible projection of y_{m+1} that starts at x_m.
    With `FixedLooBlocks` the regret on every interval is O(G R T^{3/4}). Oracle calls come at the
    ends of blocks.

    The projection is that of 2023, which keeps the promises of 2022 with far fewer calls; the
    paper's delay of one block, which is for computing in parallel, is left out. Gradients are
    projected on the directions of the set's affine hull, exactly up to 2000 dimensions: else y~
    drifts to where x cannot follow. R is the diameter, about x_1.

    Args:
        decision_set: where to play.
        steps: `FixedLooBlocks(horizon, lipschitz)` or `PracticalLooBlocks(horizon)`.

    Reference: D. Garber and B. Kretzu, New projection-free algorithms for online convex
    optimization with adaptive regret guarantees, COLT 2022 (PMLR 178).

    >>> import numpy as np
    >>> from hedgerow.learners.loo_blocks import PracticalLooBlocks
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = BlockedOGD(Simplex(2), PracticalLooBlocks(horizon=1))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0])))
    >>> learner.ask()
    array([0., 1.])

    """

    def __init__(self, decision_set: DecisionSet, steps: LooRule):
        super().__init__(decision_set, steps, "p")

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_m; at the end of a block, move."""
        as_number(loss.value, "the value of the loss")
        self._add(as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim))

    def end_block(self) -> None:
        """Move to y_{m+1}, then follow it to x_{m+1}."""
        p, eta = self._step()
        self._pursuer.follow(self._pursuer.y - eta * p)
        self._state["p"][:] = 0.0
