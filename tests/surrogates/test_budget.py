"""A benchmark that may itself violate: the scale makes room, and the certificate pays w B."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr

B, ROUNDS = 7.0, 200


def theory(X, T, budget):
    with pytest.warns(hr.VacuousConstantsWarning):
        return hr.projection_free_coco(
            X, T, preset="theory", lipschitz=2.0, benchmark_budget=budget
        )


def test_the_theory_scale_is_the_papers_plus_p_B():
    X, T = hr.sets.Simplex(3), 1000
    plain, roomy = (theory(X, T, budget).surrogate.potential for budget in (0.0, B))
    assert roomy.scale == pytest.approx(plain.scale + math.log(T) * B)
    assert roomy.p == plain.p == math.log(T)


def test_a_budget_is_a_number_from_zero_on():
    for bad in (-1.0, math.nan, math.inf, "much"):
        with pytest.raises((ValueError, TypeError), match="benchmark_budget"):
            hr.projection_free_coco(
                hr.sets.Simplex(3), 1000, preset="theory", lipschitz=2.0, benchmark_budget=bad
            )


@pytest.mark.filterwarnings("ignore::hedgerow.VacuousConstantsWarning")
@pytest.mark.parametrize("preset", ["practical", "theory"])
def test_the_bandit_scale_widens_by_p_B(preset):
    X, T, Mg = hr.sets.L2Ball(3, radius=2.0), 1000, 5.0
    scales = [
        hr.projection_free_bandit(
            X, T, 0, lipschitz=2.0, bound=Mg, benchmark_budget=budget, preset=preset
        ).surrogate
        for budget in (0.0, B)
    ]
    in_own_unit = [s.potential.scale * s.ranges.violation for s in scales]
    assert scales[1].ranges.violation == (Mg if preset == "practical" else 1.0)
    assert in_own_unit[1] == pytest.approx(in_own_unit[0] + math.log(T) * B)


def budget_game(X, z, seed):
    """Linear rounds in which z violates now and then, B in total, and pays with a low cost."""
    rng = np.random.default_rng(seed)
    violates = rng.uniform(size=ROUNDS) < 0.3
    shares = np.where(violates, rng.exponential(1.0, ROUNDS), 0.0)
    shares *= B / shares.sum()
    away = X.lmo(-np.ones(X.dim)) - z
    for share in shares:
        a = -away + rng.standard_normal(X.dim)
        b = away + 0.5 * rng.standard_normal(X.dim)
        slack = share if share > 0.0 else -rng.uniform(0.0, 0.3)
        yield a, b, slack - float(b @ z)


SETS = {
    "simplex": lambda: hr.sets.Simplex(6, total=2.0),
    "ball": lambda: hr.sets.L2Ball(4, radius=1.5),
    "box": lambda: hr.sets.Box(-np.ones(3), 2 * np.ones(3)),
}


def makers(X):
    yield hr.projection_free_coco(X)
    yield hr.projection_free_coco(X, tracking=False)
    yield theory(X, 1000, B)
    yield hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(ROUNDS)),
        hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(5.0, 10.0 + 5.0 * B), 3.0),
    )


@pytest.mark.parametrize("name", SETS)
def test_the_certificate_plus_w_B_bounds_the_regret(name):
    X = SETS[name]()
    for seed in range(8):
        z = X.ball()[0] if seed % 2 else 0.5 * (X.ball()[0] + X.lmo(np.arange(X.dim) - 1.0))
        rounds = list(budget_game(X, z, seed))
        assert sum(max(0.0, float(b @ z) + d) for _, b, d in rounds) == pytest.approx(B)
        for policy in makers(X):
            regret = w = 0.0
            for a, b, d in rounds:
                x = policy.ask()
                policy.tell(
                    hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(float(b @ x) + d, b)
                )
                regret += float(a @ (x - z))
                w = max(w, policy.weight)
            if isinstance(policy, hr.ConstrainedPolicy):
                assert policy.surrogate.largest_weight == w
            assert regret <= policy.certificate(budget=B) + 1e-9


def test_the_term_w_B_is_needed():
    """One arm costs nothing and violates: against it the certificate alone is wrong."""
    X = hr.sets.Simplex(2)
    policy = hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps()),
        hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(2.0, 2.0), 3.0),
    )
    regret = w = budget = 0.0
    for _ in range(100):
        x = policy.ask()
        a, b = np.array([0.0, 1.0]), np.array([1.0, 0.0])
        policy.tell(hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(float(b @ x), b))
        regret += float(a @ x)
        budget += 1.0  # of z = (1, 0)
        w = max(w, policy.surrogate.weight)
    assert policy.certificate() < regret - 1.0
    assert regret <= policy.certificate() + w * budget


@pytest.mark.parametrize("kind", [hr.surrogates.DriftSurrogate, hr.surrogates.LaggedSurrogate])
def test_the_decomposition_with_w_B_for_values(kind):
    """[Phi(Q_T) - Phi(Q_0)]/V + Regret <= Regret' + w B, for every point that violates by B."""
    needed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = 5.0
        surrogate = kind(
            hr.surrogates.PowerPotential(p, 8.0 + p * B / 2.0),
            2.0,
            hr.surrogates.FixedRanges(2.0, 0.7),
        )
        unit, phi = 0.7 * 2.0, surrogate.potential.value
        start, regret, of_surrogate, spent, w = phi(surrogate.queue), 0.0, 0.0, 0.0, 0.0
        for _ in range(ROUNDS):
            f, f_z = rng.uniform(-1, 1, 2)
            g, g_z = rng.uniform(-1, 1), max(0.0, rng.normal(-0.2, 0.2))
            before = surrogate.queue
            if kind is hr.surrogates.DriftSurrogate:
                at_z = f_z + unit * (phi(before + g_z / 2.0) - phi(before))
            else:
                at_z = f_z + 0.7 * surrogate.potential.weight(before + 1.0) * g_z
            loss = surrogate.tell(hr.feedback.Eval(f, 1.0, 2.0), hr.feedback.Eval(g, 1.0, 2.0))
            largest = 0.7 * surrogate.potential.weight(before + 1.0)
            w, spent = max(w, largest), spent + g_z
            regret, of_surrogate = regret + f - f_z, of_surrogate + loss.value - at_z
        left = unit * (phi(surrogate.queue) - start) + regret
        assert left <= of_surrogate + w * spent + 1e-9
        needed += left > of_surrogate
    assert kind is hr.surrogates.LaggedSurrogate or needed == 6, "without w B it must fail"
