"""Replies that come too soon: a box on the way may answer in the target's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hedgerow.networks.atlas.collector import Edge
from hedgerow.networks.readings import Readings

FAR_BELOW = 0.2
"""A reading below this share of what the pair's others say is flagged."""
LEAST_MS = 5.0
"""Smaller differences are noise between neighbours."""


class _Soon(NamedTuple):
    share: float
    latency: float
    others: float
    pair: tuple[str, str]
    place: int


def too_soon(
    edges: Mapping[Edge, Readings], place: Callable[[int], tuple[Path, str]]
) -> str | None:
    """Say how many readings lie far below their pair's others; they are kept all the same.

    A reading is compared with the median of its pair, and all readings of a measurement are where
    the median of the pair's other measurements is far above its own.

    Args:
        edges: the readings of each pair and measurement.
        place: returns the file and the position of a reading.

    """
    pairs: dict[tuple[str, str], list[Readings]] = {}
    for edge, readings in edges.items():
        pairs.setdefault((edge.node, edge.target), []).append(readings)
    found = [soon for pair, measured in pairs.items() for soon in _of_pair(pair, measured)]
    if not found:
        return None
    worst = min(found)
    file, position = place(worst.place)
    count = len({soon.pair for soon in found})
    return (
        f"{len(found)} readings of {count} pairs lie below a fifth of what the pair's others say; "
        f"a box on the way may answer in the target's name. The lowest: {worst.pair[0]} to "
        f"{worst.pair[1]}, {worst.latency:.4g} ms beside {worst.others:.4g} ms ({file.name}, "
        f"{position})."
    )


def _of_pair(pair: tuple[str, str], measured: list[Readings]) -> list[_Soon]:
    latencies = [np.frombuffer(readings.latency) for readings in measured]
    middle = float(np.median(np.concatenate(latencies)))
    medians = [float(np.median(values)) for values in latencies]
    found = []
    for i, (readings, values) in enumerate(zip(measured, latencies, strict=True)):
        rest = medians[:i] + medians[i + 1 :]
        others = float(np.median(rest)) if rest and _far(medians[i], np.median(rest)) else middle
        for ms, packed in zip(values.tolist(), readings.place, strict=True):
            if _far(ms, others):
                found.append(_Soon(ms / others, ms, others, pair, packed))
    return found


def _far(below: float, others: float | np.floating) -> bool:
    return bool(below < FAR_BELOW * others and others - below > LEAST_MS)
