"""Checks of a parsed file: which key, what was given, what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

T = TypeVar("T", bound=Hashable)

LONGEST_NAME = 60
"""Characters: names become parts of the names of files."""
LARGEST_COUNT = 2**63 - 1
"""What an array can be indexed with."""
LONGEST_HORIZON = 10**9
"""Rounds of one game: hours, and 16 GB for what each of them costs and violates."""
MOST_SEEDS = 100_000
"""Of one experiment: each is a file for every method, problem and horizon."""


def check_keys(
    table: object, where: str, required: Collection[str], optional: Collection[str]
) -> None:
    """Refuse what is no table, keys that nobody reads and keys that are missing."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} must be a table, got {_shown(table)}")
    allowed = [*required, *optional]
    for key in table:
        if key not in allowed:
            raise ValueError(
                f"{where} has an unknown key {_shown(key)}{_hint(key, allowed)}; allowed are "
                f"{', '.join(allowed)}"
            )
    for key in required:
        if key not in table:
            raise ValueError(f"{where} lacks the key {key!r}; give it")


def checked(value: Any, kind: Any, where: str) -> Any:
    """Return a value as the type a parameter has: int, float, str, Path, a Literal, or None.

    Whole numbers count something, so they are at least 1.
    """
    kinds = [k for k in (get_args(kind) if _is_union(kind) else (kind,)) if k is not NoneType]
    (kind,) = kinds
    if get_origin(kind) is Literal:
        return one_of(value, get_args(kind), where)
    if kind is int:
        return count(value, where)
    if kind is float:
        return number(value, where)
    if not isinstance(value, str) or not value:
        what = "the path of a file" if kind is Path else "a text"
        raise ValueError(f"{where} must be {what}, got {_shown(value)}")
    return value


def one_of(value: Any, allowed: Collection[Any], where: str) -> Any:
    """Return a value that is one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        hint = _hint(value, allowed)
        raise ValueError(f"{where} must be one of {words}; got {_shown(value)}{hint}")
    return value


def among(allowed: Collection[str]) -> Callable[[Any, str], str]:
    """Return the check of a word that is one of a few, for `distinct`."""
    return lambda value, where: str(one_of(value, allowed, where))


def short(value: Any, where: str) -> str:
    """Return a text that a file name has room for."""
    text = str(checked(value, str, where))
    if len(text) > LONGEST_NAME:
        raise ValueError(
            f"{where} must have at most {LONGEST_NAME} characters, got {len(text)}: {_shown(text)}"
        )
    return text


def count(value: Any, where: str, least: int = 1) -> int:
    """Return a whole number of at least `least` that fits in 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{where} must be a whole number of at least {least}, got {_shown(value)}")
    if value > LARGEST_COUNT:
        raise ValueError(f"{where} must be at most {LARGEST_COUNT}, got {_shown(value)}")
    return value


def horizon(value: Any, where: str) -> int:
    """Return a number of rounds after which a game ends in a time that one can wait for."""
    if isinstance(value, int) and value > LONGEST_HORIZON:
        raise ValueError(
            f"{where} must be at most {LONGEST_HORIZON} rounds, got {_shown(value)}; give fewer, "
            "or play a longer game in parts with hedgerow.games.simulate_chunks"
        )
    return count(value, where)


def number(value: Any, where: str) -> float:
    """Return a finite number, as a float."""
    try:
        found = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, OverflowError):  # no number, or a whole one above 1e308
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{where} must be a finite number, got {_shown(value)}")
    return found


def positive(value: Any, where: str) -> float:
    """Return a number above 0."""
    found = number(value, where)
    if found <= 0.0:
        raise ValueError(f"{where} must be above 0, got {_shown(value)}")
    return found


def distinct(value: Any, check: Callable[[Any, str], T], where: str) -> tuple[T, ...]:
    """Return a list of one or more different entries, each checked by itself."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where} must be a list of one or more entries, got {_shown(value)}")
    entries: dict[T, None] = {}
    for i, given in enumerate(value):
        entry = check(given, f"{where}[{i}]")
        if entry in entries:
            raise ValueError(f"{where}[{i}] is {_shown(entry)} again; give each entry once")
        entries[entry] = None
    return tuple(entries)


def seeds(value: Any, where: str) -> tuple[int, ...]:
    """Return seeds: a list, or `{first = 20, count = 30}`."""
    if not isinstance(value, Mapping):
        _not_too_many(len(value) if isinstance(value, list) else 0, where)
        return distinct(value, lambda entry, at: count(entry, at, least=0), where)
    check_keys(value, where, ("first", "count"), ())
    first = count(value["first"], f"{where}.first", least=0)
    many = count(value["count"], f"{where}.count")
    _not_too_many(many, where)
    return tuple(range(first, count(first + many, f"the last of {where}")))


def _is_union(kind: Any) -> bool:
    return NoneType in get_args(kind)


def _hint(given: Any, allowed: Collection[Any]) -> str:
    """Return the word that was probably meant, as a question."""
    short_enough = isinstance(given, str) and len(given) <= LONGEST_NAME
    near = get_close_matches(given, list(allowed), n=1) if short_enough else []
    return f" (did you mean {near[0]!r}?)" if near else ""


def _not_too_many(many: int, where: str) -> None:
    if many > MOST_SEEDS:
        raise ValueError(f"{where} may name {MOST_SEEDS} seeds at most, got {many}; ask for fewer")


def _shown(value: object) -> str:
    """Return a value, short enough for a sentence."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        text = f"a value of type {type(value).__name__} that is too large to show"
    return text if len(text) <= 60 else text[:57] + "..."
