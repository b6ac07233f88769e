"""Curved costs with their optimum inside a large box: slow for methods that step to vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.functions import Linear, Quadratic
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import Problem, Round, needs_policy
from hedgerow.protocols.parts import Policy
from hedgerow.sets.boxes import Box


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
        """Look at the policy's next play, then yield the round."""
        policy = needs_policy(policy, self)
        rng = np.random.default_rng([self.seed, 1])
        for _ in range(self.horizon):
            h = self._normals[np.argmax(self._normals @ (policy.ask() - self.feasible))]
            y = self.target + rng.uniform(-0.4, 0.4, self.n)
            yield Quadratic.distance(y), Linear(h, -float(h @ self.feasible))
