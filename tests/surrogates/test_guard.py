"""The one-step inequality, Theorems D to G round by round, and the guard against its own text."""

import itertools
import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import (
    any_regulariser_regret,
    capped_regret,
    guard_constant,
    guarded_ccv,
    guarded_regret,
    projected_ccv,
    projected_regret,
)
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, AwayOCG, TrackingOCG
from hedgerow.learners import steps as rules
from hedgerow.surrogates import AdaptiveSurrogate, Guard, ObservedRanges
from hedgerow.surrogates import guard as numbers

GRAPH = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(4),
    "ball": lambda: hr.sets.L2Ball(3),
    "box": lambda: hr.sets.Box([0.0, -1.0, 0.0], [1.0, 1.0, 3.0]),
    "paths": lambda: hr.sets.DagPaths(GRAPH, 0, 4),
    "product": lambda: hr.sets.Product(hr.sets.Simplex(3), hr.sets.L2Ball(2)),
}


def lowest(X, S, beta, x1):
    """min F(x) over X, F(x) = <S, x> + beta ||x - x_1||^2, by a projection."""
    x = X.project(x1 - S / (2.0 * beta))
    return float(S @ x + beta * (x - x1) @ (x - x1))


def gradients(X, rng, rounds, learner, kind):
    """Draw gradients; `turning` ones point where the learner came from."""
    before = learner.ask()
    for _ in range(rounds):
        s = rng.standard_normal(X.dim)
        if kind == "turning":
            x = learner.ask()
            s = (x - before) / (np.linalg.norm(x - before) or 1.0) + 0.2 * s
            before = x
        yield s * (10.0 ** rng.uniform(-2, 2) if kind == "sizes" else 1.0)


def one_step(X, seed, kind, steps):
    """Yield the rise of Z_t and what bounds it, of each round."""
    learner = AdaptiveOCG(X, steps)
    rng, x1 = np.random.default_rng(seed), learner.ask()
    S, inner, Z, beta = np.zeros(X.dim), 0.0, 0.0, 0.0
    R, D = X.radius_around(x1), X.diameter
    for s in gradients(X, rng, 120, learner, kind):
        x = learner.ask()
        learner.tell(EvalGrad(0.0, s))
        S, inner, y = S + s, inner + float(s @ x), learner.ask()
        before, beta = beta, float(learner.rule_numbers[rules.BETA])
        F = float(S @ y + beta * (y - x1) @ (y - x1))
        M, h = inner - F, F - lowest(X, S, beta, x1)
        norm = X.tangent_norm(s)
        rise = min(D ** (2 / 3) * norm ** (4 / 3) * beta ** (-1 / 3), 4 / 3 * norm * D)
        rise += (beta - before) * R**2 / 3
        assert h <= learner.rule_numbers[rules.LEFT] + 1e-9 * (1.0 + abs(F))
        yield M + 4 / 3 * h - Z, rise, 1e-9 * (1.0 + abs(F))
        Z = M + 4 / 3 * h


@pytest.mark.parametrize("kind", ["plain", "turning", "sizes"])
@pytest.mark.parametrize("name", SETS)
def test_the_one_step_inequality_holds_in_every_round(name, kind):
    for seed, steps in itertools.product(
        range(2), (rules.CertificateSteps(), rules.CertificateSteps(0.3))
    ):
        for risen, bound, rounding in one_step(SETS[name](), seed, kind, steps):
            assert risen <= bound + rounding


def test_half_of_the_one_step_bound_would_fail():
    found = one_step(SETS["simplex"](), 0, "turning", rules.CertificateSteps())
    assert any(risen > 0.5 * bound + rounding for risen, bound, rounding in found)


@pytest.mark.parametrize("kind", ["plain", "turning", "sizes"])
@pytest.mark.parametrize("name", SETS)
def test_theorems_d_and_e_hold_in_every_round(name, kind):
    X = SETS[name]()
    learner = AdaptiveOCG(X, rules.CertificateSteps())
    rng, R, D = np.random.default_rng(5), X.radius_around(learner.ask()), X.diameter
    S, inner, norms, betas = np.zeros(X.dim), 0.0, [], []
    for s in gradients(X, rng, 150, learner, kind):
        inner += float(s @ learner.ask())
        learner.tell(EvalGrad(0.0, s))
        S += s
        norms.append(X.tangent_norm(s))
        betas.append(float(learner.rule_numbers[rules.BETA]))
        regret = inner - X.minimum(S)
        sizes = sum(norm ** (4 / 3) for norm in norms)
        slack = 1e-9 * (1.0 + sum(norms) * D)
        assert regret <= any_regulariser_regret(betas, norms, D, R) + slack
        assert regret <= capped_regret(D, sizes, max(norms), radius=R) + slack
        assert betas[-1] <= sizes**0.75 / D * (1.0 + 1e-12)


def written_out(rule, guard, value, wish, f2, g2, fg):
    """The guard as theory.md has it; return weight, beta, and both sides of (3)."""
    D, R2, C, q, a, k = rule["D"], *(guard[name] for name in ("R2", "C", "q", "a", "kappa"))
    dual = q / (q - 1)

    def norm2(w):
        return f2 + 2.0 * w * fg + w * w * g2

    guard["phi"] += f2 ** (dual / 2)
    Phi = guard["phi"] ** (1 / dual)
    wc = 0.0
    if value > 0.0:
        kappa = C * D * math.sqrt(g2)
        m = guard["lam"] / numbers.C1[q] * C * D * Phi
        wc = (m + guard["Wc"]) / kappa * (value / kappa) ** (q - 1)
    guard["Pc"] += norm2(wc) ** (dual / 2)
    root = guard["Pc"] ** (1 / dual)
    b = k * root / D
    right = dual * (a * k) ** (-1 / (q - 1)) * D * root + dual * R2 * b
    right += guard["lam_e"] * C * D * Phi

    def capped(w):
        unit = (rule["P"] + norm2(w) ** (2 / 3)) ** 0.75 / D
        return max(rule["beta"], unit / 32, min(rule["M"] / (0.03 * D * D), unit))

    def rise(w, beta):
        s2 = norm2(w)
        first = (D ** (q - 2) / (a * beta)) ** (1 / (q - 1)) * s2 ** (dual / 2)
        return min(first, dual * math.sqrt(s2) * D) + (beta - rule["beta"]) * R2 / (q - 1)

    def left(w, beta):
        paid = guard["We"] + (w - wc) * max(0.0, value)
        return guard["Z"] + rise(w, beta) - paid + R2 * beta + dual * R2 * max(0.0, b - beta)

    w = max(wish, wc)
    beta = capped(w)
    if left(w, beta) > right:
        beta = max(beta, b)
        if left(w, beta) > right:
            low, high = wc, w
            for _ in range(60):
                middle = 0.5 * (low + high)
                fits = left(middle, max(capped(middle), b)) <= right
                low, high = (middle, high) if fits else (low, middle)
            w, beta = low, max(capped(low), b) if low > wc else max(rule["beta"], b)
    sides = left(w, beta), right
    guard["Z"] += rise(w, beta)
    guard["We"] += (w - wc) * max(0.0, value)
    guard["Wc"] += wc * max(0.0, value)
    rule["P"] += norm2(w) ** (2 / 3)
    rule["beta"] = beta
    return w, beta, sides


def reacting(X, seed, policy, rounds):
    """Rounds that pull the play about, with constraints that it breaks and the start keeps."""
    rng, centre = np.random.default_rng(seed), X.start()
    for t in range(rounds):
        x = policy.ask()
        pull = x - centre + 0.3 * rng.standard_normal(X.dim)
        f = pull / np.linalg.norm(pull) * (1.0 if t % 50 < 25 else -1.0)
        g = f + 0.7 * rng.standard_normal(X.dim)
        g /= np.linalg.norm(g)
        yield f, g, float(g @ (x - centre)), x


PROVED = {
    "simplex": (AdaptiveOCG, 4),
    "ball": (AdaptiveOCG, 3),
    "box": (AdaptiveOCG, 4),
    "paths": (AdaptiveOCG, 4),
    "simplex, away": (AwayOCG, 2),
    "box, away": (AwayOCG, 2),
    "paths, away": (AwayOCG, 2),
}


@pytest.mark.parametrize("name", PROVED)
def test_the_guard_does_what_its_text_says(name):
    X, (kind, q) = SETS[name.partition(",")[0]](), PROVED[name]
    learner = kind(X, rules.CertificateSteps())
    guard = Guard(learner)
    assert guard.growth.q == q
    policy = hr.ConstrainedPolicy(
        learner, AdaptiveSurrogate(ObservedRanges(learner), 40.0, guard=guard)
    )
    rule = {"D": X.diameter, "P": 0.0, "beta": 0.0, "M": 0.0}
    text = {"R2": guard.radius**2, "C": guard.C, "lam": 0.25, "lam_e": 0.25}
    text |= {"q": q, "a": guard.growth.a}
    text["kappa"] = guard.growth.kappa(guard.radius**2 / X.diameter**2)
    text |= dict.fromkeys(("phi", "Pc", "Wc", "We", "Z"), 0.0)
    unguarded = AdaptiveSurrogate(ObservedRanges(learner), 40.0)
    unguarded.read(policy.ledger)
    for f, g, value, _ in reacting(X, 0, policy, 300):
        cost, constraint = EvalGrad(0.0, f), EvalGrad(value, g)
        unguarded.tell(cost, constraint)
        wish = unguarded.weight
        tf, tg = X.tangent(f), X.tangent(g)
        w, beta, _ = written_out(
            rule, text, value, wish, float(tf @ tf), float(tg @ tg), float(tf @ tg)
        )
        policy.tell(cost, constraint)
        assert policy.surrogate.weight == pytest.approx(w if value > 0.0 else 0.0, rel=1e-6)
        assert learner.rule_numbers[rules.BETA] == pytest.approx(beta, rel=1e-6)
        # both go on from the same numbers: their difference would grow
        rule |= {"beta": learner.rule_numbers[rules.BETA], "M": learner.rule_numbers[rules.M]}
        left = float(learner.rule_numbers[rules.LEFT])
        text["Z"] = min(text["Z"], rule["M"] + q / (q - 1) * left)
    assert guard.interventions > 0 or name in ("box, away", "paths, away")


def played(X, seed, rounds=400, eagerness=40.0, kind=AdaptiveOCG):
    """Play a game that reacts; yield the policy, regret, CCV, Phi_t, t, and the largest ||s^c||."""
    learner = kind(X, rules.CertificateSteps())
    guard = Guard(learner)
    policy = hr.ConstrainedPolicy(
        learner, AdaptiveSurrogate(ObservedRanges(learner), eagerness, guard=guard)
    )
    cost = ccv = sizes = steepest = 0.0
    total, centre = np.zeros(X.dim), X.start()
    for t, (f, g, value, x) in enumerate(reacting(X, seed, policy, rounds)):
        cost, total = cost + float(f @ x), total + f
        ccv += max(0.0, value)
        sizes += X.tangent_norm(f) ** guard.growth.dual
        before = guard.array[numbers.WC]
        policy.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
        floor = (guard.array[numbers.WC] - before) / value if value > 0.0 else 0.0
        steepest = max(steepest, X.tangent_norm(f + floor * g))
        Phi = sizes ** (1 / guard.growth.dual)
        yield policy, cost - float(total @ centre), ccv, Phi, t + 1, steepest


@pytest.mark.parametrize("kind", [AdaptiveOCG, TrackingOCG, AwayOCG])
@pytest.mark.parametrize("name", SETS)
def test_theorem_g_holds_in_every_round_of_games_that_react(name, kind):
    X = SETS[name]()
    D, mixture = X.diameter, kind is TrackingOCG
    rest, shares = (10.0, 0.5) if mixture else (1.0, 0.25)
    for seed in range(3):
        for policy, regret, ccv, Phi, t, steepest in played(X, seed, kind=kind):
            guard, q = policy.surrogate.guard, policy.surrogate.guard.growth.q
            (growth,) = (one for one in policy.learner.growths if one.q == q)
            C = guard_constant(D, X.radius_around(X.start()), growth, rest)
            assert pytest.approx(C) == guard.C
            assert regret <= guarded_regret(C, D, Phi, 0.25, shares, 1.0 if mixture else 0.0)
            share = guarded_ccv(C, t, 0.25, shares, q, mixture=mixture)
            assert ccv <= D * t ** (1 / growth.dual) * share + D
            left, right = sides_of_three(policy)
            spare = D * steepest if mixture else 0.0
            assert left <= right + spare + 1e-9 * (1.0 + abs(right))
            learner, Z = policy.learner, guard.array[numbers.RISEN]
            if learner.rule_numbers[rules.LEFT] < math.inf:
                assert learner.rule_numbers[rules.M] <= Z + 1e-9 * (1.0 + abs(Z))


def sides_of_three(policy):
    """Both sides of inequality (3), of a policy whose guard has seen all rounds."""
    guard, rule = policy.surrogate.guard.array, policy.learner.rule_numbers
    D, R2, C, unit = rule[rules.D], guard[numbers.R2], guard[numbers.C], guard[numbers.UNIT]
    growth = policy.surrogate.guard.growth
    dual, rho = growth.dual, R2 / D**2
    root, k = unit * guard[numbers.PC] ** (1 / dual), growth.kappa(rho)
    b, beta = k * root / D, rule[rules.BETA]
    Z = min(guard[numbers.RISEN], rule[rules.M] + dual * rule[rules.LEFT])
    left = Z - guard[numbers.WE] + R2 * beta + dual * R2 * max(0.0, b - beta)
    left += getattr(policy.learner, "ahead", 0.0)
    right = dual * (growth.a * k) ** (-1 / (growth.q - 1)) * D * root + dual * R2 * b
    return left, right + guard[numbers.LAM_E] * C * D * unit * guard[numbers.PHI] ** (1 / dual)


def test_the_guard_is_needed_and_sufficient_on_a_game_built_to_need_it():
    X = hr.sets.L2Ball(3)
    for policy, *_ in played(X, 0):
        left, right = sides_of_three(policy)
        assert left <= right + 1e-9 * (1.0 + abs(right))
    assert policy.surrogate.guard.interventions > 0
    learner = AdaptiveOCG(X, rules.CertificateSteps())
    watch = Guard(learner, lam_e=1e9)  # grants everything, and keeps the books
    free = hr.ConstrainedPolicy(
        learner, AdaptiveSurrogate(ObservedRanges(learner), 40.0, guard=watch)
    )
    broken = 0
    for f, g, value, x in reacting(X, 0, free, 400):
        free.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
        left, right = sides_of_three(free)
        spare = (1e9 - 0.25) * watch.C * X.diameter * watch.cost_size
        broken += left > right - spare + 1e-6 * abs(spare) / 1e9
    assert watch.interventions == 0
    assert broken > 0


ORDINARY = {
    "paths": lambda: hr.ShortestPath.random_network(40, 120, 600, seed=7),
    "simplex": lambda: hr.problems.IidSimplex(horizon=800, seed=7),
    "ball": lambda: hr.problems.SwitchingBall(horizon=800, seed=7),
    "ranking": lambda: hr.problems.Ranking(horizon=400, seed=7),
    "caching": lambda: hr.problems.Caching(horizon=400, seed=7),
    "box": lambda: hr.problems.QuadraticBox(horizon=400, seed=7),
}


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("tracking", [False, True])
def test_the_guard_does_nothing_on_ordinary_games(name, tracking):
    problem = ORDINARY[name]()
    policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    trace = hr.simulate(policy, problem)
    assert (trace.violations > 0.0).any()
    assert policy.surrogate.guard.interventions == 0


def test_bounds_are_below_the_trivial_ones_where_the_docs_say():
    for radius, from_regret, from_ccv in ((0.5, 38, 42), (0.5**0.5, 76, 90), (1.0, 152, 195)):
        C = guard_constant(1.0, radius)
        assert guarded_regret(C, 1.0, from_regret**0.75) < from_regret
        assert guarded_regret(C, 1.0, (from_regret - 1) ** 0.75) >= from_regret - 1
        assert from_ccv**0.75 * guarded_ccv(C, from_ccv) < from_ccv
        assert (from_ccv - 1) ** 0.75 * guarded_ccv(C, from_ccv - 1) >= from_ccv - 1


@pytest.mark.parametrize("name", ["simplex", "ball", "box"])
def test_theorem_f_with_projections_holds_in_every_round(name):
    X = SETS[name]()
    for seed in range(3):
        policy = hr.policies.projected_coco(X)
        cost = ccv = squares = paid = largest = 0.0
        total, centre = np.zeros(X.dim), X.start()
        for t, (f, g, value, x) in enumerate(reacting(X, seed, policy, 400), start=1):
            cost, total = cost + float(f @ x), total + f
            ccv, squares = ccv + max(0.0, value), squares + X.tangent_norm(f) ** 2
            kappa = math.sqrt(2.0) * X.diameter * X.tangent_norm(g)
            m = 0.5 / (1.0 - math.sqrt(0.5)) * math.sqrt(2.0) * X.diameter * math.sqrt(squares)
            w = (m + paid) / kappa * value / kappa if value > 0.0 else 0.0
            policy.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
            assert policy.surrogate.weight == pytest.approx(w, rel=1e-9)
            paid += w * max(0.0, value)
            largest = max(largest, w)
            assert cost - float(total @ centre) <= projected_regret(X.diameter, squares)
            assert ccv <= X.diameter * projected_ccv(t) + X.diameter
        assert largest > 0.0
    names = [bound.name for bound in hr.explain(policy).guarantees]
    assert "CCV, Theorem F with projections" in names


def test_weibel_steps_without_a_horizon_keep_their_bound_at_every_t():
    X = hr.sets.L2Ball(3, radius=0.5)
    for kind in ("plain", "turning"):
        learner = AdaptiveOCG(X, rules.WeibelSteps(None, 1.0))
        S, inner = np.zeros(3), 0.0
        rng = np.random.default_rng(2)
        for t, s in enumerate(gradients(X, rng, 600, learner, kind), start=1):
            s = s / max(1.0, float(np.linalg.norm(s)))
            S, inner = S + s, inner + float(s @ learner.ask())
            learner.tell(EvalGrad(0.0, s))
            assert inner - X.minimum(S) <= 5.0 / 3.0**0.75 * X.diameter * t**0.75


def test_rounds_without_a_step_count_as_one_since_the_last_step():
    """Each by b = 10 times its power, or trivially, whichever was less in its round."""
    X = SETS["box"]()
    D, R = X.diameter, X.radius_around(X.start())
    learner = TrackingOCG(X)
    guard = Guard(learner)
    policy = hr.ConstrainedPolicy(learner, AdaptiveSurrogate(ObservedRanges(learner), guard=guard))
    then = powers = trivial = rested = grown = 0.0
    for f, g, value, x in reacting(X, 1, policy, 200):
        policy.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
        norm = X.tangent_norm(f + policy.surrogate.weight * g)
        beta = float(learner.rule_numbers[rules.BETA])
        factor = D ** (2 / 3) * 10 ** (1 / 3) * beta ** (-1 / 3)
        if factor * norm ** (4 / 3) <= 4 / 3 * norm * D:
            powers += norm ** (4 / 3)
        else:
            trivial += 4 / 3 * norm * D
        rise = factor * powers + trivial + (beta - then) * R**2 / 3
        risen = guard.array[numbers.RISEN] - guard.array[numbers.Z]
        assert risen == pytest.approx(rise, rel=1e-6, abs=1e-9)
        if learner._state["leads"][0] > 0.0:  # the leader stepped
            then, powers, trivial, rested = beta, 0.0, 0.0, 0.0
        else:
            rested += 1.0
            grown += beta > then and rested > 1.0
    assert grown > 0.0


@pytest.mark.parametrize("wish", [0.0, 0.3])
def test_the_guard_feels_no_unit_of_its_learner(wish):
    """The same sum of sizes in a larger unit is the same state: (2^3)^{4/3} = 16."""
    granted = []
    for shift in (1.0, 8.0):
        guard = Guard(AdaptiveOCG(hr.sets.Simplex(4), rules.CertificateSteps()))
        guard.rule[rules.UNIT], guard.rule[rules.P] = shift, 64.0 / shift ** (4.0 / 3.0)
        sizes = (0.7, 0.5, 0.5, 0.1, 0.0, 0.0)
        weights = [guard.allow(0.2 if wish else -1.0, wish, sizes) for _ in range(5)]
        granted.append([*weights, *guard.array])
    assert granted[0][numbers.RISEN + 5] > 0.0
    np.testing.assert_allclose(granted[1], granted[0], rtol=1e-12)
