"""Cheap routes that must be quick enough."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import RNG, Vector, as_count, as_number, as_seed, as_vector
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk
from hedgerow.problems.routes import Links, Orientation, find_routes
from hedgerow.problems.variation import PAPER_LATENCY, Variation
from hedgerow.sets.paths.dag_paths import DagPaths


@dataclass(frozen=True, eq=False)
class LatencyCap(EnvelopedProblem):
    """Rent links for one unit of traffic: low cost, and a mean latency of at most `cap`.

    f_t(x) = <price, x> and g_t(x) = <tau_t, x> - cap, with the latencies tau_t of each edge and
    round. An overlay pays for every link it uses; the direct link is the cheapest and not always
    the quickest, because measured latencies break the triangle inequality. x splits the traffic,
    and <tau_t, x> is the mean latency of its parts.

    Where routes of very many links exist, one round can violate by many times the cap, and a policy
    that learns this range may not react at all: `violation_unit=problem.cap` can help.

    Args:
        decision_set: the paths.
        price: the price of each edge.
        latency: base latency of each edge, in ms.
        cap: the mean latency that each round allows, in ms.
        horizon: the number of rounds.
        seed: fixes the rounds.
        price_source: where the prices come from, in a few words.
        latency_source: "measured", "proxy:..." or "synthetic:...".
        latency_rounds: how latency varies, a `UniformScaling` or a `Series` of measurements.
        orientation: how the edges were turned to form no cycle, in a few words.
        kept: the numbers of these edges in the network they come from, or None.

    >>> from types import SimpleNamespace
    >>> network = SimpleNamespace(
    ...     edges=[("s", "a"), ("a", "t"), ("s", "t")], latency_ms=[10.0, 10.0, 50.0]
    ... )
    >>> problem = LatencyCap.from_network(network, "s", "t", 100, 0)
    >>> problem.cap, problem.feasible, problem.violation_range
    (40.0, array([1., 1., 0.]), 35.0)

    """

    decision_set: DagPaths
    price: Vector
    latency: Vector
    cap: float
    horizon: int
    seed: int
    price_source: str = "given"
    latency_source: str = "given"
    latency_rounds: Variation = PAPER_LATENCY
    orientation: str = "as given"
    kept: NDArray[np.intp] | None = None

    @classmethod
    def from_network(
        cls,
        network: Links,
        source: Hashable,
        target: Hashable,
        horizon: int,
        seed: int | None = None,
        *,
        rng: RNG | None = None,
        cap: float | None = None,
        price: ArrayLike | None = None,
        orientation: Orientation = None,
        latency_rounds: Variation = PAPER_LATENCY,
    ) -> LatencyCap:
        """Play on a network of your own.

        Args:
            network: anything with `edges` and `latency_ms`, such as a `Network`.
            source: the node where routes begin, by name or as the edges have it.
            target: the node where they end.
            horizon: the number of rounds.
            seed: fixes the rounds.
            rng: in place of `seed`, a whole number or a generator of `numpy.random`.
            cap: the mean latency that each round allows, in ms, at least what the surest path
                takes in its worst round; None for midway between that and the cheapest path's.
            price: the price of each edge of the network; None for 1 each, so that a route's
                price is its number of links and nothing is invented.
            orientation: an order of the nodes, "distance" or None; edges that point backward in
                it, and those on no route, are left out.
            latency_rounds: how latency varies; a `Series` has one column for each edge of the
                network.

        """
        found = find_routes(network, source, target, orientation)
        X, kept = found.paths, found.kept
        varied = latency_rounds.restricted(kept, len(network.edges))
        edges = len(network.edges)
        prices = np.ones(edges) if price is None else as_vector(price, "price", edges)
        if prices.min() < 0.0:
            raise ValueError(f"prices must be at least 0, got {prices.min():g}")
        quickest = X.lmo(varied.bounds(found.latency)[1])
        surest = varied.extremes(found.latency, quickest)[1]
        if cap is None:
            cheapest = float(found.latency @ X.lmo(prices[kept]))
            cap = max(1.01 * surest, 0.5 * (cheapest + surest))
        elif as_number(cap, "cap") < surest:
            raise ValueError(
                f"the surest path takes up to {surest:g} ms, the cap is {cap:g}; "
                "raise it to at least that"
            )
        return cls(
            X,
            prices[kept],
            found.latency,
            cap,
            as_count(horizon, "horizon"),
            as_seed(seed, rng),
            "1 for each link" if price is None else "given",
            found.latency_source,
            varied,
            found.orientation,
            kept,
        )

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        fast, slow = self.latency_rounds.bounds(self.latency)
        low, high = (LinearChunk.of(self.price, tau, -self.cap) for tau in (fast, slow))
        return low, high

    @property
    def record(self) -> dict[str, str]:
        """What was chosen, what was measured and what was invented, for tables and plots."""
        return {
            "edges": f"{self.decision_set.dim}, {self.orientation}",
            "latency": f"{self.latency_source}, {self.latency_rounds.label(self.horizon)}",
            "price": self.price_source,
            "cap": f"{self.cap:g} ms",
            "seed": str(self.seed),
        }

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng = np.random.default_rng([self.seed, 1])
        for tau in self.latency_rounds.chunks(self.latency, self.horizon, size, rng):
            yield LinearChunk.of(np.tile(self.price, (len(tau), 1)), tau, -self.cap)
