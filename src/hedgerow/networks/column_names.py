"""Which column of a table holds what, guessed from the words of its name."""

from __future__ import annotations

import re
from collections.abc import Sequence

LATENCY_COLUMNS = ("latency_ms", "rtt_ms")
BANDWIDTH_COLUMNS = ("bandwidth_mbps", "throughput_mbps")
USUAL_NAMES = {
    "source": ("src", "source", "from", "origin", "a", "sender", "client", "local"),
    "target": ("dst", "dest", "target", "to", "destination", "b", "receiver", "server", "remote"),
    "latency": (*LATENCY_COLUMNS, "latency", "rtt", "delay", "ping", "ms"),
    "bandwidth": (*BANDWIDTH_COLUMNS, "mbps"),
    "time": ("t", "time", "timestamp", "datetime", "date", "when", "ts", "at", "epoch"),
}
"""Frequent names of columns by what they hold, the most usual first."""
_ENDS = "site node host hostname name id router pop city ip addr address region dc device end point"
BESIDE = {
    "source": frozenset(_ENDS.split()),
    "target": frozenset(_ENDS.split()),
    "latency": frozenset(("avg", "average", "mean", "median", "p50", "min", "ms", "milliseconds")),
    "bandwidth": frozenset[str](),
    "time": frozenset(("utc", "measured", "sampled", "taken", "created", "recorded", "start")),
}
"""Words that may stand beside such a name: src_site, avg_rtt, measured_at."""
MOST_NAMES, LONGEST_NAME = 200, 40
"""Limits of every search among names: a hostile header may have a million."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case.

    >>> words_of("src_site"), words_of("dstSite"), words_of("RTT ms"), words_of("p50")
    (('src', 'site'), ('dst', 'site'), ('rtt', 'ms'), ('p50',))
    """
    lower = name.lower()
    if lower in BESIDE["latency"]:
        return (lower,)
    return tuple(word.lower() for word in _WORD.findall(name[:LONGEST_NAME]))


def guess_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the column of each role, of those that have one; no column has two roles.

    A usual name counts alone or with words that say nothing else: `rtt_us` is no latency in ms.
    The two ends have the same words beside them where that is possible.

    >>> guess_columns(["measured_at", "src_site", "dst_site", "avg_rtt", "rtt_max", "price_eur"])
    {'source': 'src_site', 'target': 'dst_site', 'latency': 'avg_rtt', 'time': 'measured_at'}
    >>> guess_columns(["src_ip", "src_name", "dst_name", "rtt_us", "start_time", "end_time"])
    {'source': 'src_name', 'target': 'dst_name', 'time': 'start_time'}
    """
    names = [name for name in names[:MOST_NAMES] if name]
    candidates = {role: _candidates(role, names) for role in USUAL_NAMES}
    found = {}
    ends = [
        (rank_a + rank_b, a, b)
        for rank_a, beside_a, a in candidates["source"]
        for rank_b, beside_b, b in candidates["target"]
        if beside_a == beside_b
    ]
    if ends:
        _, found["source"], found["target"] = min(ends, key=lambda pair: pair[0])
    for role, fitting in candidates.items():
        free = [each for each in fitting if each[2] not in found.values()]
        if role not in found and free:
            found[role] = min(free, key=lambda each: each[0])[2]
    return {role: found[role] for role in USUAL_NAMES if role in found}


def _candidates(role: str, names: Sequence[str]) -> list[tuple[int, frozenset[str], str]]:
    """Return the rank, the words beside it and the name of each column that fits a role."""
    fitting, usual = [], USUAL_NAMES[role]
    for name in names:
        if (lower := name.lower()) in usual:
            fitting.append((usual.index(lower), frozenset[str](), name))
            continue
        words = words_of(name)
        known = [word for word in words if word in usual and word not in BESIDE[role]]
        beside = frozenset(words) - set(known)
        if len(known) == 1 and beside <= BESIDE[role]:
            fitting.append((len(usual) * (1 + len(beside)) + usual.index(known[0]), beside, name))
    return fitting
