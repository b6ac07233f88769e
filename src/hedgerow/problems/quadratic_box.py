"""Moving targets and moving discs: curved costs and curved constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.functions import Quadratic
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.parts import Policy
from hedgerow.sets.boxes import Box


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
        """Yield the rounds."""
        rng = np.random.default_rng([self.seed, 1])
        for _ in range(self.horizon):
            y = 0.8 + 0.2 * rng.standard_normal(self.n)
            step = rng.standard_normal(self.n)
            z = self.feasible + 0.4 * rng.uniform() * step / np.linalg.norm(step)
            yield Quadratic.distance(y), Quadratic.distance(z, factor=2.0, offset=-0.25)
