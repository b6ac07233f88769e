"""A policy in the compiled loop, if all its parts run there as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.baselines.projecting import Normalised, Projecting
from hedgerow.games.compiled_loop import play_rounds
from hedgerow.inputs import Vector
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.policies.constrained import Constrained
from hedgerow.problems.problem import LinearChunk
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.queued import FirstOrder

if TYPE_CHECKING:
    from hedgerow.games.weighed_loop import CompiledSteps


class CompiledPolicy:
    """Plays chunks of linear rounds by the kernels of a policy's parts.

    Args:
        learner: plays; its set has a kernel for the learner's oracle.
        surrogate: the table of the surrogate that makes the losses.
        ledger: what the certificate remembers.

    """

    def __init__(self, learner: KernelLearner, surrogate: Any, ledger: Vector):
        self._learner, self._parts = learner, (learner.step_table, surrogate, ledger)

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played.

        That one is left to the objects. Costs and violations go to the two rows of `seen`.
        """
        learner, end = self._learner, len(chunk.costs)
        if learner.horizon is not None and learner.rounds <= learner.horizon:
            end = min(end, first + learner.horizon - learner.rounds)  # the objects warn after it
        noise = learner.draw(end - first)
        stopped: int = play_rounds(*self._parts, *chunk, noise, first, end, seen)
        learner.give_back(stopped - first)
        return stopped


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
