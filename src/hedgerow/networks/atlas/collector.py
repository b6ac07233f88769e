"""Choices of the reader of Atlas results, and the collector that applies them to each result."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.inputs import as_count
from hedgerow.networks.atlas.results import (
    NODE_KEYS,
    PARSERS,
    PROXIES,
    Attempt,
    Envelope,
    Record,
    address,
    envelope,
    node_name,
)
from hedgerow.networks.errors import Reason, Rejected, Rejections, check_one_of
from hedgerow.networks.quantities import draw_synthetic
from hedgerow.networks.readings import AGGREGATES, Readings
from hedgerow.networks.source_files import MOST_NUMBERS
from hedgerow.networks.timestamps import parse_duration, parse_time

LATENCIES = {
    "http": ("ttc", "rt", "ttfb"),
    "sslcert": ("ttc", "rt"),
    "ping": ("min", "avg"),
    "traceroute": ("min",),
}
"""The times of each type; the first is the default, one round trip."""
FALLBACKS = {"http": "rt"}
"""Without extended timing http has only `rt`, which includes the transfer."""
PLACE_BITS = 40
"""Of a packed position: the number of the result; the number of the file is above them."""


@dataclass(frozen=True)
class AtlasChoices:
    """Which results become a star, and how.

    Args:
        type: http, sslcert, ping, traceroute, or auto: the one type that is there.
        start: the first moment, RFC 3339 with its zone, or None.
        stop: the end, not included, or None.
        family: 4, 6, or None: the one address family that is there.
        node_key: prb_id, from or src_addr. Only prb_id is an identity.
        hub: auto (the one target), an address or name, probe:ID, or none for all targets.
        latency: ttc, rt, ttfb, min, avg, or auto (one round trip where the type has it).
        bandwidth: none, http_total, http_body, http_read, tls_cert or synthetic:lognormal(M,S).
        aggregate: median, min or last of an edge's readings.
        seed: fixes a synthetic bandwidth.
        keep_going: count broken readings and go on, instead of refusing the file.
        series: the length of a round, as "15min", for a series of each round's median; or None.
        most_numbers: how many numbers a series of rounds x edges may hold.

    """

    type: str = "auto"
    start: str | None = None
    stop: str | None = None
    family: int | None = None
    node_key: str = "prb_id"
    hub: str = "auto"
    latency: str = "auto"
    bandwidth: str = "none"
    aggregate: str = "median"
    seed: int = 0
    keep_going: bool = False
    series: str | None = None
    most_numbers: int = MOST_NUMBERS

    def __post_init__(self) -> None:
        check_one_of(self.type, "type", ("auto", *LATENCIES))
        check_one_of(self.node_key, "node_key", NODE_KEYS)
        names = sorted({name for each in LATENCIES.values() for name in each})
        check_one_of(self.latency, "latency", ("auto", *names))
        if self.family not in (None, 4, 6):
            raise ValueError(f"family must be 4 or 6, got {self.family!r}")
        if self.bandwidth.startswith("synthetic:"):
            draw_synthetic(self.bandwidth, 0, self.seed)
        else:
            allowed = ("none", *PROXIES, "synthetic:lognormal(MEDIAN,SIGMA)")
            check_one_of(self.bandwidth, "bandwidth", allowed)
        check_one_of(self.aggregate, "aggregate", AGGREGATES)
        as_count(self.seed, "seed", least=0)
        if self.series is not None:
            parse_duration(self.series, "series")
        as_count(self.most_numbers, "most_numbers")
        first, last = self.window
        if first >= last:
            raise ValueError(f"start must lie before stop, got {self.start} and {self.stop}")

    @property
    def window(self) -> tuple[float, float]:
        """The seconds from `start`, included, to `stop`, excluded."""
        first = -float("inf") if self.start is None else parse_time(self.start, "start")
        last = float("inf") if self.stop is None else parse_time(self.stop, "stop")
        return first, last


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
        choices: which results to keep.
        left: counts what is left out.

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

    def add(self, result: Any, ordinal: int) -> None:
        """Keep the readings of one result of the last file, or count why not."""
        self.results += 1
        try:
            head = envelope(result)
            self._check(head)
            for attempt in PARSERS[head.type](result):
                self._add_attempt(result, head, attempt, ordinal)
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

    def _add_attempt(
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
