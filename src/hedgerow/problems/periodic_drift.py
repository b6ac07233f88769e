"""Routes on a network whose latencies and bandwidths drift, each link in a time of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_number
from hedgerow.problems.problem import chunk_lengths
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.variation import PAPER_BANDWIDTH, PAPER_LATENCY, UniformScaling

LATENCY_SWING = 0.5
BANDWIDTH_SWING = 0.25
"""How far the tides of latency and bandwidth go up and down, as shares of the base: invented."""


@dataclass(frozen=True)
class PeriodicDrift:
    """Each value is its base times noise times a tide, 1 + swing w(t/period + phase).

    w is the triangular wave of period 1 between -1 and 1; each edge has a phase of its own, drawn
    uniformly, so that links are good at different times. Times are counted in rounds from 0.

    Args:
        noise: the law of the noise, drawn for each edge and round.
        swing: how far the tide goes up and down, from 0 to below 1.
        period: rounds from one high tide to the next.

    >>> PeriodicDrift(UniformScaling(0.8, 1.2), 0.25, 400).label(1600)
    'x U[0.8, 1.2] x tide of 25 % in 400 rounds'

    """

    noise: UniformScaling
    swing: float
    period: int

    def __post_init__(self) -> None:
        if not 0.0 <= as_number(self.swing, "swing") < 1.0:
            raise ValueError(f"swing must be at least 0 and below 1, got {self.swing:g}")
        as_count(self.period, "period")

    def bounds(self, base: Vector) -> tuple[Vector, Vector]:
        """Return the values at low tide with least noise, and at high tide with most."""
        low, high = self.noise.bounds(base)
        return (1.0 - self.swing) * low, (1.0 + self.swing) * high

    def extremes(self, base: Vector, x: Vector) -> tuple[float, float]:
        """Return the sums at all low and all high tides, for x >= 0."""
        low, high = self.bounds(base)
        return float(low @ x), float(high @ x)

    def chunks(
        self, base: Vector, horizon: int, size: int, rng: np.random.Generator
    ) -> Iterator[Vector]:
        """Draw the phases, then the noise, `size` rounds at a time."""
        phases, done = rng.uniform(size=base.size), 0
        noise = self.noise.chunks(base, horizon, size, rng)
        for k, values in zip(chunk_lengths(horizon, size), noise, strict=True):
            u = np.arange(done, done + k)[:, None] / self.period + phases
            done += k
            wave = 4.0 * np.abs(u - np.floor(u) - 0.5) - 1.0  # high at whole numbers
            yield values * (1.0 + self.swing * wave)

    def label(self, horizon: int) -> str:
        """Name noise and tide."""
        tide = f"tide of {100.0 * self.swing:g} % in {self.period} rounds"
        return f"{self.noise.label(horizon)} x {tide}"

    def restricted(self, kept: NDArray[np.intp], total: int) -> PeriodicDrift:  # noqa: ARG002
        """Return itself: all edges follow one law."""
        return self


def drifting_paths(
    nodes: int = 100, edges: int = 600, horizon: int = 1600, seed: int = 0, period: int = 800
) -> ShortestPath:
    """Return the paper's routing problem on a drawn graph, with latency and bandwidth in tides.

    The graph and its base values are those of `ShortestPath.atlas_like`, and so is the noise,
    x U[0.5, 1.5] on latency and x U[0.8, 1.2] on bandwidth. Latency has a tide of 50 % and
    bandwidth one of 25 %. The threshold is that of `atlas_like` if the path of largest base
    bandwidth bmax keeps it at low tide, else what that path surely carries, 0.8 x 0.75 bmax:
    `problem.feasible` keeps every round. Latency is in ms, bandwidth in Mbit/s.

    Args:
        nodes: how many nodes, the hub included.
        edges: how many edges, all of them on some path.
        horizon: the number of rounds.
        seed: fixes everything.
        period: rounds from one high tide to the next.

    >>> problem = drifting_paths(nodes=12, edges=40, horizon=100, seed=1, period=50)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """
    still = ShortestPath.atlas_like(nodes, edges, horizon, seed)
    carried = PeriodicDrift(PAPER_BANDWIDTH, BANDWIDTH_SWING, period)
    surest = -still.decision_set.minimum(-carried.bounds(still.bandwidth)[0])
    return replace(
        still,
        threshold=min(still.threshold, (1.0 - 1e-12) * surest),
        latency_rounds=PeriodicDrift(PAPER_LATENCY, LATENCY_SWING, period),
        bandwidth_rounds=carried,
    )
