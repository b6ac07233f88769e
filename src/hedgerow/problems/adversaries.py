"""Adversaries on boxes and balls: their rounds react to the decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from hedgerow import kernels
from hedgerow.functions import Function, Linear, Quadratic
from hedgerow.inputs import DEFAULT_SEED, Vector, as_count, freeze
from hedgerow.problems.compiled_rounds import CompiledChunk, FunctionRows, packed_rows
from hedgerow.problems.problem import Round, chunk_slices, needs_policy
from hedgerow.problems.synthetic import SyntheticProblem
from hedgerow.protocols.parts import Policy
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.compiled import NO_INDEX

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
        """Return the rule as the constraint of each of some rounds."""
        own = np.empty((rounds, 0))
        return FunctionRows.of_rows(kernels.convex.look_at_worst, own, NO_INDEX, self.numbers)


class Adversary(SyntheticProblem):
    """Base of problems whose rounds react to the decisions."""

    n: int
    halfspaces: int

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the decisions: they do."""
        return True

    def _draw_normals(self, rng: Generator) -> Vector:
        """Draw unit normals of the halfspaces."""
        normals = rng.standard_normal((as_count(self.halfspaces, "halfspaces"), self.n))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return normals


@dataclass(frozen=True, eq=False)
class HardBox(Adversary):
    """Adaptive: stay near a target inside the box, while the worst of many halfspaces is shown.

    On [-1, 1]^n with targets y_t = y + noise, all in the interior: f_t(x) = ||x - y_t||^2 / 2,
    which is strongly convex, and g_t(x) = <h_j, x - z> for the halfspace j that x_t violates most,
    of unit normals h_j with <h_j, y - z> >= 0: the target breaks every one, the point z satisfies
    all. The best point lies on no face of the box, so every vertex is far from it: conditional
    gradient creeps, a projection does not.

    Args:
        n: the dimension.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    n: int = 100
    halfspaces: int = 30
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)
    target: Vector = field(init=False, repr=False)
    _normals: Vector = field(init=False, repr=False)

    def _build(self, rng: Generator) -> None:
        n = as_count(self.n, "n")
        z, y = rng.uniform(-0.5, 0.5, (2, n))
        h = rng.standard_normal((as_count(self.halfspaces, "halfspaces"), n))
        h *= np.where(h @ (y - z) >= 0.0, 1.0, -1.0)[:, None]
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        freeze(self, decision_set=Box(-np.ones(n), np.ones(n)), feasible=z, target=y)
        freeze(self, _normals=h)

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next decision, then yield the round."""
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
        rng = self._generator(1)
        for _ in range(self.horizon):
            yield Quadratic.distance(self.target + rng.uniform(-0.4, 0.4, self.n))


@dataclass(frozen=True, eq=False)
class HalfspaceBox(Adversary):
    """Adaptive: each round the most violated of several halfspaces through one interior point.

    With unit normals c_j and an interior point z of the box [-1, 1]^n: j is the halfspace most
    violated at x_t, g_t(x) = <c_j, x - z> and f_t(x) = <-0.6 c_j + noise, x>, so that cost pushes
    into what the constraint forbids. z satisfies every constraint.

    Args:
        n: the dimension.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    n: int = 8
    halfspaces: int = 12
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: Box = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:
        box = Box(-np.ones(self.n), np.ones(self.n))
        freeze(self, decision_set=box, feasible=rng.uniform(-0.3, 0.3, self.n))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next decision, then yield the round."""
        policy = needs_policy(policy, self)
        rng = self._generator(1)
        worst = Halfspaces.through(self.feasible, self._draw_normals(rng))
        for _ in range(self.horizon):
            constraint, noise = worst.at(policy.ask()), 0.2 * rng.standard_normal(self.n)
            yield Linear(-PUSH * constraint.coefficients + noise), constraint

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk]:
        """Return the noise, and the rule that finds the worst halfspace as kernels."""
        rng = self._generator(1)
        worst = Halfspaces.through(self.feasible, self._draw_normals(rng))
        numbers, evaluate = np.append(PUSH, worst.numbers), kernels.convex.eval_against_worst
        for rounds in chunk_slices(self.horizon, size):
            k = rounds.stop - rounds.start
            noise = 0.2 * rng.standard_normal((k, self.n))

            def functions(r: int, x: Vector, noise: Vector = noise) -> Round:
                constraint = worst.at(x)
                return Linear(-PUSH * constraint.coefficients + noise[r]), constraint

            costs = FunctionRows.of_rows(evaluate, noise, NO_INDEX, numbers)
            yield CompiledChunk(k, costs, worst.rows(k), functions)


@dataclass(frozen=True, eq=False)
class OrthogonalBall(Adversary):
    """Adaptive: costs orthogonal to all that came before, with the sign that hurts.

    f_t(x) = <c_t, x> with c_t a unit vector orthogonal to c_1 + ... + c_{t-1} and <c_t, x_t> >= 0,
    so the sum of costs grows like sqrt(t) whatever is played; g_t is the most violated at x_t of
    halfspaces <h_j, x> <= 1/5. The origin satisfies every constraint with slack.

    Args:
        n: the dimension, at least 2.
        halfspaces: how many the adversary chooses from.
        horizon: the number of rounds.
        seed: fixes everything that does not react.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    """

    n: int = 10
    halfspaces: int = 30
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: L2Ball = field(init=False)
    feasible: Vector = field(init=False)

    def _build(self, rng: Generator) -> None:  # noqa: ARG002 - the rounds draw everything
        X = L2Ball(as_count(self.n, "n", least=2))
        freeze(self, n=X.dim, decision_set=X, feasible=np.zeros(X.dim))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Read the policy's next decision, then yield the round."""
        policy = needs_policy(policy, self)
        rng = self._generator(1)
        normals = self._draw_normals(rng)
        total = np.zeros(self.n)
        for _ in range(self.horizon):
            x = policy.ask()
            c = rng.standard_normal(self.n)
            if total.any():
                c -= (c @ total) / (total @ total) * total
            c /= np.linalg.norm(c) * (1.0 if c @ x >= 0.0 else -1.0)
            total += c
            yield Linear(c), Linear(normals[np.argmax(normals @ x)], -0.2)
