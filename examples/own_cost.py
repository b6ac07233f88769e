"""A cost of your own: anything with a value and a subgradient."""

from dataclasses import dataclass

import numpy as np

import hedgerow as hr
from hedgerow.inputs import Vector


@dataclass(frozen=True)
class Delay:
    """Queueing delay of a load x on links of given capacity: sum of x_i / (capacity_i - x_i)."""

    capacity: Vector

    def __call__(self, x: Vector) -> float:
        """Return the delay."""
        return float((x / (self.capacity - x)).sum())

    def grad(self, x: Vector) -> Vector:
        """Return its gradient."""
        return self.capacity / (self.capacity - x) ** 2


rng = np.random.default_rng(3)
X = hr.sets.Simplex(5)  # one unit of traffic over five links
prices = rng.uniform(0.5, 2.0, 5)
rounds = [
    (Delay(rng.uniform(1.5, 3.0, 5)), hr.Linear(prices * rng.uniform(0.9, 1.1, 5), -1.2))
    for _ in range(500)
]
problem = hr.RecordedProblem(X, rounds)
policy = hr.projection_free_coco(X)
trace = hr.Trace.of(hr.play(policy, problem))
best = hr.hindsight(problem)
print(f"regret {trace.regret(best):.2f} of {best.cost:.1f}, violation {trace.ccv:.2f} of a budget")
print(f"{best.status}, the benchmark's gap is {best.gap:.1e}")
print("load:", policy.ask().round(3), "best fixed:", best.x.round(3))
