"""What all surrogates share: a queue of violations, and a loss made of weighted parts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeGuard

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad, each_seen, needs
from hedgerow.inputs import (
    LARGEST_GRADIENT,
    LARGEST_PART,
    Size,
    Vector,
    as_gradient,
    as_number,
    as_positive,
    fits,
)
from hedgerow.kernels.policy_tables import UNDECLARED, surrogate_table
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.sets.compiled import NO_NUMBERS, kernel_matches
from hedgerow.snapshot import Restorable, State, Stateful
from hedgerow.surrogates.make_loss import WRITTEN, make_loss
from hedgerow.surrogates.potentials import Potential, Slope
from hedgerow.surrogates.ranges import FixedRanges, Ranges
from hedgerow.surrogates.rounds import loss_rounds

Kernel = Callable[..., Any]


class Queued(Stateful, ABC):
    """A queue of violations, in its ranges' units, and the potential that weighs it.

    Args:
        potential: its weight on the constraint, as a function of the queue.
        queue: where the queue starts, Q(0), in units of `ranges.violation`.
        ranges: the units of queue and weight; `FixedRanges()` if left out.

    """

    def __init__(self, potential: Potential, queue: float = 0.0, ranges: Ranges | None = None):
        if not callable(getattr(potential, "weight", None)):
            raise TypeError(
                f"potential must have weight(q, t), as PowerPotential(p, scale) has, got "
                f"{potential!r}"
            )
        self.potential = potential
        self.initial = as_number(queue, "queue")
        if self.initial < 0.0:
            raise ValueError(f"queue must be at least 0, got {self.initial:g}")
        self.ranges = FixedRanges() if ranges is None else ranges
        self._state = State(t=1, violation=1, weight=1, price=1, largest=1)

    @cached_property
    def slope(self) -> Slope | None:
        """The potential's kernel and its numbers; None for one that is written in Python."""
        potential, scale = self.potential, getattr(self.potential, "scale", None)
        if getattr(scale, "ranges", self.ranges) is not self.ranges:
            return None  # a budget in units of other ranges
        if not kernel_matches(potential, "weight", "slope") or "weight" in vars(potential):
            return None
        return potential.slope()  # type: ignore[attr-defined]

    @property
    def queue(self) -> float:
        """Q(t) = Q(0) + the violation so far, in units of `ranges.violation`."""
        return self.initial + float(self._state["violation"][0]) / self.ranges.violation

    @property
    def weight(self) -> float:
        """The last weight on the constraint, in units of cost per violation."""
        return float(self._state["weight"][0])

    @property
    def largest_weight(self) -> float:
        """The largest weight so far."""
        return float(self._state["largest"][0])

    @property
    def price(self) -> float:
        """What the constraint added to the last loss."""
        return float(self._state["price"][0])

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations the ranges have asked for."""
        return self.ranges.oracle_calls

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"ranges": self.ranges}


class GradientSurrogate(Queued):
    """A queued surrogate for first-order feedback: loss = f + weight x (a part of g).

    Its algorithm is three kernels: `needs_gradient` and `observe` before the weight, `record` after
    it. Several constraints that are reported as a sequence count as their maximum: there is one
    queue, and the most violated one goes into it. The loss declares the Lipschitz constant Lf +
    weight Lg where both are known.

    Args:
        potential: its weight on the constraint, as a function of the queue.
        queue: where the queue starts, Q(0), in units of `ranges.violation`.
        ranges: the units of queue and weight; `FixedRanges()` if left out.
        lipschitz: a bound of Lf and Lg, in units per length, for feedback that declares none.

    """

    needs_gradient: ClassVar[Kernel]
    observe: ClassVar[Kernel]
    record: ClassVar[Kernel]

    def __init_subclass__(cls) -> None:
        """Refuse a class that lacks a kernel."""
        for name in ("needs_gradient", "observe", "record"):
            if not hasattr(cls, name):
                raise TypeError(
                    f"{cls.__name__} has no kernel {name}; set it on the class, with the signature "
                    f"{name.upper()} of hedgerow._engine.signatures"
                )

    def __init__(
        self,
        potential: Potential,
        queue: float = 0.0,
        ranges: Ranges | None = None,
        lipschitz: float | None = None,
    ):
        super().__init__(potential, queue, ranges)
        self._units = self.ranges.units(self.initial)
        self.lipschitz = None if lipschitz is None else as_positive(lipschitz, "lipschitz")
        self._lipschitz = np.empty(2)
        self.declare(None, None)

    @cached_property
    def table(self) -> Any:
        """The kernels and arrays of a round; those of the potential and the set may be Python."""
        return self._filled(*self.ranges.reach())

    @cached_property
    def python_table(self) -> Any:
        """The same with the set in Python, for rounds that compiled code leaves to it."""
        return self._filled(*self.ranges.in_python())

    def _filled(self, reach: Kernel, set_: Any) -> Any:
        kind, ranges, queue = type(self), self.ranges.array, self._state.array
        slope, potential = self.slope or (self._python_slope, NO_NUMBERS)
        return surrogate_table.filled(
            queue=queue,
            ranges=ranges,
            units=self._units,
            potential=potential,
            saved=np.empty(queue.size + ranges.size),
            lipschitz=self._lipschitz,
            set=set_,
            needs_gradient=kind.needs_gradient,
            observe=kind.observe,
            slope=slope,
            record=kind.record,
            reach=reach,
        )

    def _python_slope(self, _: Vector, q: float, t: float, *__: float) -> float:
        """Return Phi_t'(q)/V of a potential that is written in Python."""
        return self.potential.weight(q, t)

    def compiled_rounds(self, learner: Any, ledger: Vector) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        return loss_rounds(self, GradientSurrogate, learner, ledger)

    def tell(
        self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None
    ) -> EvalGrad:
        """Return the loss of this round; `at` is the earlier play that late feedback is about."""
        cost = checked(cost, "cost")
        seen = most_violated(constraint, cost.grad.size)
        s = np.empty(cost.grad.size)
        at = self.present(cost.grad.size) if at is None else at
        self.declare(cost.lipschitz, seen.lipschitz)
        products = dots_and_norms(cost.grad, seen.grad, at)
        try:
            for table in (self.table, self.python_table):  # few rounds need the second
                made, price, _, _, _, declared = make_loss(
                    table, s, cost.grad, seen.grad, seen.value, at, products
                )
                if made == made:  # not NaN
                    break
        finally:
            self.declare(None, None)  # they were this round's, and `tell_round` reads them, too
        if made != made:
            refuse_loss(s)
        grad = s if made == WRITTEN else cost.grad
        return EvalGrad(cost.value + price, grad, None if declared == UNDECLARED else declared)

    def present(self, n: int) -> Vector:
        """Return the present decision, as far as it is known."""
        play = self.ranges.play()
        return np.zeros(n) if play is None else play  # given ranges do not read it

    def declare(self, cost: float | None, constraint: float | None) -> None:
        """Set the Lipschitz constants of this round; None for those that were declared for all."""
        always = UNDECLARED if self.lipschitz is None else self.lipschitz
        self._lipschitz[0] = always if cost is None else cost
        self._lipschitz[1] = always if constraint is None else constraint


def refuse_loss(s: Vector) -> NoReturn:
    """Say why a loss with this gradient is refused."""
    as_gradient(s, "the gradient of the loss")
    raise ValueError(
        f"the weighed violation or its Lipschitz constant is above {LARGEST_GRADIENT:g}; measure "
        "the constraint in a larger unit"
    )


def is_plain(seen: object, dim: int | None = None) -> TypeGuard[EvalGrad]:
    """Whether this is feedback of a float and a float64 vector, as most is."""
    return (
        type(seen) is EvalGrad
        and type(seen.value) is float
        and seen.lipschitz is None
        and fits(seen.grad, dim)
    )


def checked(seen: EvalGrad, name: str, of: Size = None) -> EvalGrad:
    """Return first-order feedback with a finite value and a finite gradient, or refuse it."""
    needs(EvalGrad, seen, "this policy", name)
    return EvalGrad(
        as_value(seen.value, f"the value of the {name}"),
        as_gradient(seen.grad, f"the gradient of the {name}", of, LARGEST_PART),
        None if seen.lipschitz is None else _steepness(seen.lipschitz, name),
    )


def checked_each(constraint: Constraints, of: Size) -> list[EvalGrad]:
    """Return the feedback of each constraint of a round, checked."""
    return [checked(seen, "constraint", of) for seen in each_seen(constraint)]


def most_violated(constraint: Constraints, of: Size) -> EvalGrad:
    """Return what is seen of the maximum of a round's constraints: its first largest one."""
    seen = checked_each(constraint, of)
    if len(seen) == 1:
        return seen[0]
    declared = [g.lipschitz for g in seen if g.lipschitz is not None]
    lipschitz = max(declared) if len(declared) == len(seen) else None
    return replace(max(seen, key=lambda g: g.value), lipschitz=lipschitz)


def as_value(value: float, name: str) -> float:
    """Return the value of a function, small enough to be multiplied by the weight."""
    if not abs(number := as_number(value, name)) <= LARGEST_PART:
        raise ValueError(
            f"{name} is {number:g}, above {LARGEST_PART:g}; measure the function in a larger unit"
        )
    return number


def _steepness(declared: float, name: str) -> float:
    if not 0.0 <= as_number(declared, f"the Lipschitz constant of the {name}") <= LARGEST_PART:
        raise ValueError(
            f"the Lipschitz constant of the {name} must lie between 0 and {LARGEST_PART:g}, got "
            f"{declared:g}; leave it out where none is known"
        )
    return float(declared)
