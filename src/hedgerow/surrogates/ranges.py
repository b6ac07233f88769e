"""Ranges: the units in which a surrogate measures violation and weight.

The queue counts violations in units of `violation`, and the weight is multiplied by `ratio`, so
that one potential serves every problem. The cost always keeps coefficient 1: every weight >= 0 on
the constraint leaves the certificate true, a factor on the cost would not.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_positive, squared_norm
from hedgerow.protocols.parts import Learner
from hedgerow.snapshot import Snapshot, State

INFINITESIMAL = 2.0**-300
"""Stands for the cost's size while every cost gradient was zero: the constraint alone is played,
and what was learnt then weighs nothing beside the first cost that comes."""


class Ranges(Protocol):
    """The units; they may be learnt on the way."""

    @property
    def violation(self) -> float:
        """The unit of the queue."""
        ...

    @property
    def ratio(self) -> float:
        """The factor on the weight."""
        ...

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations were asked for."""
        ...

    def observe(self, cost: EvalGrad, constraint: EvalGrad, weighed: bool) -> None:
        """Learn from a round before its loss is made; `weighed`: the constraint will be in it."""
        ...

    def felt(self, grad: Vector) -> bool:
        """Whether a gradient says anything about where to go."""
        ...

    def state(self) -> Snapshot:
        """Return a snapshot."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        ...


class GivenRanges:
    """Units that are known beforehand; 1 and 1 is the paper's letter.

    Args:
        violation: the unit of the queue, such as the largest violation that a round can cause.
        ratio: the factor on the weight, such as a bound of ||grad f|| over a bound of ||grad g||.

    """

    oracle_calls = 0

    def __init__(self, violation: float = 1.0, ratio: float = 1.0):
        self.violation = as_positive(violation, "violation")
        self.ratio = as_positive(ratio, "ratio")

    def observe(self, cost: EvalGrad, constraint: EvalGrad, weighed: bool) -> None:
        """Learn nothing."""

    def felt(self, grad: Vector) -> bool:
        """Whether the gradient's square is not zero."""
        return squared_norm(grad) > 0.0

    def compiled(self) -> tuple[Vector, tuple[float, float, float]]:
        """Return what it has learnt and what it was given, as `kernels/charges.py` has them."""
        return np.zeros(4), (0.0, self.violation, self.ratio)

    def state(self) -> Snapshot:
        """Return a snapshot, which holds the configuration alone."""
        return State().snapshot(self, (self.violation, self.ratio))

    def restore(self, snapshot: Snapshot) -> None:
        """Check that a snapshot fits."""
        State().restore(self, snapshot, (self.violation, self.ratio))


class LearntRanges:
    """Units learnt from the rounds: nothing about the problem needs to be known.

    At the first violating round one extra oracle call, once, gives
    Mg = g_t(x_t) + max over X of <grad g_t, x - x_t>; afterwards Mg = max(Mg, g_t(x_t)). Gf and Gg
    are the largest tangent norms of grad f (all rounds) and of grad g (rounds in which it is
    weighed: for a `CurrentSurrogate` the violating ones). Then
    violation = Mg and ratio = Gf/Gg. Multiplying all costs or all constraints by a power of two
    leaves the plays unchanged; other factors change them by rounding.

    Args:
        learner: who plays; its set is measured, at its current play.
        violation: a known Mg, which replaces the learnt one.
        ratio: a known Gf/Gg, which replaces the learnt one.

    """

    def __init__(
        self,
        learner: Learner[EvalGrad],
        violation: float | None = None,
        ratio: float | None = None,
    ):
        self.learner = learner
        self._given = (
            None if violation is None else as_positive(violation, "violation"),
            None if ratio is None else as_positive(ratio, "ratio"),
        )
        self._state = State(Mg=1, Gf=1, Gg=1, calls=1)

    @property
    def violation(self) -> float:
        """The largest violation that a round seems able to cause, Mg; 1 while none was seen."""
        given = self._given[0]
        return given if given is not None else float(self._state["Mg"][0]) or 1.0

    @property
    def ratio(self) -> float:
        """Gf/Gg; infinitesimal while every cost gradient was zero."""
        if (given := self._given[1]) is not None:
            return given
        Gf, Gg = float(self._state["Gf"][0]), float(self._state["Gg"][0])
        return min((Gf or INFINITESIMAL) / Gg, 1e300) if Gg > 0.0 else 0.0

    @property
    def oracle_calls(self) -> int:
        """One, from the first violation on, unless the violation's unit was given."""
        return int(self._state["calls"][0])

    def observe(self, cost: EvalGrad, constraint: EvalGrad, weighed: bool) -> None:
        """Take in the sizes of this round's gradients and violation."""
        state, size = self._state, self.learner.decision_set.tangent_norm
        state["Gf"][0] = max(state["Gf"][0], size(cost.grad))
        if not weighed or (Gg := size(constraint.grad)) == 0.0:
            return
        state["Gg"][0] = max(state["Gg"][0], Gg)
        if constraint.value <= 0.0 or self._given[0] is not None:
            return
        reach = 0.0
        if not state["calls"][0]:
            x = self.learner.ask()
            farthest = self.learner.decision_set.lmo(-constraint.grad)
            reach = max(0.0, float(constraint.grad @ (farthest - x)))
            state["calls"][0] = 1.0
        state["Mg"][0] = max(state["Mg"][0], constraint.value + reach)

    def felt(self, grad: Vector) -> bool:
        """Whether the gradient has a part along the set; else no play can help."""
        return self.learner.decision_set.squares(grad)[0] > 0.0

    def compiled(self) -> tuple[Vector, tuple[float, float, float]]:
        """Return what it has learnt and what it was given, as `kernels/charges.py` has them."""
        violation, ratio = self._given
        return self._state.array, (1.0, violation or 0.0, ratio or 0.0)

    def state(self) -> Snapshot:
        """Return a snapshot."""
        return self._state.snapshot(self, self._given)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._given)
