"""Sources of readings: a small protocol, and one file for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hedgerow.steer.readings import Raw
from hedgerow.steer.settings import Settings


class Source(Protocol):
    """Where readings come from. A source of your own needs nothing else."""

    def read(self) -> Raw:
        """Return the readings of the last interval by backend; raise `SourceError` in trouble.

        A backend or a reading that is left out, or None, was not observed.
        """
        ...


def make_source(settings: Settings) -> Source:
    """Return the source that a file names."""
    from hedgerow.steer.sources.command import CommandSource
    from hedgerow.steer.sources.haproxy import HaproxySource
    from hedgerow.steer.sources.prometheus import PrometheusSource
    from hedgerow.steer.sources.replay import ReplaySource

    kinds: dict[str, Callable[[Settings], Source]] = {
        "prometheus": PrometheusSource,
        "haproxy": HaproxySource,
        "csv": ReplaySource,
        "command": CommandSource,
    }
    return kinds[settings.source.kind](settings)
