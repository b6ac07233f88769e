"""Games in which a printed promise was false once, and what is promised there now."""

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import projected_ccv
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG
from hedgerow.learners import steps as rules
from hedgerow.learners.steps import CertificateSteps
from hedgerow.surrogates import AdaptiveSurrogate, Guard, ObservedRanges
from hedgerow.surrogates import guard as numbers
from hedgerow.surrogates.ranges import COSTS2, INFEASIBLE_RATE, MG, RATE


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


@pytest.mark.parametrize("lipschitz", [None, (1e6, 1.0)])
@pytest.mark.parametrize("tracking", [False, True])
def test_flat_costs_at_first_leave_nothing_behind(tracking, lipschitz):
    policy = hr.projection_free_coco(hr.sets.Simplex(3), lipschitz=lipschitz, tracking=tracking)
    assert flat_at_first(policy, 3000) <= 5.0
    assert policy.certificate() <= 5.0


def test_flat_costs_on_a_product_leave_nothing_behind():
    X = hr.sets.Product(hr.sets.Simplex(3), hr.sets.Simplex(2))
    policy = hr.projection_free_coco(X, lipschitz=(1e6, 1.0), tracking=False)
    constraint, total = np.array([3.0, 0.0, -1.0, 0.0, 0.0]), 0.0
    for t in range(2000):
        cost = np.array([0.0, -1.0, 0.0, -1.0, 0.0]) * (t >= 5)
        total += report(policy, cost, constraint)[1] + 2.0 * (t >= 5)
    assert total <= 10.0


def test_without_a_floor_a_flat_round_escapes_the_guard():
    """The mutant: weights in the given unit before any cost has been seen."""
    learner = AdaptiveOCG(hr.sets.Simplex(3), CertificateSteps())
    ranges = ObservedRanges(learner, ratio=1e6)
    policy = hr.ConstrainedPolicy(learner, AdaptiveSurrogate(ranges))  # no guard
    ranges.array[COSTS2] = 1e-200  # as if a cost had been seen, so that the given ratio counts
    assert flat_at_first(policy, 3000) > 1000.0


def test_the_guard_counts_flat_rounds_and_forgets_their_unit():
    learner = AdaptiveOCG(hr.sets.Simplex(3), CertificateSteps())
    guard = Guard(learner)
    flat = (0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    weight = guard.allow(0.5, 1e6, flat)
    assert 0.0 < weight < 1e-80
    assert guard.cost_size == pytest.approx(2.0**-300)
    assert guard.worst == 0.0
    guard.allow(0.5, 0.0, (4.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    assert guard.array[numbers.UNIT] == 4.0
    assert guard.cost_size == 2.0
    assert guard.worst == pytest.approx(2.0 * math.sqrt(2.0))


def test_flat_rounds_weigh_nothing_beside_the_first_cost():
    guard = Guard(AdaptiveOCG(hr.sets.Simplex(3), CertificateSteps()))
    for cost2 in (0.0, 0.0, 4.0):
        guard.allow(-1.0, 0.0, (cost2, 0.0, 0.0, 0.0, 0.0, 0.0))
    alone = 0.5 ** (4.0 / 3.0)  # ||grad f|| = 2, and the unit is 4
    assert guard.array[numbers.PHI] == guard.array[numbers.PC] == pytest.approx(alone)


def test_the_refutation_is_its_inequality():
    """Wc + We > Z + H + R^2 beta + D sum ||grad f||, term by term."""
    D, known, regularised, paid, unit, costs = 3.0, 5.0, 7.0, 11.0, 5.0, 7.0
    most = known + regularised + D * unit * costs
    for factor, refuted in ((0.999, False), (1.001, True)):
        guard = np.zeros(numbers.STEEPNESS + 1)
        guard[[numbers.UNIT, numbers.COSTS, numbers.WE]] = unit, costs, paid
        guard[numbers.WC] = factor * most - paid
        assert numbers.refute(guard, D, known, regularised) == refuted


def test_projected_coco_acts_without_costs():
    policy = hr.policies.projected_coco(hr.sets.L2Ball(2))
    ccv = sum(
        max(0.0, report(policy, np.zeros(2), np.array([1.0, 0.0]), 0.5)[2]) for _ in range(4000)
    )
    assert ccv <= projected_ccv(4000) * policy.decision_set.diameter


def test_bounds_of_the_ccv_need_no_costs_of_one_size_and_name_what_they_need():
    policies = (
        hr.policies.projected_coco(hr.sets.L2Ball(2)),
        hr.projection_free_coco(hr.sets.Simplex(3), tracking=False),
        hr.policies.away_coco(hr.sets.Simplex(3)),
    )
    for policy in policies:
        ccv = next(bound for bound in hr.explain(policy).guarantees if bound.name[:3] == "CCV")
        assert not any("one size" in need for need in ccv.assumptions)
        assert any("feedback reported before the next decision" in n for n in ccv.assumptions)


@pytest.mark.parametrize("rounds", [200, 700])
def test_the_mixture_keeps_its_bound_where_allowed_weights_are_huge(rounds):
    """||grad f|| = 1, ||grad g|| log-uniform in 1e-6..1e6: D max ||s|| alone exceeds C D Phi."""
    rng, X = np.random.default_rng(3), hr.sets.L2Ball(3)
    policy = hr.projection_free_coco(X)
    guard, regret, largest, steepest = policy.surrogate.guard, 0.0, 0.0, 0.0
    for _ in range(rounds):
        cost, constraint = rng.standard_normal((2, 3))
        cost /= np.linalg.norm(cost)
        constraint *= 10.0 ** rng.uniform(-6, 6) / np.linalg.norm(constraint)
        before = guard.array[numbers.WC]
        x, _, violation = report(policy, cost, constraint)
        regret += float(cost @ x)  # against 0, which satisfies every round
        largest = max(largest, np.linalg.norm(cost + policy.surrogate.weight * constraint))
        w = (guard.array[numbers.WC] - before) / violation if violation > 0.0 else 0.0
        steepest = max(steepest, np.linalg.norm(cost + w * constraint))
        assert missed_by(policy) <= X.diameter * steepest * (1.0 + 1e-9)
    bounds = {bound.name: bound for bound in hr.explain(policy).guarantees}
    assert regret <= bounds["regret, Theorem G"].value
    assert bounds["regret, Theorem G"].value < 8.0 * X.diameter * guard.cost_size
    assert largest > 0.5 * guard.cost_size  # allowed weights are no term of lower order
    assert bounds["CCV, Theorem G"].value is not None
    assert bounds["regret, afterwards"].value == policy.certificate()


def missed_by(policy):
    """Y_t of theory.md: by how much a mixture misses the guard's inequality."""
    guard, learner = policy.surrogate.guard, policy.learner
    g, rule, growth = guard.array, learner.rule_numbers, guard.growth
    D, R2, dual = guard.diameter, guard.radius**2, growth.dual
    root = g[numbers.UNIT] * g[numbers.PC] ** (1 / dual)
    kappa = growth.kappa(R2 / D**2)
    b, beta = kappa * root / D, rule[rules.BETA]
    left = g[numbers.RISEN] + learner.ahead - g[numbers.WE]
    left += R2 * beta + dual * R2 * max(0.0, b - beta)
    first = (growth.a * kappa) ** (-1 / (growth.q - 1))
    right = dual * (first * D * root + R2 * b) + guard.lam_e * guard.C * D * guard.cost_size
    return left - right


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


def test_the_comparator_is_named_where_rounds_are_infeasible():
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    best = np.array([0.5, 0.5, 0.0])  # violates only by what every action must
    regret, unavoidable = infeasible_now_and_then(policy, 4000, best)
    proved = policy.certificate()
    assert regret > proved, "the game no longer shows that the bound excludes this action"
    assert proved.infeasible_rounds < sum(u > 0.0 for u in unavoidable)
    excepted = f"except {proved.infeasible_rounds} round"
    assert (excepted in proved.comparator) == (proved.infeasible_rounds > 0)
    # with a budget for the rounds that were not found, the bound holds for it
    assert regret <= policy.certificate(budget=sum(unavoidable))


def test_infeasible_rounds_are_counted():
    policy = hr.projection_free_coco(hr.sets.Simplex(2))
    for _ in range(7):
        report(policy, np.array([1.0, 2.0]), np.array([0.0, 1.0]), 5.0)
    assert policy.certificate().infeasible_rounds == 7
    assert "except 7 rounds found to be infeasible" in policy.certificate().comparator


def test_a_constraint_that_is_violated_everywhere_by_the_same_is_infeasible():
    policy = hr.projection_free_coco(hr.sets.Simplex(2))
    for _ in range(5):
        report(policy, np.array([1.0, 2.0]), np.array([1.0, 1.0]), 0.5)
    assert policy.certificate().infeasible_rounds == 5


def test_infeasible_games_are_recognised_for_convex_costs_too():
    """The bound is about sum <grad f_t, x_t - x>, which is at least -D sum ||grad f_t||."""
    policy, rounds = hr.projection_free_coco(hr.sets.L2Ball(2)), 4000
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


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_that_cannot_be_met_leaves_weights_bounded(kind, tracking):
    X, rng = hr.sets.Simplex(3), np.random.default_rng(0)
    game = [
        (hr.Linear([0.0, 1.0, 1.0]), hr.Linear(g, -100.0)) for g in unattainable(kind, 4000, rng)
    ]
    policy = hr.projection_free_coco(X, tracking=tracking)
    hr.simulate(policy, hr.RecordedProblem(X, game))
    assert policy.surrogate.largest_weight < 50.0  # it was up to 1e146, or an error
    assert np.isfinite(policy.certificate())


def test_a_forced_weight_makes_the_policy_check_for_infeasible_rounds():
    """Violations below twice the unit are checked only because the guard forces the weight."""
    X, rng = hr.sets.Simplex(3), np.random.default_rng(0)
    price = hr.Linear([0.0, 1.0, 1.0])
    game = [(price, hr.Linear(g, -100.0)) for g in unattainable("suddenly", 1000, rng)]
    policy = hr.projection_free_coco(X, tracking=False)
    hr.simulate(policy, hr.RecordedProblem(X, game))
    assert policy.certificate().infeasible_rounds > 900


def test_little_that_could_be_avoided_says_nothing_about_the_price_of_safety():
    """Below a tenth of the unit the cost per violation avoided would be noise."""
    ranges = ObservedRanges(AdaptiveOCG(hr.sets.Simplex(2), CertificateSteps()))
    ranges.array[MG] = 1.0
    x, a = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    ask, set_ = ranges.reach()
    for avoidable, rate in ((0.05, 0.0), (0.5, 2.0)):
        c = np.array([avoidable, 0.0])
        left = ask(set_, ranges.array, ranges.units(0.0), a, c, 5.0, x, np.empty(2))
        assert left == 5.0 - avoidable
        assert ranges.array[INFEASIBLE_RATE] == rate
        assert ranges.array[RATE] == 0.0  # that of feasible rounds


@pytest.mark.parametrize("tracking", [True, False])
def test_constraints_that_contradict_each_other_are_refuted(tracking):
    """Each round can be satisfied, but no action satisfies two in a row."""
    X, rounds = hr.sets.L2Ball(2), 4000
    sides = (hr.Linear([1.0, 0.0], 0.9), hr.Linear([-1.0, 0.0], 0.9))
    game = hr.RecordedProblem(X, [(hr.Linear([0.0, 1.0]), sides[t % 2]) for t in range(rounds)])
    policy = hr.projection_free_coco(X, tracking=tracking)
    hr.simulate(policy, game)
    assert policy.surrogate.guard.refuted
    assert policy.certificate().no_comparator  # its bound is sharper than what the guard knows
    bounds = {bound.name: bound for bound in hr.explain(policy).guarantees}
    assert bounds["regret, Theorem G"].value is None
    assert "no fixed action satisfies" in bounds["CCV, Theorem G"].statement
    assert policy.surrogate.largest_weight <= math.sqrt(rounds) * 1.01  # the ceiling of wishes
    if not tracking:
        mutant = hr.projection_free_coco(X, tracking=False)
        mutant.surrogate.guard.array[numbers.COSTS] = 1e300  # nothing is ever refuted
        hr.simulate(mutant, game)
        assert mutant.surrogate.largest_weight > 1e6


def test_contradicting_constraints_on_a_product_are_refuted():
    X = hr.sets.Product(hr.sets.L2Ball(2), hr.sets.L2Ball(2))
    row = np.array([0.5, 0.0, 0.5, 0.0])
    sides = (hr.Linear(row, 0.9), hr.Linear(-row, 0.9))
    game = [(hr.Linear([0.0, 1.0, 0.0, 1.0]), sides[t % 2]) for t in range(4000)]
    policy = hr.projection_free_coco(X, tracking=False)
    hr.simulate(policy, hr.RecordedProblem(X, game))
    assert policy.surrogate.guard.refuted
    assert policy.surrogate.largest_weight < 500.0


def test_no_feasible_game_is_refuted():
    for seed in range(6):
        for problem in (
            hr.problems.IidSimplex(6, 600, seed),
            hr.problems.SwitchingBall(n=3, horizon=600, seed=seed),
        ):
            for tracking in (True, False):
                policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
                hr.simulate(policy, problem)
                assert not policy.surrogate.guard.refuted


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
