"""Surrogates for bandit feedback, which see values alone; Algorithm 4 has the lagged one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hedgerow._engine.kernel import function, kernel, number, read, write
from hedgerow._engine.signatures import SLOPE
from hedgerow._engine.table import TableType
from hedgerow.feedback import LARGEST_VALUE, Eval, as_eval
from hedgerow.inputs import LARGEST_PART, Vector, as_number
from hedgerow.kernels.vectors import three
from hedgerow.learners.block_bandit import BlockConditionalGradient
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_NUMBERS, kernel_matches, not_overridden
from hedgerow.surrogates.potentials import Height, Potential
from hedgerow.surrogates.queue import ROUND, VIOLATION, WEIGHT, store_weight
from hedgerow.surrogates.queued import Queued
from hedgerow.surrogates.ranges import START, Ranges, violation_unit, weight_unit

OVERSHOOT = 4
"""Where the units have the overshoot, after those of `surrogates/ranges.py`."""
values_table = TableType(
    "ValuesTable",
    {
        "queue": write,
        "ranges": write,
        "units": read,  # they end with the overshoot
        "slope": function(*SLOPE),  # of the potential
        "height": function(*SLOPE),  # the potential itself
        "potential": read,
    },
)
CHARGE_VALUES = (three, values_table, number, number, number)
"""charge_values(table, value, lipschitz, bound) takes in a constraint's value and its declared
constants, and returns what it adds to those of the loss."""


class Values(Queued):
    """A queued surrogate for bandit feedback: loss = f + what the constraint adds.

    The loss must not depend on the play it is evaluated at, only on the past, or no estimate of its
    gradient is unbiased. Its algorithm is one kernel, `charge_values`; a subclass may replace
    `charge` instead, and is then played by the objects.

    Args:
        potential: Phi/V, as a function of the queue.
        queue: Q(0), in units of `ranges.violation`.
        ranges: the units; `FixedRanges()` if left out.
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

    @cached_property
    def table(self) -> Any:
        """The arrays and kernels of a round; the potential may be functions of Python."""
        slope, potential = self.slope or (_weight_of(self.potential), NO_NUMBERS)
        height = self.height
        if height is None:  # then both are Python's
            slope, height = _weight_of(self.potential), _value_of(self.potential)
        return values_table.filled(
            queue=self._state.array,
            ranges=self.ranges.array,
            units=self._units,
            slope=slope,
            height=height,
            potential=potential,
        )

    def charge(self, constraint: Eval, t: float) -> Eval:  # noqa: ARG002 - the state has it
        """Take in the constraint of round t and return what it adds to the loss."""
        seen = constraint.value, constraint.lipschitz, constraint.bound
        return Eval(*type(self).charge_values(self.table, *seen))

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


def _weight_of(potential: Potential) -> Height:
    return lambda _, q, t, *__: potential.weight(q, t)


def _value_of(potential: Potential) -> Height:
    return lambda _, q, t, *__: potential.value(q, t)


def _checked(seen: Eval, name: str) -> Eval:
    """Return bandit feedback that keeps its own bound, or refuse it."""
    seen = as_eval(seen, name, LARGEST_PART)
    if seen.lipschitz < 0.0 or abs(seen.value) > seen.bound * (1.0 + 1e-9):
        raise ValueError(
            f"the {name} was reported as {seen}, which needs lipschitz >= 0 and |value| <= bound; "
            "declare constants that hold at every point"
        )
    return seen


@kernel(*CHARGE_VALUES)
def charge_lagged(
    table: Any, value: float, lipschitz: float, bound: float
) -> tuple[float, float, float]:
    """Weigh with the queue as it was, plus the overshoot; then update it."""
    queue, ranges, units, potential = table.queue, table.ranges, table.units, table.potential
    U = violation_unit(ranges, units)
    most = units[START] + queue[VIOLATION] / U + units[OVERSHOOT]
    w = weight_unit(ranges, units) * table.slope(potential, most, queue[ROUND], U, 0.0)
    violation = max(0.0, value)
    queue[WEIGHT] = w
    queue[VIOLATION] += violation  # Q(t); the paper's box has no such line
    return w * violation, w * lipschitz, w * bound


class LaggedSurrogate(Values):
    """The paper's bandit surrogate, f_t + (Phi'(Q(t-1) + overshoot)/V) g_t^+.

    The weight is taken at an overestimate of Q(t) that is known before the play (the paper's
    overshoot is G D, eq. bandit-surr-cost). Q(t) = Q(t-1) + g_t(y_t)^+ at the point played.

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = LaggedSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.25, lipschitz=3.0, bound=7.0)
    """

    charge_values = charge_lagged


@kernel(*CHARGE_VALUES)
def charge_drift(
    table: Any, value: float, lipschitz: float, bound: float
) -> tuple[float, float, float]:
    """Add the violation to the queue and return by how much the potential rose."""
    queue, ranges, units, potential = table.queue, table.ranges, table.units, table.potential
    t, U, ratio = queue[ROUND], violation_unit(ranges, units), weight_unit(ranges, units)
    q = units[START] + queue[VIOLATION] / U
    before, most = table.height(potential, q, t, U, 0.0), q + units[OVERSHOOT]
    steepest = ratio * table.slope(potential, most, t, U, 0.0)
    highest = ratio * U * (table.height(potential, most, t, U, 0.0) - before)
    queue[VIOLATION] += max(0.0, value)  # Q(t)
    q = units[START] + queue[VIOLATION] / U
    queue[WEIGHT] = ratio * table.slope(potential, q, t, U, 0.0)
    risen = ratio * U * (table.height(potential, q, t, U, 0.0) - before)
    return risen, steepest * lipschitz, highest


class DriftSurrogate(Values):
    """The drift itself, h_t(y) = f_t(y) + [Phi(Q(t-1) + g_t(y)^+) - Phi(Q(t-1))]/V.

    Four lines make it right for bandit feedback. (1) Given the past it is a fixed function of y,
    so a one-point estimate is unbiased for its smoothed gradient. (2) It is convex: Phi is convex
    and nondecreasing, g^+ is convex. (3) h_t(x*) = f_t(x*) for every feasible x*. (4) Summing,
    Phi(Q(T))/V - Phi(Q(0))/V + Regret_T = Regret'_T: the decomposition holds with equality. The
    overshoot enters the declared constants alone. Its gradient at the play is that of
    `CurrentSurrogate`.

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = DriftSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.0625, lipschitz=3.0, bound=3.25)
    """

    charge_values = charge_drift


@kernel(*CHARGE_VALUES)
def charge_current(
    table: Any, value: float, lipschitz: float, bound: float
) -> tuple[float, float, float]:
    """Add the violation to the queue, then weigh it."""
    queue, ranges, units, potential = table.queue, table.ranges, table.units, table.potential
    U, violation = violation_unit(ranges, units), max(0.0, value)
    queue[VIOLATION] += violation  # Q(t)
    q = units[START] + queue[VIOLATION] / U
    w = weight_unit(ranges, units) * table.slope(potential, q, queue[ROUND], U, 0.0)  # Phi'(Q(t))/V
    store_weight(queue, w, violation)
    return w * violation, w * lipschitz, w * bound


class CurrentValues(Values):
    """Values of f_t + (Phi'(Q(t))/V) g_t^+ with Q(t) = Q(t-1) + g_t(y_t)^+ at the point played.

    The weight depends on the random play, so a one-point estimate is not unbiased for the gradient
    of f_t + w g_t^+ with any fixed w. (It is for h(y) = f_t(y) + w(Q(t-1) + g_t^+(y)) g_t^+(y),
    smoothed, but the analysis is not about that function.) `LaggedSurrogate` and `DriftSurrogate`
    fix the weight before the play. The declared constants are those of the weight that was used.

    Args:
        potential: Phi/V, as a function of the queue.
        queue: Q(0), in units of `ranges.violation`.
        ranges: the units; `FixedRanges()` if left out.

    Reference: Wang, Wan and Zhang, AAAI 2025 (inside BFW-TVC).

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = CurrentValues(PowerPotential(p=2.0, scale=1.0))
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.125, lipschitz=2.0, bound=5.0)

    """

    charge_values = charge_current

    def __init__(self, potential: Potential, queue: float = 0.0, ranges: Ranges | None = None):
        super().__init__(potential, queue, ranges, overshoot=0.0)
