"""Bounds against runs in which they say something, and each assumption shown to be needed."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import bounds
from hedgerow.learners.steps import BETA
from synthetic_games import GAMES

LONG = 4000


def nearest(y):
    """Project onto the unit ball."""
    return y / max(1.0, float(np.linalg.norm(y)))


ADVERSARIES = ("chase", "alternate", "noise", "growing", "phases", "one-sided")


def gradient(adversary, x, t, rng):
    """The loss of round t; some react to the play."""
    match adversary:
        case "chase":
            return np.sign(x) + (x == 0.0)
        case "alternate":
            return np.full(x.size, (-1.0) ** t)
        case "noise":
            return rng.standard_normal(x.size)
        case "growing":
            return np.sign(x + 1e-9) * (1.0 + t / 100.0)
        case "phases":
            return np.full(x.size, 1.0 if int(math.log2(t)) % 2 else -1.0)
    return np.linspace(-1.0, 1.0, x.size)


def play_losses(learner, T, adversary, seed=0):
    """Return regret of linear losses and the norms of their gradients."""
    rng, S = np.random.default_rng(seed), np.zeros(learner.decision_set.dim)
    inner, norms = 0.0, []
    for t in range(1, T + 1):
        x = learner.ask()
        grad = gradient(adversary, x, t, rng)
        learner.tell(hr.feedback.EvalGrad(float(grad @ x), grad))
        S += grad
        inner += float(grad @ x)
        norms.append(float(np.linalg.norm(grad)))
    return inner - learner.decision_set.minimum(S), np.array(norms)


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize(
    "X", [hr.sets.L2Ball(3), hr.sets.Box(-np.ones(3), np.ones(3))], ids=["ball", "box"]
)
def test_sharper_theorem_bounds_runs_in_which_it_says_something(X, adversary):
    regret, norms = play_losses(
        hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(LONG)), LONG, adversary
    )
    growth, ratio = bounds.adaptivity(norms)
    D, L = X.diameter, norms.max()
    bound = bounds.sharper_ocg_regret(D, L, LONG, X.radius_around(X.start()))
    assert regret <= bound < bounds.sharper_ocg_regret(D, L, LONG) < D * L * LONG
    assert bound <= bounds.ocg_regret(D, L, LONG, growth, ratio)


def beta_now(learner, t):
    """The regulariser of round t, from the rule's numbers."""
    rule, D = learner._state["rule"], learner.decision_set.diameter
    if isinstance(learner.steps, hr.learners.steps.CertificateSteps):
        return float(rule[BETA])
    return 2.0 * t**0.25 * math.sqrt(rule[2]) / (learner.steps.kappa * D)


STEPS = [
    hr.learners.steps.RmsSteps(4.5),
    hr.learners.steps.RmsSteps(16.0),
    hr.learners.steps.CertificateSteps(),
    hr.learners.steps.CertificateSteps(0.3),
]
CENTRED = {
    "ball": (hr.sets.L2Ball(3, radius=0.5), 0.5),
    "box": (hr.sets.Box(-np.ones(3), np.ones(3)), math.sqrt(3.0)),
    "simplex": (hr.sets.Simplex(3), math.sqrt(2.0 / 3.0)),
}
"""Sets, and the largest distance from their centre, where play starts."""


def shorter(steps, set_name, adversary, T=300, factor=1.0):
    """Regret over the bound of Theorem D, the most over all rounds."""
    X, R = CENTRED[set_name]
    learner, rng = hr.learners.AdaptiveOCG(X, steps), np.random.default_rng(0)
    S, inner, first, most = np.zeros(X.dim), 0.0, 0.0, -math.inf
    for t in range(1, T + 1):
        x = learner.ask()
        s = gradient(adversary, x, t, rng)
        learner.tell(hr.feedback.EvalGrad(float(s @ x), s))
        S, inner, beta = S + s, inner + float(s @ x), beta_now(learner, t)
        first += X.tangent_norm(s) ** (4.0 / 3.0) * beta ** (-1.0 / 3.0) if beta > 0.0 else 0.0
        bound = X.diameter ** (2.0 / 3.0) * first + 4.0 / 3.0 * beta * R**2
        if bound > 0.0:
            most = max(most, (inner - X.minimum(S)) / (factor * bound))
    return most


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("set_name", CENTRED)
@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_the_shorter_analysis_bounds_every_round(steps, set_name, adversary):
    """Theorem D of theory.md: any nondecreasing regulariser with exact line search."""
    assert shorter(steps, set_name, adversary) <= 1.0


def test_a_fifth_of_that_bound_is_false():
    cases = [(s, X, a) for s in STEPS for X in CENTRED for a in ADVERSARIES]
    assert max(shorter(*case, T=100, factor=0.2) for case in cases) > 1.0


@pytest.mark.parametrize("kappa", [1.0, 4.0, 16.0])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_rms_bound_holds_in_every_round(kappa, adversary):
    X = hr.sets.L2Ball(3)
    learner, rng = (
        hr.learners.AdaptiveOCG(X, hr.learners.steps.RmsSteps(kappa)),
        np.random.default_rng(0),
    )
    inner, S, squares, sizes, said = 0.0, np.zeros(3), 0.0, 0.0, False
    for t in range(1, 1001):
        x = learner.ask()
        grad = gradient(adversary, x, t, rng)
        learner.tell(hr.feedback.EvalGrad(0.0, grad))
        inner, S, squares = inner + float(grad @ x), S + grad, squares + float(grad @ grad)
        sizes += float(grad @ grad) ** (2 / 3)
        rough = bounds.rms_regret(X.diameter, squares, t, kappa)
        bound = bounds.rms_regret(X.diameter, squares, t, kappa, 1.0, sizes)
        assert inner - X.minimum(S) <= bound <= rough
        said |= bound < X.diameter * math.sqrt(t * squares)
    assert said


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_leader_lemmas_and_leader_regret(adversary):
    """The leader's plays are computed by projection, independently of the library."""
    T, X = 1000, hr.sets.L2Ball(3)
    learner, rng = (
        hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(T)),
        np.random.default_rng(1),
    )
    x1 = learner.ask()
    D, S, L, leader = X.diameter, np.zeros(3), 0.0, x1
    apart = moved = inner = 0.0
    rates, norms = [], []
    for t in range(1, T + 1):
        x = learner.ask()
        grad = gradient(adversary, x, t, rng)
        learner.tell(hr.feedback.EvalGrad(0.0, grad))
        norms.append(float(np.linalg.norm(grad)))
        L = max(L, norms[-1])
        rates.append(D / (2 * L * T**0.75))
        inner += float(grad @ leader)
        S = S + grad
        after = nearest(x1 - rates[-1] / 2 * S)
        apart += L * np.linalg.norm(x - after)
        moved += L * np.linalg.norm(after - leader)
        leader = after
    growth, ratio = bounds.adaptivity(norms)
    assert apart <= bounds.leader_distance(D, L, T, growth)
    assert moved <= bounds.leader_movement(D, L, T) < D * L * T
    bound = bounds.ftrl_regret(D, rates, norms)
    assert inner - X.minimum(S) <= bound < D * L * T
    assert bound <= 2 * D * L * T**0.75 + ratio * D * L * T**0.25 / 8 + 1e-9


def test_general_bounds_on_random_numbers():
    """z solves z^p + Regret = start + C + A z^{p-1}: the worst that the inequality allows."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        p, scale, C = rng.uniform(1.5, 12.0), 10.0 ** rng.uniform(0, 4), 10.0 ** rng.uniform(0, 4)
        queue, budget, least = (
            rng.uniform(0, scale),
            rng.choice([0.0, C]),
            10.0 ** rng.uniform(0, 5),
        )
        A, b = p * (C + budget) / scale, least + C + (queue / scale) ** p
        z = np.linspace(0.0, 2.0 * (A + b ** (1 / p)), 2001)
        regret = (queue / scale) ** p + C + A * z ** (p - 1) - z**p
        bound = bounds.general_regret(p, scale, C, queue, budget)
        assert regret.max() <= bound * (1 + 1e-12)
        reached = z[regret >= -least].max() * scale - queue
        assert reached <= bounds.general_ccv(p, scale, C, least, queue, budget) * (1 + 1e-12) + 1e-9
    assert bounds.general_regret(8.0, 1.0, 1e60) == math.inf


@pytest.mark.parametrize("game", GAMES)
def test_general_bounds_with_the_measured_constant(game):
    """C = Regret'/(1 + largest weight), as the run had it."""
    T, p, scale, queue = 400, 6.0, 5.0, 3.0
    problem = GAMES[game](1, T)
    surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(p, scale), queue)
    policy = hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(problem.decision_set, hr.learners.steps.PaperSteps(T)), surrogate
    )
    z, regret, of_losses, ccv, largest = problem.feasible, 0.0, 0.0, 0.0, 0.0
    for cost, constraint in problem.rounds(policy):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        w, violation = surrogate.weight, max(0.0, constraint(x))
        regret += cost(x) - cost(z)
        of_losses += cost(x) - cost(z) + w * violation
        ccv, largest = ccv + violation, max(largest, w)
    C = max(1e-9, of_losses / (1.0 + largest))
    assert ccv > 0.0
    assert regret <= bounds.general_regret(p, scale, C, queue)
    assert ccv <= bounds.general_ccv(p, scale, C, max(1e-9, -regret), queue)


def test_surrogate_lemmas():
    rng = np.random.default_rng(0)
    for T in (8, 100, 10**4):
        p, V = math.log(T), 10.0 ** rng.uniform(-3, 3)
        Q = p + np.cumsum(rng.uniform(0.0, 1.0, T) * (rng.random(T) < rng.random()))
        L = V + p * Q ** (p - 1)
        growth, ratio = bounds.adaptivity(L)
        assert ratio <= bounds.surrogate_ratio(T) <= 1 + math.e
        assert growth <= bounds.surrogate_log_growth(T) <= p * p


def test_perturbed_leader_bounds():
    """Norms at most 1, no constants in g; a feasible action exists."""
    T, X, rng = 3000, hr.sets.Simplex(4), np.random.default_rng(3)
    costs = rng.uniform(-0.5, 0.5, (T, 4))
    constraints = rng.uniform(-0.5, 0.5, (T, 4))
    constraints[:, 0] = -0.1
    costs[:, 0] = 0.1
    regrets, sums = [], []
    for seed in range(2):
        policy = hr.ftpl_coco(X, T, seed, preset="theory")
        rounds = [(hr.Linear(f), hr.Linear(g)) for f, g in zip(costs, constraints, strict=True)]
        trace = hr.simulate(policy, hr.RecordedProblem(X, rounds))
        regrets.append(trace.cost - hr.hindsight(X, rounds).cost)
        sums.append(max(0.0, trace.signed_ccv))
    assert np.mean(regrets) <= bounds.ftpl_regret(T) < 2 * T
    assert np.mean(sums) <= bounds.ftpl_sum(T) < T


class BallBlocks(hr.learners.PaperBlocks):
    """The paper's steps with the ball's own outer radius, 1, instead of its diameter."""

    def begin(self, dim, radius, diameter):
        block = super().begin(dim, radius, diameter)
        return block._replace(epsilon=block.epsilon / diameter**2)


def test_block_bandit_bounds():
    T, X = 130_000, hr.sets.L2Ball(2)
    learner = hr.learners.BlockBandit(X, BallBlocks(T), seed=0)
    a, total = np.array([0.6, 0.8]), 0.0
    for t in range(T):
        value = float(a @ learner.ask()) * (1.0 if t % 3 else -1.0)
        learner.tell(hr.feedback.Eval(value, 1.0, 1.0))
        total += value
    regret = total - X.minimum(a * (T - 2 * math.ceil(T / 3)))
    gap = 16.0 * math.sqrt(math.log(T) / T)
    assert regret <= bounds.block_bandit_regret(2, 2.0, 1.0, 1.0, 1.0, T, gap) < 2.0 * T
    assert learner.oracle_calls <= bounds.block_bandit_oracle_calls(1.0, T, gap) < T


NONVACUOUS = {
    "Theorem 2.1": (lambda T: bounds.ocg_regret(1.0, 1.0, T), 2_501_183_245),
    "sharper": (lambda T: bounds.sharper_ocg_regret(1.0, 1.0, T), 240),
    "rms": (lambda T: bounds.rms_regret(1.0, T, T, 1.0), 193),
    "Theorem 3.4 regret": (lambda T: bounds.coco_regret(1.0, 1.0, T), 573_428_332_468_452),
    "Theorem 3.4 CCV": (lambda T: bounds.coco_ccv(1.0, 1.0, T), 3.8846e24),
}


@pytest.mark.parametrize("name", NONVACUOUS)
def test_nonvacuous_horizons(name):
    bound, expected = NONVACUOUS[name]
    T = bounds.nonvacuous_horizon(bound, 1.0)
    assert pytest.approx(expected, rel=1e-4) == T
    assert bound(T) < T
    before = T - 1.0 if T < 1e12 else T * (1 - 1e-9)
    assert bound(before) >= before
    for k in range(1, 30):  # once it says something, it always does
        assert bound(T * 2.0**k) / 2.0**k < bound(T)


def test_nonvacuous_horizon_at_the_edges():
    assert bounds.nonvacuous_horizon(lambda T: 0.0 * T, 1.0) == 8.0
    assert bounds.nonvacuous_horizon(lambda T: 2.0 * T, 1.0) == math.inf


def test_bounds_grow_with_what_makes_games_harder():
    least = bounds.ocg_regret(1.0, 1.0, 100.0, 0.0, 1.0)
    for harder in ((2, 1, 100, 0, 1), (1, 2, 100, 0, 1), (1, 1, 200, 0, 1), (1, 1, 100, 3, 1)):
        assert bounds.ocg_regret(*map(float, harder)) > least
    assert bounds.ocg_regret(1.0, 1.0, 100.0, 0.0, 3.0) >= least
    least = bounds.sharper_ocg_regret(1.0, 1.0, 100.0, 0.5)
    for harder in ((2, 1, 100, 1.0), (1, 2, 100, 0.5), (1, 1, 200, 0.5), (1, 1, 100, 0.7)):
        assert bounds.sharper_ocg_regret(*map(float, harder)) > least
    for bound in (bounds.coco_regret, bounds.coco_ccv, bounds.long_term_regret):
        assert bound(2.0, 1.0, 1e4) > bound(1.0, 1.0, 1e4)
        assert bound(1.0, 1.0, 2e4) > bound(1.0, 1.0, 1e4)
    assert bounds.budget_ccv(1.0, 1.0, 1e4, 100.0) > bounds.budget_ccv(1.0, 1.0, 1e4, 0.0)
    assert bounds.sharper_ocg_regret(1.0, 1.0, 1e4) < 1e4 * 0.65
    assert bounds.cbco_ccv(20.0, 2.0, 1e6) > bounds.cbco_regret(20.0, 2.0, 1e6)


# Each assumption, violated on purpose.


def leader_regret(norms, rates):
    """The regret of the leader on [-1, 1] from 0, when all gradients point the same way."""
    S = inner = 0.0
    x = 0.0
    for size, eta in zip(norms, rates, strict=True):
        inner += size * x
        S += size
        x = max(-1.0, -eta / 2 * S)
    return inner + S


def test_needs_nondecreasing_constants():
    """With L_t = ||grad_t|| a last small gradient makes 1/eta_T, and the bound, nothing."""
    T, D = 10_000, 2.0
    norms = np.append(np.ones(T - 1), 1e-6)
    literal = D / (2 * norms * T**0.75)
    with pytest.raises(ValueError, match="rates must not increase"):
        bounds.ftrl_regret(D, literal, norms)
    claimed = D**2 / literal[-1] + 0.25 * np.sum(np.append(literal[0], literal[:-1]) * norms**2)
    assert leader_regret(norms, literal) > 100.0 * claimed
    monotone = D / (2 * np.maximum.accumulate(norms) * T**0.75)
    assert leader_regret(norms, monotone) <= bounds.ftrl_regret(D, monotone, norms)


def test_certificate_needs_coefficient_one():
    """Two arms, costs divided by a learnt range: regret 5800, "certificate" 0."""
    costs = np.vstack([np.tile([0.0, 1.0], (200, 1)), np.tile([30.0, 0.0], (200, 1))])
    arm = np.array([1.0, 0.0])
    learnt = costs / np.maximum.accumulate(costs.max(axis=1))[:, None]
    regret = float((costs @ arm).sum() - costs.sum(axis=0).min())
    assert regret == 5800.0
    assert float((learnt @ arm).sum() - learnt.sum(axis=0).min()) == 0.0
    policy = hr.projection_free_coco(hr.sets.Simplex(2))
    rounds = [(hr.Linear(a), hr.Linear([0.0, 0.0], -1.0)) for a in costs]
    trace = hr.simulate(policy, hr.RecordedProblem(hr.sets.Simplex(2), rounds))
    assert trace.cost - costs.sum(axis=0).min() <= policy.certificate()


def test_certificate_needs_a_feasible_benchmark():
    """Against an action that violates, the regret may be above the certificate."""
    rounds = [(hr.Linear([0.0, 1.0]), hr.Linear([1.0, 0.0], -0.5))] * 400
    policy = hr.projection_free_coco(hr.sets.Simplex(2))
    trace = hr.simulate(policy, hr.RecordedProblem(hr.sets.Simplex(2), rounds))
    assert trace.cost - 0.0 > policy.certificate()  # arm 1 costs nothing and always violates
    assert trace.cost - 200.0 <= policy.certificate()  # half and half


def test_ratio_lemma_needs_increments_of_at_most_GD():
    T = 10**4
    p = math.log(T)
    Q = np.array([p, p + 10.0])  # G D = 1, V negligible
    assert bounds.adaptivity(p * Q ** (p - 1)).largest_ratio > 100.0 > bounds.surrogate_ratio(T)


def test_ratio_lemma_needs_the_analytic_constants():
    """The running maximum of ||grad_t|| starts wherever the first cost is."""
    assert bounds.adaptivity([1e-9, 1.0]).largest_ratio > 1 + math.e


def test_general_regret_needs_a_scale_near_its_constant():
    assert bounds.general_regret(9.0, 9.0 * 100.0, 100.0) < 101.0
    assert bounds.general_regret(9.0, 0.1 * 9.0 * 100.0, 100.0) > 1e7


def test_drift_of_the_signed_queue_needs_small_values():
    """Q(t)^2 <= Q(t-1)^2 + 1 + 2 Q(t-1) <g, x> fails as soon as |<g, x>| exceeds 1."""
    for value in np.linspace(-3.0, 3.0, 61):
        for Q in (0.0, 0.5, 4.0):
            holds = max(0.0, Q + value) ** 2 <= Q**2 + 1 + 2 * Q * value + 1e-9
            assert holds or abs(value) > 1.0
    assert max(0.0, 0.0 + 3.0) ** 2 > 1.0


def policies(T):
    X = hr.sets.Simplex(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
        theory = {
            "coco theory": hr.projection_free_coco(X, T, preset="theory", lipschitz=1.0),
            "budget theory": hr.projection_free_coco(
                X, T, preset="theory", lipschitz=1.0, benchmark_budget=9.0
            ),
            "long term theory": hr.projection_free_long_term(X, T, preset="theory", lipschitz=1.0),
            "bandit theory": hr.projection_free_bandit(
                X, 10**6, 0, lipschitz=1.0, bound=1.0, preset="theory"
            ),
        }
    return theory | {
        "coco": hr.projection_free_coco(X),
        "long term": hr.projection_free_long_term(X),
        "unconstrained": hr.unconstrained(X),
        "unconstrained theory": hr.unconstrained(X, T, preset="theory"),
        "ftpl": hr.ftpl_coco(X, T, 0),
        "ftpl theory": hr.ftpl_coco(X, T, 0, preset="theory"),
        "bandit": hr.projection_free_bandit(X, T, 0, lipschitz=1.0, bound=1.0),
        "sampled": hr.Sampled(hr.projection_free_long_term(X), 0),
        "lazy": hr.LazySampled(hr.projection_free_coco(X, tracking=False), 0),
        "semi-bandit": hr.semi_bandit_coco(X, T, 0),
    }


def test_explain_reads_the_constants_off_the_policy():
    T = 1500
    found = {name: bounds.explain(policy) for name, policy in policies(T).items()}
    for name, explanation in found.items():
        assert explanation.guarantees, name
        assert explanation.guarantees[0].statement in str(explanation)
    D = math.sqrt(2.0)
    by_name = {g.name: g for g in found["coco theory"].guarantees}
    regret, ccv = by_name["regret, Theorem 3.4"], by_name["CCV, Theorem 3.4"]
    assert regret.value == pytest.approx(bounds.coco_regret(1.0, D, T))
    assert ccv.value == pytest.approx(bounds.coco_ccv(1.0, D, T))
    assert (regret.informative, ccv.informative) == (False, False)
    assert "says nothing" in str(regret)
    assert found["coco theory"].horizon == T
    assert found["coco"].horizon is None
    budget = " ".join(found["budget theory"].guarantees[-1].assumptions)
    assert "violates by at most 9 in all" in budget
    signed = {g.name: g for g in found["long term theory"].guarantees}
    assert signed["signed sum, quadratic drift"].value == pytest.approx(
        bounds.long_term_sum(1.0, D, T)
    )
    assert found["unconstrained theory"].guarantees[-1].informative
    assert found["ftpl theory"].horizon == found["ftpl"].horizon == T
    assert found["ftpl"].guarantees[-1].value is None
    assert found["ftpl theory"].guarantees[-1].value == pytest.approx(bounds.ftpl_sum(T))
    c = bounds.cbco_constant(3, D, D / hr.sets.Simplex(4).ball()[1], 1.0, 1.0, 1e6)
    bandit = found["bandit theory"].guarantees[1]
    assert bandit.value == pytest.approx(bounds.cbco_regret(c, D, 1e6))
    assert "no block at its cap of K oracle calls (so far 0 were)" in bandit.assumptions
    capped = policies(T)["bandit theory"]
    capped.learner._state["capped"][0] = 2.0
    assert "(so far 2 were)" in str(bounds.explain(capped))
    assert not any(g.name.startswith("CCV") for g in found["lazy"].guarantees)
    assert bounds.explain(object()).guarantees == ()


@pytest.mark.parametrize(
    ("tracking", "names"),
    [
        (True, ["regret, Theorem R", "CCV, Theorem R"]),
        (False, ["regret of the losses, afterwards"]),
    ],
)
def test_explain_changes_nothing_and_follows_the_run(tracking, names):
    problem = hr.problems.IidSimplex(n=4, horizon=200, seed=0)
    policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    assert bounds.explain(policy).guarantees[0].informative is None
    for t, (cost, constraint) in enumerate(problem):
        x = policy.ask()
        if t == 100:
            bounds.explain(policy)
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    undisturbed = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    hr.simulate(undisturbed, problem)
    assert np.array_equal(policy.ask(), undisturbed.ask())
    certificate, *others = bounds.explain(policy).guarantees
    assert certificate.value == policy.certificate()
    assert certificate.informative
    assert [other.name for other in others] == names
    assert tracking or others[0].value > 0.0


def test_explain_measures_the_price_of_adaptivity():
    problem = hr.problems.SwitchingBall(n=4, horizon=200, seed=0)
    surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(6.0, 5.0), 3.0)
    policy = hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(problem.decision_set, hr.learners.steps.PaperSteps(200)), surrogate
    )
    weights = [surrogate.potential.weight(3.0)]
    for cost, constraint in problem:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        weights.append(surrogate.potential.weight(surrogate.queue))
    price, true = bounds.explain(policy).adaptivity, bounds.adaptivity(1.0 + np.array(weights))
    assert price.log_growth == pytest.approx(true.log_growth)
    assert price.log_growth > 0.0
    assert price.largest_ratio >= true.largest_ratio
