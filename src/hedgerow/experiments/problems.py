"""Problems by name, with the parameters that an experiment file may set.

Each function below is one kind: its name is the value of `kind` in a file, its keyword parameters
are the keys, and its docstring is what `hedgerow list` shows. The problems validate the numbers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from hedgerow.experiments.fingerprints import sha256
from hedgerow.experiments.registry import Kind, check_kind, declared_kind, problem_kind
from hedgerow.imports import load_named, plugin_names
from hedgerow.inputs import Vector, as_count
from hedgerow.networks.network import Network
from hedgerow.problems.adversaries import HalfspaceBox, OrthogonalBall
from hedgerow.problems.assignments import AdSlots, JobSequencing, Ranking
from hedgerow.problems.drifting import Caching, OptimalTransport, SensorCoverage
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.measured_routes import MeasuredRoutes
from hedgerow.problems.portfolios import LogPortfolio, Portfolio
from hedgerow.problems.problem import Problem
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.synthetic import IidLinear, IidSimplex, QuadraticBox, SwitchingBall
from hedgerow.problems.variation import Series
from hedgerow.sets.decision_set import DecisionSet

GROUP = "hedgerow.problems"
"""The entry points by which an installed package adds kinds of problems."""


@problem_kind()
def random_network(horizon: int, seed: int, *, nodes: int = 191, edges: int = 1200) -> Problem:
    """Routes on a graph by the paper's recipe, latencies like RIPE Atlas', bandwidth synthetic."""
    return ShortestPath.random_network(nodes, edges, horizon, seed)


@problem_kind()
def shortest_path(
    horizon: int,
    seed: int,
    *,
    network: Path,
    source: str | None = None,
    target: str | None = None,
    threshold: float | None = None,
    orientation: Literal["distance"] | None = None,
) -> Problem:
    """Routes on a network file: small latency, enough bandwidth, both scaled at random."""
    links = _network(network)
    ends = _ends(links, network, source, target)
    return ShortestPath.from_network(
        links, *ends, horizon, seed, threshold=threshold, orientation=orientation
    )


@problem_kind()
def latency_cap(
    horizon: int,
    seed: int,
    *,
    network: Path,
    source: str | None = None,
    target: str | None = None,
    cap: float | None = None,
    orientation: Literal["distance"] | None = None,
) -> Problem:
    """Routes on a network file: few links, a mean latency below a cap, scaled at random."""
    links = _network(network)
    ends = _ends(links, network, source, target)
    return LatencyCap.from_network(links, *ends, horizon, seed, cap=cap, orientation=orientation)


@problem_kind(seeded=False)
def measured_latency_cap(
    horizon: int,
    seed: int,
    *,
    network: Path,
    failed: float,
    source: str | None = None,
    target: str | None = None,
    cap: float | None = None,
    orientation: Literal["distance"] | None = None,
    start: int = 0,
) -> Problem:
    """Routes on a network file whose latency series is played; a gap counts as `failed` ms."""
    links = _network(network)
    if links.latency_series is None:
        raise ValueError(f"{network} has no latency series; use kind = 'latency_cap'")
    if not 0 <= start < len(links.latency_series):
        raise ValueError(f"start must be from 0 to {len(links.latency_series) - 1}, got {start}")
    ends = _ends(links, network, source, target)
    measured = Series(links.latency_series[start : start + horizon], failed=failed)
    return LatencyCap.from_network(
        links, *ends, horizon, seed, cap=cap, orientation=orientation, latency_rounds=measured
    )


@problem_kind(seeded=False)
def measured_routes(
    horizon: int,
    seed: int,  # noqa: ARG001 - recorded data have none
    *,
    network: Path,
    source: str | None = None,
    target: str | None = None,
    cost: str = "hops",
    caps: str | None = None,
    floors: str | None = None,
    demands: str | None = None,
    outage_latency: float | None = None,
) -> Problem:
    """Routes on a network file as measured: any quantity as cost, caps as "latency=120, loss=1"."""
    return MeasuredRoutes(
        _network(network),
        source,
        target,
        cost=cost,
        caps=caps,
        floors=floors,
        demands=demands,
        horizon=horizon,
        outage_latency=outage_latency,
    )


@problem_kind()
def portfolio(
    horizon: int, seed: int, *, assets: int = 12, cap: float = 0.95, window: int = 60
) -> Problem:
    """Wealth split over assets with a cap on recent volatility; prices drawn, synthetic."""
    return Portfolio.low_volatility(_prices(window + horizon, assets, seed), cap, window, horizon)


@problem_kind()
def log_portfolio(
    horizon: int, seed: int, *, assets: int = 12, limit: float = 0.2, rebalance: int = 21
) -> Problem:
    """Growth of wealth close to an index, curved; prices drawn, synthetic."""
    return LogPortfolio(_prices(horizon, assets, seed), limit, rebalance)


@problem_kind(seeded=False)
def portfolio_csv(
    horizon: int,
    seed: int,  # noqa: ARG001 - recorded data have none
    *,
    file: Path,
    cap: float = 0.95,
    window: int = 60,
) -> Problem:
    """Wealth split over assets with a cap on recent volatility; price relatives from a CSV file."""
    return Portfolio.from_csv(file, cap, window, horizon)


@problem_kind(seeded=False)
def log_portfolio_csv(
    horizon: int,
    seed: int,  # noqa: ARG001 - recorded data have none
    *,
    file: Path,
    limit: float = 0.2,
    rebalance: int = 21,
) -> Problem:
    """Growth of wealth close to an index, curved; price relatives from a CSV file."""
    return LogPortfolio.from_csv(file, limit, rebalance, horizon)


@problem_kind()
def ranking(
    horizon: int, seed: int, *, n: int = 20, protected: int = 6, share: float | None = None
) -> Problem:
    """Rankings that owe a group a share of attention (permutahedron), synthetic."""
    return Ranking(n, protected, share, horizon, seed)


@problem_kind()
def ad_slots(
    horizon: int, seed: int, *, advertisers: int = 8, slots: int = 4, pacing: float = 0.3
) -> Problem:
    """Advertisers in slots, none outpacing its budget (matchings), synthetic."""
    return AdSlots(advertisers, slots, pacing, horizon, seed)


@problem_kind()
def caching(
    horizon: int,
    seed: int,
    *,
    items: int = 60,
    capacity: int = 20,
    zipf: float = 0.9,
    drift: int = 20,
    limit: float | None = None,
) -> Problem:
    """A cache with few misses and few bytes fetched (k-subsets), synthetic."""
    return Caching(items, capacity, zipf, drift, limit, horizon, seed)


@problem_kind()
def optimal_transport(
    horizon: int,
    seed: int,
    *,
    warehouses: int = 5,
    shops: int = 8,
    period: float = 200.0,
    limit: float | None = None,
) -> Problem:
    """Goods at drifting prices with little exhaust (transport plans), synthetic."""
    return OptimalTransport(warehouses, shops, period, limit, horizon, seed)


@problem_kind()
def sensor_coverage(
    horizon: int,
    seed: int,
    *,
    sensors: int = 12,
    cells: int = 8,
    reach: float = 0.4,
    period: float = 200.0,
    limit: float | None = None,
) -> Problem:
    """A field shared out among sensors that see parts of it (a submodular base), synthetic."""
    return SensorCoverage(sensors, cells, reach, period, limit, horizon, seed)


@problem_kind()
def job_sequencing(
    horizon: int, seed: int, *, jobs: int = 16, promised: int = 5, promise: float | None = None
) -> Problem:
    """Jobs in order, a customer's in time (sequences with precedence), synthetic."""
    return JobSequencing(jobs, promised, promise, horizon, seed)


@problem_kind()
def iid_simplex(horizon: int, seed: int, *, n: int = 20) -> Problem:
    """Independent linear rounds on a simplex."""
    return IidSimplex(n, horizon, seed)


@problem_kind()
def iid_linear(horizon: int, seed: int, *, set: DecisionSet) -> Problem:  # noqa: A002 - a key
    """Independent linear rounds on any set: set = { kind = "Simplex", n = 8 }."""
    return IidLinear(set, horizon, seed)


@problem_kind()
def switching_ball(horizon: int, seed: int, *, n: int = 10, growth: float = 1.6) -> Problem:
    """Phases in which cost and constraint pull a ball's first coordinate apart."""
    return SwitchingBall(n, horizon, seed, growth)


@problem_kind()
def quadratic_box(horizon: int, seed: int, *, n: int = 8) -> Problem:
    """Moving targets and moving discs on a box: curved costs and constraints."""
    return QuadraticBox(n, horizon, seed)


@problem_kind(reacts=True)
def halfspace_box(horizon: int, seed: int, *, n: int = 8, halfspaces: int = 12) -> Problem:
    """An adversary that always shows the halfspace that hurts most; it reacts to the plays."""
    return HalfspaceBox(n, halfspaces, horizon, seed)


@problem_kind(reacts=True)
def orthogonal_ball(horizon: int, seed: int, *, n: int = 10, halfspaces: int = 30) -> Problem:
    """The classical lower-bound adversary, with constraints; it reacts to the plays."""
    return OrthogonalBall(n, halfspaces, horizon, seed)


KINDS = {
    kind.name: kind
    for _, value in sorted(globals().items())
    if (kind := declared_kind(value)) is not None
}
"""Every kind of problem of the library, by name."""


def find_kind(name: str) -> Kind:
    """Return a kind by its name here, its name in an installed package, or its import path.

    A function that is not declared by `problem_kind` draws its rounds from the seed.
    """
    if name in KINDS:
        return KINDS[name]
    build = load_named(name, GROUP, "kind of problem", kind_names)
    kind = replace(declared_kind(build) or Kind(build), label=name)
    check_kind(kind)
    return kind


def kind_names() -> list[str]:
    """Return the names of all kinds, those of installed packages last."""
    return [*KINDS, *(name for name in plugin_names(GROUP) if name not in KINDS)]


def _prices(days: int, assets: int, seed: int) -> Vector:
    """Draw price relatives; the restless assets grow most."""
    rng = np.random.default_rng([as_count(seed, "seed", least=0), 0])
    deviation = rng.uniform(0.005, 0.03, as_count(assets, "assets"))
    return np.exp(rng.normal(0.05 * deviation, deviation, (days, assets)))


def _network(path: Path) -> Network:
    """Read a network file once per process, and again after a change."""
    return _loaded(path, sha256(path))


@lru_cache(maxsize=4)
def _loaded(path: Path, digest: str) -> Network:  # noqa: ARG001 - a part of the cache's key
    return Network.load(path)


def _ends(
    links: Network, path: Path, source: str | None, target: str | None
) -> tuple[str | int, str | int]:
    """Return the ends of the routes: as given, else as in the network file."""
    begin = links.source if source is None else source
    end = links.target if target is None else target
    if begin is None or end is None:
        raise ValueError(f"{path} names no source and target; give both as keys of the problem")
    return begin, end
