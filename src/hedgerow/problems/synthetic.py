"""Synthetic games on simplices, boxes and balls: drawn rounds, and adversaries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from hedgerow import kernels
from hedgerow.functions import Function, Linear, Quadratic
from hedgerow.inputs import Vector, as_count, as_number
from hedgerow.problems.compiled_rounds import CompiledChunk, FunctionRows, packed_rows
from hedgerow.problems.problem import (
    LinearChunk,
    LinearProblem,
    Problem,
    Round,
    chunk_lengths,
    needs_policy,
)
from hedgerow.protocols.parts import Policy
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.compiled import NO_INDEX
from hedgerow.sets.simplices.simplex import Simplex


@dataclass(frozen=True, eq=False)
class IidSimplex(LinearProblem):
    """Split a budget over n options whose prices and loads are drawn anew each round.

    f_t(x) = <mu + noise, x> with noise uniform in [-1/2, 1/2]^n, g_t(x) = <a_t, x - z> with
    a_t = 1/2 - mu + noise of its own: cheap options are the loaded ones. The interior point z
    keeps every round's constraint exactly.

    Args:
        n: the number of options.
        horizon: the number of rounds.
        seed: fixes everything.

    """

    n: int = 20
    horizon: int = 4000
    seed: int = 0
    decision_set: Simplex = field(init=False)
    feasible: Vector = field(init=False)
    _mean: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Simplex(self.n))
        object.__setattr__(self, "_mean", rng.uniform(0.0, 1.0, self.n))
        object.__setattr__(self, "feasible", rng.dirichlet(np.full(self.n, 2.0)))

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        costs, loads = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        for k in chunk_lengths(self.horizon, size):
            c = self._mean + costs.uniform(-0.5, 0.5, (k, self.n))
            a = 0.5 - self._mean + loads.uniform(-0.5, 0.5, (k, self.n))
            # row by row, so that a round does not depend on the chunk it comes in
            yield LinearChunk(c, np.zeros(k), a, -(a * self.feasible).sum(axis=1))


@dataclass(frozen=True, eq=False)
class QuadraticBox(Problem):
    """Stay near a moving target, inside a moving ball.

    On the box [-1, 1]^n: f_t(x) = ||x - y_t||^2 / 2 with y_t around a corner,
    g_t(x) = ||x - z_t||^2 - 1/4 with ||z_t - z|| <= 0.4 for one fixed z, which therefore keeps
    every constraint with slack at least 0.09.

    Args:
        n: the dimension.
        horizon: the number of rounds.
        seed: fixes everything.

    """

    n: int = 8
    horizon: int = 4000
    seed: int = 0
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Box(-np.ones(self.n), np.ones(self.n)))
        object.__setattr__(self, "feasible", rng.uniform(-0.3, 0.3, self.n))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds as pairs (cost, constraint)."""
        rng = np.random.default_rng([self.seed, 1])
        for _ in range(self.horizon):
            y = 0.8 + 0.2 * rng.standard_normal(self.n)
            step = rng.standard_normal(self.n)
            z = self.feasible + 0.4 * rng.uniform() * step / np.linalg.norm(step)
            yield Quadratic.distance(y), Quadratic.distance(z, factor=2.0, offset=-0.25)


PUSH = 0.6
"""How strongly costs push into the worst halfspace."""


class Halfspaces(NamedTuple):
    """Halfspaces <h_j, x> + b_j <= 0, of which an adversary shows the one that x violates most.

    `numbers` holds b_j and h_j of each, one after the other.
    """

    numbers: Vector

    @classmethod
    def through(cls, z: Vector, normals: Vector) -> Halfspaces:
        """Return the halfspaces through a point."""
        offsets = np.array([-float(h @ z) for h in normals])
        return cls(np.column_stack([offsets, normals]).reshape(-1))

    def at(self, x: Vector) -> Linear:
        """Return the one that x violates most."""
        j = kernels.convex.worst_of(self.numbers, x) * (x.size + 1)
        return Linear(self.numbers[j + 1 : j + 1 + x.size], float(self.numbers[j]))

    def rows(self, rounds: int) -> FunctionRows:
        """Return the rule for so many rounds."""
        own = np.empty((rounds, 0))
        return FunctionRows.of_rows(kernels.convex.look_at_worst, own, NO_INDEX, self.numbers)


@dataclass(frozen=True, eq=False)
class HardBox(Problem):
    """Adaptive: stay near a target inside the box, while the worst of many halfspaces is shown.

    On [-1, 1]^n with targets y_t = y + noise, all in the interior: f_t(x) = ||x - y_t||^2 / 2,
    which is strongly convex, and g_t(x) = <h_j, x - z> for the halfspace j that x_t violates most,
    of unit normals h_j with <h_j, y - z> >= 0: the target breaks every one, the point z keeps all.
    The best point lies on no face of the box, so every vertex is far from it: conditional gradient
    creeps, a projection does not.

    Args:
        n: the dimension.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.

    """

    n: int = 100
    halfspaces: int = 30
    horizon: int = 4000
    seed: int = 0
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)
    target: Vector = field(init=False, repr=False)
    _normals: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = as_count(self.n, "n")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        z, y = rng.uniform(-0.5, 0.5, (2, n))
        h = rng.standard_normal((as_count(self.halfspaces, "halfspaces"), n))
        h *= np.where(h @ (y - z) >= 0.0, 1.0, -1.0)[:, None]
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("decision_set", Box(-np.ones(n), np.ones(n))),
            ("feasible", z),
            ("target", y),
            ("_normals", h),
        ):
            object.__setattr__(self, name, value)

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the plays: they do."""
        return True

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next play, then yield the round."""
        policy = needs_policy(policy, self)
        worst = Halfspaces.through(self.feasible, self._normals)
        for cost in self._costs():
            yield cost, worst.at(policy.ask())

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk]:
        """Return the costs, and the rule that finds the worst halfspace as a kernel."""
        worst, costs = Halfspaces.through(self.feasible, self._normals), self._costs()
        while batch := list(islice(costs, size)):
            rows = packed_rows(batch, self.n)
            yield CompiledChunk(
                len(batch),
                rows,
                worst.rows(len(batch)),
                lambda r, x, batch=batch: (batch[r], worst.at(x)),  # type: ignore[misc]
            )

    def _costs(self) -> Iterator[Function]:
        rng = np.random.default_rng([self.seed, 1])
        for _ in range(self.horizon):
            yield Quadratic.distance(self.target + rng.uniform(-0.4, 0.4, self.n))


@dataclass(frozen=True, eq=False)
class HalfspaceBox(Problem):
    """Adaptive: each round the most violated of several halfspaces through one interior point.

    With unit normals c_j and an interior point z of the box [-1, 1]^n: j is the halfspace most
    violated at x_t, g_t(x) = <c_j, x - z> and f_t(x) = <-0.6 c_j + noise, x>, so that cost pushes
    into what the constraint forbids. z keeps every constraint.

    Args:
        n: the dimension.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.

    """

    n: int = 8
    halfspaces: int = 12
    horizon: int = 4000
    seed: int = 0
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Box(-np.ones(self.n), np.ones(self.n)))
        object.__setattr__(self, "feasible", rng.uniform(-0.3, 0.3, self.n))

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the plays: they do."""
        return True

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next play, then yield the round."""
        policy = needs_policy(policy, self)
        rng = np.random.default_rng([self.seed, 1])
        normals = rng.standard_normal((self.halfspaces, self.n))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        worst = Halfspaces.through(self.feasible, normals)
        for _ in range(self.horizon):
            constraint, noise = worst.at(policy.ask()), 0.2 * rng.standard_normal(self.n)
            yield Linear(-PUSH * constraint.coefficients + noise), constraint

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk]:
        """Return the noise, and the rule that finds the worst halfspace as kernels."""
        rng = np.random.default_rng([self.seed, 1])
        normals = rng.standard_normal((self.halfspaces, self.n))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        worst = Halfspaces.through(self.feasible, normals)
        numbers, evaluate = np.append(PUSH, worst.numbers), kernels.convex.eval_against_worst
        for k in chunk_lengths(self.horizon, size):
            noise = 0.2 * rng.standard_normal((k, self.n))

            def functions(r: int, x: Vector, noise: Vector = noise) -> Round:
                constraint = worst.at(x)
                return Linear(-PUSH * constraint.coefficients + noise[r]), constraint

            costs = FunctionRows.of_rows(evaluate, noise, NO_INDEX, numbers)
            yield CompiledChunk(k, costs, worst.rows(k), functions)


@dataclass(frozen=True, eq=False)
class OrthogonalBall(Problem):
    """Adaptive: costs orthogonal to all that came before, with the sign that hurts.

    f_t(x) = <c_t, x> with c_t a unit vector orthogonal to c_1 + ... + c_{t-1} and <c_t, x_t> >= 0,
    so the sum of costs grows like sqrt(t) whatever is played; g_t is the most violated at x_t of
    halfspaces <h_j, x> <= 1/5. The origin keeps every constraint with slack.

    Args:
        n: the dimension, at least 2.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.

    """

    n: int = 10
    halfspaces: int = 30
    horizon: int = 4000
    seed: int = 0
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n", least=2))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        as_count(self.seed, "seed", least=0)
        object.__setattr__(self, "decision_set", L2Ball(self.n))
        object.__setattr__(self, "feasible", np.zeros(self.n))

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the plays: they do."""
        return True

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next play, then yield the round."""
        policy = needs_policy(policy, self)
        rng = np.random.default_rng([self.seed, 1])
        normals = rng.standard_normal((self.halfspaces, self.n))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        total = np.zeros(self.n)
        for _ in range(self.horizon):
            x = policy.ask()
            c = rng.standard_normal(self.n)
            if total.any():
                c -= (c @ total) / (total @ total) * total
            c /= np.linalg.norm(c) * (1.0 if c @ x >= 0.0 else -1.0)
            total += c
            yield Linear(c), Linear(normals[np.argmax(normals @ x)], -0.2)


@dataclass(frozen=True, eq=False)
class SwitchingBall(LinearProblem):
    """The cost pushes the first coordinate one way, then the other; the constraint holds it back.

    In a phase of sign s: f_t(x) = <-s e_1 + noise, x>, g_t(x) = <s e_1 + noise, x> - 1/10. The
    origin keeps every constraint with slack. With growth 1.6 each phase is that much longer than
    the one before; with growth 1 all phases last sqrt(T) rounds.

    Args:
        n: the dimension.
        horizon: the number of rounds.
        seed: fixes everything.
        growth: the ratio of successive phase lengths.

    """

    n: int = 10
    horizon: int = 4000
    seed: int = 0
    growth: float = 1.6
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        as_count(self.seed, "seed", least=0)
        if as_number(self.growth, "growth") < 1.0:
            raise ValueError(f"growth must be at least 1, got {self.growth:g}")
        object.__setattr__(self, "decision_set", L2Ball(self.n))
        object.__setattr__(self, "feasible", np.zeros(self.n))

    def _signs(self) -> Vector:
        length = 8.0 if self.growth > 1.0 else math.sqrt(self.horizon)
        signs = np.empty(self.horizon)
        begin, sign = 0, 1.0
        while begin < self.horizon:
            end = begin + math.ceil(min(length, self.horizon))
            signs[begin:end] = sign
            begin, sign, length = end, -sign, length * self.growth
        return signs

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        costs, limits = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        signs, done = self._signs(), 0
        for k in chunk_lengths(self.horizon, size):
            s = signs[done : done + k]
            done += k
            c = 0.3 / math.sqrt(self.n) * costs.standard_normal((k, self.n))
            a = 0.3 / math.sqrt(self.n) * limits.standard_normal((k, self.n))
            c[:, 0] -= s
            a[:, 0] += s
            yield LinearChunk(c, np.zeros(k), a, np.full(k, -0.1))
