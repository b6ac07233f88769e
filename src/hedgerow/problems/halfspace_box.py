"""An adversary that always shows the halfspace that hurts most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.functions import Linear
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import Problem, Round, needs_policy
from hedgerow.protocols.parts import Policy
from hedgerow.sets.boxes import Box


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
        """Look at the policy's next play, then yield the round."""
        policy = needs_policy(policy, self)
        rng = np.random.default_rng([self.seed, 1])
        normals = rng.standard_normal((self.halfspaces, self.n))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        for _ in range(self.horizon):
            c = normals[np.argmax(normals @ (policy.ask() - self.feasible))]
            noise = 0.2 * rng.standard_normal(self.n)
            yield Linear(-0.6 * c + noise), Linear(c, -float(c @ self.feasible))
