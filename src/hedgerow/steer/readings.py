"""Readings of an interval, and what is reported of them: cost and limits as linear functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.validation import hint, shown
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import PRICE, UP

LARGEST = 1e12
"""A larger reading is refused as a mistake."""

Flags = NDArray[np.bool_]
Raw = Mapping[str, Mapping[str, Any]]
"""Readings by backend and name, as a source returns them; what is missing was not observed."""


class SourceError(ValueError):
    """The readings of an interval cannot be used; one sentence says why."""


class EndOfReadings(Exception):  # noqa: N818 - as StopIteration, no mistake
    """A replayed file has no more intervals."""


@dataclass(frozen=True, eq=False)
class Interval:
    """What an interval showed.

    Attributes:
        prices: of each backend, per request.
        limits: a row for each limit, with the reading of each backend.
        observed: whether each backend was observed; the readings of others are earlier ones.
        up: whether each backend serves.

    """

    prices: Vector
    limits: Vector
    observed: Flags
    up: Flags

    def mean(self, row: Vector, shares: Vector) -> float:
        """Return the mean over requests; those of a backend that is down go to the others."""
        return float(row[self.up] @ shares[self.up]) / float(shares[self.up].sum())

    def feedback(self, shares: Vector, settings: Settings) -> tuple[EvalGrad, list[EvalGrad]]:
        """Return cost and constraints at shares, as the session takes them."""
        cost = EvalGrad(self.mean(self.prices, shares), self.prices)
        return cost, [
            EvalGrad(self.mean(row, shares) - limit.at_most, row)
            for row, limit in zip(self.limits, settings.limits, strict=True)
        ]


@dataclass
class Observer:
    """Makes intervals of raw readings; it remembers the last reading of each backend.

    A backend without a reading was not observed: its last reading stands, never a zero. Before
    there is one, it counts as the limit itself. A backend that is down counts as the dearest and
    slowest of the others, so that the policy moves its share elsewhere.
    """

    settings: Settings
    last: dict[tuple[str, str], float] = field(default_factory=dict)

    def take(self, raw: Raw, shares: Vector) -> Interval:
        """Return an interval, or refuse readings that say too little or cannot be true.

        Args:
            raw: what the source returned.
            shares: those in use; together those of observed backends must be large enough.

        """
        known = _checked(raw, self.settings)
        names, limits = self.settings.names, self.settings.limits
        up = np.array([known[name].get(UP, 1.0) > 0.0 for name in names])
        observed = np.array([all(one.name in known[name] for one in limits) for name in names])
        self._check_enough(observed, up, shares)
        prices = np.array([self._price(i, known) for i in range(len(names))])
        for name in names:
            for key, value in known[name].items():
                self.last[name, key] = value
        rows = [[self.last.get((name, one.name), one.at_most) for name in names] for one in limits]
        prices, *worst = (_with_worst(np.array(row), up) for row in (prices, *rows))
        return Interval(prices, np.array(worst), observed, up)

    def _check_enough(self, observed: Flags, up: Flags, shares: Vector) -> None:
        serving = float(shares[up].sum())
        if serving == 0.0:
            raise SourceError("no backend with a share of the traffic is up")
        seen = float(shares[observed & up].sum()) / serving
        least = self.settings.safety.least_observed
        if seen < least:
            pairs = zip(self.settings.names, observed | ~up, strict=True)
            unseen = [name for name, known in pairs if not known]
            raise SourceError(
                f"backends with {100.0 * seen:.0f} % of the traffic were observed, at least "
                f"{100.0 * least:.0f} % are needed; {', '.join(unseen)[:80]} had no readings"
            )

    def _price(self, i: int, known: Mapping[str, Mapping[str, float]]) -> float:
        """Return the price of a backend: read now, read before, or as the file has it."""
        backend = self.settings.backends[i]
        for price in (known[backend.name].get(PRICE), self.last.get((backend.name, PRICE))):
            if price is not None:
                return price
        if backend.price is None:
            raise SourceError(
                f"the price of {backend.name} was never read; give a `price` to begin with"
            )
        return backend.price


def _checked(raw: Any, settings: Settings) -> dict[str, dict[str, float]]:
    """Return the readings by backend; refuse what is no table of numbers."""
    if not isinstance(raw, Mapping):
        raise SourceError(f"readings must be a table by backend, got {shown(raw)}")
    keys = [PRICE, UP, *(limit.name for limit in settings.limits)]
    for name in raw:
        if name not in settings.names:
            raise SourceError(
                f"readings name a backend {shown(name)}{hint(name, settings.names)} that the file "
                "does not have"
            )
    found: dict[str, dict[str, float]] = {name: {} for name in settings.names}
    for name, table in raw.items():
        if not isinstance(table, Mapping):
            raise SourceError(f"the readings of {name} must be a table, got {shown(table)}")
        for key, value in table.items():
            if key not in keys:
                raise SourceError(
                    f"the readings of {name} have a key {shown(key)}{hint(key, keys)}; known are "
                    f"{', '.join(keys)}"
                )
            if value is not None and not _is_nan(value):
                found[name][key] = _number(value, key, name)
    return found


def _with_worst(values: Vector, up: Flags) -> Vector:
    """Return values with the largest of those that serve in place of those that are down."""
    return np.where(up, values, values[up].max())


def _is_nan(value: Any) -> bool:
    """Whether this is a quotient without data, 0/0."""
    return isinstance(value, float) and math.isnan(value)


def _number(value: Any, key: str, name: str) -> float:
    if isinstance(value, bool) and key == UP:
        return float(value)
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not 0.0 <= value <= LARGEST:
        raise SourceError(
            f"{key} of {name} must be a number of 0 to {LARGEST:g}, got {shown(value)}"
        )
    return float(value)
