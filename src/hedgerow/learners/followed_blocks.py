"""Blocks of rounds at one point, after which a feasible point follows an infeasible one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from hedgerow.inputs import Vector, squared_norm
from hedgerow.kernels.rounds import policy_of
from hedgerow.learners.arguments import before_warning, warn_beyond
from hedgerow.learners.feasible_follower import FeasibleFollower
from hedgerow.learners.loo_blocks import LooRule
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.hulls import hull_projector
from hedgerow.snapshot import Restorable, State


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
        """How many rounds it was told."""
        return int(self._state["t"][0])

    @property
    def left(self) -> int:
        """How many rounds the present block still has; it has K before its first."""
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


class BlockRounds(CompiledRounds):
    """Rounds of blocks: a kernel plays them, and between two blocks `end_block` moves.

    Args:
        player: whose point is played for a block.
        play: the kernel of a round.
        x: the decision.

    """

    def __init__(self, player: FollowedBlocks, play: Any, x: Vector):
        self._player, self._play_kernel, self._x = player, play, x

    @abstractmethod
    def table(self, rounds: Any, first: int, end: int) -> Any:
        """Return the table of these rounds, which lie in one block."""

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds until the block ends, or the player warns."""
        player = self._player
        end = before_warning(first, end, player.rounds, player.steps.horizon)
        end = min(end, first + player.left)
        return policy_of(self._play_kernel, self.table(rounds, first, end), self._x), end

    def finish(self, played: int) -> None:
        """Move, if the block is at its end."""
        if played > 0 and self._player.left == self._player.block.length:
            self._player.end_block()
