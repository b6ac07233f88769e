"""How a quantity of each edge changes from round to round: by a law, or as it was measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_array, as_count, as_number, freeze
from hedgerow.problems.problem import chunk_slices


class Variation(Protocol):
    """What turns a base value of each edge into its values in all rounds."""

    def bounds(self, base: Vector) -> tuple[Vector, Vector]:
        """Return the least and the largest value that each edge can have in any round."""
        ...

    def extremes(self, base: Vector, x: Vector) -> tuple[float, float]:
        """Return the least and the largest sum of values times x that any round can have."""
        ...

    def chunks(
        self, base: Vector, horizon: int, size: int, rng: np.random.Generator
    ) -> Iterator[Vector]:
        """Yield the values (k, edges), `size` rounds at a time."""
        ...

    def label(self, horizon: int) -> str:
        """Say in a few words where the values come from."""
        ...

    def restricted(self, kept: NDArray[np.intp], total: int) -> Variation:
        """Return the variation of the edges `kept`, of `total` edges in all."""
        ...


class _RandomLaw(ABC):
    """Base of laws that all edges follow."""

    @abstractmethod
    def bounds(self, base: Vector) -> tuple[Vector, Vector]:
        """Return the least and the largest value that each edge can have in any round."""

    def extremes(self, base: Vector, x: Vector) -> tuple[float, float]:
        """Return the least and the largest sum of values times x >= 0 that any round can have."""
        low, high = self.bounds(base)
        return float(low @ x), float(high @ x)

    def restricted(self, kept: NDArray[np.intp], total: int) -> Self:  # noqa: ARG002
        """Return itself: all edges follow one law."""
        return self


@dataclass(frozen=True)
class UniformScaling(_RandomLaw):
    """Each value is its base times an independent draw from U[low, high], for each edge and round.

    Args:
        low: the least factor, at least 0.
        high: the largest factor; equal to `low` for no variation.

    >>> UniformScaling(0.5, 1.5).label(100)
    'x U[0.5, 1.5]'

    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0.0 <= as_number(self.low, "low") <= as_number(self.high, "high"):
            raise ValueError(f"factors need 0 <= low <= high, got {self.low:g} and {self.high:g}")

    def bounds(self, base: Vector) -> tuple[Vector, Vector]:
        """Return low x base and high x base."""
        return self.low * base, self.high * base

    def chunks(
        self, base: Vector, horizon: int, size: int, rng: np.random.Generator
    ) -> Iterator[Vector]:
        """Draw the factors, `size` rounds at a time."""
        for rows in chunk_slices(horizon, size):
            shape = rows.stop - rows.start, base.size
            yield base * rng.uniform(self.low, self.high, shape)

    def label(self, horizon: int) -> str:  # noqa: ARG002 - the same for all
        """Return how tables name this law."""
        return f"x U[{self.low:g}, {self.high:g}]"


PAPER_LATENCY = UniformScaling(0.5, 1.5)
PAPER_BANDWIDTH = UniformScaling(0.8, 1.2)
"""The random scaling of the paper's experiment."""


@dataclass(frozen=True)
class PeriodicDrift(_RandomLaw):
    """Each value is its base times noise times a periodic factor, 1 + swing w(t/period + phase).

    w is the triangular wave of period 1 between -1 and 1; each edge has a phase of its own, drawn
    uniformly, so that links are good at different times. Times are counted in rounds from 0.

    Args:
        noise: the law of the noise, drawn for each edge and round.
        swing: how far the tide goes up and down, from 0 to below 1.
        period: rounds from one high tide to the next.

    >>> PeriodicDrift(UniformScaling(0.8, 1.2), 0.25, 400).label(1600)
    'x U[0.8, 1.2] x tide of 25 % in 400 rounds'

    """

    noise: UniformScaling
    swing: float
    period: int

    def __post_init__(self) -> None:
        if not 0.0 <= as_number(self.swing, "swing") < 1.0:
            raise ValueError(f"swing must be at least 0 and below 1, got {self.swing:g}")
        as_count(self.period, "period")

    def bounds(self, base: Vector) -> tuple[Vector, Vector]:
        """Return the values at low tide with least noise, and at high tide with most."""
        low, high = self.noise.bounds(base)
        return (1.0 - self.swing) * low, (1.0 + self.swing) * high

    def chunks(
        self, base: Vector, horizon: int, size: int, rng: np.random.Generator
    ) -> Iterator[Vector]:
        """Draw the phases, then the noise, `size` rounds at a time."""
        phases = rng.uniform(size=base.size)
        noise = self.noise.chunks(base, horizon, size, rng)
        for rows, values in zip(chunk_slices(horizon, size), noise, strict=True):
            u = np.arange(rows.start, rows.stop)[:, None] / self.period + phases
            wave = 4.0 * np.abs(u - np.floor(u) - 0.5) - 1.0  # high at whole numbers
            yield values * (1.0 + self.swing * wave)

    def label(self, horizon: int) -> str:
        """Return how tables name this law: noise times tide."""
        tide = f"tide of {100.0 * self.swing:g} % in {self.period} rounds"
        return f"{self.noise.label(horizon)} x {tide}"


@dataclass(frozen=True, eq=False)
class Series:
    """Measured values, one row for each round; after the last row the first one comes again.

    The base values play no part. A missing value (NaN) is a link that failed in that round: it
    counts as `failed`, a finite penalty. An infinite latency would have no gradient, and every
    mixture that touches the link would be infinitely bad.

    Args:
        values: the measurements, rounds x edges, at least 0, NaN where missing.
        failed: what a missing value counts as; must be given if one is missing.

    >>> Series([[1.0, 2.0], [np.nan, 3.0]], failed=9.0).label(5)
    '2 measured rounds, played 2.5 times; 1 missing, counted as 9'

    """

    values: Vector
    failed: float | None = None
    _played: Vector = field(init=False, repr=False)

    def __init__(self, values: ArrayLike, failed: float | None = None):
        given = np.array(values, dtype=np.float64)
        missing = np.isnan(given)
        if missing.any() and failed is None:
            raise ValueError(
                f"the series has {int(missing.sum())} missing values of {given.size}; give "
                "`failed`, the finite value that a failed link counts as"
            )
        penalty = 0.0 if failed is None else as_number(failed, "failed")
        played = as_array(np.where(missing, penalty, given), "the series")
        if played.ndim != 2 or not played.size or played.min() < 0.0:
            raise ValueError(
                "a series is a table of rounds x edges with values of at least 0, got shape "
                f"{played.shape}{f' and a value {played.min():g}' if played.size else ''}"
            )
        freeze(self, values=given, failed=failed, _played=played)

    def bounds(self, base: Vector) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return the least and the largest value of each edge."""
        return self._played.min(axis=0), self._played.max(axis=0)

    def extremes(self, base: Vector, x: Vector) -> tuple[float, float]:  # noqa: ARG002
        """Return the least and the largest sum over the rows."""
        sums = self._played @ x
        return float(sums.min()), float(sums.max())

    def chunks(
        self,
        base: Vector,  # noqa: ARG002
        horizon: int,
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Iterator[Vector]:
        """Read the rows in their order, again and again."""
        for rows in chunk_slices(horizon, size):
            yield self._played[np.arange(rows.start, rows.stop) % len(self._played)]

    def label(self, horizon: int) -> str:
        """Say how many rounds were measured, how often they are played and what is missing."""
        rows, missing = len(self.values), int(np.isnan(self.values).sum())
        tiled = f", played {horizon / rows:.3g} times" if horizon > rows else ""
        failed = f"; {missing} missing, counted as {self.failed:g}" if missing else ""
        return f"{rows} measured rounds{tiled}{failed}"

    def restricted(self, kept: NDArray[np.intp], total: int) -> Series:
        """Return the series of the edges `kept`, of `total` edges in all."""
        if self.values.shape[1] != total:
            raise ValueError(
                f"the series has {self.values.shape[1]} edges, the network {total}; "
                "give one column for each edge, in the same order"
            )
        return Series(self.values[:, kept], self.failed)
