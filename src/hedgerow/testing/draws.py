"""The random functions that players are tried on."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from hedgerow.functions import Linear, Quadratic
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.testing.points import mixture
from hedgerow.testing.seen import Feedback, Round, is_feedback


class Draws:
    """Functions on a set that a feedback can look at, within the constants that it declares.

    Args:
        decision_set: where they are played.
        feedback: how they are looked at.
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
            self._curved = False  # only linear functions can be looked at
        else:
            self._curved = True

    def losses(self, rounds: int) -> Iterator[Round]:
        """Draw losses of many magnitudes: every third quadratic if allowed, every seventh zero."""
        X, rng = self.decision_set, self.rng
        for t in range(rounds):
            factor = 10.0 ** rng.uniform(-2.0, 2.0) * (t % 7 != 4)
            if self._curved and t % 3 == 1:
                factor *= self._room(0.5 * factor * X.diameter**2, factor * X.diameter)
                yield (Quadratic.distance(mixture(X, rng), factor),)
            else:
                yield (self._fitted(factor * rng.standard_normal(X.dim), 0.0),)

    def games(
        self, mean: Vector, feasible: Vector, rounds: int, constraints: int | None
    ) -> Iterator[Round]:
        """Draw linear rounds in which each of the `feasible` points keeps every constraint."""
        rng, n = self.rng, mean.size
        for t in range(rounds):
            gradient = mean + rng.standard_normal(n)
            cost = self._fitted((t % 7 != 4) * gradient, rng.standard_normal())
            normals = mean + rng.standard_normal((constraints or 1, n))
            parts = [self._fitted(b, -float((feasible @ b).max())) for b in normals]
            yield cost, parts if constraints else parts[0]

    def _fitted(self, a: Vector, b: float) -> Linear:
        """Return <a, x> + b, times what makes it fit."""
        X = self.decision_set
        largest = max(abs(X.minimum(a) + b), abs(b - X.minimum(-a)))
        room = self._room(largest, float(np.linalg.norm(a)))
        return Linear(room * a, room * b)

    def _room(self, largest: float, slope: float) -> float:
        """Return the factor, at most 1, that leaves values and slope within what is declared."""
        sizes = zip(self._limits, (largest, slope), strict=True)
        return min([1.0, *(limit / size for limit, size in sizes if size > limit)])
