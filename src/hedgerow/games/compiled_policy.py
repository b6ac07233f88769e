"""A policy in the compiled loop, if all its parts run there as they are."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from hedgerow.baselines.projecting import Normalised, Projecting
from hedgerow.baselines.told_units import NO_UNITS
from hedgerow.feedback import first_order, first_order_each
from hedgerow.games.compiled_loop import play_rounds
from hedgerow.inputs import Vector
from hedgerow.kernels.policy_tables import NO_SURROGATES
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.followed_blocks import FollowedBlocks
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.learners.separation_ogd import SeparationDescent
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.play_round import round_tables
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.problems.problem import LinearChunk
from hedgerow.protocols.parts import Feedback
from hedgerow.sets.compiled import as_written
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate


class PlaysRounds(Protocol):
    """A policy that plays linear rounds in compiled code."""

    @property
    def feedback(self) -> Feedback:
        """What it sees of a round."""
        ...

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played.

        That one is left to the objects. Costs and violations go to the two rows of `seen`.
        """
        ...


@runtime_checkable
class PlaysConvexRounds(Protocol):
    """A policy that plays rounds of every compiled kind."""

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds likewise; `each` has a row for each constraint."""
        ...


class CompiledPolicy:
    """Plays chunks of rounds by the kernels of a policy's parts.

    Args:
        learner: plays; its set has a kernel for the learner's oracle.
        surrogate: the table of the surrogate that makes the losses, or of the first one.
        ledger: what the certificate remembers.
        each: the tables of all surrogates where each constraint has its own.

    """

    def __init__(self, learner: KernelLearner, surrogate: Any, ledger: Vector, each: Any = None):
        self._learner, self._parts = learner, (learner.step_table, surrogate, ledger)
        self.each = each
        self.feedback: Feedback = first_order if each is None else first_order_each

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play linear rounds."""
        end, noise = self._begin(first, len(chunk.costs))
        stopped: int = play_rounds(*self._parts, *chunk, noise, first, end, seen)
        self._learner.give_back(stopped - first)
        return stopped

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any compiled kind."""
        from hedgerow.games.convex_loop import play_convex_rounds

        end, noise = self._begin(first, chunk.rounds)
        step, surrogate, ledger = self._parts
        looks = chunk.looks(self._learner.decision_set.dim)
        surrogates = NO_SURROGATES if self.each is None else self.each
        stopped: int = play_convex_rounds(
            step, surrogate, surrogates, ledger, *looks, noise, first, end, seen, each
        )
        self._learner.give_back(stopped - first)
        return stopped

    def _begin(self, first: int, end: int) -> tuple[int, Vector]:
        """Return where to stop at the latest, and the noise of the rounds until then."""
        learner = self._learner
        end = before_warning(first, end, learner.rounds, learner.horizon)
        return end, learner.draw(end - first)


def compiled_policy(policy: object) -> PlaysRounds | None:
    """Return the policy for the compiled loop; None where a part has no kernels or changes them."""
    inner, units = policy, NO_UNITS
    if isinstance(policy, Normalised):
        if not as_written(policy, Normalised, "ask", "tell"):
            return None
        inner, units = policy.policy, policy._state.array
    if isinstance(inner, Projecting):
        from hedgerow.games.penalised_loop import compiled_penalised
        from hedgerow.games.weighed_loop import compiled_steps

        return compiled_steps(inner, units) or compiled_penalised(inner, units)
    if isinstance(getattr(inner, "learner", inner), FollowedBlocks):
        from hedgerow.games.block_loop import compiled_blocks

        return compiled_blocks(inner, units)
    if isinstance(getattr(policy, "learner", None), SeparationDescent):
        from hedgerow.games.pull_loop import compiled_pulls

        return compiled_pulls(policy)
    if not isinstance(policy, Constrained) or not as_written(policy, Constrained, "ask", "tell"):
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, KernelLearner):
        return None
    if not isinstance(surrogate, PerConstraintSurrogate):
        tables = round_tables(learner, surrogate)
        return None if tables is None else CompiledPolicy(learner, tables[1], policy.ledger)
    each = [round_tables(learner, part) for part in surrogate.surrogates]
    first = each[0]
    if first is None or None in each or not as_written(surrogate, PerConstraintSurrogate, "tell"):
        return None
    return CompiledPolicy(learner, first[1], policy.ledger, surrogate.tables)
