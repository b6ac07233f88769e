"""Surrogates that see values alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import Vector, as_number
from hedgerow.learners.block_bandit import BlockConditionalGradient
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import kernel_matches, not_overridden
from hedgerow.surrogates.potentials import Height, Potential
from hedgerow.surrogates.queue import LARGEST_PART
from hedgerow.surrogates.queued import Queued
from hedgerow.surrogates.ranges import Ranges

OVERSHOOT = 4
"""Where the units have the overshoot, after those of `surrogates/ranges.py`."""


class Values(Queued):
    """A queued surrogate for bandit feedback: loss = f + what the constraint adds.

    The loss must not depend on the play it is evaluated at, only on the past, or no estimate of its
    gradient is unbiased. Its algorithm is one kernel, `charge_values`; a subclass may replace
    `charge` instead, and is then played by the objects.

    Args:
        potential: Phi/V, as a function of the queue.
        queue: Q(0), in units of `ranges.violation`.
        ranges: the units; `GivenRanges()` if left out.
        overshoot: the largest violation that one round can cause, in the same units.

    """

    charge_values: ClassVar[Callable[..., tuple[float, float, float]]]

    def __init__(
        self,
        potential: Potential,
        queue: float = 0.0,
        ranges: Ranges | None = None,
        overshoot: float = 1.0,
    ):
        super().__init__(potential, queue, ranges)
        self.overshoot = as_number(overshoot, "overshoot")
        if self.overshoot < 0.0:
            raise ValueError(f"overshoot must be at least 0, got {self.overshoot:g}")

        self._units = np.append(self.ranges.units(self.initial), self.overshoot)

    @cached_property
    def height(self) -> Height | None:
        """The kernel of the potential's value; None for one that is written in Python."""
        potential = self.potential
        if self.slope is None or not kernel_matches(potential, "value", "height"):
            return None
        return None if "value" in vars(potential) else potential.height()  # type: ignore[attr-defined]

    def compiled_rounds(self, learner: Any, totals: Vector, feedback: Any) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        from hedgerow.surrogates.value_rounds import ValueRounds  # which imports this file

        if not isinstance(learner, BlockConditionalGradient):
            return None
        written = not_overridden(learner, BlockConditionalGradient, "ask", "tell")
        written = written and not_overridden(self, Values, "tell", "charge")
        if not written or learner.table.in_python or self.height is None:
            return None
        return ValueRounds(learner, self, totals, feedback)

    def charge(self, constraint: Eval, t: float) -> Eval:  # noqa: ARG002 - the state has it
        """Take in the constraint of round t and return what it adds to the loss."""
        how: tuple[Any, ...] = (_weight, _value, self.potential)
        if self.slope is not None and self.height is not None:
            how = (self.slope[0], self.height, self.slope[1])
        kernel = type(self).charge_values
        lines = getattr(kernel, "py_func", kernel)  # to hand kernels to one takes longer than these
        own = (self._state.array, self.ranges.array, self._units)
        seen = (constraint.value, constraint.lipschitz, constraint.bound)
        return Eval(*map(float, lines(*own, *how, *seen)))

    def tell(self, cost: Eval, constraint: Eval) -> Eval:
        """Return the loss at the played point, with its Lipschitz constant and bound."""
        cost, constraint = _checked(cost, "cost"), _checked(constraint, "constraint")
        before = self._state.array.copy()
        self._state["t"][0] += 1.0
        added = self.charge(constraint, float(self._state["t"][0]))
        self._state["price"][0] = added.value
        loss = Eval(
            cost.value + added.value, cost.lipschitz + added.lipschitz, cost.bound + added.bound
        )
        try:  # the potential may have risen beyond what a learner takes
            return as_eval(loss, "loss", LARGEST_VALUE)
        except ValueError:
            self._state.array[:] = before
            raise


def _weight(potential: Potential, q: float, t: float, unit: float, scale: float) -> float:
    return potential.weight(q, t)


def _value(potential: Potential, q: float, t: float, unit: float, scale: float) -> float:
    return potential.value(q, t)


def _checked(seen: Eval, name: str) -> Eval:
    """Return bandit feedback that keeps its own bound, or refuse it."""
    seen = as_eval(seen, name, LARGEST_PART)
    if seen.lipschitz < 0.0 or abs(seen.value) > seen.bound * (1.0 + 1e-9):
        raise ValueError(
            f"the {name} was told as {seen}, which needs lipschitz >= 0 and |value| <= bound; "
            "declare constants that hold at every point"
        )
    return seen
