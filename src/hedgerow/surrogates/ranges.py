"""Ranges: the units in which a surrogate measures violation and weight.

The queue counts violations in units of `violation`, and the weight is multiplied by `ratio`, so
that one potential serves every problem. The cost always keeps coefficient 1: every weight >= 0 on
the constraint leaves the certificate true, a factor on the cost would not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, COST2, PLAIN_CONSTRAINT_GRAD2, SIZES
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.oracles import no_oracle
from hedgerow.kernels.policy_tables import REACH, minimise, set_table
from hedgerow.kernels.tangents import everywhere
from hedgerow.kernels.vectors import descent, dot
from hedgerow.protocols.parts import Learner
from hedgerow.sets.compiled import EMPTY_SPACE, KernelWorkspace, kernel_matches, python_set
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import State, Stateful

Array = Vector
Sizes = tuple[float, float, float, float, float, float]
"""What is known of a round, as `_engine/signatures.py` has it."""
MG, GF, GG, CALLS, COSTS2, LAST_UNAVOIDABLE, SCALE, TOP, SECOND, RATE = range(10)
INFEASIBLE, INFEASIBLE_RATE, FORCED, USUAL, ORDINARY, STEEP = range(10, 16)
"""The numbers that are learnt: the unit of violation, sizes of gradients, oracle calls; and for
ranges that are seen the sum of ||grad f||^2, the last unavoidable violation, the scale,
the two largest violations, and what it costs to avoid a unit of violation. Then the number of
rounds that were found to be infeasible, as no action satisfies their constraint; what it costs to
avoid a unit of violation there; and whether a guard forces larger weights. At last the mean of
||grad g|| over violated rounds that were not steep, their number, and whether this round is."""
START, LEARNT, GIVEN_MG, GIVEN_RATIO = range(4)
"""The units: Q(0), how the ranges are found, and the given Mg and Gf/Gg, or 0."""
AS_GIVEN, AS_POSSIBLE, AS_SEEN, AS_AVOIDABLE = 0.0, 1.0, 2.0, 3.0
"""How ranges are found: given, as the worst that seems possible, as what was seen, or as what was
seen and could have been avoided."""
UNSEEN, WEIGHED, LEARNT_FROM = 0.0, 1.0, 2.0
"""What a surrogate needs of a round's constraint gradient: nothing, its weight, its size too."""
SURE = 1e-9
"""A smaller unavoidable share of a violation is rounding, and counts as avoidable."""
STEEPER = 4.0
"""A violated round is steep if its ||grad g_t|| is more than this many times the usual one."""
LEAST_AVOIDED = 0.1
"""An infeasible round shows what safety costs if some action avoids more than this many units."""
LEAST_DIRECTION2 = 1e-250
"""Directions of a smaller squared norm are left to Python, which rescales them for the oracle."""
INFINITESIMAL = 2.0**-300
"""Stands for the cost's size while every cost gradient was zero: the constraint alone is played,
and what was learnt then weighs nothing beside the first cost that comes."""


@kernel(number, write, read)
def violation_unit(ranges: Array, units: Array) -> float:
    """Mg, as given or as learnt; 1 while none was seen."""
    if units[GIVEN_MG] > 0.0:
        return units[GIVEN_MG]
    return ranges[MG] if ranges[MG] > 0.0 else 1.0


@kernel(number, write, read)
def weight_unit(ranges: Array, units: Array) -> float:
    """Gf/Gg, as given or as learnt; infinitesimal while every cost gradient was zero.

    A given ratio does not count before the first cost that is not flat: what the constraint adds to
    the sum of gradients by then is regret that no cost has earned.
    """
    flat = units[LEARNT] == AS_AVOIDABLE and ranges[COSTS2] == 0.0 and ranges[GF] == 0.0
    if units[GIVEN_RATIO] > 0.0 and not flat:
        return units[GIVEN_RATIO]
    if ranges[GG] <= 0.0:
        return 0.0
    Gf = ranges[GF] if ranges[GF] > 0.0 else INFINITESIMAL
    return min(Gf / ranges[GG], 1e300)


@kernel(number, write, read)
def violation_seen(ranges: Array, units: Array) -> float:
    """Mg, as given or as learnt; 0 while none was seen."""
    return units[GIVEN_MG] if units[GIVEN_MG] > 0.0 else ranges[MG]


@kernel(types.boolean, write, read, number)
def stands_out(ranges: Array, units: Array, value: float) -> bool:
    """Whether a violation is more than twice the unit, follows an infeasible round, or is steep."""
    large = value > 2.0 * violation_seen(ranges, units)
    return large or ranges[LAST_UNAVOIDABLE] > 0.0 or ranges[STEEP] > 0.0


@kernel(types.boolean, write, number)
def is_steep(ranges: Array, force2: float) -> bool:
    """Whether ||grad g_t||^2 = force2 is far above what is usual in violated rounds.

    Then the exchange rate, which is divided by ||grad g_t||, may be far too small: one action that
    fails makes the gradient large, also where the violation is small and another action avoids it.
    """
    return ranges[ORDINARY] > 0.0 and math.sqrt(force2) > STEEPER * ranges[USUAL]


@kernel(nothing, write)
def see_steepness(ranges: Array) -> None:
    """Take the ||grad g_t|| of a violated round into the mean, unless it is steep."""
    if ranges[STEEP] == 0.0:
        ranges[ORDINARY] += 1.0
        ranges[USUAL] += (ranges[GG] - ranges[USUAL]) / ranges[ORDINARY]


@kernel(types.boolean, write, read, number, number, number)
def needs_reach(ranges: Array, units: Array, value: float, needed: float, force2: float) -> bool:
    """Whether the ranges need an oracle call, to know how far this constraint can fall.

    Possible ranges need one, at the first violation with a gradient along the set. Seen ranges need
    one for a violation of more than twice the unit, after an infeasible round, in a steep one, and
    while a guard forces larger weights, which an unavoidable violation would let grow in every
    round.
    """
    if not (needed == LEARNT_FROM and value > 0.0 and force2 > 0.0):
        return False
    if units[LEARNT] == AS_AVOIDABLE:
        return stands_out(ranges, units, value) or ranges[FORCED] > 0.0
    return units[LEARNT] == AS_POSSIBLE and units[GIVEN_MG] == 0.0 and ranges[CALLS] == 0.0


@kernel(nothing, write, number, types.boolean)
def record_force(ranges: Array, value: float, forced: bool) -> None:
    """Remember whether a guard forces larger weights, as far as violated rounds tell."""
    if value > 0.0:
        ranges[FORCED] = forced or (ranges[FORCED] > 0.0 and ranges[LAST_UNAVOIDABLE] > 0.0)


@kernel(nothing, write, number)
def see_violation(ranges: Array, value: float) -> None:
    """Mg is the second largest violation, so that one outlier does not set the unit."""
    if value >= ranges[TOP]:
        ranges[SECOND], ranges[TOP] = ranges[TOP], value
    else:
        ranges[SECOND] = max(ranges[SECOND], value)
    ranges[MG] = ranges[SECOND] if ranges[SECOND] > 0.0 else ranges[TOP]


@kernel(*REACH)
def leave_to_python(
    set_: Any, ranges: Array, units: Array, a: Array, c: Array, value: float, at: Array, s: Array
) -> float:
    """Return NaN: this call is rare, and Python makes it."""
    return math.nan


@kernel(*REACH)
def find_unavoidable(
    set_: Any, ranges: Array, units: Array, a: Array, c: Array, value: float, at: Array, s: Array
) -> float:
    """Return the part of a violation that no action avoids; learn what it costs to be safe."""
    if dot(c, c) <= LEAST_DIRECTION2:
        return math.nan
    minimise(set_, c, s)  # the safest action
    return unavoidable_part(ranges, units, a, c, value, at, s, math.nan)


@kernel(number, write, read, read, read, number, read, read, number)
def unavoidable_part(
    ranges: Array,
    units: Array,
    a: Array,
    c: Array,
    value: float,
    x: Array,
    safest: Array,
    lowest: float,
) -> float:
    """Return the part of a violation at x that no action avoids, given the safest action.

    Learn what it costs to be safe, per violation avoided. `lowest` is a proved lower bound of
    <c, .> on the set; NaN where the safest action attains the minimum.
    """
    ranges[CALLS] += 1.0
    avoided = descent(c, x, safest)[0]
    left = value - (avoided if lowest != lowest else dot(c, x) - lowest)
    infeasible = left > SURE * value
    # a small avoidable part is mostly noise, and the cost per unit of it would be too
    enough = LEAST_AVOIDED * violation_seen(ranges, units) if infeasible else 0.0
    if avoided > enough and (infeasible or stands_out(ranges, units, value)):
        k = INFEASIBLE_RATE if infeasible else RATE  # an outage says nothing of ordinary rounds
        ranges[k] = max(-descent(a, x, safest)[0] / avoided, 0.5 * ranges[k])
    if not infeasible:
        return 0.0
    ranges[INFEASIBLE] += 1.0
    return left


@kernel(nothing, write, read, number, number, SIZES)
def learn(ranges: Array, units: Array, value: float, needed: float, sizes: Sizes) -> None:
    """Take in the sizes of this round's gradients and violation."""
    if units[LEARNT] == 0.0:
        return
    ranges[GF] = max(ranges[GF], math.sqrt(sizes[COST2]))
    if needed == LEARNT_FROM and sizes[CONSTRAINT_GRAD2] > 0.0:
        ranges[GG] = max(ranges[GG], math.sqrt(sizes[CONSTRAINT_GRAD2]))
        if value > 0.0 and units[GIVEN_MG] == 0.0:
            ranges[MG] = max(ranges[MG], value)


@kernel(number, number, number, number, number)
def product_of(mixed2: float, cost2: float, force2: float, k: float) -> float:
    """Return <a, c> of ||a + k c||^2, ||a||^2 and ||c||^2."""
    return (mixed2 - cost2 - k * k * force2) / (2.0 * k)


@kernel(types.boolean, read, SIZES)
def has_tangent_part(units: Array, sizes: Sizes) -> bool:
    """Whether the constraint's gradient says anything about where to go."""
    return (sizes[CONSTRAINT_GRAD2] if units[LEARNT] > 0.0 else sizes[PLAIN_CONSTRAINT_GRAD2]) > 0.0


@cache
def no_set() -> Any:
    """Return the table of a set that nothing is measured along, and that is never asked."""
    return set_table.filled(space=EMPTY_SPACE, measure=everywhere, oracle=no_oracle)


class FixedRanges(Stateful):
    """Units that are known beforehand; 1 and 1 are the paper's.

    Args:
        violation: the unit of the queue, such as the largest violation that a round can cause.
        ratio: the factor on the weight, such as a bound of ||grad f|| over a bound of ||grad g||.

    """

    def __init__(self, violation: float = 1.0, ratio: float = 1.0):
        self.violation = as_positive(violation, "violation")
        self.ratio = as_positive(ratio, "ratio")
        self.array = np.zeros(STEEP + 1)

    oracle_calls = 0
    """It asks for none."""

    def units(self, queue: float) -> Vector:
        """Return Q(0) and what is given, for the kernels."""
        return np.array([queue, 0.0, self.violation, self.ratio])

    def reach(self) -> tuple[Any, Any]:
        """Return the kernel that asks the oracle, and the set; gradients are not measured."""
        return leave_to_python, no_set()  # never asked

    in_python = reach
    """The same, where the set is asked in Python."""

    def play(self) -> Vector | None:
        """Return None: no learner is known."""
        return None


class WorstCaseRanges(Stateful):
    """Units of the worst that seems possible: nothing about the problem needs to be known.

    At the first violating round one extra oracle call, once, gives
    Mg = g_t(x_t) + max over X of <grad g_t, x - x_t>; afterwards Mg = max(Mg, g_t(x_t)). Gf and Gg
    are the largest tangent norms of grad f (all rounds) and of grad g (rounds in which it is
    weighed: for a `CurrentSurrogate` the violating ones). Then
    violation = Mg and ratio = Gf/Gg. Multiplying all costs or all constraints by a power of two
    leaves the plays unchanged, by another factor up to rounding.

    Args:
        learner: who plays; its set is measured, at its current play.
        violation: a known Mg, which replaces the learnt one.
        ratio: a known Gf/Gg, which replaces the learnt one.

    """

    found: float = AS_POSSIBLE
    ask_oracle: ClassVar[Callable[..., float]] = staticmethod(leave_to_python)
    """The kernel that asks the oracle about a violation, with the signature `REACH`."""

    def __init__(
        self,
        learner: Learner[EvalGrad],
        violation: float | None = None,
        ratio: float | None = None,
    ):
        self.learner = learner
        self._given = (
            0.0 if violation is None else as_positive(violation, "violation"),
            0.0 if ratio is None else as_positive(ratio, "ratio"),
        )
        self._state = State(Mg=1, Gf=1, Gg=1, calls=1, seen=STEEP - CALLS)
        self._units = self.units(0.0)

    def __repr__(self) -> str:
        # the learner is shown once, by its policy
        given = zip(("violation", "ratio"), self._given, strict=True)
        known = (f", {name}={value:g}" for name, value in given if value > 0.0)
        return f"{type(self).__name__}({type(self.learner).__name__}{''.join(known)})"

    @property
    def array(self) -> Vector:
        """What was learnt, for the kernels."""
        return self._state.array

    @property
    def violation(self) -> float:
        """The largest violation that a round seems able to cause, Mg; 1 while none was seen."""
        return violation_unit(self.array, self._units)

    @property
    def ratio(self) -> float:
        """Gf/Gg; infinitesimal while every cost gradient was zero."""
        return self._given[1] or weight_unit(self.array, self._units)

    @property
    def oracle_calls(self) -> int:
        """One, from the first violation on, unless the violation's unit was given."""
        return int(self._state["calls"][0])

    def units(self, queue: float) -> Vector:
        """Return Q(0) and what is given, for the kernels."""
        return np.array([queue, self.found, *self._given])

    def reach(self) -> tuple[Any, Any]:
        """Return the kernel that asks the oracle, and the table of the learner's set."""
        X = self.learner.decision_set
        if X.compiled is None:
            return self.in_python()
        exact = kernel_matches(X, "lmo") and _attains_minimum(X)
        ask = self.ask_oracle if exact else leave_to_python
        return ask, KernelWorkspace(X.compiled).table

    def in_python(self) -> tuple[Any, Any]:
        """Return the same, where the set is asked in Python."""
        X = self.learner.decision_set
        return self._ask, python_set(X.lmo, lambda c: X.tangent_norm2(c)[0])

    def _ask(
        self,
        set_: Any,
        ranges: Array,
        units: Array,  # noqa: ARG002
        a: Array,  # noqa: ARG002
        c: Array,
        value: float,
        at: Array,
        s: Array,
    ) -> float:
        """Find Mg = g_t(x_t) + max over X of <grad g_t, x - x_t>, once in a game."""
        minimise(set_, -c, s)
        ranges[MG], ranges[CALLS] = value + max(0.0, float(c @ (s - at))), 1.0
        return 0.0

    def play(self) -> Vector | None:
        """Return the learner's play, where a round is seen unless its feedback is late."""
        return self.learner.ask()


class ObservedRanges(WorstCaseRanges):
    """Units of what was seen, not of what is possible: the policy reacts within a few violations.

    violation is the second largest violation so far, U, so that one outlier does not set the unit,
    and counts one unit itself. ratio = rms(||grad f||) (t/n)^{1/4} / ||grad g_t||, tangent norms,
    where n counts the violated rounds of t; but at least four times r, what the safest action cost
    per violation avoided when last checked, or half of what r was before. Multiplying all costs
    or all constraints by a power of two leaves the plays unchanged, by another factor up to
    rounding.

    A violation of more than twice the unit costs one extra oracle call, and so does one in a round
    in which a guard forces a larger weight: it finds how much of it no action avoids. That part
    does not count, also in the rounds that follow, until one is feasible again, so that an outage
    does not spoil what comes after it. Infeasible rounds have a rate r of their own. A steep round
    costs the call, too: one whose ||grad g_t|| is above four times the mean over violated rounds
    that were not steep. There one action fails, ratio is tiny without r, and what the others
    violate would be ignored until the failure ends.

    Args:
        learner: who plays; its set is measured, at its current play.
        violation: a known unit of violation, which replaces the seen one.
        ratio: a known ratio, which replaces the seen one.
        exclude_unavoidable: False to count violations that no action avoids, without any extra
            oracle call; the unit is then the largest violation itself, so that no round adds more
            than one to a queue.

    """

    ask_oracle = staticmethod(find_unavoidable)

    def __init__(
        self,
        learner: Learner[EvalGrad],
        violation: float | None = None,
        ratio: float | None = None,
        exclude_unavoidable: bool = True,
    ):
        self.found = AS_AVOIDABLE if exclude_unavoidable else AS_SEEN
        super().__init__(learner, violation, ratio)

    def _ask(
        self,
        set_: Any,
        ranges: Array,
        units: Array,
        a: Array,
        c: Array,
        value: float,
        at: Array,
        s: Array,
    ) -> float:
        """Return the part of a violation that no action avoids, as `find_unavoidable` does."""
        X = self.learner.decision_set
        minimise(set_, c, s)
        lowest = math.nan if _attains_minimum(X) else X.minimum(c)
        return unavoidable_part(ranges, units, a, c, value, at, s, lowest)


def _attains_minimum(X: DecisionSet) -> bool:
    """Whether the oracle's answer is the minimum; else the set knows a proved bound."""
    return type(X).minimum is DecisionSet.minimum


Ranges = FixedRanges | WorstCaseRanges
