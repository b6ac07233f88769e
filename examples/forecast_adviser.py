"""A forecaster of scikit-learn as adviser: python examples/forecast_adviser.py.

Prices of five providers follow the time of day. A small model forecasts the next round from the
hour, proposes the provider that it believes to be cheapest within the limit, and the policy learns
how far to follow it. After a while the day shifts by six hours, and the forecaster, which was
trained before, is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import Ridge

import hedgerow as hr

ROUNDS, DAY, SHIFT = 2000, 96, 1400
LIMIT = 0.55


def rounds(seed: int) -> hr.RecordedProblem:
    """Return rounds of prices and loads with a daily course, which shifts once."""
    rng = np.random.default_rng(seed)
    phase, base = rng.uniform(0.0, 2.0 * np.pi, (2, 5)), rng.uniform(0.4, 0.6, (2, 5))
    given = []
    for t in range(ROUNDS):
        hour = 2.0 * np.pi * (t + (DAY // 4 if t >= SHIFT else 0)) / DAY
        price, load = base + 0.3 * np.sin(hour + phase) + 0.05 * rng.standard_normal((2, 5))
        given.append((hr.Linear(price), hr.Linear(load, -LIMIT)))
    return hr.RecordedProblem(hr.sets.Simplex(5), given)


def features(t: int) -> np.ndarray:
    """Return the hour of round t as a point on a circle."""
    return np.array([np.sin(2.0 * np.pi * t / DAY), np.cos(2.0 * np.pi * t / DAY)])


class Forecaster:
    """Proposes the cheapest provider that is within the limit by forecast.

    It is trained once, on the first two days, and silent until then.
    """

    def __init__(self) -> None:
        self.model: Ridge | None = None

    def __call__(self, past: Sequence[tuple[hr.Linear, hr.Linear]]) -> np.ndarray | None:
        """Return a proposal for the next round, given the rounds so far."""
        t = len(past)
        if t == 2 * DAY:
            known = np.array([features(i) for i in range(t)])
            seen = np.array([np.concatenate([f.coefficients, g.coefficients]) for f, g in past])
            self.model = Ridge(alpha=1e-3).fit(known, seen)
        if self.model is None:
            return None
        price, load = np.split(self.model.predict(features(t)[None])[0], 2)
        allowed = np.where(load <= LIMIT, price, np.inf)
        best = int(np.argmin(allowed if np.isfinite(allowed).any() else load))
        return np.eye(5)[best]


def main() -> None:
    """Play with and without the forecaster, and show how far it was followed."""
    problem = rounds(seed=0)
    X = problem.decision_set
    alone = hr.simulate(hr.projection_free_coco(X), problem)
    policy = hr.projection_free_coco(X, advisers=["forecast"])
    weights, costs, violations = [], [], []
    for step in hr.play(policy, problem, advice=Forecaster()):
        weights.append(policy.voices["forecast"])
        costs.append(step.cost)
        violations.append(max(0.0, step.violation))
    for name, part in (("before the shift", slice(0, SHIFT)), ("after it", slice(SHIFT, ROUNDS))):
        print(
            f"{name}: cost per round {np.mean(alone.costs[part]):.3f} alone, "
            f"{np.mean(costs[part]):.3f} with the forecast; violation "
            f"{np.maximum(alone.violations[part], 0.0).sum():.1f}, {np.sum(violations[part]):.1f}; "
            f"weight of the forecast at the end {100.0 * weights[part][-1]:.0f} %"
        )


if __name__ == "__main__":
    main()
