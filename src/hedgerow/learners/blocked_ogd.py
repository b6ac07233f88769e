"""Blocked online gradient descent with a linear oracle (Garber and Kretzu 2022)."""

from __future__ import annotations

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number, squared_norm
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.feasible_follower import FeasibleFollower
from hedgerow.learners.loo_blocks import LooRule
from hedgerow.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.hull_projector import hull_projector
from hedgerow.snapshot import Restorable, State


class BlockedOGD(StatefulPlayer):
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
    >>> from hedgerow.sets.simplices import Simplex
    >>> learner = BlockedOGD(Simplex(2), PracticalLooBlocks(horizon=1))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0])))
    >>> learner.ask()
    array([0., 1.])

    """

    oblivious_only = False

    def __init__(self, decision_set: DecisionSet, steps: LooRule):
        X = self.decision_set = decision_set
        self.steps = steps
        self._block = steps.begin(X.diameter)
        self._workspace = X.workspace()
        self._along = hull_projector(X)
        self._pursuer = FeasibleFollower(self._workspace, X.start(), X.diameter, self._block.eps)
        self._state = State(p=X.dim, t=1, squares=1)

    @property
    def oracle_calls(self) -> int:
        """In bursts, at the ends of blocks."""
        return self._pursuer.oracle_calls

    def ask(self) -> Vector:
        """Return x_m."""
        return self._pursuer.x

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_m; at the end of a block, move."""
        as_number(loss.value, "the value of the loss")
        state = self._state
        state["p"][:] += as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        state["t"][0] += 1.0
        if state["t"][0] % self._block.length == 0.0:
            self._move()
        warn_beyond(int(state["t"][0]), self.steps.horizon)

    def _move(self) -> None:
        state, R = self._state, self.decision_set.diameter
        p = self._along(state["p"])
        state["squares"][0] += squared_norm(p)
        eta = self.steps.eta(R, float(state["squares"][0]))
        self._pursuer.follow(self._pursuer.y - eta * p)  # y_{m+1}, then x_{m+1} and y~_{m+1}
        state["p"][:] = 0.0

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"pursuer": self._pursuer, "workspace": self._workspace}
