"""What is special about the problems on transport plans, a submodular base and job sequences."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr


def test_prices_at_the_warehouses_take_turns():
    problem = hr.problems.OptimalTransport(warehouses=4, shops=3, period=40.0, horizon=40, seed=1)
    costs = np.concatenate([chunk.costs for chunk in problem.chunks(7)]).reshape(40, 4, 3)
    relative = costs.sum(axis=2) / costs.sum(axis=(0, 2))
    dearest = [int(np.argmax(relative[t : t + 10].mean(axis=0))) for t in (35, 5, 15, 25)]
    assert len({*dearest}) >= 3
    X = problem.decision_set
    np.testing.assert_allclose(X.start().reshape(4, 3).sum(axis=1), X.supply)


def test_what_sensors_watch_can_be_shared_out_cell_by_cell():
    """Every point of the base polytope is a share of each seen cell among those who see it."""
    problem = hr.problems.SensorCoverage(sensors=4, cells=5, reach=0.5, horizon=10, seed=2)
    X, f = problem.decision_set, problem.decision_set.function
    assert f([0, 1, 2, 3]) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    seen = np.zeros((4, 25), bool)
    for i, cells in enumerate(f.covers):
        seen[i, list(cells)] = True
    for _ in range(20):
        shares = np.where(seen, rng.exponential(1.0, seen.shape), 0.0)
        shares /= np.maximum(shares.sum(axis=0), 1e-300)
        assert X.contains(shares @ f.weights)
    greedy, free = np.zeros(4), f.weights.copy()
    for i in range(4):
        greedy[i], free[seen[i]] = free[seen[i]].sum(), 0.0
    np.testing.assert_allclose(X.lmo(np.arange(4.0)), greedy, atol=1e-12)


def test_every_order_of_jobs_keeps_precedence():
    problem = hr.problems.JobSequencing(jobs=9, promised=3, horizon=30, seed=3)
    X, rng = problem.decision_set, np.random.default_rng(0)
    assert len(X.precedence) == 7
    for cost, _ in problem:
        done = X.lmo(cost.coefficients)
        assert all(done[i] < done[j] for i, j in X.precedence)
    v = X.sample(X.start(), rng)
    assert sorted(v)[-1] == pytest.approx(X.times.sum())
    assert problem.promised_jobs.sum() == 3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: hr.problems.OptimalTransport(limit=0.1), "above the limit 0.1; raise the limit"),
        (lambda: hr.problems.OptimalTransport(warehouses=1), "warehouses must be at least 2"),
        (lambda: hr.problems.OptimalTransport(period=0.0), "period must be above 0"),
        (lambda: hr.problems.SensorCoverage(limit=0.1), "above the limit 0.1; raise the limit"),
        (lambda: hr.problems.SensorCoverage(reach=0.1), "at least 1 / cells = 0.125"),
        (lambda: hr.problems.JobSequencing(promise=0.1), "promise 0.1; raise the promise"),
        (lambda: hr.problems.JobSequencing(jobs=4, promised=4), "below jobs = 4, got 4"),
    ],
)
def test_what_cannot_be_kept_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
