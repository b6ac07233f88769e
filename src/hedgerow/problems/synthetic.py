"""Synthetic problems: what all of them share, and games on simplices, boxes and balls."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hedgerow.functions import Quadratic
from hedgerow.inputs import (
    DEFAULT_SEED,
    RNG,
    Vector,
    as_count,
    as_number,
    as_seed,
    freeze,
    read_only,
)
from hedgerow.problems.problem import (
    EnvelopedProblem,
    LinearChunk,
    LinearProblem,
    Problem,
    Round,
    chunk_slices,
)
from hedgerow.protocols.parts import Policy
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import Simplex


@dataclass(frozen=True, eq=False, repr=False)
class Seeded:
    """Adds an argument `rng` to a dataclass, which is given in place of `seed`."""

    rng: InitVar[RNG | None] = field(default=None, kw_only=True)


class SyntheticProblem(Seeded, Problem):
    """Base of problems drawn from one seed.

    A subclass is a frozen dataclass with a field `horizon` and, unless nothing is random, `seed`.
    """

    seed: int = DEFAULT_SEED

    def __post_init__(self, rng: RNG | None) -> None:
        if rng is not None and not any(one.name == "seed" for one in fields(self)):
            raise TypeError(f"{type(self).__name__} draws nothing at random; leave out rng")
        freeze(self, horizon=as_count(self.horizon, "horizon"), seed=as_seed(self.seed, rng))
        self._build(self._generator(0))

    @abstractmethod
    def _build(self, rng: Generator) -> None:
        """Validate the other arguments, and draw and `freeze` what all rounds share."""

    def _generator(self, stream: int) -> Generator:
        """Return a new generator: stream 0 draws the problem, 1 costs and 2 constraints."""
        return np.random.default_rng([self.seed, stream])


class SyntheticRounds(SyntheticProblem, LinearProblem):
    """Base of synthetic problems with linear rounds."""

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time; the rounds are the same for every size."""
        costs, constraints = self._generator(1), self._generator(2)
        for rounds in chunk_slices(self.horizon, size):
            yield self._draw(np.arange(rounds.start, rounds.stop), costs, constraints)

    @abstractmethod
    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:
        """Return the rounds t, counted from 0.

        Each round must take as many numbers of a generator as every other, one round after the
        other. Sums are taken row by row, so that a round does not depend on its chunk.
        """


class ScaledRounds(SyntheticRounds, EnvelopedProblem):
    """Base of synthetic problems whose coefficients are base values times uniform factors.

    f_t(x) = <cost, x> and g_t(x) = <constraint, x> + offset with the coefficients
    cost x wave x U[cost_factors] and constraint x U[constraint_factors]; the wave is 1 unless
    `_wave` is overridden. `_build` must freeze `_cost`, `_constraint` and `_offset`.
    """

    cost_factors: tuple[float, float]
    constraint_factors: tuple[float, float]
    swing = 0.0
    """How far the wave of costs goes up and down about 1."""
    _cost: Vector
    _constraint: Vector
    _offset: float

    def _wave(self, t: NDArray[np.intp]) -> Vector | float:  # noqa: ARG002
        """Return the factors of costs that are not random, by round and coordinate."""
        return 1.0

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        low, high = self.cost_factors
        costs = _extremes(self._cost, (1.0 - self.swing) * low, (1.0 + self.swing) * high)
        constraints = _extremes(self._constraint, *self.constraint_factors)
        least, largest = (
            LinearChunk.of(c, a, self._offset) for c, a in zip(costs, constraints, strict=True)
        )
        return least, largest

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:
        shape = t.size, self._cost.size
        c = self._cost * self._wave(t) * costs.uniform(*self.cost_factors, shape)
        a = self._constraint * constraints.uniform(*self.constraint_factors, shape)
        return LinearChunk.of(c, a, self._offset)


def _extremes(base: Vector, low: float, high: float) -> tuple[Vector, Vector]:
    """Return the least and the largest of base x factor, for base values of any sign."""
    return np.minimum(low * base, high * base), np.maximum(low * base, high * base)


def feasible_limit(
    given: float | None, least: float, name: str, needs: str, rounding: float = 1e-12
) -> float:
    """Return a limit: the given one, or 1.1 times the least that some action satisfies.

    Args:
        given: the limit, or None.
        least: what the feasible point needs in its worst round.
        name: of the limit, for errors.
        needs: who needs that much, for errors: "the cleanest plan emits".
        rounding: the relative margin above `least` that a given limit must leave.

    """
    limit = 1.1 * least if given is None else as_number(given, name)
    if limit < least * (1.0 + rounding):
        raise ValueError(
            f"{needs} up to {least:g} in a round, above the {name} {limit:g}; raise the {name} "
            "above that"
        )
    return limit


class IidRounds(SyntheticRounds):
    """Base of problems with prices and loads drawn anew each round; what is cheap is loaded."""

    feasible: Vector
    _mean: Vector

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:
        shape = t.size, self._mean.size
        c = self._mean + costs.uniform(-0.5, 0.5, shape)
        a = 0.5 - self._mean + constraints.uniform(-0.5, 0.5, shape)
        return LinearChunk.of(c, a, -(a * self.feasible).sum(axis=1))


@dataclass(frozen=True, eq=False)
class IidSimplex(IidRounds):
    """Split a budget over n options whose prices and loads are drawn anew each round.

    f_t(x) = <mu + noise, x> with noise uniform in [-1/2, 1/2]^n, g_t(x) = <a_t, x - z> with
    a_t = 1/2 - mu + noise of its own: cheap options are the loaded ones. The interior point z
    satisfies every round's constraint exactly.

    Args:
        n: the number of options.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    n: int = 20
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Simplex = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:
        mean = rng.uniform(0.0, 1.0, self.n)
        feasible = rng.dirichlet(np.full(self.n, 2.0))
        freeze(self, decision_set=Simplex(self.n), _mean=mean, feasible=feasible)


VERTICES = 8
"""How many vertices the feasible point of `IidLinear` is the mean of."""


@dataclass(frozen=True, eq=False)
class IidLinear(IidRounds):
    """Prices and loads on the coordinates of any set, drawn anew each round.

    f_t(x) = <mu + noise, x> with noise uniform in [-1/2, 1/2]^n, g_t(x) = <a_t, x - z> with
    a_t = 1/2 - mu + noise of its own: what is cheap is loaded. The point z, the mean of a few
    vertices in random directions, satisfies every round's constraint exactly.

    Args:
        decision_set: where the game is played.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    decision_set: DecisionSet
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    feasible: Vector = field(init=False, repr=False)

    def _build(self, rng: Generator) -> None:
        if not isinstance(self.decision_set, DecisionSet):
            raise TypeError(
                f"IidLinear needs a DecisionSet, such as sets.Simplex(8), got "
                f"{self.decision_set!r:.60}"
            )
        n, lmo = self.decision_set.dim, self.decision_set.lmo
        mean = rng.uniform(0.0, 1.0, n)
        found = [lmo(direction) for direction in rng.standard_normal((VERTICES, n))]
        freeze(self, _mean=mean, feasible=read_only(np.mean(found, axis=0)))


@dataclass(frozen=True, eq=False)
class QuadraticBox(SyntheticProblem):
    """Stay near a moving target, inside a moving ball.

    On the box [-1, 1]^n: f_t(x) = ||x - y_t||^2 / 2 with y_t around a corner,
    g_t(x) = ||x - z_t||^2 - 1/4 with ||z_t - z|| <= 0.4 for one fixed z, which therefore satisfies
    every constraint with slack at least 0.09.

    Args:
        n: the dimension.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    n: int = 8
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:
        box = Box(-np.ones(self.n), np.ones(self.n))
        freeze(self, decision_set=box, feasible=rng.uniform(-0.3, 0.3, self.n))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds as pairs (cost, constraint)."""
        rng = self._generator(1)
        for _ in range(self.horizon):
            y = 0.8 + 0.2 * rng.standard_normal(self.n)
            step = rng.standard_normal(self.n)
            z = self.feasible + 0.4 * rng.uniform() * step / np.linalg.norm(step)
            yield Quadratic.distance(y), Quadratic.distance(z, factor=2.0, offset=-0.25)


@dataclass(frozen=True, eq=False)
class SwitchingBall(SyntheticRounds):
    """The cost pushes the first coordinate one way, then the other; the constraint holds it back.

    In a phase of sign s: f_t(x) = <-s e_1 + noise, x>, g_t(x) = <s e_1 + noise, x> - 1/10. The
    origin satisfies every constraint with slack. With growth 1.6 each phase is that much longer
    than the one before; with growth 1 all phases last sqrt(T) rounds.

    Args:
        n: the dimension.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        growth: the ratio of successive phase lengths.

    """

    n: int = 10
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    growth: float = 1.6
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - nothing else is drawn
        if as_number(self.growth, "growth") < 1.0:
            raise ValueError(f"growth must be at least 1, got {self.growth:g}")
        freeze(self, decision_set=L2Ball(self.n), feasible=np.zeros(self.n))

    @cached_property
    def _signs(self) -> Vector:
        """The sign of each round's phase."""
        length = 8.0 if self.growth > 1.0 else math.sqrt(self.horizon)
        signs = np.empty(self.horizon)
        begin, sign = 0, 1.0
        while begin < self.horizon:
            end = begin + math.ceil(min(length, self.horizon))
            signs[begin:end] = sign
            begin, sign, length = end, -sign, length * self.growth
        return signs

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:
        shape, noise = (t.size, self.n), 0.3 / math.sqrt(self.n)
        c, a = (noise * rng.standard_normal(shape) for rng in (costs, constraints))
        c[:, 0] -= self._signs[t]
        a[:, 0] += self._signs[t]
        return LinearChunk.of(c, a, -0.1)
