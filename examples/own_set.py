"""A set of your own: all it needs is an oracle."""

import numpy as np
from numpy.typing import ArrayLike

import hedgerow as hr
from hedgerow.inputs import Vector, as_direction, as_vector
from hedgerow.testing import check_policy, check_set


class Staircases(hr.DecisionSet):
    """Schedules that never fall: 0 <= x_1 <= x_2 <= ... <= x_n <= 1."""

    def __init__(self, n: int):
        self.n = n

    @property
    def dim(self) -> int:
        """The number of steps."""
        return self.n

    @property
    def diameter(self) -> float:
        """From all zeros to all ones."""
        return float(np.sqrt(self.n))

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the best vertex: zeros, then ones from where the remaining cost is least."""
        rest = np.append(np.cumsum(as_direction(c, self.n)[::-1])[::-1], 0.0)
        x = np.zeros(self.n)
        x[int(np.argmin(rest)) :] = 1.0
        return x

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x rises from 0 to 1."""
        steps = np.diff(np.concatenate([[0.0], as_vector(x, "x", self.n), [1.0]]))
        return bool((steps >= -tol).all())

    def start(self) -> Vector:
        """Return half of everything."""
        return np.full(self.n, 0.5)


X = Staircases(6)
check_set(X)  # every promise that the library's own sets keep
check_policy(lambda: hr.projection_free_coco(X))

rng = np.random.default_rng(0)
policy = hr.projection_free_coco(X)
for _ in range(200):
    x = policy.ask()
    cost = hr.Linear(rng.uniform(0.0, 1.0, 6))  # running costs
    demand = hr.Linear(-rng.uniform(0.8, 1.2, 6), 2.0)  # at least 2 units of service
    policy.tell(hr.first_order(cost, x), hr.first_order(demand, x))
print("schedule after 200 rounds:", policy.ask().round(2))
