"""Feedback that is late, out of order or missing: about the decision's own point, still a proof."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import hedgerow as hr
from falling_back import falling_back
from hedgerow.baselines.methods import METHODS, TODAY


def drawn(X, count, rng):
    """Rounds that one known point of the set keeps, and that point."""
    keeps = X.lmo(rng.standard_normal(X.dim))
    game = []
    for _ in range(count):
        g = rng.standard_normal(X.dim)
        offset = -float(g @ keeps) - rng.exponential(0.2)
        game.append((hr.Linear(rng.standard_normal(X.dim)), hr.Linear(g, offset)))
    return game, keeps


def best_cost(X, game, constrained):
    """Return the cost of the best fixed action, by another solver than the library's."""
    costs = np.sum([f.coefficients for f, _ in game], axis=0)
    kept = [np.array([g.coefficients for _, g in game]), np.array([-g.offset for _, g in game])]
    total = [None, None] if SUMS[X] is None else [np.ones((1, X.dim)), [SUMS[X]]]
    found = linprog(costs, *(kept if constrained else [None, None]), *total, bounds=(0.0, 1.0))
    return found.fun


def play_late(policy, game, rng, window):
    """Ask up to `window` ahead and tell in a random order, some never; return what was told."""
    waiting, told, asked = [], [], 0
    while asked < len(game) or waiting:
        if asked < len(game) and (not waiting or (len(waiting) < window and rng.random() < 0.6)):
            waiting.append((asked, policy.ask()))
            asked += 1
            continue
        t, x = waiting.pop(int(rng.integers(len(waiting))))
        if rng.random() < 0.1:
            continue  # nobody ever answers
        f, g = game[t]
        policy.tell(hr.first_order(f, x), hr.first_order(g, x), at=x)
        told.append((t, x))
    return told


SUMS = {
    hr.sets.Simplex(3): 1.0,
    hr.sets.Box(np.zeros(2), np.ones(2)): None,
    hr.sets.KSubsets(5, 2): 2.0,
}
"""Sets in the unit cube, and what their entries add up to."""


def test_the_certificate_is_a_proof_in_1000_random_orders():
    late = switched = 0
    makers = (hr.projection_free_coco, falling_back, hr.projection_free_long_term, hr.unconstrained)
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        X, make = list(SUMS)[seed % 3], makers[seed // 3 % 4]
        policy, (game, _) = make(X), drawn(X, 9, rng)
        told = play_late(policy, game, rng, window=2 + seed % 6)
        late += [t for t, _ in told] != sorted(t for t, _ in told)
        cost = sum(game[t][0](x) for t, x in told)
        best = best_cost(X, [game[t] for t, _ in told], make is not hr.unconstrained)
        assert cost - best <= policy.certificate() + 1e-9 * (1.0 + abs(cost)), seed
        assert policy.summary().rounds == len(told)
        assert policy.summary().cost == pytest.approx(cost)
        ccv = sum(max(0.0, game[t][1](x)) for t, x in told)
        assert policy.summary().ccv == pytest.approx(ccv)
        switched += getattr(policy, "switched", None) is not None
    assert late > 700
    assert switched > 200


def test_counting_late_rounds_at_the_present_play_would_be_no_proof():
    """The mutant: the same games, told without `at`, break the bound."""
    broken = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = hr.sets.Simplex(3)
        policy, (game, _) = hr.unconstrained(X), drawn(X, 12, rng)
        tell = policy.tell
        policy.tell = lambda f, g, at, tell=tell: tell(f, g)  # noqa: ARG005
        told = play_late(policy, game, rng, window=6)
        cost = sum(game[t][0](x) for t, x in told)
        best = best_cost(next(iter(SUMS)), [game[t] for t, _ in told], False)
        broken += cost - best > policy.certificate() + 1e-6
    assert broken > 0


def test_at_the_present_play_nothing_is_different():
    X, rng = hr.sets.Simplex(6), np.random.default_rng(0)
    plain, at = hr.projection_free_coco(X), hr.projection_free_coco(X)
    for f, g in drawn(X, 50, rng)[0]:
        x = plain.ask()
        plain.tell(hr.first_order(f, x), hr.first_order(g, x))
        at.tell(hr.first_order(f, x), hr.first_order(g, x), at=x)
        assert plain.state()["checksum"] == at.state()["checksum"]


@pytest.mark.parametrize("wrong", [np.ones(2), np.full(3, np.nan), np.full(3, 9.0), "here"])
def test_a_point_that_was_never_played_is_refused(wrong):
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    before = policy.state()["checksum"]
    seen = hr.first_order(hr.Linear(np.ones(3)), policy.ask())
    with pytest.raises((ValueError, TypeError), match="point"):
        policy.tell(seen, seen, at=wrong)
    assert policy.state()["checksum"] == before


def test_a_session_takes_feedback_in_any_order(tmp_path):
    X, rng = hr.sets.Simplex(4), np.random.default_rng(1)
    (game, keeps), alone = drawn(X, 40, rng), hr.projection_free_coco(X)
    order = rng.permutation(40)[:33]
    with hr.live.open_session(
        tmp_path / "s.db", "a", hr.projection_free_coco(X), every=5
    ) as session:
        asked = []
        for t in range(40):
            asked.append((session.ask(), alone.ask()))
            for k in order[(order == t // 2) & (t % 2 == 0)]:  # some early, while others wait
                decision, x = asked[k]
                session.tell(decision.id, *game[k])
                f, g = (hr.first_order(h, x) for h in game[k])
                alone.tell(f, g, at=x)
        for k in order:
            decision, x = asked[k]
            f, g = (hr.first_order(h, x) for h in game[k])
            known = session.status().answered
            session.tell(decision.id, f, g)
            if session.status().answered > known:
                alone.tell(f, g, at=x)
        assert session.policy.state()["checksum"] == alone.state()["checksum"]
        assert session.status().unanswered == 7
        cost, best = np.nansum(session.history().cost), session.hindsight()
        assert best.status == "optimal"
        assert cost - best.cost <= session.certificate() + 1e-9
        assert best.cost <= sum(game[k][0](keeps) for k in order) + 1e-9
    with hr.live.open_session(tmp_path / "s.db", "a", hr.projection_free_coco(X)) as session:
        assert session.policy.state()["checksum"] == alone.state()["checksum"]


def first_order_methods():
    """Every method that learns from values and gradients, on a set that all of them can play."""
    X = hr.sets.DagPaths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")], "a", "d")
    gradients = [
        m for m in (*METHODS.values(), *TODAY.values()) if m.sees in ("gradients", "parts")
    ]
    return X, {method.name: method for method in gradients}


@pytest.mark.parametrize("name", first_order_methods()[1])
def test_every_first_order_method_takes_late_feedback(name):
    X, methods = first_order_methods()
    rng = np.random.default_rng(3)
    policy, (game, _) = methods[name].policy(X, 40, 0, "practical"), drawn(X, 40, rng)
    told = play_late(policy, game, rng, window=5)
    assert [t for t, _ in told] != sorted(t for t, _ in told)
    assert X.contains(policy.ask(), 1e-6)
    before = policy.state()["checksum"]
    seen = hr.first_order(hr.Linear(np.ones(5)), policy.ask())
    with pytest.raises(ValueError, match=r"point|present play"):
        policy.tell(seen, seen, at=np.full(5, 9.0))
    assert policy.state()["checksum"] == before


EXTRAPOLATED = {
    "liakopoulos_cold": "queue",
    "yu_neely_2020": "queue",
    "follow_the_leader_feasible": "limits",
    "best_of_yesterday": "offset",
}
"""Methods that follow a constraint to another point, and the number in which they do."""


@pytest.mark.parametrize("name", EXTRAPOLATED)
def test_a_linear_round_is_the_same_round_wherever_it_was_seen(name):
    X, methods = first_order_methods()
    rng, elsewhere = np.random.default_rng(4), X.lmo(np.array([0.0, 0.0, 0.0, 0.0, -1.0]))
    for _ in range(12):
        here, there = (methods[name].policy(X, 40, 0, "practical") for _ in range(2))
        f, g = hr.Linear(rng.standard_normal(5)), hr.Linear(rng.standard_normal(5), 9.0)
        x = here.ask()
        here.tell(hr.first_order(f, x), hr.first_order(g, x))
        there.tell(hr.first_order(f, elsewhere), hr.first_order(g, elsewhere), at=elsewhere)
        left = [getattr(policy, "policy", policy)._state[EXTRAPOLATED[name]]
                for policy in (here, there)]  # fmt: skip
        np.testing.assert_allclose(*left, rtol=1e-9, atol=1e-12)


def test_several_constraints_may_be_told_late():
    X, rng = hr.sets.Simplex(4), np.random.default_rng(5)
    policy = hr.projection_free_coco(X, constraints=2)
    (game, keeps), waiting, paid, kept = drawn(X, 60, rng), [], 0.0, 0.0
    for t, (f, g) in enumerate(game):
        waiting.append((f, [g, hr.Linear(-np.eye(4)[t % 4], -0.1)], policy.ask()))
        if t % 3 == 2:
            for f_, each, x in reversed(waiting):
                seen = [hr.first_order(one, x) for one in each]
                policy.tell(hr.first_order(f_, x), seen, at=x)
                paid, kept = paid + f_(x), kept + f_(keeps)
            waiting = []
    assert paid - kept <= policy.certificate() + 1e-9


def test_policies_that_cannot_refuse_in_one_sentence():
    X, T = hr.sets.KSubsets(4, 2), 100
    blind = hr.projection_free_bandit(X, T, 0, lipschitz=1.0, bound=4.0)
    drawn_ = hr.Sampled(hr.projection_free_coco(X), 0)
    used = hr.semi_bandit_coco(X, T, 0)
    whole = hr.baselines.guo_recoo(X)
    for policy in (blind, drawn_, used, whole):
        x = policy.ask()
        f, g = (policy.feedback(hr.Linear(np.ones(4), b), x) for b in (0.0, -1.0))
        policy.tell(f, g, at=x)
        before = policy.state()["checksum"]
        other = X.lmo(policy.ask())
        assert not np.array_equal(other, policy.ask())
        with pytest.raises(ValueError, match="learns from its present play alone"):
            policy.tell(f, g, at=other)
        assert policy.state()["checksum"] == before
