"""The mean of the last rounds, and how far the next one is from it."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector, as_number
from hedgerow.snapshot import State
from hedgerow.surrogates.queued import checked, most_violated

LEARNT = 2.0
"""A learnt margin, in units of the mean distance."""


class RecentRounds:
    """Cost and constraint as linear functions, averaged over about the last `rounds` rounds.

    A mean of the first `rounds` rounds, then an exponential one with weight 1/rounds; 1 is the last
    round alone. Of several constraints the most violated one counts. `margin` is given, or twice
    the mean distance of a constraint's value from what the rounds before it made expect there.

    Args:
        state: where the numbers are, with the parts of `sizes(dim)`.
        rounds: how many rounds the mean is about.
        margin: the distance from the limit, in the constraint's unit; None to learn it.

    """

    def __init__(self, state: State, rounds: int, margin: float | None):
        self._state, self.rounds, self._margin = state, rounds, margin

    @staticmethod
    def sizes(dim: int) -> dict[str, int]:
        """Return the names and sizes of the numbers that it keeps."""
        return {"cost": dim, "limit": dim, "offset": 1, "missed": 1, "t": 1}

    def observe(self, cost: EvalGrad, constraint: Constraints, seen_at: Vector) -> float:
        """Take in a round; return its weight in the mean."""
        state, dim = self._state, seen_at.size
        cost, worst = checked(cost, "cost", dim), most_violated(constraint, dim)
        t, expected = state["t"][0], state["limit"] @ seen_at + state["offset"][0]
        if t > 0.0:
            state["missed"][0] += abs(worst.value - float(expected))
        state["t"][0] += 1.0
        step = float(1.0 / min(t + 1.0, self.rounds))
        tangent = worst.value - float(worst.grad @ seen_at)
        state["cost"][:] += step * (cost.grad - state["cost"])
        state["limit"][:] += step * (worst.grad - state["limit"])
        state["offset"][0] += step * (tangent - state["offset"][0])
        return step

    @property
    def margin(self) -> float:
        """The distance from the limit, in the constraint's unit."""
        if self._margin is not None:
            return self._margin
        return float(LEARNT * self._state["missed"][0] / max(1.0, self._state["t"][0] - 1.0))


def as_margin(margin: float | None) -> float | None:
    """Check a margin, which may be left out."""
    if margin is None:
        return None
    if not as_number(margin, "margin") >= 0.0:
        raise ValueError(
            f"margin must be at least 0, in the constraint's unit, got {margin:g}; leave it out to "
            "learn it from the rounds"
        )
    return float(margin)


def values_at(vertices: Vector, parts: Sequence[EvalGrad], seen_at: Vector) -> Vector:
    """Return the largest of several constraints at each vertex, by their tangents."""
    values: Vector = vertices @ parts[0].grad + (parts[0].value - float(parts[0].grad @ seen_at))
    for seen in parts[1:]:
        other = vertices @ seen.grad + (seen.value - float(seen.grad @ seen_at))
        values = values.clip(min=other)
    return values
