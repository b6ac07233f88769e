"""Blocked online gradient descent: a feasible point follows an infeasible one, block by block."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number, squared_norm
from hedgerow.kernels.rounds import policy_of
from hedgerow.learners.arguments import before_warning, warn_beyond
from hedgerow.learners.block_rules import LooRule
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.decision_set import DecisionSet, Workspace
from hedgerow.sets.hulls import hull_projector
from hedgerow.sets.projections.approximate_projection import (
    approximately_feasible_projection,
    into_ball,
    project_by_kernels,
)
from hedgerow.snapshot import Restorable, State, Stateful


class FeasibleFollower(Stateful):
    """The pair (x_m, y~_m) of Garber and Kretzu: x is played, y~ learns, ||x - y~||^2 <= 3 eps.

    Args:
        workspace: the memory in which the set's oracle works.
        start: x_1 = y~_1, a point of the set.
        radius: R; the ball of this radius about x_1 contains the set.
        eps: the tolerance, a squared length; 0 only for a set of one point.

    """

    def __init__(self, workspace: Workspace, start: Vector, radius: float, eps: float):
        self._workspace, self.radius, self.eps = workspace, radius, eps
        self.centre = start.copy()
        self._state = State(x=start.size, y=start.size, calls=1)
        self._state["x"][:] = self._state["y"][:] = start

    @property
    def x(self) -> Vector:
        """x_m, a point of the set."""
        return self._state["x"].copy()

    @property
    def y(self) -> Vector:
        """y~_m, which may be outside."""
        return self._state["y"].copy()

    @property
    def oracle_calls(self) -> int:
        """How often the oracle was asked."""
        return int(self._state["calls"][0])

    def follow(self, y: Vector) -> None:
        """Put y into the ball, then set (x_{m+1}, y~_{m+1}) = AFP(x_m, y, eps)."""
        if self.radius == 0.0:
            return
        x, y = self.x, into_ball(y, self.centre, self.radius).copy()
        if self._workspace.space is not None:
            calls = project_by_kernels(self._workspace.space, x, y, self.eps)
        else:
            lmo = self._workspace.lmo
            x, y, calls = approximately_feasible_projection(lmo, x, y, self.eps)
        self._state["x"][:], self._state["y"][:] = x, y
        self._state["calls"][0] += calls


class FollowedBlocks(StatefulPlayer):
    """Plays x_m for the K rounds of block m, sums their gradients, then moves by `end_block`.

    The compiled loop of `simulate` sums the gradients itself, and calls `end_block` where `tell`
    would.

    Args:
        decision_set: where to play.
        steps: the blocks' length, tolerance and step.
        total: what the sum of gradients is called in the state.

    """

    oblivious_only = False

    def __init__(self, decision_set: DecisionSet, steps: LooRule, total: str):
        X = self.decision_set = decision_set
        self.steps, self._total = steps, total
        self.block = steps.begin(X.diameter)
        self.workspace = X.workspace()
        self._along = hull_projector(X)
        self._pursuer = FeasibleFollower(self.workspace, X.start(), X.diameter, self.block.eps)
        self._state = State(**{total: X.dim}, t=1, squares=1)

    @property
    def oracle_calls(self) -> int:
        """In bursts, at the ends of blocks."""
        return self._pursuer.oracle_calls

    def ask(self) -> Vector:
        """Return x_m, the play of every round of block m."""
        return self._pursuer.x

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return int(self._state["t"][0])

    @property
    def left(self) -> int:
        """The number of rounds left in this block; K before its first."""
        return self.block.length - self.rounds % self.block.length

    @abstractmethod
    def end_block(self) -> None:
        """Move to x_{m+1} and begin the next sum."""

    def _add(self, grad: Vector) -> None:
        """Add a round's gradient; after a block's last one, move."""
        state = self._state
        state[self._total][:] += grad
        state["t"][0] += 1.0
        if self.left == self.block.length:
            self.end_block()
        warn_beyond(self.rounds, self.steps.horizon)

    def _step(self) -> tuple[Vector, float]:
        """Return the block's sum along the set, and eta_m."""
        total, state = self._along(self._state[self._total]), self._state
        state["squares"][0] += squared_norm(total)
        return total, self.steps.eta(self.decision_set.diameter, float(state["squares"][0]))

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"pursuer": self._pursuer, "workspace": self.workspace}


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
    >>> from hedgerow.learners.block_rules import PracticalLooBlocks
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
        self._add(as_gradient(loss.grad, "the gradient of the loss", self.decision_set))

    def end_block(self) -> None:
        """Move to y_{m+1}, then follow it to x_{m+1}."""
        p, eta = self._step()
        self._pursuer.follow(self._pursuer.y - eta * p)
        self._state["p"][:] = 0.0


class BlockRounds(CompiledRounds):
    """Rounds of blocks: a kernel plays them, and between two blocks `end_block` moves.

    Args:
        player: whose point is played for a block.
        play: the kernel of a round.
        x: the decision.

    """

    def __init__(self, player: FollowedBlocks, play: Any, x: Vector):
        self._player, self._play_kernel, self._x = player, play, x
        self._known: tuple[Any, Any] = None, None  # the last table, and the policy with it

    @abstractmethod
    def table(self, rounds: Any, first: int, end: int) -> Any:
        """Return the table of these rounds, which lie in one block."""

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds until the block ends, or the player warns."""
        player = self._player
        end = before_warning(first, end, player.rounds, player.steps.horizon)
        end = min(end, first + player.left)
        table = self.table(rounds, first, end)
        if table is not self._known[0]:
            self._known = table, policy_of(self._play_kernel, table, self._x)
        return self._known[1], end

    def finish(self, played: int) -> None:
        """Move, if the block is at its end."""
        if played > 0 and self._player.left == self._player.block.length:
            self._player.end_block()
