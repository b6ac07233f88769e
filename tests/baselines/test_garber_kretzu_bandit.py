"""Garber and Kretzu's bandit: its box typed off, its constants, its contracts."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from test_garber_kretzu import afp, back_in_ball

import hedgerow as hr
from convex_steps import sq
from hedgerow.baselines.garber_kretzu import garber_kretzu_2024_bandit
from hedgerow.testing import check_policy
from pulling_games import SETS, linear_rounds, plays

T = 300
"""Above 256: else delta is r/2, and on a ball the first block leads exactly as far as what is near,
kappa R = r/2 = sqrt(3 eps), so that rounding decides whether the play follows."""
ROOMY = {  # sets of few dimensions, where blocks of the theory preset end before the game does
    "disc": lambda: hr.sets.L2Ball(2, radius=2.0),
    "segment": lambda: hr.sets.Box([-1.0, 2.0], [1.0, 2.0]),
    "triangle": lambda: hr.sets.Simplex(3, total=2.0),
}


def lbpm(X, rounds, seed, delta, K, eta, eps, theta, mu, centred):
    """Algorithm 5, the reconstruction's box, in the set's own coordinates.

    It shares the library's random stream: one standard normal vector a round, in order. `eta`
    makes the step of the sum of the blocks' squared estimates; `centred` says whether the mean of
    the last block's losses is subtracted, as in the practical preset.
    """
    rng, basis, (centre, r) = np.random.default_rng(seed), X.hull()[1], X.ball()
    n, shrink = basis.shape[1], 1 - delta / r
    R = shrink * X.diameter
    shrunk = SimpleNamespace(lmo=lambda c: centre + shrink * (X.lmo(c) - centre))
    x = y = centre
    lam, mean, squares, zs, xs, lams = 0.0, 0.0, 0.0, [], [], [0.0]
    for block in (rounds[i : i + K] for i in range(0, len(rounds), K)):
        p, S, losses = np.zeros(X.dim), 0.0, []
        xs.append(x)
        for f, g in block:
            u = rng.standard_normal(n)
            u = basis @ (u / np.linalg.norm(u))
            z = x + delta * u
            zs.append(z)
            losses.append(f(z) + lam * max(0.0, g(z)))
            p = p + n / delta * (losses[-1] - mean) * u
            S += max(0.0, g(z))
        squares += sq(p)
        x, y = afp(shrunk, x, back_in_ball(y - eta(squares) * p, centre, R), eps)
        lam = max(0.0, lam + mu * (S - K * theta * lam))
        mean = sum(losses) / K if centred else 0.0
        lams.append(lam)
    return np.array(zs), np.array(xs), lams


def agree(policy, rounds, expected):
    zs, xs, lams = expected
    found = plays(policy, rounds, partial(hr.bandit, lipschitz=1.0, bound=9.0))
    np.testing.assert_allclose(found, zs, rtol=0, atol=1e-9)
    assert len(np.unique(xs.round(6), axis=0)) > 3, "it must have moved, or this shows nothing"
    return lams


@pytest.mark.parametrize("name", SETS)
def test_the_practical_preset_is_its_box(name):
    X, seed, Gf, Gg, eager = SETS[name](), 7, 1.0, 2.0, 3.0
    n, r, K = X.hull()[1].shape[1], X.ball()[1], 18
    delta = r * min(0.5, math.sqrt(n) * T**-0.25)
    R = (1 - delta / r) * X.diameter
    theta = 4 * R * Gg**2 / Gf * T**-0.25 / (300 * eager)
    mu = 300 * eager * Gf * T**-0.75 / (4 * R * Gg**2)
    rounds = list(linear_rounds(X, T, seed=3))
    expected = lbpm(
        X,
        rounds,
        seed,
        delta,
        K,
        lambda squares: 0.5 * R / math.sqrt(squares),
        max(delta**2 / 3, 0.1 * R**2 / math.sqrt(T)),
        theta,
        mu,
        centred=True,
    )
    policy = garber_kretzu_2024_bandit(
        X, T, seed, lipschitz=(Gf, Gg), bound=(9.0, 9.0), eagerness=eager
    )
    lams = agree(policy, rounds, expected)
    assert max(lams) > 0.1, "the constraint must have acted"
    assert policy.surrogate.weight == pytest.approx(lams[T // K], rel=1e-9)


@pytest.mark.parametrize("name", ROOMY)
def test_the_theory_preset_is_its_box(name):
    X, seed, G, M = ROOMY[name](), 7, 1.0, 0.1
    n, r = X.hull()[1].shape[1], X.ball()[1]
    delta, K = r * T**-0.25, math.ceil(6 * n * M * math.sqrt(T))
    R = (1 - delta / r) * X.diameter
    rounds = list(linear_rounds(X, T, seed=3))
    expected = lbpm(
        X,
        rounds,
        seed,
        delta,
        K,
        lambda _: R * T**-0.75 / math.sqrt(n * M),
        delta**2 / 3,
        4 * R * G * T**-0.25,
        T**-0.75 / (4 * R * G),
        centred=False,
    )
    policy = garber_kretzu_2024_bandit(X, T, seed, lipschitz=G, bound=M, preset="theory")
    lams = agree(policy, rounds, expected)
    assert max(lams) > 0.0, "the constraint must have acted, if only a little"


@pytest.mark.parametrize("name", SETS)
def test_the_practical_preset_conforms(name):
    def make():
        return garber_kretzu_2024_bandit(SETS[name](), 40, 3, lipschitz=2.0, bound=1.0)

    check_policy(make, feedback=partial(hr.bandit, lipschitz=2.0, bound=1.0))


@pytest.mark.parametrize("name", ROOMY)
def test_the_theory_preset_conforms_where_it_moves(name):
    M = 0.3
    feedback = partial(hr.bandit, lipschitz=2.0, bound=M)
    built = []

    def make():
        policy = garber_kretzu_2024_bandit(
            ROOMY[name](), 60, 3, lipschitz=2.0, bound=M, preset="theory"
        )
        built.append(policy)
        return policy

    check_policy(make, rounds=56, feedback=feedback)
    assert max(policy.oracle_calls for policy in built) > 0, "it must have moved"


@pytest.mark.parametrize("name", SETS)
def test_plays_stay_inside_and_calls_come_after_blocks(name):
    X = SETS[name]()
    policy = garber_kretzu_2024_bandit(X, T, 5, lipschitz=1.0, bound=9.0)
    calls = []
    for f, g in linear_rounds(X, T, seed=9):
        z = policy.ask()
        assert X.contains(z, 1e-9)
        policy.tell(hr.bandit(f, z, 1.0, 9.0), hr.bandit(g, z, 1.0, 9.0))
        calls.append(policy.oracle_calls)
    asked = np.flatnonzero(np.diff([0, *calls])) + 1
    assert asked.size > 3
    assert (asked % 18 == 0).all()
    assert calls[-1] <= T


def test_more_eagerness_is_less_violation():
    X, rounds = hr.sets.L2Ball(3), 900

    def ccv(eagerness):
        total = 0.0
        for seed in range(3):
            policy = garber_kretzu_2024_bandit(
                X, rounds, seed, lipschitz=1.0, bound=3.0, eagerness=eagerness
            )
            for f, g in linear_rounds(X, rounds, seed=8):
                z = policy.ask()
                policy.tell(hr.bandit(f, z, 1.0, 3.0), hr.bandit(g, z, 1.0, 3.0))
                total += max(0.0, g(z))
        return total

    assert ccv(8.0) < ccv(1.0) < ccv(0.05)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"preset": "theory", "eagerness": 2.0}, "takes no eagerness"),
        ({"eagerness": 0.0}, "eagerness must be above 0"),
        ({"horizon": 7}, "horizon"),
        ({"seed": -1}, "seed"),
        ({"bound": -1.0}, "bound"),
    ],
)
def test_bad_arguments_are_refused(options, sentence):
    given = {"horizon": 100, "seed": 0, "lipschitz": 1.0, "bound": 0.01, **options}
    with pytest.raises(ValueError, match=sentence):
        garber_kretzu_2024_bandit(hr.sets.L2Ball(3), **given)
