"""What players are told, whatever its kind: dataclasses of arrays and numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from hedgerow.functions import Function
from hedgerow.functions import scaled as scaled_function
from hedgerow.inputs import Vector
from hedgerow.testing.contract import bad_numbers, bad_vectors

Feedback = Callable[[Function, Vector], Any]
Round = tuple[Function | Sequence[Function], ...]
Seen = tuple[Any, ...]
"""What was seen of each function of a round: a dataclass, or a tuple of them."""


def observe(functions: Sequence[Any], x: Vector, feedback: Feedback) -> Seen:
    """Evaluate at each function of a round, in arrays that belong to the caller."""
    return tuple(
        copy.deepcopy(feedback(f, x)) if isinstance(f, Function) else observe(f, x, feedback)
        for f in functions
    )


def arrays(seen: Seen) -> Iterator[Vector]:
    """Yield every array in the feedback."""
    for one in seen:
        if isinstance(one, np.ndarray):
            yield one
        elif isinstance(one, tuple):
            yield from arrays(one)
        elif is_feedback(one):
            yield from arrays(tuple(_measured(one).values()))


def spoilt(seen: Seen) -> Iterator[tuple[str, Seen]]:
    """Yield the feedback with each array and each number made bad in turn, and what was done."""
    for i, one in enumerate(seen):
        for what, bad in _spoilt_part(one) if is_feedback(one) else spoilt(one):
            yield what, (*seen[:i], bad, *seen[i + 1 :])


def _spoilt_part(part: Any) -> Iterator[tuple[str, Any]]:
    for name, value in _measured(part).items():
        choices = bad_vectors(value.size) if isinstance(value, np.ndarray) else bad_numbers()
        for what, bad in choices:
            yield f"{what} as {name}", replace(part, **{name: bad})


def scaled(seen: Seen, size: float) -> Seen:
    """Give the arrays of each part, or else its largest number, this size; the rest goes along."""
    return tuple(_scaled_part(one, size) if is_feedback(one) else scaled(one, size) for one in seen)


def _scaled_part(part: Any, size: float) -> Any:
    measured = _measured(part)
    vectors = [value for value in measured.values() if isinstance(value, np.ndarray)]
    unit = max(float(np.linalg.norm(value)) for value in vectors or measured.values()) or 1.0
    larger = replace(part, **{name: value / unit * size for name, value in measured.items()})
    if isinstance(function := getattr(part, "function", None), Function):
        return replace(larger, function=scaled_function(function, size / unit))
    return larger


def is_feedback(one: object) -> bool:
    """Whether this is what was seen of one function."""
    return is_dataclass(one) and not isinstance(one, type)


def _measured(part: Any) -> dict[str, Any]:
    """Return the fields that hold an array or a number; constants left out are None."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value for name, value in values.items() if isinstance(value, Real | np.ndarray)}
