"""Portfolios: the functions, the loader, and a market's prices played."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from stories import relatives

import hedgerow as hr
from hedgerow.problems.portfolios import (
    ActiveShare,
    LogPortfolio,
    NegativeLog,
    Portfolio,
    price_relatives,
)


@pytest.mark.parametrize("build", [NegativeLog, lambda r: ActiveShare(r / r.sum(), 0.1)])
def test_the_curved_functions_lie_above_their_tangents(build):
    rng = np.random.default_rng(0)
    for _ in range(200):
        f = build(rng.uniform(0.5, 1.5, 5))
        x, y = rng.dirichlet(np.ones(5), 2)
        assert f(y) >= f(x) + f.grad(x) @ (y - x) - 1e-12
        h = 1e-7 * (y - x)
        assert f(x + h) - f(x) == pytest.approx(f.grad(x) @ h, abs=1e-12)


def test_the_index_drifts_with_the_prices_and_is_reset():
    r = relatives(1, 50)
    problem = LogPortfolio(r, limit=0.5, rebalance=10)
    index = [constraint.index for _, constraint in problem]
    held = np.cumprod(r[20:25], axis=0)[-1]
    np.testing.assert_allclose(index[25], held / held.sum(), rtol=1e-12)
    np.testing.assert_array_equal(index[30], np.full(12, 1.0 / 12.0))


def test_volatility_uses_past_days_only():
    r = relatives(2, 100)
    problem = Portfolio.low_volatility(r, window=30)
    changed = r.copy()
    changed[70:] = 1.0 + 0.5 * (changed[70:] - 1.0)
    other = Portfolio.low_volatility(changed, window=30)
    assert problem.horizon == 70
    np.testing.assert_allclose(problem.exposures[:41], other.exposures[:41], rtol=1e-12)
    assert (problem.exposures[41] != other.exposures[41]).all()
    np.testing.assert_allclose(problem.exposures.mean(axis=1), 1.0, rtol=1e-12)
    past = np.log(r[10:40]).std(axis=0)
    np.testing.assert_allclose(problem.exposures[10], past / past.mean(), rtol=1e-12)
    np.testing.assert_array_equal(problem.relatives[10], r[40])


def test_the_loader_reads_plain_and_zipped_files_and_names_bad_lines(tmp_path):
    text = "a,b\n1.01,0.99\n1.0,1.02\n"
    (tmp_path / "r.csv").write_text(text)
    with gzip.open(tmp_path / "r.csv.gz", "wt") as file:
        file.write(text)
    for name in ("r.csv", "r.csv.gz"):
        np.testing.assert_array_equal(price_relatives(tmp_path / name), [[1.01, 0.99], [1.0, 1.02]])
    for bad, words in (
        ("a,b\n1.0,x\n", r"line 2: could not convert string to float: 'x'"),
        ("a,b\n1.0,1.0\n1.0\n", r"line 3 has 1 entries, the header 2"),
        ("a,b\n", r"a table of days x assets"),
        ("a,b\n1.0,nan\n", r"must be finite"),
        ("a,b\n1.0,-1.0\n", r"and a value -1"),
    ):
        (tmp_path / "bad.csv").write_text(bad)
        with pytest.raises(ValueError, match=words):
            price_relatives(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda r: Portfolio(r, np.ones(12), 0.9), "every single asset is exposed by 1"),
        (lambda r: Portfolio(r, np.ones(11), 0.9), r"shape \(12,\) or \(100, 12\)"),
        (lambda r: Portfolio.low_volatility(r, horizon=41), "need 101 days, the table has 100"),
        (lambda r: Portfolio.low_volatility(r, window=1), "window must be at least 2"),
        (lambda r: LogPortfolio(r, limit=0.001), "raise it or rebalance more often"),
        (lambda r: LogPortfolio(0.0 * r), "at least 1e-09, got"),
    ],
)
def test_refusals(build, words):
    with pytest.raises(ValueError, match=words):
        build(relatives(0, 100))


def test_prices_with_a_cap_on_volatility(prices_csv):
    days = len(price_relatives(prices_csv))
    problem = Portfolio.from_csv(prices_csv, horizon=1000 if days > 2000 else None)
    assert max(g(problem.feasible) for _, g in problem) <= 0.0
    X = problem.decision_set
    policy, blind = hr.projection_free_coco(X), hr.simulate(hr.unconstrained(X), problem)
    trace, best = hr.simulate(policy, problem), hr.hindsight(problem)
    assert best.status == "optimal"
    assert trace.regret(best) <= policy.certificate() + 1e-9
    assert trace.ccv < 0.2 * blind.ccv
    low, high = problem.cost_range
    assert low <= trace.costs.min() <= trace.costs.max() <= high


def test_prices_close_to_an_index(prices_csv):
    days = len(price_relatives(prices_csv))
    problem = LogPortfolio.from_csv(prices_csv, horizon=1000 if days > 1000 else 500)
    assert max(g(problem.feasible) for _, g in problem) <= 0.0
    X = problem.decision_set
    policy, blind = hr.projection_free_coco(X), hr.simulate(hr.unconstrained(X), problem)
    trace = hr.simulate(policy, problem)
    wealth = math.exp(-sum(cost(problem.feasible) for cost, _ in problem))
    assert wealth == pytest.approx(np.prod(problem.relatives.mean(axis=1)))
    assert trace.cost + math.log(wealth) <= policy.certificate() + 1e-9
    assert trace.ccv < 0.25 * blind.ccv
