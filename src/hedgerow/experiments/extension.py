"""What an experiment adds to a folder that has results already, or where it contradicts them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.experiments.records import DamagedError, Record, read_experiment

LISTS = {"methods": "method", "presets": "preset", "eagerness": "eagerness"}
"""Keys whose entries are combined with all others, and what a sentence calls one entry."""
OF_METHODS = {
    "code": "its file was edited (put what is new into another file)",
    "fixed": "its action is another",
    "violated": "its method or its share is another",
    "constants": "its constants are others",
}
"""Tables by method; what it means if a method of both experiments differs in one."""
FREE = (
    *LISTS,
    *OF_METHODS,
    "about",
    "tune",
    "eagerness_methods",
    "common_seeds",
    "all_seeds",
    "seeds",
    "problems",
)
"""Keys that are compared entry by entry, or that no run depends on."""


class Extension(NamedTuple):
    """What an experiment has and the folder has not, and the other way round; both as words."""

    adds: tuple[str, ...]
    lacks: tuple[str, ...]


def extension(stored: Record, asked: Record, mix: bool = False) -> Extension:
    """Compare an experiment with the one of a folder.

    Args:
        stored: the experiment of the folder.
        asked: the experiment that is to run into it.
        mix: whether they may be of different versions of the library.

    Raises:
        ValueError: if a run of the same name would be another run; says what differs.

    """
    _refuse_contradictions(stored, asked, mix)
    parts = [_entries(word, stored[key], asked[key]) for key, word in LISTS.items()]
    parts.append(_eager(stored, asked))
    parts.append(_entries("problem", _labels(stored), _labels(asked)))
    old, new = _labels(stored), _labels(asked)
    parts += [
        _entries("horizon", old[label]["horizons"], new[label]["horizons"], label)
        for label in old
        if label in new
    ]
    parts.append(_entries("seed", stored["seeds"], asked["seeds"]))
    few = [of.get("common_seeds") or math.inf for of in (stored, asked)]
    if few[0] != few[1]:
        more = ("all seeds for every method",)
        parts.append(Extension(more, ()) if few[1] > few[0] else Extension((), more))
    return Extension(
        tuple(word for part in parts for word in part.adds),
        tuple(word for part in parts for word in part.lacks),
    )


def extended(stored: Record, asked: Record, folder: Path, mix: bool) -> bool:
    """Return whether an experiment adds something; refuse one that also leaves something out.

    The folder would then hold neither of the two: its tables would have gaps.
    """
    try:
        found = extension(stored, asked, mix)
    except ValueError as difference:
        raise ValueError(
            f"{folder} holds the results of another experiment: {difference}; give another folder, "
            "or remove it"
        ) from None
    if found.adds and found.lacks:
        raise ValueError(
            f"{folder} also holds {_listed(found.lacks)}, which the experiment leaves out while it "
            f"adds {_listed(found.adds)}; name everything that the folder holds, or give another "
            "folder"
        )
    return bool(found.adds)


def growth_sentence(folder: Path, asked: Record) -> str:
    """Return in a sentence what an experiment will add to a folder; empty where that is nothing."""
    try:
        added = extension(read_experiment(folder), asked, mix=True).adds
    except (FileNotFoundError, NotADirectoryError, DamagedError, ValueError):
        return ""  # a new folder, or one that the sweep refuses or restores
    return f"{folder} has results already; this run adds {_listed(added)}." if added else ""


def _refuse_contradictions(stored: Record, asked: Record, mix: bool) -> None:
    for key in sorted((stored.keys() | asked.keys()) - {*FREE, "hedgerow"}):
        if stored.get(key) != asked.get(key):
            raise ValueError(f"its {key} is {stored.get(key)!r:.60}, here {asked.get(key)!r:.60}")
    if stored["hedgerow"] != asked["hedgerow"] and not mix:
        raise ValueError(f"it is of version {stored['hedgerow']}, here is {asked['hedgerow']}")
    for name in stored["methods"]:
        for key, meaning in OF_METHODS.items():
            if name in asked["methods"] and _of(stored, key, name) != _of(asked, key, name):
                raise ValueError(f"{name} is another method: {meaning}")
    old, new = _labels(stored), _labels(asked)
    for label in old.keys() & new.keys():
        before, now = ({k: v for k, v in of[label].items() if k != "horizons"} for of in (old, new))
        if before != now:
            raise ValueError(f"the problem {label!r} is another: {_difference(before, now)}")
    seeds = list(zip(stored["seeds"], asked["seeds"], strict=False))
    if any(a != b for a, b in seeds):
        raise ValueError(
            f"its seeds begin with {stored['seeds'][:3]}, here with {list(asked['seeds'][:3])}; "
            "seeds are added after those it has"
        )


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the first key in which two problems differ, a parameter by its own name."""
    old, new = ({**of, **of["parameters"]} for of in (before, now))
    key = min(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    if key in ("code", "sha256"):
        return "a file that it reads, or that defines it or its set, was edited"
    return f"its {key} is {old.get(key)!r:.60}, here {new.get(key)!r:.60}"


def _labels(of: Record) -> dict[str, Any]:
    return {problem["label"]: problem for problem in of["problems"]}


def _of(experiment: Record, key: str, method: str) -> Any:
    return experiment.get(key, {}).get(method)


def _eager(stored: Record, asked: Record) -> Extension:
    """Compare who plays every eagerness, where there are several and a method plays in both."""
    both = [name for name in stored["methods"] if name in asked["methods"]]
    if min(len(of["eagerness"]) for of in (stored, asked)) < 2:
        return Extension((), ())
    old, new = (
        [n for n in both if n in of.get("eagerness_methods", of["methods"])]
        for of in (stored, asked)
    )
    return _entries("every eagerness for", old, new)


def _entries(
    word: str, old: Collection[Any], new: Collection[Any], of: str | None = None
) -> Extension:
    return Extension(
        _named(word, [entry for entry in new if entry not in old], of),
        _named(word, [entry for entry in old if entry not in new], of),
    )


def _named(word: str, entries: list[Any], of: str | None) -> tuple[str, ...]:
    """Return entries in words: "the methods a and b", "30 seeds"."""
    if not entries:
        return ()
    many = len(entries) > 1 and not word.endswith("for") and word != "eagerness"
    if word == "seed":
        return (f"{len(entries)} seed{'s' if many else ''}",)
    where = f" of {of}" if of is not None else ""
    names = [f"{entry:g}" if isinstance(entry, float) else str(entry) for entry in entries]
    the = "" if word.endswith("for") else "the "
    return (f"{the}{word}{'s' if many else ''} {_listed(names)}{where}",)


def _listed(words: Collection[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
