"""Whom a benchmark and a certificate are about, where some rounds are broken for everyone."""

from __future__ import annotations

import io
import json
import math
import pickle

import numpy as np
import pytest
from rich.console import Console
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.experiments.playing import benchmark_of
from hedgerow.policies import Certificate
from hedgerow.problems import FullestLink
from hedgerow.report.plots import Run
from hedgerow.report.tables import run_table


def torn(rng, n=4, rounds=30):
    """Caps that no action keeps together: each round asks for much of another coordinate."""
    game = []
    for t in range(rounds):
        want = np.zeros(n)
        want[t % n] = -1.0
        game.append((hr.Linear(rng.uniform(0.0, 1.0, n)), hr.Linear(want, rng.uniform(0.3, 0.6))))
    return hr.sets.Simplex(n), game


def least_by_lp(game, n):
    """The least sum of positive parts, then the least cost within it, by two plain programmes."""
    T = len(game)
    A = np.array([[*g.coefficients, *-np.eye(T)[t]] for t, (_, g) in enumerate(game)])
    b = np.array([-g.offset for _, g in game])
    one = np.array([[*np.ones(n), *np.zeros(T)]])
    total = np.array([*np.zeros(n), *np.ones(T)])
    first = linprog(total, A, b, one, [1.0])
    costs = np.array([*sum(f.coefficients for f, _ in game), *np.zeros(T)])
    A2, b2 = np.vstack([A, total]), np.append(b, first.fun * (1.0 + 1e-9))
    return first.fun, linprog(costs, A2, b2, one, [1.0]).fun


@pytest.mark.parametrize("seed", range(4))
def test_the_least_benchmark_is_that_of_plain_linear_programmes(seed):
    X, game = torn(np.random.default_rng(seed))
    violation, cost = least_by_lp(game, X.dim)
    best = hr.hindsight(X, game, budget="minimum")
    assert best.status == "optimal"
    assert best.least
    assert best.needed_budget == pytest.approx(violation, rel=1e-6)
    assert best.ccv == pytest.approx(violation, rel=1e-5)
    assert best.cost == pytest.approx(cost, rel=1e-4)
    assert best.lower_bound <= cost * (1.0 + 1e-6)
    assert best.comparator == (
        "the best fixed action of those that violate least, by "
        f"{best.ccv:.6g} in all; none satisfies every round"
    )


def test_least_is_the_ordinary_benchmark_where_some_action_satisfies_every_round():
    problem = hr.problems.IidSimplex(5, 60, 0)
    plain, least = hr.hindsight(problem), hr.hindsight(problem, budget="minimum")
    assert (least.cost, least.least, least.budget) == (plain.cost, False, 0.0)
    best = "the best fixed action that satisfies every round"
    assert least.comparator == plain.comparator == best


def test_least_with_curved_constraints():
    X = hr.sets.Simplex(3)
    game = [(hr.Linear([1.0, 2.0, 3.0]), FullestLink([0.2, 0.2, 0.2], 1.0))] * 4
    best = hr.hindsight(X, game, budget="minimum")
    assert best.ccv == pytest.approx(4.0 * (1.0 / 3.0 - 0.2), rel=1e-4)
    assert best.least


def test_each_comparator_has_its_name():
    X, game = torn(np.random.default_rng(0))
    assert hr.hindsight(X, game).comparator == "none: no fixed action satisfies every round"
    poor = hr.hindsight(X, game, budget=0.5)
    assert poor.comparator == "none: no fixed action violates by at most 0.5 in all"
    rich = hr.hindsight(X, game, budget=100.0)
    assert rich.comparator == "the best fixed action that violates by at most 100 in all"
    blind = hr.hindsight(X, game, constrained=False)
    assert blind.comparator == "the best fixed action, whatever the constraints say"
    late = hr.hindsight(X, game, time_limit=1e-9)
    assert late.gap == math.inf
    assert late.comparator == (
        "none yet: the search ended before it found a fixed action that satisfies every round"
    )
    with pytest.raises(ValueError, match='hindsight\\(problem, budget="minimum"\\)'):
        hr.simulate(hr.unconstrained(X), hr.RecordedProblem(X, game)).regret(hr.hindsight(X, game))
    with pytest.raises(TypeError, match='the budget, a number or "minimum"'):
        hr.hindsight(X, game, budget="most")


def played(policy, game, times=1):
    for cost, constraint in game * times:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    return policy


def test_a_certificate_without_comparator_says_so_and_never_too_much():
    found = 0
    for seed in range(3):
        X, game = torn(np.random.default_rng(seed), rounds=40)
        policy = played(hr.projection_free_coco(X), game, times=20)
        proved = policy.certificate()
        best = hr.hindsight(X, game * 20, budget="minimum")
        least = best.needed_budget
        assert proved.least_violation <= least * (1.0 + 1e-6)
        if proved.no_comparator:
            found += 1
            assert proved.says_nothing in str(proved)
            assert proved.says_nothing.startswith(
                "says nothing here, because no fixed action satisfies the constraint in every round"
            )
            assert proved.comparator.startswith("no fixed action that satisfies the constraint")
        enough = policy.certificate(budget=least)
        assert not enough.no_comparator
        assert (enough.says_nothing is None) == (enough <= enough.most)
        assert enough.comparator.startswith("every fixed action that violates the constraint by")
        assert policy.summary().cost - best.cost <= enough
    assert found > 0, "none was recognised: choose games that are torn more"


def test_a_certificate_with_comparators_is_never_taken_for_one_without():
    for seed in range(5):
        problem = hr.problems.IidSimplex(6, 400, seed)
        policy = hr.projection_free_coco(problem.decision_set)
        hr.simulate(policy, problem)
        proved = policy.certificate()
        assert not proved.no_comparator
        assert proved.says_nothing is None
        assert proved.comparator.startswith(
            "every fixed action that satisfies the constraint in every round; an action that"
        )


def test_a_certificate_is_a_number():
    proved = Certificate(-2.5, least_violation=1.0)
    assert proved == -2.5
    assert json.dumps(proved) == "-2.5"
    assert f"{proved:.1f}" == "-2.5"
    again = pickle.loads(pickle.dumps(proved))
    assert (again, again.least_violation, again.most) == (-2.5, 1.0, math.inf)
    assert str(Certificate(3.0)) == "3.0"
    assert math.isfinite(Certificate(3.0, budget=1.0))


def test_a_bound_above_everything_possible_says_so_wherever_it_is_printed():
    problem = hr.problems.IidSimplex(6, 400, 0)
    policy = hr.projection_free_coco(problem.decision_set)
    trace = hr.simulate(policy, problem)
    proved = policy.certificate(budget=1e6)
    sizes = [np.linalg.norm(cost.coefficients) for cost, _ in problem]
    assert problem.decision_set.diameter * sum(sizes) >= 0.9 * proved.most > trace.cost
    why = (
        "says nothing here, because no fixed action could have cost more than "
        f"{proved.most:.6g} less"
    )
    assert proved.says_nothing == why
    assert str(proved) == repr(proved) == f"{float(proved)!r} ({why})"
    assert why in proved._repr_html_()
    guarantee = hr.explain(policy, budget=1e6).guarantees[0]
    assert not guarantee.informative
    assert why in str(guarantee)
    assert "says something" in str(hr.explain(policy).guarantees[0])
    best = hr.hindsight(problem)
    runs = [Run("mine", trace, proved), Run("theirs", trace, policy.certificate())]
    console = Console(width=120, file=io.StringIO())
    console.print(run_table(runs, best, 1.0))
    printed = console.file.getvalue()
    assert f"mine: its certificate {why}" in " ".join(printed.split())
    assert "theirs: its certificate" not in printed
    row = next(line for line in printed.splitlines() if line.strip().startswith("mine "))
    assert row.split()[3] == "-"


def test_a_bound_of_costs_alone_knows_what_is_possible():
    problem = hr.problems.IidSimplex(6, 50, 0)
    policy = hr.unconstrained(problem.decision_set)
    hr.simulate(policy, problem)
    sizes = [np.linalg.norm(cost.coefficients) for cost, _ in problem]
    assert policy.certificate().most == pytest.approx(problem.decision_set.diameter * sum(sizes))
    assert policy.certificate().says_nothing is None


def test_explain_names_a_vacuous_benchmark_and_a_budget():
    X, game = torn(np.random.default_rng(0), rounds=40)
    policy = played(hr.projection_free_coco(X), game, times=20)
    assert policy.certificate().no_comparator
    first = hr.explain(policy).guarantees[0]
    assert first.value is None
    assert first.statement.startswith("says nothing here, because no fixed action satisfies")
    within = hr.explain(policy, budget=1e6).guarantees[0]
    assert within.value == policy.certificate(budget=1e6)
    assert "violates the constraint by at most 1e+06 in total" in within.statement


def test_experiments_compare_with_the_least_violation():
    X, game = torn(np.random.default_rng(1))
    record = benchmark_of({}, X, game).record
    assert record["status"] == "optimal"
    assert record["comparator"].startswith("the best fixed action of those that violate least")
    feasible = benchmark_of({}, X, [(game[0][0], hr.Linear(np.zeros(X.dim), -1.0))]).record
    assert "comparator" not in feasible
