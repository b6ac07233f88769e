"""What the reader of Atlas results chooses, checked before any file is opened."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.inputs import as_count
from hedgerow.networks.arrays import MOST_NUMBERS
from hedgerow.networks.atlas.fields import NODE_KEYS
from hedgerow.networks.atlas.proxies import PROXIES
from hedgerow.networks.labels import draw_synthetic
from hedgerow.networks.readings import check_aggregate
from hedgerow.networks.timestamps import moment, width

LATENCIES = {
    "http": ("ttc", "rt", "ttfb"),
    "sslcert": ("ttc", "rt"),
    "ping": ("min", "avg"),
    "traceroute": ("min",),
}
"""The times of each type; the first is the default, one round trip."""
FALLBACKS = {"http": "rt"}
"""Without extended timing http has only `rt`, which includes the transfer."""


@dataclass(frozen=True)
class AtlasChoices:
    """How a star is made of results.

    Args:
        type: http, sslcert, ping, traceroute, or auto: the one type that is there.
        start: the first moment, RFC 3339 with its zone, or None.
        stop: the first moment that is too late, or None.
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
        _one_of(self.type, "type", ("auto", *LATENCIES))
        _one_of(self.node_key, "node_key", NODE_KEYS)
        names = sorted({name for each in LATENCIES.values() for name in each})
        _one_of(self.latency, "latency", ("auto", *names))
        if self.family not in (None, 4, 6):
            raise ValueError(f"family must be 4 or 6, got {self.family!r}")
        if self.bandwidth.startswith("synthetic:"):
            draw_synthetic(self.bandwidth, 0, self.seed)
        else:
            allowed = ("none", *PROXIES, "synthetic:lognormal(MEDIAN,SIGMA)")
            _one_of(self.bandwidth, "bandwidth", allowed)
        check_aggregate(self.aggregate)
        as_count(self.seed, "seed", least=0)
        if self.series is not None:
            width(self.series, "series")
        as_count(self.most_numbers, "most_numbers")
        first, last = self.window
        if first >= last:
            raise ValueError(f"start must lie before stop, got {self.start} and {self.stop}")

    @property
    def window(self) -> tuple[float, float]:
        """The seconds from `start`, included, to `stop`, excluded."""
        first = -float("inf") if self.start is None else moment(self.start, "start")
        last = float("inf") if self.stop is None else moment(self.stop, "stop")
        return first, last

    @property
    def latency_rule(self) -> str:
        """What the latency is, in words."""
        if self.latency != "auto":
            return self.latency
        return "auto: ping and traceroute min, sslcert ttc, http ttc or else rt"


def _one_of(value: str, name: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
