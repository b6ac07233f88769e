"""Parts of a policy as kernels with their arrays, for the compiled game."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.protocols.problem import LinearChunk
from hedgerow.sets.compiled import Space

Kernel = Callable[..., Any]
UNLIMITED = 2**62


def rounds_left(horizon: int | None, t: int) -> int:
    """Return how many rounds after t there are before the warning that the horizon was passed."""
    return UNLIMITED if horizon is None or t > horizon else horizon - t


class Charge(NamedTuple):
    """A surrogate: kernels of `kernels/charges.py`, and the arrays that it lives in.

    `learner` is whose set its ranges measure, if they are learnt.
    """

    heed: Kernel
    charge: Kernel
    weigh: Kernel
    queue: Vector
    ranges: Vector
    units: Vector
    potential: Vector
    learner: object | None


@dataclass(frozen=True, eq=False)
class Advance:
    """A learner: a kernel of `kernels/advances.py`, its steps, and the arrays that it lives in.

    Args:
        advance: takes a loss and moves on.
        steps: regularise, relax and settle of `kernels/steps.py`.
        state: the learner's own array.
        work: scratch memory; the loop makes losses in its last dim entries.
        space: where its oracle works.
        projection: takes the oracle's place for a learner that projects; left out, it does not.
        ready: whether its losses are such that the kernel can take them; left out, they are.
        silent: how many rounds it can play before it has something to say; left out, any number.
        noise: draws what it needs for so many rounds, one row each; left out, nothing.
        played: is told how many of the rounds with noise were played.

    """

    advance: Kernel
    steps: tuple[Kernel, Kernel, Kernel]
    state: Vector
    work: Vector
    space: Space
    projection: Kernel | None = None
    ready: Callable[[], bool] | None = None
    silent: Callable[[], int] | None = None
    noise: Callable[[int], Vector] | None = None
    played: Callable[[int], None] | None = None


@runtime_checkable
class CompiledSurrogate(Protocol):
    """A surrogate that has kernels."""

    def compiled(self) -> Charge | None:
        """Return the kernels and the arrays, which the compiled game changes in place."""
        ...


@runtime_checkable
class CompiledLearner(Protocol):
    """A learner that has kernels."""

    def compiled(self) -> Advance | None:
        """Return the kernels and the arrays, which the compiled game changes in place."""
        ...


@functools.cache
def _pattern(*parts: Kernel) -> Any:
    return kernels.plan.pattern(*parts)


class CompiledGame:
    """A learner that plays the losses of a surrogate, in compiled code.

    Args:
        learner: who plays.
        surrogate: makes the losses.
        ledger: what the certificate remembers, as `kernels/ledger.py` has it.

    """

    def __init__(self, learner: Advance, surrogate: Charge, ledger: Vector):
        self._learner, self._kept = learner, (surrogate, ledger)  # the plan only borrows them
        compiled = learner.space.compiled
        pattern = _pattern(
            *(compiled.measure, surrogate.heed, surrogate.charge, surrogate.weigh),
            *(learner.advance, learner.projection or compiled.oracle, *learner.steps),
        )
        self._plan = kernels.plan.bind(
            *(pattern, learner.state, learner.work, ledger),
            *(surrogate.queue, surrogate.ranges, surrogate.units, surrogate.potential),
            (*learner.space.arrays, compiled.label, compiled.members),
        )
        self._hear = kernels.rounds.hear

    @property
    def ready(self) -> bool:
        """Whether the learner's losses so far are such that compiled code can go on."""
        return self._learner.ready is None or self._learner.ready()

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> bool:
        """Take in a round; False, with nothing changed, if only the objects can.

        Those are rounds with something to say, to ask, to draw or to refuse. Gradients are trusted
        to be vectors of the right length.
        """
        learner = self._learner
        if learner.noise is not None or (learner.silent is not None and learner.silent() < 1):
            return False
        if not self.ready:
            return False
        return self._hear(self._plan, cost.grad, cost.value, constraint.grad, constraint.value)

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played.

        That one is left to the objects. Costs and violations go to the two rows of `seen`.
        """
        learner, end = self._learner, len(chunk.costs)
        if not self.ready:
            return first
        if learner.silent is not None:
            end = min(end, first + learner.silent())
        draws = learner.noise
        noise = np.empty((end - first, 0)) if draws is None else draws(end - first)
        stopped: int = kernels.rounds.play(self._plan, *chunk, noise, first, end, seen)
        if learner.played is not None:
            learner.played(stopped - first)
        return stopped
