"""Twenty traces of prices and latencies: twelve generated, eight from measured files.

A trace has a price and a latency for each backend and interval, and a limit on the mean latency of
the mixture. Measured latencies are of the Seattle testbed (one device to others), measured prices
are of stocks (NYSE and MSCI); the two have nothing to do with each other.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measured_files import DEVICES, MARKETS, measured_files
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
INTERVALS = 1440
"""A day of minutes."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Prices per request and latencies in ms, one row per interval, and the limit in ms."""

    name: str
    prices: Matrix
    latencies: Matrix
    limit: float
    measured: bool = False

    @property
    def backends(self) -> int:
        """How many there are."""
        return self.prices.shape[1]


def _base(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
    """Return prices that fall and latencies that rise from backend to backend, roughly."""
    order = np.linspace(0.0, 1.0, n)
    price = 1.0 + 3.0 * (1.0 - order) + rng.uniform(-0.3, 0.3, n)
    latency = 60.0 + 110.0 * order + rng.uniform(-10.0, 10.0, n)
    return price, latency


def _noise(rng: np.random.Generator, shape: tuple[int, int], size: float) -> Matrix:
    """Return log-normal factors whose logarithms follow an autoregression."""
    log = np.zeros(shape)
    steps = rng.normal(0.0, size * np.sqrt(1.0 - 0.8**2), shape)
    for t in range(1, shape[0]):
        log[t] = 0.8 * log[t - 1] + steps[t]
    return np.asarray(np.exp(log - size**2 / 2.0))


def steady(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
    """Noise alone."""
    price, latency = _base(rng, n)
    return np.tile(price, (INTERVALS, 1)), latency * _noise(rng, (INTERVALS, n), 0.12)


def drift(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
    """Latencies and prices wander slowly, each by a random walk."""
    price, latency = _base(rng, n)
    walk = np.cumsum(rng.normal(0.0, 0.008, (INTERVALS, n)), axis=0)
    dear = np.cumsum(rng.normal(0.0, 0.004, (INTERVALS, n)), axis=0)
    return price * np.exp(dear), latency * np.exp(walk) * _noise(rng, (INTERVALS, n), 0.1)


def incidents(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
    """Now and then a backend is two to five times as slow for 10 to 60 intervals."""
    price, latency = _base(rng, n)
    factor = np.ones((INTERVALS, n))
    for _ in range(4 + n // 2):
        start, length = int(rng.integers(60, INTERVALS)), int(rng.integers(10, 61))
        factor[start : start + length, int(rng.integers(n))] *= rng.uniform(2.0, 5.0)
    noise = _noise(rng, (INTERVALS, n), 0.1)
    return np.tile(price, (INTERVALS, 1)), latency * factor * noise


def diurnal(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
    """Load rises and falls twice a day, at another hour for each backend; prices follow it."""
    price, latency = _base(rng, n)
    phase = rng.uniform(0.0, 2.0 * np.pi, n)
    t = np.arange(INTERVALS)[:, None]
    wave = 0.5 * (1.0 + np.sin(4.0 * np.pi * t / INTERVALS + phase))
    noise = _noise(rng, (INTERVALS, n), 0.1)
    return price * (1.0 + 0.3 * wave), latency * (0.8 + 0.7 * wave) * noise


KINDS: dict[str, Callable[[np.random.Generator, int], tuple[Matrix, Matrix]]] = {
    "steady": steady,
    "drift": drift,
    "incidents": incidents,
    "diurnal": diurnal,
}
SIZES = (3, 8, 30)


def min_share(backends: int) -> float:
    """Return the minimum share of each backend, so that all of them stay observed."""
    return 0.01 if backends < 10 else 1.0 / 256.0


def generated(seed: int = 0) -> Iterator[Trace]:
    """Yield twelve traces: four kinds with three numbers of backends."""
    for k, (kind, make) in enumerate(KINDS.items()):
        for n in SIZES:
            rng = np.random.default_rng([seed, k, n])
            prices, latencies = make(rng, n)
            yield Trace(f"{kind}, {n} backends", prices, latencies, 120.0)


def measured() -> Iterator[Trace]:
    """Yield eight traces of measured latencies and prices."""
    folder = measured_files(DEVICES, *MARKETS.values())
    with np.load(folder / DEVICES) as file:
        rtt = 10.0 * file["rtt_centisec"].astype(np.float64)  # ms
    for k, (n, market) in enumerate(
        [(3, "nyse_o"), (3, "msci"), (3, "nyse_o"), (8, "nyse_o"), (8, "msci"), (8, "nyse_o"),
         (30, "nyse_o"), (30, "nyse_o")]
    ):  # fmt: skip
        source = 7 * k
        known = [j for j in range(99) if j != source and (rtt[:, source, j] > 0.0).mean() > 0.98]
        chosen = known[k : k + n]
        latencies = _carried(np.minimum(rtt[:, source, chosen], 3000.0))
        prices = _prices(folder / MARKETS[market], latencies.shape[0], n, first=k)
        limit = _feasible_limit(latencies)
        yield Trace(f"measured {k + 1}, {n} backends", prices, latencies, limit, True)


def _feasible_limit(latencies: Matrix) -> float:
    """Return the limit that the fastest backend alone, beside minimum shares, mostly satisfies."""
    n = latencies.shape[1]
    shares = np.full(n, min_share(n))
    shares[int(np.argmin(np.median(latencies, axis=0)))] += 1.0 - shares.sum()
    return float(np.round(1.1 * np.quantile(latencies @ shares, 0.9)))


def _carried(latencies: Matrix) -> Matrix:
    """Return the readings with the last known one where one is missing."""
    found = latencies.copy()
    found[0] = np.where(found[0] > 0.0, found[0], np.median(latencies, axis=0))
    for t in range(1, len(found)):
        found[t] = np.where(found[t] > 0.0, found[t], found[t - 1])
    return found


def _prices(path: Path, rounds: int, n: int, first: int) -> Matrix:
    """Return prices that begin at 1 and follow the stocks of a file."""
    with gzip.open(path, "rt") as file:
        relatives = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=rounds)
    columns = (first + np.arange(n)) % relatives.shape[1]
    return np.asarray(np.cumprod(relatives[:, columns], axis=0))
