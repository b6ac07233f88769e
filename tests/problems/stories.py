"""The problems with a story, small."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from hedgerow.problems.assignments import AdSlots, JobSequencing, Ranking
from hedgerow.problems.drifting import Caching, OptimalTransport, SensorCoverage
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.portfolios import LogPortfolio, Portfolio
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.variation import Series


def grid(seed):
    """Links in both directions on a 4 x 4 grid of named nodes, with a series that has gaps."""
    rng = np.random.default_rng(seed)
    steps = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    cells = {(i, j) for i in range(4) for j in range(4)}
    pairs = [(a, (a[0] + u, a[1] + v)) for a in sorted(cells) for u, v in steps]
    edges = [(f"{a}", f"{b}") for a, b in pairs if b in cells]
    latency = rng.uniform(2.0, 40.0, len(edges))
    series = latency * rng.lognormal(0.0, 0.2, (70, len(edges)))
    series[rng.random(series.shape) < 0.002] = np.nan
    return SimpleNamespace(
        edges=edges,
        latency_ms=latency,
        latency_label="synthetic:uniform(2,40)",
        bandwidth_mbps=latency * rng.uniform(1.0, 4.0, len(edges)),  # slow links are wide
        bandwidth_label="synthetic:latency x uniform(1,4)",
        latency_series=series,
    )


def routed(seed, T):
    net = grid(seed)
    return ShortestPath.from_network(net, "(0, 0)", "(3, 3)", T, seed, orientation="distance")


def capped(seed, T):
    net = grid(seed)
    rounds = Series(net.latency_series, failed=60.0)
    return LatencyCap.from_network(
        net, "(0, 0)", "(3, 3)", T, seed,
        price=1.0 / net.latency_ms, orientation="distance", latency_rounds=rounds,
    )  # fmt: skip


def relatives(seed, T):
    """Drawn prices: the assets that grow most are the restless ones."""
    rng = np.random.default_rng(seed)
    restless = rng.uniform(0.005, 0.03, 12)
    return np.exp(rng.normal(0.05 * restless, restless, (T, 12)))


STORIES = {
    "routes": routed,
    "latency cap": capped,
    "sector": lambda seed, T: Portfolio(relatives(seed, T), np.arange(12) % 2, 0.3),
    "low volatility": lambda seed, T: Portfolio.low_volatility(relatives(seed, T + 60)),
    "log portfolio": lambda seed, T: LogPortfolio(relatives(seed, T)),
    "ranking": lambda seed, T: Ranking(n=12, protected=4, horizon=T, seed=seed),
    "ad slots": lambda seed, T: AdSlots(advertisers=6, slots=3, horizon=T, seed=seed),
    "caching": lambda seed, T: Caching(items=30, capacity=10, horizon=T, seed=seed),
    "transport": lambda seed, T: OptimalTransport(warehouses=3, shops=5, horizon=T, seed=seed),
    "sensors": lambda seed, T: SensorCoverage(sensors=8, cells=6, horizon=T, seed=seed),
    "jobs": lambda seed, T: JobSequencing(jobs=10, promised=3, horizon=T, seed=seed),
}
