"""Violations as people have objectives in them: how often, how far, how long, in minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.inputs import Vector

LEVEL = 0.95


@dataclass(frozen=True)
class ServiceLevel:
    """How well one constraint was satisfied.

    Attributes:
        name: of the constraint.
        unit: of its values, empty where it is not known.
        rounds: how many rounds there were.
        violated: in how many of them it was violated.
        worst: the largest violation; 0 where there was none.
        p95: the violation that 95 % of all rounds do not exceed.
        longest_streak: the most violated rounds in a row.
        round_minutes: how long a round is; None where it is not known.
        total: the sum of all violations.

    >>> level = service_level(np.array([0.0, 2.0, 5.0, -1.0]), "latency at most 120 ms", "ms", 1.0)
    >>> print(level)
    latency at most 120 ms: violated in 2 minutes (50.0 %), worst 5 ms, p95 4.55 ms, 2 in a row

    """

    name: str
    unit: str
    rounds: int
    violated: int
    worst: float
    p95: float
    longest_streak: int
    round_minutes: float | None = None
    total: float = 0.0

    @property
    def mean(self) -> float:
        """The mean violation of all rounds; rounds without one count as 0."""
        return self.total / max(1, self.rounds)

    @property
    def share(self) -> float:
        """The share of rounds with a violation; 0 where there were none."""
        return self.violated / max(1, self.rounds)

    @property
    def minutes(self) -> float | None:
        """How many minutes it was violated, where the length of a round is known."""
        return None if self.round_minutes is None else self.violated * self.round_minutes

    @property
    def streak_minutes(self) -> float | None:
        """The longest violation without a pause, in minutes."""
        return None if self.round_minutes is None else self.longest_streak * self.round_minutes

    def plain(self) -> dict[str, Any]:
        """Return the numbers as plain data, for records."""
        return {
            "constraint": self.name,
            "unit": self.unit,
            "violated_rounds": self.violated,
            "violated_share": self.share,
            "worst": self.worst,
            "p95": self.p95,
            "longest_streak": self.longest_streak,
            "violated_minutes": self.minutes,
            "longest_minutes": self.streak_minutes,
        }

    def __str__(self) -> str:
        number = self.violated if self.minutes is None else self.minutes
        noun = "round" if self.minutes is None else "minute"
        often = f"{number:g} {noun}{'' if number == 1 else 's'}"
        streak = self.longest_streak if self.streak_minutes is None else self.streak_minutes
        worst, p95 = (f"{shown(value)} {self.unit}".rstrip() for value in (self.worst, self.p95))
        return (
            f"{self.name}: violated in {often} ({100.0 * self.share:.1f} %), worst {worst}, "
            f"p95 {p95}, {streak:g} in a row"
        )


def shown(value: float) -> str:
    """Return a violation with three digits, and large ones in whole.

    >>> shown(1849.4), shown(3.5567), shown(0.0)
    ('1849', '3.56', '0')
    """
    return f"{value:.0f}" if 100.0 <= value < 1e7 else f"{value:.3g}"


def service_level(
    violations: Vector,
    name: str = "",
    unit: str = "",
    round_minutes: float | None = None,
    rounding: float = 0.0,
) -> ServiceLevel:
    """Return how well a constraint was satisfied, from its values in all rounds.

    Values up to `rounding` count as satisfied.
    """
    positive = np.where(violations > rounding, violations, 0.0)
    broken = positive > 0.0
    return ServiceLevel(
        name,
        unit,
        violations.size,
        int(broken.sum()),
        float(positive.max(initial=0.0)),
        float(np.quantile(positive, LEVEL)) if positive.size else 0.0,
        longest_run(broken),
        round_minutes,
        float(positive.sum()),
    )


def longest_run(flags: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """Return the most true entries in a row.

    >>> longest_run(np.array([True, False, True, True]))
    2
    """
    border = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return int((border[1::2] - border[::2]).max(initial=0))
