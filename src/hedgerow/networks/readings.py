"""Readings of many edges in compact columns, and their summary by edge and by round."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector

AGGREGATES = ("median", "min", "last")


class Readings:
    """The readings of one edge, in the order of arrival: 32 octets for each."""

    __slots__ = ("bandwidth", "latency", "place", "time")

    def __init__(self) -> None:
        self.time, self.place = array("q"), array("q")
        self.latency, self.bandwidth = array("d"), array("d")

    def add(self, time: int, latency: float, bandwidth: float, place: int) -> None:
        """Add one reading; a bandwidth that is not needed is NaN."""
        self.time.append(time)
        self.latency.append(latency)
        self.bandwidth.append(bandwidth)
        self.place.append(place)

    def extend(self, other: Readings) -> None:
        """Add all readings of another measurement of the edge."""
        for name in self.__slots__:
            getattr(self, name).extend(getattr(other, name))

    def column(self, name: str) -> NDArray[Any]:
        """Return one column as an array, without a copy."""
        values = getattr(self, name)
        return np.frombuffer(values, values.typecode)

    def summary(self, aggregate: str) -> tuple[float, float]:
        """Return one latency and bandwidth: both medians, or both of the least or last reading.

        Edge by edge, and not by `by_edge`: columns of all readings would double the memory.

        >>> readings = Readings()
        >>> for t, ms in enumerate([3.0, 1.0, 2.0]):
        ...     readings.add(t, ms, 10.0 * ms, t)
        >>> readings.summary("min"), readings.summary("last")
        ((1.0, 10.0), (2.0, 20.0))
        """
        latency, bandwidth = self.column("latency"), self.column("bandwidth")
        if aggregate == "median":
            return float(np.median(latency)), float(np.median(bandwidth))
        i = int(np.argmin(latency) if aggregate == "min" else np.argmax(self.column("time")))
        return float(latency[i]), float(bandwidth[i])

    def remove_repeated(self) -> list[int]:
        """Remove readings at the time of an earlier one, and return their places."""
        times = self.column("time")
        _, first = np.unique(times, return_index=True)
        if len(first) == len(times):
            return []
        again = np.setdiff1d(np.arange(len(times)), first)
        places = [self.place[i] for i in again.tolist()]
        for name in self.__slots__:
            values = getattr(self, name)
            setattr(self, name, array(values.typecode, (values[i] for i in np.sort(first))))
        return places


def by_edge(
    edges: NDArray[np.int64], values: Vector, count: int, order: NDArray[Any] | None = None
) -> Vector:
    """Return one value for each of `count` edges, NaN for an edge without any.

    Args:
        edges: the edge of each reading.
        values: the readings, NaN where there is none.
        count: how many edges there are.
        order: None takes the median, otherwise the reading at which this is least, the first on
            a tie.

    >>> edges, values = np.array([1, 1, 1]), np.array([3.0, 1.0, 2.0])
    >>> by_edge(edges, values, 2), by_edge(edges, values, 2, order=values)
    (array([nan,  2.]), array([nan,  1.]))

    """
    known, result = ~np.isnan(values), np.full(count, np.nan)
    edges, values = edges[known], values[known]
    if order is None:
        found, chosen = medians(edges, values)
    else:
        ranked = np.lexsort((order[known], edges))  # stable, NaN last
        found, first = np.unique(edges[ranked], return_index=True)
        chosen = values[ranked][first]
    result[found] = chosen
    return result


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
    """Refuse a series with more numbers than are allowed."""
    if rounds * edges > most_numbers:
        raise ValueError(
            f"{rounds} rounds of {edges} edges make a series of {rounds * edges} numbers; at most "
            f"{most_numbers} are kept unless most_numbers=... is raised"
        )
