"""Results in, readings of edges out: each result is kept or left out with a reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.networks.atlas.attempts import (
    http_attempts,
    ping_attempts,
    sslcert_attempts,
    traceroute_attempts,
)
from hedgerow.networks.atlas.choices import FALLBACKS, LATENCIES, AtlasChoices
from hedgerow.networks.atlas.fields import Attempt, Envelope, Record, address, envelope, node_name
from hedgerow.networks.atlas.proxies import PROXIES
from hedgerow.networks.readings import Readings
from hedgerow.networks.rejections import Reason, Rejected, Rejections

PARSERS: dict[str, Callable[[Record], Iterator[Attempt | Rejected]]] = {
    "http": http_attempts,
    "sslcert": sslcert_attempts,
    "ping": ping_attempts,
    "traceroute": traceroute_attempts,
}
PLACE_BITS = 40


class Group(NamedTuple):
    """Readings that may be compared: one type, one address family, one kind of time."""

    type: str
    family: int
    latency: str


class Edge(NamedTuple):
    """The two ends of a reading, and the measurement it belongs to."""

    node: str
    target: str
    measurement: int


class Collector:
    """Sorts the readings of all files by group and edge.

    Args:
        choices: what is wanted.
        left: the table of what is not.

    """

    def __init__(self, choices: AtlasChoices, left: Rejections):
        self.choices = choices
        self.left = left
        self.files: list[Path] = []
        self.edges: dict[Group, dict[Edge, Readings]] = {}
        self.results = 0
        self.readings = 0
        self.first, self.last = math.inf, -math.inf  # timestamps of all results
        self._start, self._stop = choices.window
        self._hub = address(choices.hub) or choices.hub
        self._hub_probe = choices.hub.partition(":")[2] if choices.hub.startswith("probe:") else ""

    def take(self, result: Any, ordinal: int) -> None:
        """Sort one result of the last file in."""
        self.results += 1
        try:
            head = envelope(result)
            self._check(head)
            for attempt in PARSERS[head.type](result):
                self._sort(result, head, attempt, ordinal)
        except Rejected as left:
            self._leave(left, ordinal)

    def place(self, packed: int) -> tuple[Path, str]:
        """Return the file and position of a kept reading."""
        return self.files[packed >> PLACE_BITS], f"result {packed & ((1 << PLACE_BITS) - 1)}"

    def counts(self, group: Group) -> Counter[str]:
        """Return how many readings each target has."""
        found: Counter[str] = Counter()
        for edge, readings in self.edges[group].items():
            found[edge.target] += len(readings.time)
        return found

    def _sort(
        self, result: Record, head: Envelope, attempt: Attempt | Rejected, ordinal: int
    ) -> None:
        try:
            if isinstance(attempt, Rejected):
                raise attempt
            self._keep(result, head, attempt, ordinal)
        except Rejected as left:
            self._leave(left, ordinal)

    def _check(self, head: Envelope) -> None:
        self.first, self.last = min(self.first, head.timestamp), max(self.last, head.timestamp)
        if head.type not in PARSERS or self.choices.type not in ("auto", head.type):
            raise Rejected(Reason.OTHER_TYPE)
        if not self._start <= head.timestamp < self._stop:
            raise Rejected(Reason.OUTSIDE_WINDOW)
        if self._hub_probe and str(head.probe) != self._hub_probe:
            raise Rejected(Reason.OTHER_TARGET)

    def _keep(self, result: Record, head: Envelope, attempt: Attempt, ordinal: int) -> None:
        if self.choices.family not in (None, attempt.family):
            raise Rejected(Reason.OTHER_FAMILY)
        target = attempt.target
        if self._hub not in ("auto", "none") and not self._hub_probe:
            if self._hub not in (attempt.target, attempt.name):
                raise Rejected(Reason.OTHER_TARGET)
            target = self._hub
        node = node_name(result, head.probe, self.choices.node_key)
        if node == target:
            raise Rejected(Reason.SELF_LOOP)
        name = self._latency_name(head.type, attempt)
        bandwidth: float | None = math.nan
        if self.choices.bandwidth in PROXIES:
            bandwidth = PROXIES[self.choices.bandwidth](attempt.record)
        if bandwidth is None:
            raise Rejected(Reason.NO_BANDWIDTH)
        group = self.edges.setdefault(Group(head.type, attempt.family, name), {})
        readings = group.setdefault(Edge(node, target, head.measurement), Readings())
        packed = (len(self.files) - 1) << PLACE_BITS | ordinal
        readings.add(head.timestamp, attempt.times[name], bandwidth, packed)
        self.readings += 1

    def _latency_name(self, kind: str, attempt: Attempt) -> str:
        wanted = self.choices.latency
        names = (LATENCIES[kind][0], FALLBACKS.get(kind)) if wanted == "auto" else (wanted,)
        for name in names:
            if name is not None and name in attempt.times:
                return name
        raise Rejected(Reason.NO_LATENCY)

    def _leave(self, left: Rejected, ordinal: int) -> None:
        self.readings += 1
        self.left.add(left.reason, self.files[-1], f"result {ordinal}", left.detail)
