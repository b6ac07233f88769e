"""Ranges: the units in which a surrogate measures violation and weight.

The queue counts violations in units of `violation`, and the weight is multiplied by `ratio`, so
that one potential serves every problem. The cost always keeps coefficient 1: every weight >= 0 on
the constraint leaves the certificate true, a factor on the cost would not.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, COST2, PLAIN_CONSTRAINT_GRAD2, SIZES
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.oracles import no_oracle
from hedgerow.kernels.policy_tables import REACH, minimise, set_table
from hedgerow.kernels.tangents import everywhere
from hedgerow.protocols.parts import Learner
from hedgerow.sets.compiled import EMPTY_SPACE, KernelWorkspace, python_set
from hedgerow.snapshot import State, Stateful

Array = Vector
Sizes = tuple[float, float, float]
"""What is known of a round, as `_engine/signatures.py` has it."""
MG, GF, GG, CALLS, COSTS2, SCALE, NUMBERS = range(7)
"""The numbers that are learnt: the unit of violation, sizes of gradients, oracle calls; then, for
surrogates that need them, the sum of powers of ||grad f||, and the scale. NUMBERS is their
count."""
START, LEARNT, GIVEN_MG, GIVEN_RATIO = range(4)
"""The units: Q(0), how the ranges are found, and the given Mg and Gf/Gg, or 0."""
AS_GIVEN, AS_POSSIBLE, AS_SEEN = 0.0, 1.0, 2.0
"""How ranges are found: given, as the worst that seems possible, or as what was seen."""
UNSEEN, WEIGHED, LEARNT_FROM = 0.0, 1.0, 2.0
"""What a surrogate needs of a round's constraint gradient: nothing, its weight, its size too."""
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
    """Gf/Gg, as given or as learnt; infinitesimal while every cost gradient was zero."""
    if units[GIVEN_RATIO] > 0.0:
        return units[GIVEN_RATIO]
    if ranges[GG] <= 0.0:
        return 0.0
    Gf = ranges[GF] if ranges[GF] > 0.0 else INFINITESIMAL
    return min(Gf / ranges[GG], 1e300)


@kernel(types.boolean, write, read, number, number, number)
def needs_reach(ranges: Array, units: Array, value: float, needed: float, force2: float) -> bool:
    """Whether the ranges need an oracle call, to know how far this constraint can fall.

    Possible ranges need one, at the first violation with a gradient along the set.
    """
    if not (needed == LEARNT_FROM and value > 0.0 and force2 > 0.0):
        return False
    return units[LEARNT] == AS_POSSIBLE and units[GIVEN_MG] == 0.0 and ranges[CALLS] == 0.0


@kernel(*REACH)
def leave_to_python(set_: Any, ranges: Array, c: Array, value: float, at: Array, s: Array) -> float:
    """Return NaN: this call is rare, and Python makes it."""
    return math.nan


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
        self.array = np.zeros(NUMBERS)

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
        self._state = State(Mg=1, Gf=1, Gg=1, calls=1, costs=1, scale=1)
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
        return leave_to_python, KernelWorkspace(X.compiled).table

    def in_python(self) -> tuple[Any, Any]:
        """Return the same, where the set is asked in Python."""
        X = self.learner.decision_set
        return self._ask, python_set(X.lmo, lambda c: X.tangent_norm2(c)[0])

    def _ask(
        self,
        set_: Any,
        ranges: Array,
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
    """Units of what was seen, not of what is possible, without any oracle call.

    Mg is the largest violation so far, so that no round adds more than one to a queue; Gf and Gg
    are those of `WorstCaseRanges`.

    Args:
        learner: who plays; its set is measured, at its current play.
        violation: a known unit of violation, which replaces the seen one.
        ratio: a known ratio, which replaces the seen one.

    """

    found = AS_SEEN


Ranges = FixedRanges | WorstCaseRanges
