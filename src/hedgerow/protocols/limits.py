"""Names and units of several constraints: violations are added only where all have one unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, Protocol


class MixedUnitsError(ValueError):
    """Violations of several constraints were to be added, and their units may differ."""


class LimitName(NamedTuple):
    """The name of one constraint, and the unit of its values, empty where it is not known.

    >>> print(LimitName("latency", "ms"))
    latency in ms
    >>> print(LimitName("latency at most 120 ms", "ms"))
    latency at most 120 ms
    """

    name: str
    unit: str = ""

    def __str__(self) -> str:
        known = not self.unit or self.name.endswith(f" {self.unit}")
        return self.name if known else f"{self.name} in {self.unit}"


class NamedLimit(Protocol):
    """A constraint with a name, and with the unit of its values."""

    @property
    def name(self) -> str:
        """What it is about."""

    @property
    def unit(self) -> str:
        """The unit, empty where it is not known."""


class HasLimits(Protocol):
    """A problem that names its constraints, and says whether all of them have one unit."""

    @property
    def limits(self) -> Sequence[NamedLimit]:
        """The constraints of a round; empty where they have no names."""

    @property
    def one_unit(self) -> bool:
        """Whether violations of its constraints may be added."""


def as_limits(given: Mapping[str, str] | None) -> tuple[LimitName, ...]:
    """Return names with units, in order.

    >>> as_limits({"latency": "ms", "share": ""})
    (LimitName(name='latency', unit='ms'), LimitName(name='share', unit=''))
    """
    if given is None:
        return ()
    anything: object = given
    if not isinstance(anything, Mapping) or not all(
        isinstance(text, str) for pair in given.items() for text in pair
    ):
        raise TypeError(
            "limits must be names with units, as {'latency': 'ms', 'share': ''}, got "
            f"{given!r:.60}"
        )
    return tuple(LimitName(name, unit) for name, unit in given.items())


def names_of(limits: Sequence[NamedLimit]) -> tuple[LimitName, ...]:
    """Return the name and the unit of each of a problem's constraints."""
    return tuple(LimitName(limit.name, limit.unit) for limit in limits)


def have_one_unit(limits: Sequence[NamedLimit]) -> bool:
    """Whether all constraints have the same unit, which must be known.

    >>> have_one_unit(as_limits({"up": "ms", "down": "ms"}))
    True
    >>> have_one_unit(as_limits({"up": "", "down": ""}))
    False
    """
    return len({limit.unit for limit in limits}) == 1 and bool(limits[0].unit)


def numbered(limits: Sequence[LimitName], count: int) -> tuple[LimitName, ...]:
    """Return the names of so many constraints; numbers stand for names that are not given.

    >>> numbered((), 2)
    (LimitName(name='constraint 1', unit=''), LimitName(name='constraint 2', unit=''))
    """
    if not limits:
        return tuple(LimitName(f"constraint {k}") for k in range(1, count + 1))
    if len(limits) != count:
        raise ValueError(
            f"there are {count} constraints, got names of {len(limits)}; name each of them"
        )
    return tuple(limits)


def refuse_sum(limits: Sequence[LimitName], count: int | None, what: str, do: str) -> NoReturn:
    """Raise the error that says why violations of several constraints are not added.

    Args:
        limits: their names, where they have names.
        count: how many there are; None where that changes.
        what: follows from it.
        do: what to do.

    """
    named = f" ({', '.join(map(str, limits))})" if limits else ""
    differ = "may differ" if not limits or "" in {limit.unit for limit in limits} else "differ"
    raise MixedUnitsError(
        f"rounds have {count or 'several'} constraints{named}, whose units {differ}, so {what}; "
        f"{do}"
    )
