"""A Gymnasium environment for any problem: an episode is a game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hedgerow.feedback import first_order
from hedgerow.functions import parts_of
from hedgerow.inputs import Vector, as_vector
from hedgerow.integrations.gym_agents import Observation, first_observation, make_observation
from hedgerow.problems.problem import Problem, Round
from hedgerow.sets.decision_set import DecisionSet

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise ImportError(
        'an environment needs gymnasium; install it with: pip install ".[gymnasium]"'
    ) from None

TOLERANCE = 1e-6
"""An action may lie this far outside of the set, which is more than rounding."""
LARGEST_SEED = 2**31 - 1


class DecisionSpace(spaces.Space[Vector]):
    """A decision set as a space of actions: its members are the points of the set.

    A sample is a random mixture of vertices, as many as the set has dimensions and at most 8. It
    is not uniform.

    Args:
        decision_set: any set.

    """

    def __init__(self, decision_set: DecisionSet):
        super().__init__((decision_set.dim,), np.float64)
        self.decision_set = decision_set

    @property
    def is_np_flattenable(self) -> bool:
        """Whether it could be flattened to a `Box`: a set is not one."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> Vector:
        """Draw a point of the set; masks and probabilities are refused."""
        if mask is not None or probability is not None:
            raise ValueError("a decision set has no masks or probabilities; sample() draws a point")
        X = self.decision_set
        weights = self.np_random.dirichlet(np.ones(min(8, X.dim)))
        vertices = [X.lmo(self.np_random.standard_normal(X.dim)) for _ in weights]
        return np.asarray(weights @ np.array(vertices))

    def contains(self, x: Any) -> bool:
        """Whether x is a point of the set, up to rounding."""
        return (
            isinstance(x, np.ndarray)
            and x.shape == self.shape
            and bool(np.isfinite(x).all())
            and self.decision_set.contains(x, TOLERANCE)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecisionSpace) and other.decision_set is self.decision_set

    def __repr__(self) -> str:
        return f"DecisionSpace({self.decision_set!r})"


class ProblemEnv(gymnasium.Env[Observation, Vector]):
    """A problem as a Gymnasium environment: one step is one round, one episode one game.

    The action is the decision, a point of the set. The reward is minus the cost. What is observed
    is the round that was just played, to first order: `round`, `decision`, `cost`,
    `cost_gradient`, `constraint` and `constraint_gradient`, arrays of float64; `round` is 0 before
    the first. `info` has `cost`, the constraint's `violation`, max(0, g_t(x_t)), and the value of
    `each` constraint. An episode is truncated after the last round. Rounds of an adaptive problem
    react to the action.

    Args:
        problem: a problem, the same in every episode; or a function that makes one from a seed,
            such as `lambda seed: IidSimplex(seed=seed)`. It gets the seed of `reset`, or one drawn
            from the environment's generator. All problems must be on one set.

    """

    def __init__(self, problem: Problem | Callable[[int], Problem]):
        if not isinstance(problem, Problem) and not callable(problem):
            raise TypeError(
                f"problem must be a Problem, or a function that makes one from a seed, got "
                f"{problem!r:.60}"
            )
        self._make = problem if callable(problem) else None
        self.problem = problem(0) if callable(problem) else problem
        X = self.problem.decision_set
        self.action_space = self._space = DecisionSpace(X)
        self.observation_space = spaces.Dict(
            {
                "round": spaces.Box(0, self.problem.horizon, (1,), np.int64),
                "decision": _numbers(X.dim),
                "cost": _numbers(1),
                "cost_gradient": _numbers(X.dim),
                "constraint": _numbers(1),
                "constraint_gradient": _numbers(X.dim),
            }
        )
        self._rounds: Iterator[Round] = iter(())
        self._t = 0
        self._x = X.start()

    def ask(self) -> Vector:
        """Return the action of this step, which an adaptive problem reacts to."""
        return self._x.copy()

    def tell(self, cost: object, constraint: object, /) -> None:
        """Do nothing: a problem sees a policy here, and problems only ask."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game.

        Args:
            seed: fixes the rounds, where a function makes the problem, and samples of actions.
            options: not used.

        """
        super().reset(seed=seed, options=options)
        if self._make is not None:
            drawn = int(self.np_random.integers(LARGEST_SEED)) if seed is None else seed
            self.problem = self._make(drawn)
            X, before = self.problem.decision_set, self._space.decision_set
            if X.dim != before.dim:
                raise ValueError(
                    f"seed {drawn} makes a problem in dimension {X.dim}, and the environment has "
                    f"{before.dim}; let all problems be on one set"
                )
            self._space.decision_set = X
        self._rounds, self._t = self.problem.rounds(self), 0
        return first_observation(self.problem.decision_set), {}

    def step(self, action: Vector) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a round with this decision."""
        X = self.problem.decision_set
        x = as_vector(action, "the action", X)
        if not X.contains(x, TOLERANCE):
            raise ValueError(
                f"the action lies outside of {X!r}; give a point of the set, such as "
                "X.project(action) or X.lmo(c)"
            )
        self._x = x.copy()
        try:
            cost, constraint = next(self._rounds)
        except StopIteration:
            raise RuntimeError("the game is over, or has not begun; call reset()") from None
        self._t += 1
        seen = first_order(cost, x), first_order(constraint, x)
        each = tuple(part(x) for part in parts_of(constraint))
        info = {"cost": seen[0].value, "violation": max(0.0, *each), "each": each}
        over = self._t == self.problem.horizon
        return make_observation(self._t, x, *seen), -seen[0].value, False, over, info


def _numbers(n: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, (n,), np.float64)
