"""Contests between ways of doing the same thing: interleaved, in one process, with the spread."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

REPETITIONS = 7
"""Medians are over this many passes of each candidate, which take turns."""
LONG_ENOUGH = 2e-2
"""Seconds that a pass should take, so that neither the clock's resolution matters nor what the
candidate before has left in the caches."""

Act = Callable[[Any], Any]


@dataclass(frozen=True)
class Target:
    """What a ratio, the peer's time over ours, should be at least."""

    least: float

    def __str__(self) -> str:
        return f"{self.least:.3g}x"


@dataclass(frozen=True)
class Contest:
    """One task, what it is done to, and who does it; the first candidate is ours.

    Args:
        name: the set and the method.
        size: in words.
        items: directions or points.
        ours: takes an item.
        peers: those that we are compared with; None where a package is missing.
        value: makes results comparable: numbers or arrays.
        targets: the least ratio for some of the peers.
        moving: the items are a slowly changing sequence, so passes go on where the last one ended
            and warm starts are worth something; else each pass takes all items, again and again.

    """

    name: str
    size: str
    items: Sequence[Any]
    ours: Act
    peers: dict[str, Act | None]
    value: Callable[[Any, Any], Any]
    targets: dict[str, Target] = field(default_factory=dict)
    moving: bool = False


@dataclass(frozen=True)
class Row:
    """The outcome of a contest with one peer; times in seconds, for one item."""

    name: str
    size: str
    ours: float
    ours_quartiles: tuple[float, float]
    peer: str
    theirs: float | None = None
    theirs_quartiles: tuple[float, float] | None = None
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    differs: float | None = None


def installed(package: str) -> Any:
    """Return an optional package, or None."""
    try:
        return importlib.import_module(package)
    except ImportError:
        return None


def hold(contest: Contest, repetitions: int = REPETITIONS) -> list[Row]:
    """Let the candidates take turns and return one row for each peer."""
    present = {name: act for name, act in contest.peers.items() if act is not None}
    acts = [contest.ours, *present.values()]
    results = [[act(item) for item in contest.items[:3]] for act in acts]  # also warms up
    passes = _passes(contest, repetitions)
    loops = [1 if contest.moving else _loops(act, passes[0]) for act in acts]
    times = np.empty((len(acts), repetitions))
    for r, items in enumerate(passes):
        for k, act in enumerate(acts):
            times[k, r] = _seconds(act, items, loops[k])
    low, middle, high = np.quantile(times, (0.25, 0.5, 0.75), axis=1)
    first = Row(contest.name, contest.size, middle[0], (low[0], high[0]), "")
    rows = []
    for name, act in contest.peers.items():
        common = asdict(first) | {"peer": name}
        if act is None:
            rows.append(Row(**common))
            continue
        k = 1 + list(present).index(name)
        ratio = float(np.median(times[k] / times[0]))
        target = contest.targets.get(name)
        common |= {
            "theirs": middle[k],
            "theirs_quartiles": (low[k], high[k]),
            "ratio": ratio,
            "target": "" if target is None else str(target),
            "met": None if target is None else bool(ratio >= target.least),
            "differs": _difference(contest, results[0], results[k]),
        }
        rows.append(Row(**common))
    return rows


def _passes(contest: Contest, repetitions: int) -> list[Sequence[Any]]:
    if not contest.moving:
        return [contest.items] * repetitions
    block = len(contest.items) // repetitions
    return [contest.items[r * block : (r + 1) * block] for r in range(repetitions)]


class Stopwatch:
    """Wall time or this process's CPU time, whichever is less.

    CPU time leaves out what other programs took; wall time is fair to peers with threads.
    """

    def __init__(self) -> None:
        self._begin = time.perf_counter(), time.process_time()

    def seconds(self) -> float:
        """Return the time since the start."""
        wall, cpu = self._begin
        return min(time.perf_counter() - wall, time.process_time() - cpu)


def _seconds(act: Act, items: Sequence[Any], loops: int) -> float:
    watch = Stopwatch()
    for _ in range(loops):
        for item in items:
            act(item)
    return watch.seconds() / (loops * len(items))


def _loops(act: Act, items: Sequence[Any]) -> int:
    once = _seconds(act, items, 1) * len(items)
    return max(1, int(LONG_ENOUGH / max(once, 1e-9)))


def _difference(contest: Contest, ours: list[Any], theirs: list[Any]) -> float | None:
    """Return the largest difference of the compared values, relative to those above 1."""
    if theirs[0] is None:
        return None
    worst = 0.0
    for item, one, two in zip(contest.items[:3], ours, theirs, strict=True):
        a, b = (np.asarray(contest.value(item, result)) for result in (one, two))
        worst = max(worst, float(np.abs(a - b).max() / max(1.0, float(np.abs(a).max()))))
    return worst


def shown(seconds: float | None) -> str:
    """Return a time with a unit, three digits."""
    if seconds is None:
        return ""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as plain text."""
    head = ("what", "size", "ours [IQR]", "peer", "peer's [IQR]", "ratio", "target", "", "differs")
    lines = [head]
    last = ("", "")
    for row in rows:
        same = (row.name, row.size) == last
        last = (row.name, row.size)
        verdict = {None: "", True: "met", False: "NOT MET"}[row.met]
        lines.append(
            (
                *(("", "", "") if same else (*last, _spread(row.ours, row.ours_quartiles))),
                row.peer,
                _spread(row.theirs, row.theirs_quartiles) or "not installed",
                "" if row.ratio is None else f"{row.ratio:.3g}x",
                row.target,
                verdict,
                "" if row.differs is None else f"{row.differs:.0e}",
            )
        )
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    text = [
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in lines
    ]
    text.insert(1, "-" * len(text[0]))
    return "\n".join(line.rstrip() for line in text)


def _spread(seconds: float | None, quartiles: tuple[float, float] | None) -> str:
    if seconds is None or quartiles is None:
        return ""
    return f"{shown(seconds)} [{shown(quartiles[0])}, {shown(quartiles[1])}]"


def save(path: Path, rows: Sequence[Row], about: dict[str, Any]) -> None:
    """Write the rows and what is known about the run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = about | {"rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(data, indent=1, default=float) + "\n")


PACKAGES = (
    "hedgerow", "numpy", "scipy", "numba", "networkx", "igraph", "rustworkx", "highspy", "piqp",
    "osqp", "quadprog",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the version of every package that takes part."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


TURNS = 25


def medians(acts: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Let the acts take turns and return their median seconds of processor time."""
    times: dict[str, list[float]] = {name: [] for name in acts}
    for act in acts.values():
        act()
    for _ in range(TURNS):
        for name, act in acts.items():
            begin = time.process_time()
            act()
            times[name].append(time.process_time() - begin)
    return {name: float(np.median(found)) for name, found in times.items()}
