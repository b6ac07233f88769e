"""An outage that no action avoids: it is forgiven, and forgotten as soon as it is over."""

import numpy as np
import pytest

import hedgerow as hr

ROUNDS, EVENT, LENGTH = 2000, 1000, 60


def game(offset, seed):
    """Rounds on a simplex whose only safe arm is dear; in the outage every arm violates."""
    rng = np.random.default_rng(seed)
    n = 10
    a = rng.uniform(0.0, 1.0, n) + 0.3 * rng.standard_normal((ROUNDS, n))
    mean = rng.uniform(-1.0, 1.0, n)
    c = mean + 0.3 * rng.standard_normal((ROUNDS, n))
    k = int(mean.argmin())
    c[:, k], a[:, k] = -np.abs(c[:, k]) - 0.2, a[:, k] + 0.5
    out = np.where((np.arange(ROUNDS) >= EVENT) & (np.arange(ROUNDS) < EVENT + LENGTH), offset, 0.0)
    rounds = [(hr.Linear(x), hr.Linear(y, float(o))) for x, y, o in zip(a, c, out, strict=True)]
    return hr.RecordedProblem(hr.sets.Simplex(n), rounds)


@pytest.mark.parametrize("seed", [200, 201])
def test_an_outage_is_forgotten_within_its_own_length(seed):
    traces = []
    for offset in (0.0, 20.0):
        problem = game(offset, seed)
        policy = hr.projection_free_coco(problem.decision_set)
        traces.append(hr.simulate(policy, problem))
    after = slice(EVENT + LENGTH, EVENT + 6 * LENGTH)
    calm, hit = (trace.costs[after].mean() for trace in traces)
    rounds = list(problem)[after]
    safe = min(range(10), key=lambda k: sum(g.coefficients[k] for _, g in rounds))
    dear = np.mean([f.coefficients[safe] for f, _ in rounds])  # who still fears pays this
    assert hit - calm <= 0.15 * (dear - calm)
    during = traces[1].violations[EVENT : EVENT + LENGTH].sum()
    rounds = list(game(20.0, seed))[EVENT : EVENT + LENGTH]
    unavoidable = sum(20.0 + g.coefficients.min() for _, g in rounds)
    assert during <= 1.05 * unavoidable
