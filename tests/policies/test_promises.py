"""Games in which a printed promise was false once, and what is promised there now."""

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import projected_ccv
from hedgerow.feedback import EvalGrad
from hedgerow.policies.master_round import MARGIN


def report(policy, cost, constraint, offset=0.0):
    """Report a round with linear functions at the policy's decision; return it and its values."""
    x = policy.ask()
    f, g = float(cost @ x), float(constraint @ x + offset)
    policy.tell(EvalGrad(f, cost), EvalGrad(g, constraint))
    return x, f, g


def flat_at_first(policy, rounds, flat=5):
    """Play costs that are zero for some rounds; return the regret against the second vertex."""
    constraint, total = np.array([3.0, 0.0, -1.0]), 0.0
    for t in range(rounds):
        cost = np.zeros(3) if t < flat else np.array([0.0, -1.0, 0.0])
        total += report(policy, cost, constraint)[1] + (t >= flat)
    return total


def price_of_margins(policy, c, rounds):
    """Bound what it costs the default to keep its margins, where a unit of slack costs 1."""
    X = policy.decision_set
    margins = MARGIN * X.diameter * X.tangent_norm(c) * 2.0 * rounds**0.5
    return 5.0 + margins * isinstance(policy, hr.policies.Fallback)


@pytest.mark.parametrize("tracking", [False, True])
def test_flat_costs_at_first_leave_nothing_behind(tracking):
    policy = hr.projection_free_coco(hr.sets.Simplex(3), tracking=tracking)
    most = price_of_margins(policy, np.array([3.0, 0.0, -1.0]), 3000)
    assert flat_at_first(policy, 3000) <= most
    assert policy.certificate() <= most


@pytest.mark.parametrize("tracking", [False, True])
def test_flat_costs_on_a_product_leave_nothing_behind(tracking):
    X = hr.sets.Product(hr.sets.Simplex(3), hr.sets.Simplex(2))
    policy = hr.projection_free_coco(X, tracking=tracking)
    constraint, total = np.array([3.0, 0.0, -1.0, 0.0, 0.0]), 0.0
    for t in range(2000):
        cost = np.array([0.0, -1.0, 0.0, -1.0, 0.0]) * (t >= 5)
        total += report(policy, cost, constraint)[1] + 2.0 * (t >= 5)
    assert total <= 5.0 + price_of_margins(policy, constraint, 2000)


def test_projected_coco_acts_without_costs():
    policy = hr.policies.projected_coco(hr.sets.L2Ball(2))
    ccv = sum(
        max(0.0, report(policy, np.zeros(2), np.array([1.0, 0.0]), 0.5)[2]) for _ in range(4000)
    )
    assert ccv <= projected_ccv(4000) * policy.decision_set.diameter


def test_bounds_of_the_ccv_need_no_costs_of_one_size_and_name_what_they_need():
    policies = (
        hr.policies.projected_coco(hr.sets.L2Ball(2)),
        hr.projection_free_coco(hr.sets.Simplex(3)),
        hr.policies.theorem_f(hr.sets.Simplex(3)),
        hr.policies.away_coco(hr.sets.Simplex(3)),
    )
    for policy in policies:
        ccv = next(bound for bound in hr.explain(policy).guarantees if bound.name[:3] == "CCV")
        assert not any("one size" in need for need in ccv.assumptions)
        assert any("feedback reported before the next decision" in n for n in ccv.assumptions)


def infeasible_now_and_then(policy, rounds, comparator):
    """Play a game in which every tenth round is infeasible; return regret, least violations."""
    rng, regret, unavoidable = np.random.default_rng(0), 0.0, []
    for t in range(rounds):
        cost = np.array([0.0, 1.0, 0.9]) + 0.3 * rng.standard_normal(3)
        last, offset = t % 10 == 9, (0.1 if t % 10 == 9 else -1.0)
        constraint = np.array([0.0, 0.0, 1.0]) if last else np.array([2.0, 0.0, 0.0])
        regret += float(cost @ (report(policy, cost, constraint, offset)[0] - comparator))
        unavoidable.append(0.1 if last else 0.0)
    return regret, unavoidable


@pytest.mark.parametrize("tracking", [True, False])
def test_the_comparator_is_named_where_rounds_are_infeasible(tracking):
    policy = hr.projection_free_coco(hr.sets.Simplex(3), tracking=tracking)
    best = np.array([0.5, 0.5, 0.0])  # violates only by what every action must
    regret, unavoidable = infeasible_now_and_then(policy, 4000, best)
    proved = policy.certificate()
    assert regret > proved, "the game no longer shows that the bound excludes this action"
    assert "action that satisfies the constraint in every round" in proved.comparator
    assert regret <= policy.certificate(budget=sum(unavoidable))


def test_a_constraint_that_is_violated_everywhere_by_the_same_is_infeasible():
    policy = hr.projection_free_coco(hr.sets.Simplex(2))
    report(policy, np.array([1.0, 2.0]), np.array([1.0, 1.0]), 0.5)
    assert policy.summary().infeasible


@pytest.mark.parametrize("tracking", [True, False])
def test_infeasible_games_are_recognised_for_convex_costs_too(tracking):
    """The bound is about sum <grad f_t, x_t - x>, which is at least -D sum ||grad f_t||."""
    policy, rounds = hr.projection_free_coco(hr.sets.L2Ball(2), tracking=tracking), 4000
    target = np.array([0.0, 0.1])
    for t in range(rounds):  # x_0 <= -1/2 and x_0 >= 1/2 in turn: no action satisfies both
        x, g = policy.ask(), np.array([1.0 if t % 2 else -1.0, 0.0])
        cost = EvalGrad(float((x - target) @ (x - target)), 2.0 * (x - target))
        policy.tell(cost, EvalGrad(float(g @ x + 0.5), g))
    proved = policy.certificate()
    assert 0.0 < proved.least_violation <= 0.5 * rounds
    assert proved.no_comparator
    assert "no fixed action satisfies the constraint in every round: each violates" in str(proved)


@pytest.mark.parametrize(
    "X",
    [hr.sets.NuclearBall(3, 4, 2.0), hr.sets.Spectrahedron(4), hr.sets.Permutahedron([5, 2, 1])],
)
def test_the_radius_around_a_point_is_attained(X):
    rng = np.random.default_rng(0)
    for x in (X.start(), 0.5 * (X.start() + X.lmo(rng.standard_normal(X.dim)))):
        farthest = X.lmo(x if np.any(x) else np.arange(1.0, X.dim + 1.0))
        assert X.radius_around(x) == pytest.approx(float(np.linalg.norm(farthest - x)))
    assert X.radius_around(X.start()) < 0.7 * X.diameter


def unattainable(kind, rounds, rng):
    """Yield latencies of three routes with a limit of 100 that no route meets, at least later."""
    for t in range(rounds):
        lost = {
            "suddenly": t >= 30,
            "at once": True,
            "periodically": t >= 30 and t % 40 < 20,
            "every other round": t >= 30 and t % 2 == 0,
            "rarely": t >= 30 and t % 15 == 0,
            "for a while": 30 <= t < rounds // 2,
        }.get(kind, t >= 30)
        latency = np.array([140.0, 150.0, 160.0]) if lost else np.array([300.0, 50.0, 60.0])
        if kind == "gradually":
            latency = np.array([300.0, 50.0, 60.0]) + 90.0 * min(1.0, t / (0.5 * rounds))
        elif kind == "by a drifting margin":
            latency = np.array([140.0, 100.0, 100.0]) + 10.0 * np.sin(t / 300.0)
        elif kind == "by little":
            latency = np.array([140.0, 101.0, 102.0])
        elif kind == "in turn":  # each round can be satisfied, but no action satisfies all
            latency = np.array([140.0, 60.0, 160.0] if t % 2 else [140.0, 160.0, 60.0])
        yield latency * (1.0 + 0.02 * rng.standard_normal(3))


KINDS = ["suddenly", "at once", "periodically", "every other round", "rarely", "for a while"]
KINDS += ["gradually", "by a drifting margin", "by little", "in turn"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_that_cannot_be_met_is_satisfied_where_it_can_be(kind):
    """Hardly more is violated than by the policy that remembers no rounds."""
    X, rng = hr.sets.Simplex(3), np.random.default_rng(0)
    game = hr.RecordedProblem(
        X,
        [(hr.Linear([0.0, 1.0, 1.0]), hr.Linear(g, -100.0)) for g in unattainable(kind, 4000, rng)],
    )
    default, plain = (hr.projection_free_coco(X, tracking=tracking) for tracking in (True, False))
    assert hr.simulate(default, game).ccv <= 1.2 * hr.simulate(plain, game).ccv
    assert np.isfinite(default.certificate())
    assert np.isfinite(plain.certificate())


def test_no_feasible_game_is_called_infeasible():
    for seed in range(6):
        for problem in (
            hr.problems.IidSimplex(6, 600, seed),
            hr.problems.SwitchingBall(n=3, horizon=600, seed=seed),
        ):
            for make in (hr.projection_free_coco, hr.policies.theorem_f):
                policy = make(problem.decision_set)
                hr.simulate(policy, problem)
                assert not policy.summary().infeasible
                assert not policy.certificate().no_comparator


def avoidable_violation(policy, cap, seed, rounds=3000):
    """Play three routes with six incidents of the cheapest; sum what some route would avoid."""
    rng, total = np.random.default_rng(seed), 0.0
    price, usual = np.array([1.0, 2.0, 1.7]), np.array([80.0, 128.0, 150.0])
    incident = np.zeros(rounds, dtype=bool)
    for begin in rng.choice(np.arange(100, rounds - 200), 6, replace=False):
        incident[begin : begin + 150] = True
    for now in incident:
        latency = np.where([now, False, False], 195.0, usual) * (1 + 0.05 * rng.standard_normal(3))
        value = report(policy, price, latency, -cap)[2]
        total += max(0.0, value - max(0.0, float(latency.min()) - cap))
    return total


@pytest.mark.parametrize("cap", [60.0, 100.0, 140.0])
def test_a_limit_that_no_action_meets_is_not_ignored(cap):
    X = hr.sets.Simplex(3)
    default, blind, rival = (
        float(np.median([avoidable_violation(make(), cap, seed) for seed in range(500, 503)]))
        for make in (
            lambda: hr.projection_free_coco(X),
            lambda: hr.unconstrained(X),
            lambda: hr.baselines.sinha_vaze_2024(X, 3000),
        )
    )
    assert default < 0.1 * blind
    assert default < rival
