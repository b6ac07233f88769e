"""Files of `hedgerow steer` for tests: three backends, readings by a table, weights in a file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from hedgerow.live.store import Store
from hedgerow.steer.loop import Steering, begin_session
from hedgerow.steer.metrics import SteerMetrics
from hedgerow.steer.settings import Settings, validate

GOOD = """
session = "shop"
store = "shop.db"
interval = 10

[[backends]]
name = "eu-1"
price = 4.0
[[backends]]
name = "eu-2"
price = 2.0
[[backends]]
name = "us-1"
price = 1.0
min_share = 0.02

[[limits]]
name = "latency"
unit = "ms"
at_most = 120

[source]
kind = "command"
command = ["readings"]

[target]
kind = "file"
path = "weights.json"

[safety]
fallback_after = 3
fallback = {eu-1 = 0.5, eu-2 = 0.25, us-1 = 0.25}
"""
LATENCIES = {"eu-1": 50.0, "eu-2": 100.0, "us-1": 160.0}


def settings_of(folder: Path, text: str = GOOD) -> Settings:
    """Return a validated file in a folder."""
    return validate(tomllib.loads(text), folder)


def readings(**changed: Any) -> dict[str, dict[str, Any]]:
    """Return readings by backend; `us_1=300` changes one, None leaves it out."""
    found = LATENCIES | {name.replace("_", "-"): value for name, value in changed.items()}
    return {name: {"latency": value} for name, value in found.items() if value is not None}


class Scripted:
    """A source that returns or raises what it is given, and repeats the last."""

    def __init__(self, *script: Any):
        self.script = list(script)

    def read(self) -> Any:
        found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(found, Exception):
            raise found
        return found


class Clock:
    """A clock that goes on by an interval for each tick."""

    def __init__(self, start: float):
        self.now = start

    def __call__(self) -> float:
        return self.now


class Bench:
    """A steering at work in a folder, with a clock of its own."""

    def __init__(self, folder: Path, source: Any, target: Any, text: str = GOOD):
        import time

        self.settings = settings_of(folder, text)
        self.store = Store(self.settings.store)
        self.session = begin_session(self.settings, self.store)
        self.clock, self.lines = Clock(time.time()), []
        self.work = Steering(
            self.settings,
            self.session,
            source,
            target,
            self.lines.append,
            SteerMetrics(self.settings),
            self.clock,
        )

    def tick(self, count: int = 1) -> list[str]:
        """Tick so often and return the outcomes."""
        found = []
        for _ in range(count):
            self.clock.now += self.settings.interval
            found.append(self.work.tick())
        return found


def weights_in(folder: Path) -> dict[str, int] | None:
    """Return the weights of the target's file."""
    path = folder / "weights.json"
    return json.loads(path.read_text())["weights"] if path.exists() else None
