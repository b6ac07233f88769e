"""A kind of problem: a function that builds it, whose keyword parameters are keys in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from hedgerow.problems.problem import Problem


@dataclass(frozen=True)
class Parameter:
    """One key of a kind of problem: its type and its default; without one it must be given."""

    type: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether the file must set it."""
        return self.default is inspect.Parameter.empty

    @property
    def is_file(self) -> bool:
        """Whether it names a file."""
        return self.type is Path


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes:
        build: makes it from a horizon, a seed and the parameters.
        seeded: whether the seed changes the rounds; recorded data have none.
        reacts: whether the rounds react to the plays, so that every run has its own benchmark.

    """

    build: Callable[..., Problem]
    seeded: bool = True
    reacts: bool = False

    @property
    def name(self) -> str:
        """The word in experiment files."""
        return self.build.__name__

    @property
    def summary(self) -> str:
        """One sentence."""
        return (inspect.getdoc(self.build) or "").splitlines()[0]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What a file may set, by key."""
        hints = get_type_hints(self.build)
        given = inspect.signature(self.build).parameters.values()
        return {
            p.name: Parameter(hints[p.name], p.default) for p in given if p.kind is p.KEYWORD_ONLY
        }
