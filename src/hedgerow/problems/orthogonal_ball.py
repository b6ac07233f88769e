"""The classical lower-bound adversary, with constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.functions import Linear
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import Problem, Round, needs_policy
from hedgerow.protocols.parts import Policy
from hedgerow.sets.balls import L2Ball


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
        """Look at the policy's next play, then yield the round."""
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
