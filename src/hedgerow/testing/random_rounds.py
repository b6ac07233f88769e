"""Random rounds that learners and policies are tried on, and their feedback, valid or not."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from hedgerow.functions import Function, Linear, Quadratic
from hedgerow.functions import scaled as scaled_function
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.testing.checks import bad_numbers, bad_vectors, mixture

Feedback = Callable[[Function, Vector], Any]
Round = tuple[Function | Sequence[Function], ...]
Observed = tuple[Any, ...]
"""The feedback of each function of a round: a dataclass, or a tuple of them."""


class RandomRounds:
    """Draw functions on a set that a feedback can observe, within the constants that it declares.

    Args:
        decision_set: where they are played.
        feedback: how they are observed.
        seed: of the random numbers.

    """

    def __init__(self, decision_set: DecisionSet, feedback: Feedback, seed: int):
        self.decision_set, self.rng = decision_set, np.random.default_rng(seed)
        zero = np.zeros(decision_set.dim)
        declared = feedback(Linear(zero), decision_set.start())
        if not is_feedback(declared):
            raise TypeError(
                f"feedback must return a dataclass, as those of hedgerow.feedback are, got a "
                f"{type(declared).__name__}"
            )
        limits = (getattr(declared, name, None) for name in ("bound", "lipschitz"))
        self._limits = [math.inf if limit is None else float(limit) for limit in limits]
        try:
            feedback(Quadratic(1.0, zero), decision_set.start())
        except TypeError:
            self._curved = False  # only linear functions can be observed
        else:
            self._curved = True

    def losses(self, rounds: int) -> Iterator[Round]:
        """Draw losses of many magnitudes: every third quadratic if allowed, every seventh zero."""
        X, rng = self.decision_set, self.rng
        for t in range(rounds):
            factor = 10.0 ** rng.uniform(-2.0, 2.0) * (t % 7 != 4)
            if self._curved and t % 3 == 1:
                factor *= self._factor(0.5 * factor * X.diameter**2, factor * X.diameter)
                yield (Quadratic.distance(mixture(X, rng), factor),)
            else:
                yield (self._fitted(factor * rng.standard_normal(X.dim), 0.0),)

    def games(
        self, mean: Vector, feasible: Vector, rounds: int, constraints: int | None
    ) -> Iterator[Round]:
        """Draw linear rounds in which each of the `feasible` points satisfies every constraint."""
        rng, n = self.rng, mean.size
        for t in range(rounds):
            gradient = mean + rng.standard_normal(n)
            cost = self._fitted((t % 7 != 4) * gradient, rng.standard_normal())
            normals = mean + rng.standard_normal((constraints or 1, n))
            parts = [self._fitted(b, -float((feasible @ b).max())) for b in normals]
            yield cost, parts if constraints else parts[0]

    def _fitted(self, a: Vector, b: float) -> Linear:
        """Return <a, x> + b, scaled down to what is declared."""
        X = self.decision_set
        largest = max(abs(X.minimum(a) + b), abs(b - X.minimum(-a)))
        factor = self._factor(largest, float(np.linalg.norm(a)))
        return Linear(factor * a, factor * b)

    def _factor(self, largest: float, slope: float) -> float:
        """Return the factor, at most 1, that leaves values and slope within what is declared."""
        sizes = zip(self._limits, (largest, slope), strict=True)
        return min([1.0, *(limit / size for limit, size in sizes if size > limit)])


def observe(functions: Sequence[Any], x: Vector, feedback: Feedback) -> Observed:
    """Return the feedback of each function of a round, in arrays that belong to the caller."""
    return tuple(
        observe(f, x, feedback) if isinstance(f, list | tuple) else copy.deepcopy(feedback(f, x))
        for f in functions
    )


def arrays(seen: Observed) -> Iterator[Vector]:
    """Yield every array in the feedback."""
    for one in seen:
        if isinstance(one, np.ndarray):
            yield one
        elif isinstance(one, tuple):
            yield from arrays(one)
        elif is_feedback(one):
            yield from arrays(tuple(_measured(one).values()))


def invalid_variants(seen: Observed) -> Iterator[tuple[str, Observed]]:
    """Yield the feedback with each array and each number made invalid in turn, and how."""
    for i, one in enumerate(seen):
        for what, bad in _invalid_parts(one) if is_feedback(one) else invalid_variants(one):
            yield what, (*seen[:i], bad, *seen[i + 1 :])


def _invalid_parts(part: Any) -> Iterator[tuple[str, Any]]:
    for name, value in _measured(part).items():
        choices = bad_vectors(value.size) if isinstance(value, np.ndarray) else bad_numbers()
        for what, bad in choices:
            yield f"{what} as {name}", replace(part, **{name: bad})


def scaled(seen: Observed, size: float) -> Observed:
    """Scale each part so that its arrays, or else its largest number, have this size."""
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
    """Whether this is the feedback of one function."""
    return is_dataclass(one) and not isinstance(one, type)


def _measured(part: Any) -> dict[str, Any]:
    """Return the fields that hold an array or a number; constants left out are None."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value for name, value in values.items() if isinstance(value, Real | np.ndarray)}
