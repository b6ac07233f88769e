"""NP-OGD: its update with independent projections, its bounds, its memory, its snapshots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

import hedgerow as hr
from hedgerow.baselines import penalised_step
from hedgerow.baselines.clasp import ferreira_clasp
from hedgerow.baselines.nested_projection import NestedProjection, sarkar_np_ogd
from hedgerow.testing import check_policy
from rival_games import (
    SETS,
    check_powers_of_two,
    check_size_is_a_unit,
    fixed_limit,
    means,
    plays_of,
    reacting_game,
    unit,
)

D, G = 2.0, 1.0
"""Diameter and Lipschitz constant of the games on the unit ball."""


def kept_rounds(X, rounds, seed):
    """Draw random costs, and constraints that one point of the set satisfies."""
    rng = np.random.default_rng(seed)
    kept = 0.7 * X.start() + 0.3 * X.lmo(rng.standard_normal(X.dim))
    drawn = []
    for _ in range(rounds):
        b = rng.standard_normal(X.dim)
        limit = -float(b @ kept) - 0.2 * rng.uniform()
        drawn.append((hr.Linear(rng.normal(-0.5, 1.0, X.dim)), hr.Linear(b, limit)))
    return drawn


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("name", SETS)
def test_it_conforms(name, preset):
    known = {"lipschitz": 5.0} if preset == "theory" else {}
    check_policy(lambda: sarkar_np_ogd(SETS[name](), preset=preset, **known), rounds=6)


def project_onto_polytope(y, rows, limits):
    """Project onto rows x <= limits: least distance programming (Lawson and Hanson 1974)."""
    E = np.vstack([-rows.T, -(limits - rows @ y)])
    f = np.append(np.zeros(y.size), 1.0)
    # `nnls` of older SciPy is wrong here
    multipliers = lsq_linear(E, f, (0.0, np.inf), method="bvls", tol=1e-15).x
    residual = E @ multipliers - f
    return y - residual[:-1] / residual[-1]


@pytest.mark.parametrize("name", ["box", "simplex", "k-subsets"])
def test_it_is_the_papers_update_on_polytopes(name):
    X, lipschitz = SETS[name](), 4.0
    policy = sarkar_np_ogd(X, preset="theory", lipschitz=lipschitz)
    description = X.rows()
    eye = np.eye(X.dim)
    rows, limits = [*eye, *-eye], [*description.upper, *-description.lower]
    if description.A_eq is not None:
        for row, value in zip(description.A_eq.toarray(), description.b_eq, strict=True):
            rows += [row, -row]
            limits += [value, -value]
    rows = [row for row, limit in zip(rows, limits, strict=True) if math.isfinite(limit)]
    limits = [limit for limit in limits if math.isfinite(limit)]
    for t, (cost, constraint) in enumerate(kept_rounds(X, 40, seed=1), start=1):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        rows.append(constraint.coefficients)
        limits.append(-constraint.offset)
        y = x - X.diameter / (lipschitz * math.sqrt(t)) * cost.coefficients
        expected = project_onto_polytope(y, np.array(rows), np.array(limits))
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-6)
    assert policy.unsatisfied == 0


def project_onto_ball(y, radius, constraints):
    """Project onto a ball and half-spaces: the primal programme, by SciPy."""
    A = np.array([g.coefficients for g in constraints])
    offsets = np.array([g.offset for g in constraints])
    found = minimize(
        lambda z: 0.5 * float((z - y) @ (z - y)),
        np.zeros_like(y),
        jac=lambda z: z - y,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda z: -(A @ z + offsets), "jac": lambda _: -A},
            {"type": "ineq", "fun": lambda z: radius**2 - z @ z, "jac": lambda z: -2.0 * z},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


def test_it_is_the_papers_update_on_a_ball():
    X, lipschitz = SETS["l2ball"](), 4.0
    policy, seen = sarkar_np_ogd(X, preset="theory", lipschitz=lipschitz), []
    for t, (cost, constraint) in enumerate(kept_rounds(X, 25, seed=2), start=1):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        seen.append(constraint)
        y = x - X.diameter / (lipschitz * math.sqrt(t)) * cost.coefficients
        expected = project_onto_ball(y, 3.0, seen)
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-6)


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(SETS)))
@settings(max_examples=30, deadline=None)
def test_decisions_stay_in_the_set_and_satisfy_all_constraints_so_far(seed, name):
    X = SETS[name]()
    policy, seen = sarkar_np_ogd(X), []
    for cost, constraint in kept_rounds(X, 8, seed):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        seen.append(constraint)
        x = policy.ask()
        assert X.contains(x, tol=1e-7)
        for g in seen:
            assert g(x) <= 1e-6 * X.diameter * np.linalg.norm(g.coefficients)
    assert policy.policy.unsatisfied == 0


def test_the_bounds_that_are_proved():
    """Costs and constraints react to the plays; 0 satisfies all constraints."""
    X, T = hr.sets.L2Ball(3), 400
    policy = sarkar_np_ogd(X, preset="theory", lipschitz=G)
    rounds, plays = reacting_game(policy, T, hr.first_order, seed=4)
    best = hr.hindsight(X, rounds)
    regret = sum(f(x) for (f, _), x in zip(rounds, plays, strict=True)) - best.cost
    ccv = sum(max(0.0, g(x)) for (_, g), x in zip(rounds, plays, strict=True))
    assert regret <= 1.5 * G * D * math.sqrt(T)
    assert ccv <= G * D * math.sqrt(T * (1.0 + 4.0 * math.sqrt(T)))
    for t in range(1, T):  # the steps of the proof
        (cost, constraint), x, later = rounds[t - 1], plays[t - 1], plays[t]
        eta, moved = D / (G * math.sqrt(t)), later - x
        before, after = np.sum((x - best.x) ** 2), np.sum((later - best.x) ** 2)
        pull = 2.0 * eta * float(cost.coefficients @ (later - best.x))
        assert after <= before - moved @ moved - pull + 1e-5
        assert max(0.0, constraint(x)) <= G * np.linalg.norm(moved) + 1e-6
    assert ccv > 0.5, "a game without violations tests nothing"


def test_in_one_dimension_the_intervals_only_shrink():
    """CCV <= G D; a method that projects onto the last constraint alone breaks it."""
    X, T = hr.sets.Box([-1.0], [1.0]), 300
    tight, loose = hr.Linear([1.0], 0.9), hr.Linear([1.0], -1.0)
    rounds = [(hr.Linear([-1.0]), tight if t % 2 else loose) for t in range(T)]
    ccv = {}
    for make, feedback in (
        (sarkar_np_ogd, hr.first_order),
        (ferreira_clasp, hr.feedback.full_information),
    ):
        plays = plays_of(make(X, preset="theory", lipschitz=G), rounds, feedback)
        ccv[make] = sum(max(0.0, g(x)) for (_, g), x in zip(rounds, plays, strict=True))
    assert ccv[sarkar_np_ogd] <= G * D
    assert ccv[ferreira_clasp] > 5.0 * G * D


def test_a_constraint_that_nothing_satisfies_is_left_out_and_counted():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    policy = NestedProjection(X, step=0.1)
    cost = hr.Linear([-1.0, 0.0])
    impossible = [
        hr.Linear([-1.0, 0.0], 1.5),  # x >= 1.5, outside the box
        hr.Linear([-1.0, 0.0], 0.7),  # x >= 0.7, against x <= 0.5
        hr.Linear([0.0, 0.0], 0.3),  # nowhere
    ]
    x = policy.ask()
    policy.tell(hr.first_order(cost, x), hr.first_order(hr.Linear([1.0, 0.0], -0.5), x))
    for count, constraint in enumerate(impossible, start=1):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        assert policy.unsatisfied == count
        assert policy.half_spaces.limits == pytest.approx([0.5])
        assert policy.ask()[0] <= 0.5 + 1e-6, "the intersection before still holds"


def test_a_search_that_ends_early_leaves_no_constraint_out(monkeypatch):
    monkeypatch.setattr(penalised_step, "MOST_CUTS", 1)
    X = hr.sets.L2Ball(3)
    policy = NestedProjection(X, step=2.0)
    for t in range(12):
        x, corner = policy.ask(), np.full(3, 0.1)
        corner[t % 3] = 1.0
        g = hr.Linear(unit(corner), -0.05)
        policy.tell(hr.first_order(hr.Linear(-unit(np.ones(3))), x), hr.first_order(g, x))
        assert policy.half_spaces.limits.size == min(t + 1, 3)
        assert X.contains(policy.ask())
    assert policy.half_spaces(policy.ask()) > 1e-3, "one cut must not be enough"
    assert policy.unsatisfied == 0


def test_an_intersection_without_interior_is_not_empty():
    ball, box = hr.sets.L2Ball(2), hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    cases = [
        (ball, [hr.Linear([1.0, 0.0], 1.0)]),  # one point of the ball
        (ball, [hr.Linear([1.0, 0.0], 0.5), hr.Linear([-1.0, 0.0], -0.5)]),  # a chord
        (box, [hr.Linear([1e-6, 1.0])]),  # a corner, left at a small angle
    ]
    for X, walls in cases:
        policy = NestedProjection(X, step=1.0)
        for constraint in walls * 3:
            x = policy.ask()
            policy.tell(hr.first_order(hr.Linear([-1.0, 0.3]), x), hr.first_order(constraint, x))
        assert policy.unsatisfied == 0
        assert policy.half_spaces(policy.ask()) <= 1.5e-7 * X.diameter
        assert policy.half_spaces.limits.size == len(walls)
    np.testing.assert_allclose(policy.ask(), [0.0, 0.0], atol=1e-3)


def test_half_spaces_that_add_nothing_are_not_stored():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    policy = NestedProjection(X, step=0.1)
    cost = hr.Linear([-1.0, 0.0])
    limits = [(-2.5, []), (-0.9, [0.9]), (-0.95, [0.9]), (-0.6, [0.6])]
    for offset, stored in limits:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(hr.Linear([1.0, 0.0], offset), x))
        assert policy.half_spaces.limits == pytest.approx(stored)
    assert policy.oracle_calls == 8


def test_curved_constraints_are_linearised_at_the_decisions():
    """The half-spaces contain what satisfies them, so the bound of the regret holds."""
    X, T, radius = hr.sets.Box(-np.ones(2), np.ones(2)), 200, 0.5
    ball = hr.Quadratic.distance(np.zeros(2), 2.0, -(radius**2))
    cost = hr.Linear(unit(np.array([-1.0, -0.4])))
    policy = sarkar_np_ogd(X, preset="theory", lipschitz=2.0 * math.sqrt(2.0))
    plays = plays_of(policy, [(cost, ball)] * T)
    best = radius * unit(-cost.coefficients)
    rim = [radius * np.array([math.cos(a), math.sin(a)]) for a in np.linspace(0.0, 6.3, 40)]
    assert max(policy.half_spaces(z) for z in rim) <= 1e-9
    regret = sum(cost(x) - cost(best) for x in plays)
    assert regret <= 1.5 * 2.0 * math.sqrt(2.0) * X.diameter * math.sqrt(T)
    violation = np.array([max(0.0, ball(x)) for x in plays])
    assert violation[100:].mean() < 0.1 * violation[:10].mean()


def test_snapshots_hold_all_half_spaces():
    X = SETS["simplex"]()
    rounds = kept_rounds(X, 30, seed=6)
    whole = plays_of(NestedProjection(X, 0.5), rounds)
    first, fresh, older = (NestedProjection(X, 0.5) for _ in range(3))
    plays_of(first, rounds[:13])
    plays_of(older, rounds[:20])
    assert first.half_spaces.limits.size > 5
    for policy in (fresh, older):  # fewer half-spaces than the snapshot, and more
        policy.restore(first.state())
        np.testing.assert_array_equal(whole[13:], plays_of(policy, rounds[13:]))


def test_a_snapshot_that_does_not_fit_changes_nothing():
    X = SETS["simplex"]()
    policy = NestedProjection(X, 0.5)
    plays_of(policy, kept_rounds(X, 5, seed=7))
    before = policy.state()
    cut, wrong, other = policy.state(), policy.state(), NestedProjection(X, 0.25).state()
    cut["array"] = cut["array"][:-1]
    wrong["array"] = wrong["array"] + 1.0
    huge = {**policy.state(), "layout": {**before["layout"], "limits": 10**15}}
    for snapshot in (cut, wrong, other, huge, {}, None):
        with pytest.raises(ValueError, match="snapshot"):
            policy.restore(snapshot)
        assert str(policy.state()) == str(before)


def test_late_feedback_is_about_the_earlier_decision():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    ball, cost = hr.Quadratic.distance(np.zeros(2), 2.0, -0.25), hr.Linear([-1.0, -1.0])
    policy, early = NestedProjection(X, step=0.3), np.array([1.0, 0.0])
    x = policy.ask()
    policy.tell(hr.first_order(cost, x), hr.first_order(ball, early), at=early)
    assert policy.half_spaces.normals == pytest.approx(np.array([[1.0, 0.0]]))
    assert policy.half_spaces.limits == pytest.approx([1.0 - 0.75 / 2.0])


def test_powers_of_two_leave_the_plays_bit_for_bit():
    check_powers_of_two(sarkar_np_ogd, 28)


def test_the_size_of_the_set_is_only_a_unit():
    check_size_is_a_unit(sarkar_np_ogd, 38)


def test_violation_and_regret_grow_slower_than_the_rounds():
    regret, violation = means(sarkar_np_ogd(hr.sets.Simplex(4)), fixed_limit(200, seed=8))
    assert regret < 0.05
    assert violation[1:].max() <= 1e-7


def test_what_does_not_fit_is_refused():
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="takes no eagerness"):
        sarkar_np_ogd(X, preset="theory", lipschitz=1.0, eagerness=2.0)
    with pytest.raises(ValueError, match="needs lipschitz"):
        sarkar_np_ogd(X, preset="theory")
    with pytest.raises(ValueError, match="step"):
        NestedProjection(X, step=0.0)
