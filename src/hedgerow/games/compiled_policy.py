"""A policy in the compiled loop, if all its parts run there as they are."""

from __future__ import annotations

import numpy as np

from hedgerow.engine import tables
from hedgerow.games.compiled_loop import play_rounds
from hedgerow.inputs import Vector
from hedgerow.kernels.jit import COMPILED
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.policies.constrained import Constrained
from hedgerow.potentials import Slope, power_slope
from hedgerow.problems.problem import LinearChunk
from hedgerow.sets.compiled import kernel_matches
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.queued import FirstOrder

UNLIMITED = 2**62


class CompiledPolicy:
    """Plays chunks of linear rounds by the kernels of a policy's parts.

    Args:
        learner: plays; its set has a kernel for the learner's oracle.
        surrogate: makes the losses.
        slope: the kernel of its potential, and the potential's numbers.
        ledger: what the certificate remembers.

    """

    def __init__(
        self,
        learner: KernelLearner,
        surrogate: FirstOrder | CostOnlySurrogate,
        slope: Slope,
        ledger: Vector,
    ):
        self._learner, kind, compiled = learner, type(surrogate), learner.space.compiled
        pattern = tables.policy_pattern(
            compiled.measure,
            compiled.project if learner.projects else compiled.oracle,
            *(kind.needs_gradient, kind.take, slope[0], kind.charge_queue),
        )
        queue, ranges, units = surrogate.arrays()
        self._kept = (queue, ranges, units, slope, ledger)  # the table only borrows them
        self._table = tables.bind_policy(
            *(pattern, learner.table, ledger, queue, ranges, units, slope[1]),
            (*learner.space.arrays, compiled.label, compiled.members),
            learner.projects,
        )

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played.

        That one is left to the objects. Costs and violations go to the two rows of `seen`.
        """
        learner, end = self._learner, len(chunk.costs)
        if learner.horizon is not None and learner.rounds <= learner.horizon:
            end = min(end, first + learner.horizon - learner.rounds)  # the objects warn after it
        noise = learner.draw(end - first)
        stopped: int = play_rounds(self._table, *chunk, noise, first, end, seen)
        learner.give_back(stopped - first)
        return stopped


def compiled_policy(policy: object) -> CompiledPolicy | None:
    """Return the policy for the compiled loop; None where a part has no kernels or changes them."""
    if not COMPILED:
        return None
    if not isinstance(policy, Constrained) or not _as_written(policy, Constrained, "ask", "tell"):
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, KernelLearner) or not _as_written(
        learner, KernelLearner, "ask", "tell"
    ):
        return None
    if not isinstance(surrogate, FirstOrder | CostOnlySurrogate):
        return None
    slope = _slope(surrogate)
    if learner.space is None or slope is None:
        return None
    X = learner.decision_set
    if learner.projects and (
        learner.space.compiled.project is None or not kernel_matches(X, "project")
    ):
        return None
    return CompiledPolicy(learner, surrogate, slope, policy.ledger)


def _slope(surrogate: FirstOrder | CostOnlySurrogate) -> Slope | None:
    """Return the kernel of the surrogate's potential and its numbers, if the loop may use it."""
    if isinstance(surrogate, CostOnlySurrogate):
        fits = _as_written(surrogate, CostOnlySurrogate, "tell")
        return (power_slope, np.zeros(6)) if fits else None  # it is never called
    return surrogate.slope if _as_written(surrogate, FirstOrder, "tell", "charge") else None


def _as_written(part: object, base: type, *methods: str) -> bool:
    """Whether neither a subclass nor the object itself replaces these methods of the base."""
    return not any(
        getattr(type(part), name) is not getattr(base, name) or name in vars(part)
        for name in methods
    )
