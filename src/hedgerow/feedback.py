"""Feedback: what a policy may observe of a function, typed so that no learner sees more.

Feedback is a frozen value, never a sequence: a list or tuple is feedback of several functions.
Values that hold arrays are equal only if they are the same object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, overload

from hedgerow import functions
from hedgerow.functions import Function, HasParts, Linear
from hedgerow.inputs import Vector, as_number, as_vector
from hedgerow.labels import HasCoordinates, labels_of

__all__ = [
    "Constraints",
    "Eval",
    "EvalGrad",
    "EvalLinear",
    "Full",
    "Parts",
    "SemiBanditFeedback",
    "bandit",
    "first_order",
    "first_order_each",
    "full_information",
    "linear",
    "semi_bandit",
]

LARGEST_VALUE = 1e130
"""Losses above this are refused: squares of estimates of their gradients would leave float64."""


@dataclass(frozen=True, slots=True, eq=False)
class EvalGrad:
    """First-order feedback: value and subgradient at the decision.

    `lipschitz` is a declared Lipschitz constant of the function, where one is known.
    """

    value: float
    grad: Vector
    lipschitz: float | None = None


@dataclass(frozen=True, slots=True)
class Eval:
    """Bandit feedback: the value alone, with the declared constants that estimators need."""

    value: float
    lipschitz: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class EvalLinear:
    """Value and coefficients of a linear function: enough to know its value anywhere."""

    value: float
    grad: Vector


@dataclass(frozen=True, slots=True, eq=False)
class SemiBanditFeedback:
    """Semi-bandit feedback of a linear function at a 0/1 decision: only what was used is measured.

    `coefficients` holds the coefficient of each coordinate that was used, in order of
    coordinate; `offset` is the function's constant.
    """

    coefficients: Vector
    offset: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Full:
    """Full information: value, subgradient and the function itself."""

    value: float
    grad: Vector
    function: Function


class Parts(tuple[EvalGrad, ...]):
    """Value and subgradient of every part of one function, such as a `Maximum`.

    All have one unit, while a list or tuple is of several functions, whose units may differ.
    """

    __slots__ = ()


Constraints = EvalGrad | Sequence[EvalGrad]
"""A round's constraint to first order: one, or a list or tuple of several."""

OBSERVE_WITH = {
    "EvalGrad": "first_order(f, x), or EvalGrad(value, grad)",
    "Eval": "bandit(f, x, lipschitz, bound)",
    "EvalLinear": "feedback.linear(f, x)",
    "SemiBanditFeedback": "semi_bandit(f, x)",
    "Full": "feedback.full_information(f, x)",
}
"""Which function gives each kind of feedback."""


def needs(kind: type, seen: object, who: str, name: str) -> None:
    """Refuse feedback of another kind."""
    if not isinstance(seen, kind):
        raise TypeError(
            f"{who} learns from {kind.__name__} feedback, the {name} was given as "
            f"{type(seen).__name__}; observe it with {OBSERVE_WITH[kind.__name__]}"
        )


def in_order(seen: Any, of: HasCoordinates, name: str) -> Any:
    """Return feedback with its gradients in the order of a set's coordinates.

    Labels of gradients and functions are matched with those of the set.
    """
    if isinstance(seen, list | tuple):
        return type(seen)(in_order(part, of, name) for part in seen)
    if labels_of(getattr(seen, "grad", None)) is None:
        return seen
    seen = replace(seen, grad=as_vector(seen.grad, f"the gradient of the {name}", of))
    if isinstance(seen, Full):
        return replace(seen, function=functions.in_order(seen.function, of.labels, f"the {name}"))
    return seen


def each_seen(seen: Constraints) -> Sequence[EvalGrad]:
    """Return the feedback of each constraint of a round as a sequence."""
    if not isinstance(seen, list | tuple):
        return (cast(EvalGrad, seen),)
    if not seen:
        raise ValueError(
            "the constraint was given as an empty sequence; give at least one, of value 0 and "
            "gradient 0 where a round has none"
        )
    return seen


def largest_seen(seen: EvalGrad | Parts) -> EvalGrad:
    """Return what was seen of the largest of several parts."""
    return max(seen, key=lambda part: part.value) if isinstance(seen, Parts) else seen


def as_eval(seen: Eval, name: str, largest: float) -> Eval:
    """Return bandit feedback of finite numbers, none above `largest`, or refuse it."""
    needs(Eval, seen, "bandit play", name)
    value = as_number(seen.value, f"the value of the {name}")
    lipschitz = as_number(seen.lipschitz, f"the Lipschitz constant of the {name}")
    bound = as_number(seen.bound, f"the bound of the {name}")
    if max(abs(value), lipschitz, bound) > largest:
        raise ValueError(
            f"the {name} was given as {seen}, above {largest:g}; measure it in a larger unit"
        )
    return Eval(value, lipschitz, bound)


@overload
def first_order(f: Function, x: Vector) -> EvalGrad: ...
@overload
def first_order(f: Sequence[Function], x: Vector) -> tuple[EvalGrad, ...]: ...
def first_order(f: Function | Sequence[Function], x: Vector) -> EvalGrad | tuple[EvalGrad, ...]:
    """Observe the value and a subgradient of f at x; of several functions, those of each.

    >>> import numpy as np
    >>> from hedgerow.functions import Linear
    >>> first_order(Linear([2.0]), np.array([3.0]))
    EvalGrad(value=6.0, grad=array([2.]), lipschitz=None)
    """
    if isinstance(f, list | tuple):
        return tuple(EvalGrad(part(x), part.grad(x)) for part in f)
    return EvalGrad(f(x), f.grad(x))  # type: ignore[operator, union-attr]


def first_order_each(f: Function, x: Vector) -> EvalGrad | Parts:
    """Observe every part of a `Maximum` separately, and any other function as a whole.

    A function of your own is observed by parts if it has `evaluate_parts(x)`, which returns pairs
    of a value and a gradient; by one part it is observed as a whole.
    """
    if not isinstance(f, HasParts):
        return first_order(f, x)
    seen = Parts(EvalGrad(value, grad) for value, grad in f.evaluate_parts(x))
    return seen if len(seen) > 1 else seen[0]


def linear(f: Function, x: Vector) -> EvalLinear:
    """Observe a linear function at x; any other function is refused.

    The feedback of a sampled policy: only linear feedback can be moved from the vertex that was
    chosen to the point it was drawn from.
    """
    if not isinstance(f, Linear):
        raise TypeError(
            f"sampled play learns from linear functions, got a {type(f).__name__}; "
            "play the fractional policy itself instead"
        )
    return EvalLinear(f(x), f.grad(x))


def semi_bandit(f: Function, x: Vector) -> SemiBanditFeedback:
    """Observe a linear function on the coordinates that the 0/1 decision x uses."""
    seen = linear(f, x)
    if labels_of(x) is not None:
        raise TypeError(
            "semi-bandit feedback has no labels; make the function from an array, and observe it "
            "at an array, both in the order of the coordinates"
        )
    return SemiBanditFeedback(seen.grad[x > 0.5], seen.value - float(seen.grad @ x))


def bandit(f: Function, x: Vector, lipschitz: float, bound: float) -> Eval:
    """Observe only the value of f at x; `lipschitz` and `bound` are declared, not observed."""
    return Eval(f(x), as_number(lipschitz, "lipschitz"), as_number(bound, "bound"))


def full_information(f: Function, x: Vector) -> Full:
    """Observe the function f itself, for methods that need the whole constraint."""
    return Full(f(x), f.grad(x), f)


def __dir__() -> list[str]:
    return __all__
