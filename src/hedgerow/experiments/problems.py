"""Problems by name, with the parameters that an experiment file may set.

Each function below is one kind: its name is the word in the file, its keyword parameters are the
keys, and its docstring is what `hedgerow list` shows. Numbers are checked by the problems.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from hedgerow.experiments.digests import sha256
from hedgerow.experiments.kinds import Kind
from hedgerow.networks.network import Network
from hedgerow.problems.ad_slots import AdSlots
from hedgerow.problems.caching import Caching
from hedgerow.problems.halfspace_box import HalfspaceBox
from hedgerow.problems.iid_simplex import IidSimplex
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.log_portfolio import LogPortfolio
from hedgerow.problems.orthogonal_ball import OrthogonalBall
from hedgerow.problems.portfolio import Portfolio
from hedgerow.problems.problem import Problem
from hedgerow.problems.quadratic_box import QuadraticBox
from hedgerow.problems.ranking import Ranking
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.switching_ball import SwitchingBall
from hedgerow.problems.variation import Series


def atlas_like(horizon: int, seed: int, *, nodes: int = 191, edges: int = 1200) -> Problem:
    """Routes on a graph by the paper's recipe, latencies like RIPE Atlas', bandwidth synthetic."""
    return ShortestPath.atlas_like(nodes, edges, horizon, seed)


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
) -> Problem:
    """Routes on a network file whose latency series is played; a gap counts as `failed` ms."""
    links = _network(network)
    if links.latency_series is None:
        raise ValueError(f"{network} has no latency series; use kind = 'latency_cap'")
    ends = _ends(links, network, source, target)
    measured = Series(links.latency_series, failed=failed)
    return LatencyCap.from_network(
        links, *ends, horizon, seed, cap=cap, orientation=orientation, latency_rounds=measured
    )


def portfolio(
    horizon: int, seed: int, *, assets: int = 12, cap: float = 0.95, window: int = 60
) -> Problem:
    """Wealth split over assets with a cap on recent volatility; prices drawn, synthetic."""
    rng = np.random.default_rng([seed, 0])
    deviation = rng.uniform(0.005, 0.03, assets)  # the restless assets grow most
    relatives = np.exp(rng.normal(0.05 * deviation, deviation, (window + horizon, assets)))
    return Portfolio.low_volatility(relatives, cap, window, horizon)


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


def ranking(
    horizon: int, seed: int, *, n: int = 20, protected: int = 6, share: float | None = None
) -> Problem:
    """Rankings that owe a group a share of attention (permutahedron), synthetic."""
    return Ranking(n, protected, share, horizon, seed)


def ad_slots(
    horizon: int, seed: int, *, advertisers: int = 8, slots: int = 4, pacing: float = 0.3
) -> Problem:
    """Advertisers in slots, none outpacing its budget (matchings), synthetic."""
    return AdSlots(advertisers, slots, pacing, horizon, seed)


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


def iid_simplex(horizon: int, seed: int, *, n: int = 20) -> Problem:
    """Independent linear rounds on a simplex."""
    return IidSimplex(n, horizon, seed)


def switching_ball(horizon: int, seed: int, *, n: int = 10, growth: float = 1.6) -> Problem:
    """Phases in which cost and constraint pull a ball's first coordinate apart."""
    return SwitchingBall(n, horizon, seed, growth)


def quadratic_box(horizon: int, seed: int, *, n: int = 8) -> Problem:
    """Moving targets and moving discs on a box: curved costs and constraints."""
    return QuadraticBox(n, horizon, seed)


def halfspace_box(horizon: int, seed: int, *, n: int = 8, halfspaces: int = 12) -> Problem:
    """An adversary that always shows the halfspace that hurts most; it reacts to the plays."""
    return HalfspaceBox(n, halfspaces, horizon, seed)


def orthogonal_ball(horizon: int, seed: int, *, n: int = 10, halfspaces: int = 30) -> Problem:
    """The classical lower-bound adversary, with constraints; it reacts to the plays."""
    return OrthogonalBall(n, halfspaces, horizon, seed)


ALL = (
    Kind(ad_slots),
    Kind(atlas_like),
    Kind(caching),
    Kind(halfspace_box, reacts=True),
    Kind(iid_simplex),
    Kind(latency_cap),
    Kind(log_portfolio_csv, seeded=False),
    Kind(measured_latency_cap, seeded=False),
    Kind(orthogonal_ball, reacts=True),
    Kind(portfolio),
    Kind(portfolio_csv, seeded=False),
    Kind(quadratic_box),
    Kind(ranking),
    Kind(shortest_path),
    Kind(switching_ball),
)
KINDS = {kind.name: kind for kind in ALL}
"""Every kind of problem, by name."""


def _network(path: Path) -> Network:
    """Read a network file once in each process, and again when it says something else."""
    return _loaded(path, sha256(path))


@lru_cache(maxsize=4)
def _loaded(path: Path, digest: str) -> Network:  # noqa: ARG001 - a part of the cache's key
    return Network.load(path)


def _ends(
    links: Network, path: Path, source: str | None, target: str | None
) -> tuple[str | int, str | int]:
    """Return where routes begin and end: as given, else as the network file says."""
    begin = links.source if source is None else source
    end = links.target if target is None else target
    if begin is None or end is None:
        raise ValueError(f"{path} names no source and target; give both as keys of the problem")
    return begin, end
