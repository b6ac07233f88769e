"""Kinds of problems and sets: functions that build them, whose parameters are keys of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from hedgerow import sets
from hedgerow.imports import load_named, plugin_names
from hedgerow.problems.problem import Problem
from hedgerow.sets.decision_set import DecisionSet

Build = TypeVar("Build", bound=Callable[..., Problem])
SETS_GROUP = "hedgerow.sets"
"""The entry points by which an installed package adds sets."""
DECLARED = "hedgerow_kind"
"""The attribute of a function in which `problem_kind` stores its kind."""


@dataclass(frozen=True)
class Parameter:
    """One key of a kind of problem: its type and its default; without one it must be given."""

    type: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether an experiment file must set the key: it has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def is_file(self) -> bool:
        """Whether the value of the key is the path of a file."""
        return self.type is Path

    @property
    def is_set(self) -> bool:
        """Whether the value of the key names a decision set."""
        return self.type is DecisionSet


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes:
        build: makes it from a horizon, a seed and the parameters.
        seeded: whether the seed changes the rounds; recorded data have none.
        reacts: whether the rounds react to the decisions, so that every run has its own benchmark.
        label: its name, if other than the name of the function.

    """

    build: Callable[..., Problem]
    seeded: bool = True
    reacts: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        """The name by which experiment files ask for it."""
        return self.label or self.build.__name__

    @property
    def summary(self) -> str:
        """What the problem is: the first line of the docstring of `build`."""
        return (inspect.getdoc(self.build) or "no description").splitlines()[0]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What a file may set, by key."""
        hints = get_type_hints(self.build)
        given = inspect.signature(self.build).parameters.values()
        return {
            p.name: Parameter(hints.get(p.name), p.default)
            for p in given
            if p.kind is p.KEYWORD_ONLY
        }


def problem_kind(*, seeded: bool = True, reacts: bool = False) -> Callable[[Build], Build]:
    """Register a function that builds a kind of problem; the function is unchanged."""

    def declare(build: Build) -> Build:
        setattr(build, DECLARED, Kind(build, seeded, reacts))
        return build

    return declare


def declared_kind(build: object) -> Kind | None:
    """Return the kind that `problem_kind` stored in a function, or None."""
    kind = getattr(build, DECLARED, None)
    return kind if isinstance(kind, Kind) and kind.build is build else None


def check_kind(kind: Kind) -> None:
    """Refuse a function from outside that cannot be called with a horizon, a seed and keys."""
    given = inspect.signature(kind.build).parameters.values()
    if [p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given][:3] not in (
        [True, True],
        [True, True, False],
    ):
        raise ValueError(
            f"{kind.name!r} must take a horizon and a seed, and its keys as keyword arguments: "
            "def name(horizon, seed, *, n: int = 8)"
        )
    for name, parameter in kind.parameters.items():
        if not _readable(parameter.type):
            raise ValueError(
                f"{kind.name!r}: the type of {name} must be int, float, str, Path or a Literal, "
                "or one of these or None, or DecisionSet; annotate it"
            )


def _readable(type_: Any) -> bool:
    """Whether a key of a file can be checked against a type."""
    if get_origin(type_) is Literal:
        return all(isinstance(word, str) for word in get_args(type_))
    if type(None) in get_args(type_):
        others = [a for a in get_args(type_) if a is not type(None)]
        return len(others) == 1 and _readable(others[0])
    return type_ in (int, float, str, Path, DecisionSet)


class SetKind(NamedTuple):
    """A kind of set: its name, and the class or function that builds it from its keys."""

    name: str
    build: Callable[..., Any]

    @property
    def summary(self) -> str:
        """What the set is: the first line of the docstring of `build`."""
        return (inspect.getdoc(self.build) or "no description").splitlines()[0]


def find_set(name: str) -> SetKind:
    """Return a kind of set by its name here, its name in an installed package, or its import path.

    >>> find_set("Simplex").build(n=3)
    Simplex(n=3, total=1.0)
    >>> find_set("Simplx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no set 'Simplx' (did you mean 'Simplex'?); ...

    """
    if name in _ours():
        return SetKind(name, getattr(sets, name))
    return SetKind(name, load_named(name, SETS_GROUP, "set", set_names))


def set_names() -> list[str]:
    """Return the names of all sets, those of installed packages last."""
    ours = _ours()
    return [*ours, *(name for name in plugin_names(SETS_GROUP) if name not in ours)]


def _ours() -> list[str]:
    """Return the names of the library's own sets."""
    found = ((name, getattr(sets, name)) for name in dir(sets))
    return [
        name
        for name, value in found
        if inspect.isclass(value)
        and issubclass(value, DecisionSet)
        and not inspect.isabstract(value)
    ]
