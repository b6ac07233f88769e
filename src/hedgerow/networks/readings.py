"""Readings of many edges, compact: 32 octets for each, and their summary."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector

AGGREGATES = ("median", "min", "last")


class Readings:
    """The readings of one edge, in the order of arrival."""

    __slots__ = ("bandwidth", "latency", "place", "time")

    def __init__(self) -> None:
        self.time, self.place = array("q"), array("q")
        self.latency, self.bandwidth = array("d"), array("d")

    def add(self, time: int, latency: float, bandwidth: float, place: int) -> None:
        """Keep one reading; a bandwidth that was not asked for is NaN."""
        self.time.append(time)
        self.latency.append(latency)
        self.bandwidth.append(bandwidth)
        self.place.append(place)

    def repeated(self) -> list[int]:
        """Return the places of readings that repeat the time of an earlier one, and forget them."""
        times = np.frombuffer(self.time, np.int64)
        _, first = np.unique(times, return_index=True)
        if len(first) == len(times):
            return []
        again = np.setdiff1d(np.arange(len(times)), first)
        places = [self.place[i] for i in again.tolist()]
        for name in self.__slots__:
            values = getattr(self, name)
            setattr(self, name, array(values.typecode, (values[i] for i in np.sort(first))))
        return places

    def summary(self, aggregate: str) -> Summary:
        """Return one latency and bandwidth: both medians, or both from the least or last reading.

        >>> readings = Readings()
        >>> for t, ms in enumerate([3.0, 1.0, 2.0]):
        ...     readings.add(t, ms, 10.0 * ms, t)
        >>> readings.summary("min"), readings.summary("last")
        (Summary(latency=1.0, bandwidth=10.0), Summary(latency=2.0, bandwidth=20.0))
        """
        latency, bandwidth = (np.frombuffer(a, np.float64) for a in (self.latency, self.bandwidth))
        if aggregate == "median":
            return Summary(float(np.median(latency)), float(np.median(bandwidth)))
        times = np.frombuffer(self.time, np.int64)
        i = int(np.argmin(latency)) if aggregate == "min" else int(np.argmax(times))
        return Summary(float(latency[i]), float(bandwidth[i]))


class Summary(NamedTuple):
    """What becomes of an edge's readings."""

    latency: float
    bandwidth: float


def medians(keys: NDArray[np.int64], values: Vector) -> tuple[NDArray[np.int64], Vector]:
    """Return the distinct keys and the median of the values of each.

    >>> medians(np.array([7, 3, 7]), np.array([1.0, 5.0, 2.0]))
    (array([3, 7]), array([5. , 1.5]))
    """
    order = np.lexsort((values, keys))
    found, first, count = np.unique(keys[order], return_index=True, return_counts=True)
    low, high = (values[order[first + at]] for at in ((count - 1) // 2, count // 2))
    return found, np.where(low == high, low, 0.5 * low + 0.5 * high)


def by_round(
    rounds: NDArray[np.int64], edges: NDArray[np.int64], values: Vector, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return rounds x edges: NaN where there is no reading, the median where there are several."""
    known = ~np.isnan(values)
    cells, found = medians((rounds * shape[1] + edges)[known], values[known])
    series = np.full(shape[0] * shape[1], np.nan)
    series[cells] = found
    return series.reshape(shape)


def check_size(rounds: int, edges: int, most_numbers: int) -> None:
    """Refuse a series that would hold more numbers than are allowed."""
    if rounds * edges > most_numbers:
        raise ValueError(
            f"{rounds} rounds of {edges} edges make a series of {rounds * edges} numbers; at most "
            f"{most_numbers} are kept unless most_numbers=... is raised"
        )


def check_aggregate(aggregate: str) -> str:
    """Return it, or say which there are."""
    if aggregate not in AGGREGATES:
        raise ValueError(f"aggregate must be one of {', '.join(AGGREGATES)}, got {aggregate!r}")
    return aggregate
