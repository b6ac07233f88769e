"""Drifting demands that are computed where they are needed, the same for every cut into parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow.inputs import Vector, as_count, as_number, as_positive, as_vector, freeze, read_only

Array = Any
ODD, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64 (Steele, Lea and Flood, 2014)."""


@kernel(number, whole, whole, whole)
def uniform(seed: int, pair: int, knot: int) -> float:
    """Return a number in [0, 1) that depends on the three numbers alone, by SplitMix64."""
    z = np.uint64(seed)
    for part in (pair, knot):
        z = (z ^ np.uint64(part)) + np.uint64(ODD)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
        z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 2.0**-53


@kernel(nothing, read, whole, whole, whole, read, write)
def drift(mean: Array, seed: int, begin: int, t: int, law: Array, demand: Array) -> None:
    """Write the demands of round t; law = [period, daily, noise, rounds between two draws]."""
    knot, daily, noise = int(t // int(law[3])), law[1], law[2]
    u = t / law[3] - knot
    for i in range(len(mean)):
        pair = begin + i
        phase = uniform(seed, pair, -1)
        hour = 1.0 + daily * math.sin(2.0 * math.pi * (t / law[0] + phase))
        drawn = (1.0 - u) * uniform(seed, pair, knot) + u * uniform(seed, pair, knot + 1)
        demand[i] = mean[i] * hour * math.exp(noise * (2.0 * drawn - 1.0))


@dataclass(frozen=True, eq=False)
class DriftingDemand:
    """Demands with a day of their own for each pair, and noise that changes slowly.

    d_t = mean (1 + daily sin(2 pi (t/period + phase))) exp(noise z_t) with a random phase for each
    pair and z_t in [-1, 1], drawn every `hold` rounds and interpolated between. Each number depends
    on the seed, the pair and the round alone: nothing of size rounds x pairs is ever held, and
    every process computes its own part.

    Args:
        mean: of each pair, at least 0.
        seed: fixes every draw.
        period: rounds per day.
        daily: how far demand rises and falls in a day, as a share, below 1.
        noise: how far the logarithm moves.
        hold: rounds between two draws of the noise.

    >>> stream = DriftingDemand([1.0, 2.0, 3.0], seed=0)
    >>> bool((stream.part(7, 1, 3) == stream.part(7, 0, 3)[1:]).all())
    True

    """

    mean: Vector
    seed: int
    period: float = 288.0
    daily: float = 0.5
    noise: float = 0.5
    hold: int = 24

    def __post_init__(self) -> None:
        mean = as_vector(self.mean, "mean")
        if mean.min() < 0.0 or not 0.0 <= as_number(self.daily, "daily") < 1.0:
            raise ValueError("means must be at least 0, and daily at least 0 and below 1")
        freeze(
            self,
            mean=read_only(mean),
            seed=as_count(self.seed, "seed", 0),
            period=as_positive(self.period, "period"),
            hold=as_count(self.hold, "hold"),
        )

    def part(self, t: int, begin: int, end: int) -> Vector:
        """Return the demands of the pairs begin .. end in round t, from 0 on."""
        demand = np.empty(end - begin)
        law = np.array([self.period, self.daily, self.noise, float(self.hold)])
        drift(self.mean[begin:end], self.seed, begin, t, law, demand)
        return demand


def gravity_means(
    masses: ArrayLike, pairs: NDArray[np.integer[Any]], seed: int, spread: float = 1.0
) -> Vector:
    """Return m_i m_j times a lognormal factor for each pair of nodes (i, j), with mean 1 in all.

    Args:
        masses: of each node, such as its number of links.
        pairs: one row (origin, destination) for each pair.
        seed: fixes every draw.
        spread: the standard deviation of the factor's logarithm.

    """
    mass = as_vector(masses, "masses")
    rng = np.random.default_rng([as_count(seed, "seed", 0), 36])
    mean = mass[pairs[:, 0]] * mass[pairs[:, 1]] * rng.lognormal(0.0, spread, len(pairs))
    scaled: Vector = mean / mean.mean()
    return scaled
