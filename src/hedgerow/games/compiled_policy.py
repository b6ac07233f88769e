"""A policy in the compiled loop, if all its parts run there as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.baselines.projecting import Normalised, Projecting
from hedgerow.games.compiled_loop import play_rounds
from hedgerow.inputs import Vector
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.policies.constrained import Constrained
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.problems.problem import LinearChunk
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.per_constraint import PerConstraintSurrogate
from hedgerow.surrogates.queued import FirstOrder

if TYPE_CHECKING:
    from hedgerow.games.weighed_loop import CompiledSteps


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

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played.

        That one is left to the objects. Costs and violations go to the two rows of `seen`.
        """
        end, noise = self._begin(first, len(chunk.costs))
        stopped: int = play_rounds(*self._parts, *chunk, noise, first, end, seen)
        self._learner.give_back(stopped - first)
        return stopped

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any compiled kind likewise; `each` has a row for each constraint."""
        from hedgerow.games.convex_loop import play_convex_rounds
        from hedgerow.surrogates.each_loss import no_tables

        f, g = chunk.costs, chunk.constraints
        assert f is not None
        assert g is not None
        end, noise = self._begin(first, chunk.rounds)
        step, surrogate, ledger = self._parts
        n, (m, k) = self._learner.decision_set.dim, (int(rows.parts.max()) for rows in (f, g))
        tables = no_tables() if self.each is None else self.each
        memory = (np.empty((m, n)), np.empty((k, n)), np.empty(max(m, k)))
        rounds: tuple[Any, ...] = (
            *(f.look, f.arrays, g.look, g.arrays, noise, first, end),
            *(np.empty(max(f.scratch, g.scratch)), *memory, seen, each),
        )
        stopped: int = play_convex_rounds(step, surrogate, tables, ledger, *rounds)
        self._learner.give_back(stopped - first)
        return stopped

    def _begin(self, first: int, end: int) -> tuple[int, Vector]:
        """Return where to stop at the latest, and the noise of the rounds until then."""
        learner = self._learner
        if learner.horizon is not None and learner.rounds <= learner.horizon:
            end = min(end, first + learner.horizon - learner.rounds)  # the objects warn after it
        return end, learner.draw(end - first)


def compiled_policy(policy: object) -> CompiledPolicy | CompiledSteps | None:
    """Return the policy for the compiled loop; None where a part has no kernels or changes them."""
    if isinstance(policy, Normalised | Projecting):
        from hedgerow.games.weighed_loop import compiled_steps

        return compiled_steps(policy)
    if not isinstance(policy, Constrained) or not as_written(policy, Constrained, "ask", "tell"):
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, KernelLearner) or learner.step_table is None:
        return None
    if not as_written(learner, KernelLearner, "ask", "tell"):
        return None
    if isinstance(surrogate, PerConstraintSurrogate):
        kinds = [as_written(part, FirstOrder, "tell") for part in surrogate.surrogates]
        if not as_written(surrogate, PerConstraintSurrogate, "tell") or not all(kinds):
            return None
        if surrogate.tables is None:
            return None
        first = surrogate.surrogates[0].table
        return CompiledPolicy(learner, first, policy.ledger, surrogate.tables)
    if isinstance(surrogate, CostOnlySurrogate):
        fits = as_written(surrogate, CostOnlySurrogate, "tell")
    elif isinstance(surrogate, FirstOrder):
        fits = as_written(surrogate, FirstOrder, "tell")
    else:
        return None
    if not fits or surrogate.table is None:
        return None
    return CompiledPolicy(learner, surrogate.table, policy.ledger)


def as_written(part: object, base: type, *methods: str) -> bool:
    """Whether neither a subclass nor the object itself replaces these methods of the base."""
    return not any(
        getattr(type(part), name) is not getattr(base, name) or name in vars(part)
        for name in methods
    )
