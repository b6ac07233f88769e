"""Targets of weights: a small protocol, and one file for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hedgerow.steer.settings import Settings
from hedgerow.steer.weights import Weights


class TargetError(ValueError):
    """The target cannot be read, or refused weights; one sentence says why."""


class Target(Protocol):
    """Where weights go. A target of your own needs nothing else."""

    def read(self) -> Weights | None:
        """Return the weights in force, None where they cannot be known; raise `TargetError`."""
        ...

    def write(self, weights: Weights) -> None:
        """Put weights into force, or raise `TargetError`."""
        ...


def make_target(settings: Settings) -> Target:
    """Return the target that a file names."""
    from hedgerow.steer.targets.file import FileTarget
    from hedgerow.steer.targets.haproxy import HaproxyTarget
    from hedgerow.steer.targets.http import HttpTarget

    kinds: dict[str, Callable[[Settings], Target]] = {
        "haproxy": HaproxyTarget,
        "file": FileTarget,
        "http": HttpTarget,
    }
    return kinds[settings.target.kind](settings)
