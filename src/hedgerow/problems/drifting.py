"""Games that drift: subsets of a ring, and routes whose links each have a time of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_number, read_only
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk, chunk_lengths, one_round
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.variation import PAPER_BANDWIDTH, PAPER_LATENCY, UniformScaling
from hedgerow.sets.simplices.simplex import KSubsets

NOISE = 0.1
"""Half the width of the uniform noise on each price, in the unit of the prices."""
COVER = 0.8, 1.2
"""Factors of the cover that a chosen member gives, drawn for each member and round: invented."""


@dataclass(frozen=True, eq=False)
class DriftingSubsets(EnvelopedProblem):
    """Choose k of n members on a ring: cheap ones, some of them in the window of each round.

    f_t(x) = <c_t, x> with c_t,i = 1/2 - 2/5 cos(2 pi (i - p_t)/n) + U[-1/10, 1/10], where the
    cheapest place p_t moves on by one place in `drift` rounds, steadily. The window W_t of `window`
    neighbours moves the other way, by one place every `rotation` rounds, and
    g_t(x) = need - sum over W_t of a_t,i x_i with a_t,i from U[4/5, 6/5] and
    need = 4/5 window k/n. Equal shares x = k/n keep every round, whatever is drawn. No fixed
    action is good for long: a policy that tracks has a negative regret. Prices and cover have no
    physical unit. Synthetic; one seed fixes the places on the ring and the noise.

    Args:
        n: the number of members.
        k: how many are chosen, below n.
        window: how many neighbours are asked for cover, at most n.
        drift: rounds in which the cheapest place moves on by one.
        rotation: rounds in which the window moves on by one.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = DriftingSubsets(n=10, k=2, window=4, horizon=50)
    >>> problem.feasible[:2], round(problem.need, 9)
    (array([0.2, 0.2]), 0.64)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    n: int = 30
    k: int = 6
    window: int = 12
    drift: int = 50
    rotation: int = 20
    horizon: int = 4000
    seed: int = 0
    decision_set: KSubsets = field(init=False)
    need: float = field(init=False)
    _places: Vector = field(init=False, repr=False)
    _prices: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("k", "drift", "rotation", "horizon"):
            object.__setattr__(self, name, as_count(getattr(self, name), name))
        if self.k >= as_count(self.n, "n", least=2):
            raise ValueError(f"k must be below n = {self.n}, got {self.k}; choose fewer members")
        if as_count(self.window, "window") > self.n:
            raise ValueError(f"the window must be at most n = {self.n}, got {self.window}")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        prices = 0.5 - 0.4 * np.cos(2.0 * np.pi * np.arange(self.n) / self.n)
        for name, value in (
            ("decision_set", KSubsets(self.n, self.k)),
            ("need", COVER[0] * self.window * self.k / self.n * (1.0 - 1e-12)),
            ("_places", read_only(rng.permutation(self.n))),
            ("_prices", read_only(prices)),
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def feasible(self) -> Vector:
        """Equal shares: every window holds window k/n of them, and each gives at least 4/5."""
        return read_only(np.full(self.n, self.k / self.n))

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        cheap, dear = (np.full(self.n, c) for c in (self._prices.min(), self._prices.max()))
        most, none = np.full(self.n, -COVER[1]), np.zeros(self.n)
        low = one_round(cheap - NOISE, 0.0, most, self.need)
        return low, one_round(dear + NOISE, 0.0, none, self.need)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        prices, covers = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        n, done = self.n, 0
        for k in chunk_lengths(self.horizon, size):
            t = np.arange(done, done + k)[:, None]
            done += k
            behind = self._places - t // self.drift  # places from the cheapest one
            part = t % self.drift / self.drift  # how far it has gone towards the next
            c = (1.0 - part) * self._prices[behind % n] + part * self._prices[(behind - 1) % n]
            c += prices.uniform(-NOISE, NOISE, (k, n))
            asked = (self._places + t // self.rotation) % n < self.window
            a = asked * covers.uniform(*COVER, (k, n))
            yield LinearChunk(c, np.zeros(k), -a, np.full(k, self.need))


LATENCY_SWING = 0.5
BANDWIDTH_SWING = 0.25
"""How far the tides of latency and bandwidth go up and down, as shares of the base: invented."""


@dataclass(frozen=True)
class PeriodicDrift:
    """Each value is its base times noise times a periodic factor, 1 + swing w(t/period + phase).

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
        """Return how tables name this law: noise times tide."""
        tide = f"tide of {100.0 * self.swing:g} % in {self.period} rounds"
        return f"{self.noise.label(horizon)} x {tide}"

    def restricted(self, kept: NDArray[np.intp], total: int) -> PeriodicDrift:  # noqa: ARG002
        """Return itself: all edges follow one law."""
        return self


def drifting_paths(
    nodes: int = 100, edges: int = 600, horizon: int = 1600, seed: int = 0, period: int = 800
) -> ShortestPath:
    """Return the paper's routing problem on a random graph, with periodic latency and bandwidth.

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
