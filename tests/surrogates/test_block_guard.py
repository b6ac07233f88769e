"""Theorem G on products whose factors have steps of their own."""

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import guard_constant, guarded_ccv, guarded_regret
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, BlockOCG, Growth
from hedgerow.learners import steps as rules
from hedgerow.sets import L2Ball, Product, Simplex
from hedgerow.surrogates import AdaptiveSurrogate, BlockGuard, Guard, ObservedRanges
from hedgerow.surrogates import guard as numbers

LEAST = 1 / 8  # the share of a step that is gone at least, and a of its growth
PRODUCTS = {
    "simplices": lambda: Product(Simplex(3), Simplex(1), Simplex(6, total=2.0), Simplex(2)),
    "mixed": lambda: Product(Simplex(3), L2Ball(2)),
    "balls": lambda: Product(L2Ball(3), L2Ball(2, radius=3.0)),
    "one": lambda: Product(Simplex(4)),
}


def reacting(X, seed, policy, rounds):
    """Rounds that pull the play about, blocks of other sizes; the start is feasible."""
    rng, centre = np.random.default_rng(seed), X.start()
    sizes = np.concatenate([np.full(F.dim, 5.0**-k) for k, F in enumerate(X.factors)])
    for t in range(rounds):
        x = policy.ask()
        pull = sizes * (x - centre + 0.3 * rng.standard_normal(X.dim))
        f = pull / np.linalg.norm(pull) * (1.0 if t % 50 < 25 else -1.0)
        g = f + 0.7 * sizes * rng.standard_normal(X.dim)
        g /= np.linalg.norm(g)
        yield f, g, float(g @ (x - centre)), x


def blocks_of(X, lam_e=0.25, eagerness=40.0):
    learner = BlockOCG(X)
    guard = BlockGuard(learner, lam_e=lam_e)
    return hr.ConstrainedPolicy(
        learner, AdaptiveSurrogate(ObservedRanges(learner), eagerness, guard=guard)
    )


def radii2_of(learner):
    X, x1 = learner.decision_set, learner.first_play
    return np.array([F.radius_around(x) ** 2 for F, x in zip(X.factors, X.parts(x1), strict=True)])


def sides_of_three(policy, radii2):
    """Both sides of inequality (3), summed over the blocks."""
    guard, rule = policy.surrogate.guard.array, policy.learner.block_rules.T
    D, C = policy.surrogate.guard.diameter, guard[numbers.C]
    root = guard[numbers.UNIT] * guard[numbers.PC] ** 0.75
    growth, rho = policy.surrogate.guard.growth, radii2.sum() / D**2
    b, beta = growth.kappa(rho) * root / D, rule[rules.BETA]
    Z = min(guard[numbers.RISEN], np.sum(rule[rules.M] + 4 / 3 * rule[rules.LEFT]))
    left = Z - guard[numbers.WE] + radii2 @ (beta + 4 / 3 * np.maximum(0.0, b - beta))
    right = 4 / 3 * ((LEAST * growth.kappa(rho)) ** (-1 / 3) * D * root + radii2.sum() * b)
    return left, right + guard[numbers.LAM_E] * C * D * policy.surrogate.guard.cost_size


@pytest.mark.parametrize("name", PRODUCTS)
def test_theorem_g_holds_in_every_round(name):
    X = PRODUCTS[name]()
    D = X.diameter
    C = guard_constant(D, X.radius_around(X.start()), Growth(4, LEAST))
    acted = 0
    for seed in range(3):
        policy = blocks_of(X)
        radii2 = radii2_of(policy.learner)
        cost = ccv = sizes = 0.0
        total, centre = np.zeros(X.dim), X.start()
        for t, (f, g, value, x) in enumerate(reacting(X, seed, policy, 300), start=1):
            cost, total, ccv = cost + float(f @ x), total + f, ccv + max(0.0, value)
            sizes += X.tangent_norm(f) ** (4 / 3)
            policy.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
            assert cost - float(total @ centre) <= guarded_regret(C, D, sizes**0.75)
            assert ccv <= D * t**0.75 * guarded_ccv(C, t) + D
            left, right = sides_of_three(policy, radii2)
            assert left <= right + 1e-9 * (1.0 + abs(right))
            M = policy.learner.block_rules[:, rules.M].sum()
            Z = policy.surrogate.guard.array[numbers.RISEN]
            assert Z + 1e-9 * (1.0 + abs(Z)) >= M
        acted += policy.surrogate.guard.interventions
    assert acted > 0


def written_out(guard, rule, radii2, value, wish, f2, g2, fg):
    """The guard of blocks as theory.md has it; return the weight and whether beta_b rise to b."""
    D, R2, C = guard["D"], radii2.sum(), guard["C"]

    def norm(w):
        return math.sqrt(f2 + 2.0 * w * fg + w * w * g2)

    def first(w, beta):
        s = norm(w)
        return min(D ** (2 / 3) * s ** (4 / 3) * (LEAST * beta) ** (-1 / 3), 4 / 3 * s * D)

    guard["phi"] += f2 ** (2 / 3)
    Phi, wc = guard["phi"] ** 0.75, 0.0
    if value > 0.0:
        kappa = C * D * math.sqrt(g2)
        m = 0.25 / numbers.C1[4] * C * D * Phi
        wc = (m + guard["Wc"]) / kappa * (value / kappa) ** 3
    guard["Pc"] += norm(wc) ** (4 / 3)
    k = Growth(4, LEAST).kappa(R2 / D**2)
    b = k * guard["Pc"] ** 0.75 / D
    right = (
        4 / 3 * (LEAST * k) ** (-1 / 3) * D * guard["Pc"] ** 0.75
        + 4 / 3 * R2 * b
        + 0.25 * C * D * Phi
    )
    Z = min(guard["Z"], np.sum(rule[rules.M] + 4 / 3 * rule[rules.LEFT]))
    unit = rule[rules.UNIT] * rule[rules.P] ** 0.75 / rule[rules.D]
    wanted = np.minimum(rule[rules.M] / (0.03 * rule[rules.D] ** 2), unit)
    beta = np.maximum(np.maximum(rule[rules.BETA], unit / 32), wanted)  # before this round

    def left(w, reg, least, short):
        rise = first(w, least) if least > 0.0 else 4 / 3 * norm(w) * D
        rise += (reg - radii2 @ rule[rules.BETA]) / 3
        paid = guard["We"] + (w - wc) * max(0.0, value)
        return Z + rise - paid + reg + 4 / 3 * short, rise

    w = max(wish, wc)
    reg = radii2 @ beta + math.sqrt(R2) * norm(w)
    sides, rise = left(w, reg, beta.min(), radii2 @ np.maximum(0.0, b - beta))
    if acted := sides > right:
        beta = np.maximum(rule[rules.BETA], b)
        if left(w, radii2 @ beta, beta.min(), 0.0)[0] > right:
            low, high = wc, w
            for _ in range(60):
                middle = 0.5 * (low + high)
                fits = left(middle, radii2 @ beta, beta.min(), 0.0)[0] <= right
                low, high = (middle, high) if fits else (low, middle)
            w = low
        rise = left(w, radii2 @ beta, beta.min(), 0.0)[1]
    guard["Z"] = Z + rise
    guard["We"] += (w - wc) * max(0.0, value)
    guard["Wc"] += wc * max(0.0, value)
    return w, acted


@pytest.mark.parametrize("name", ["mixed", "balls", "one"])
def test_the_guard_of_blocks_does_what_its_text_says(name):
    X = PRODUCTS[name]()
    policy = blocks_of(X)
    learner, guard = policy.learner, policy.surrogate.guard
    text = {"D": X.diameter, "C": guard.C} | dict.fromkeys(("phi", "Pc", "Wc", "We", "Z"), 0.0)
    unguarded = AdaptiveSurrogate(ObservedRanges(learner), 40.0)
    unguarded.read(policy.ledger)
    radii2, times = radii2_of(learner), 0
    for f, g, value, _ in reacting(X, 0, policy, 200):
        cost, constraint = EvalGrad(0.0, f), EvalGrad(value, g)
        unguarded.tell(cost, constraint)
        wish = unguarded.weight
        tf, tg = X.tangent(f), X.tangent(g)
        sizes = float(tf @ tf), float(tg @ tg), float(tf @ tg)
        w, acted = written_out(text, learner.block_rules.T, radii2, value, wish, *sizes)
        policy.tell(cost, constraint)
        times += acted
        assert policy.surrogate.weight == pytest.approx(w if value > 0.0 else 0.0, rel=1e-6)
        assert guard.interventions == times
    assert times > 0


def test_without_the_guard_the_inequality_is_broken():
    """The mutant grants everything, and keeps the books."""
    X = PRODUCTS["one"]()
    free = blocks_of(X, lam_e=1e9)
    radii2, broken = radii2_of(free.learner), 0
    watch = free.surrogate.guard
    for f, g, value, x in reacting(X, 0, free, 600):
        free.tell(EvalGrad(float(f @ x), f), EvalGrad(value, g))
        left, right = sides_of_three(free, radii2)
        spare = (1e9 - 0.25) * watch.C * X.diameter * watch.cost_size
        broken += left > right - spare + 1e-6 * abs(spare) / 1e9
    assert watch.interventions == 0
    assert broken > 0


def test_a_rise_is_at_most_what_its_text_says():
    """Z_t - Z_{t-1} <= min(D^{2/3} ||s||^{4/3} min beta^{-1/3}, (4/3) D ||s||) + growth R^2/3."""
    X = PRODUCTS["balls"]()
    learner, rng = BlockOCG(X), np.random.default_rng(5)
    radii2, D = radii2_of(learner), X.diameter
    Z = spent = close = 0.0
    x1, S, inner = X.start(), np.zeros(X.dim), 0.0
    for t in range(300):
        x = learner.ask()
        s = np.repeat([1.0, 0.2], [3, 2]) * rng.standard_normal(X.dim) + (x - x1) * (t % 3)
        S, inner = S + s, inner + float(s @ x)
        learner.tell(EvalGrad(0.0, s))
        beta = learner.block_rules[:, rules.BETA]
        each = zip(X.factors, X.parts(S), X.parts(x1), beta, strict=True)
        lowest = 0.0
        for factor, part, centre, strength in each:
            y = factor.project(centre - part / (2.0 * strength))
            lowest += float(part @ y + strength * (y - centre) @ (y - centre))
        y = learner.ask()
        F = float(S @ y) + sum(
            k * float((a - c) @ (a - c))
            for k, a, c in zip(beta, X.parts(y), X.parts(x1), strict=True)
        )
        now = inner - F + 4 / 3 * (F - lowest)  # M_t + (4/3) h_t
        norm = float(np.linalg.norm(s))
        first = min(D ** (2 / 3) * norm ** (4 / 3) * beta.min() ** (-1 / 3), 4 / 3 * norm * D)
        rise = first + (radii2 @ beta - spent) / 3
        assert now <= Z + rise + 1e-9
        close = max(close, (now - Z) / rise)
        Z, spent = now, float(radii2 @ beta)
    assert close > 0.1


def test_one_block_is_guarded_about_as_one_learner_is():
    """What the product adds to the test is the cap of one round: weights differ seldom."""
    X = Product(Simplex(4))
    learner = AdaptiveOCG(Simplex(4), rules.CertificateSteps())
    guard = Guard(learner)
    alone = hr.ConstrainedPolicy(learner, AdaptiveSurrogate(ObservedRanges(learner), guard=guard))
    blocks = blocks_of(X, eagerness=1.0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        f, g = rng.uniform(0, 1, 4), rng.standard_normal(4)
        for policy in (alone, blocks):
            x = policy.ask()
            policy.tell(EvalGrad(float(f @ x), f), EvalGrad(float(g @ x), g))
    assert guard.interventions <= blocks.surrogate.guard.interventions <= 10
    assert blocks.surrogate.guard.cost_size == pytest.approx(guard.cost_size, rel=1e-12)


def test_the_plain_policy_of_a_product_is_guarded_blocks_and_says_so():
    X = Product(Simplex(3), Simplex(3))
    policy = hr.projection_free_coco(X, tracking=False)
    assert isinstance(policy.learner, BlockOCG)
    rng = np.random.default_rng(1)
    problem = hr.RecordedProblem(
        X,
        [
            (hr.Linear(rng.uniform(0, 1, 6)), hr.Linear(rng.standard_normal(6), -0.5))
            for _ in range(200)
        ],
    )
    trace = hr.simulate(policy, problem)
    found = {bound.name: bound for bound in hr.explain(policy).guarantees}
    assert found["regret, Theorem G"].value is not None
    certificate = policy.certificate()
    assert certificate <= policy.learner.bound + 1e-9
    assert found["regret of the losses, afterwards"].value == policy.learner.bound
    again = hr.projection_free_coco(X, tracking=False)
    for f, g in problem:
        x = again.ask()
        again.tell(hr.first_order(f, x), hr.first_order(g, x))
    assert again.certificate() == certificate
    assert (again.ask() == policy.ask()).all()
    assert trace.ccv > 0.0


def test_other_steps_are_refused():
    with pytest.raises(TypeError, match="steps must be CertificateSteps, got RmsSteps"):
        BlockGuard(BlockOCG(Product(Simplex(2), Simplex(2)), rules.RmsSteps()))
