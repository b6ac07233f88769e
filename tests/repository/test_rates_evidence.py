"""Rates: the games keep their word, attacks can fail, and tables follow from what is shipped."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
import rates_note
from hedgerow.learners import AdaptiveOCG
from hedgerow.learners.steps import CertificateSteps

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "evidence" / "rates.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "evidence")


@pytest.fixture
def rates():
    return importlib.import_module("rates")


@pytest.fixture
def games():
    return importlib.import_module("rates_games")


@pytest.fixture
def attack():
    return importlib.import_module("rates_attack")


def test_no_bound_was_broken(attack):
    rows = STORED["attack"]
    assert sum(row["games"] for row in rows) >= 700
    assert {row["broken"] for row in rows} == {0}
    for row in rows:
        assert 0.0 < row["regret"] < 1.0
    for name, make in attack.SETS.items():
        assert [row["player"] for row in rows if row["set"] == name] == [*attack.learners(make())]


@pytest.mark.parametrize("name", ["simplex", "ball", "product"])
def test_the_adversary_leaves_its_point_feasible_and_reaches_all_sizes(attack, name):
    X, sizes = attack.SETS[name](), []
    for kind in attack.KINDS:
        for share in attack.SHARES:
            plan = attack.Attack(kind, "log-uniform", share, 7)
            z, policy = plan.feasible(X), hr.projection_free_coco(X)
            assert X.contains(z)
            other = (1.0 - share) * z + share * X.lmo(np.arange(X.dim) - 1.0)
            for a, c, b in plan.rounds(X, policy.ask):
                assert max(c @ z + b, c @ other + b) <= 1e-9 * np.linalg.norm(c)
                sizes.append(np.linalg.norm(a))
    assert min(sizes) < 1e-5
    assert max(sizes) > 1e5


def test_late_constraints_come_after_a_long_feasible_stretch(attack):
    X = attack.SETS["simplex"]()
    policy, values = hr.projection_free_coco(X), []
    for a, c, b in attack.Attack("late", "one", 0.0, 1).rounds(X, policy.ask):
        x = policy.ask()
        values.append(float(c @ x) + b)
        policy.tell(hr.feedback.EvalGrad(0.0, a), hr.feedback.EvalGrad(values[-1], c))
    quiet = 3 * attack.ROUNDS // 4
    assert max(values[:quiet]) < 0.0 < max(values[quiet:])


def test_a_bound_that_is_too_small_is_counted_as_broken(attack):
    X = attack.SETS["ball"]()
    make, bound = attack.learners(X)["one step, schedule of q = 3"]
    plan = attack.Attack("push", "one", 0.0, 3)
    true, false = attack.Found(), attack.Found()
    attack.attack_learner(X, make, bound, plan, true)
    attack.attack_learner(X, make, lambda norms: 0.1 * bound(norms), plan, false)
    assert (true.broken, false.broken > 0) == (0, True)
    assert 0.0 < true.regret < 1.0


def games_on(games, horizon=700):
    X = hr.sets.Simplex(6)
    return {name: games.RuleGame(name, X, horizon, 3) for name in games.GAMES}


def test_rules_are_the_same_in_both_speeds_and_z_satisfies_them(games):
    for name, game in games_on(games, 80).items():  # later, rounding has grown
        X = game.decision_set
        if games.GAMES[name][0].evaluate is games.movement:
            continue  # it remembers in the compiled loop alone
        compiled = hr.simulate(hr.projection_free_coco(X, tracking=False), game)
        turns = hr.projection_free_coco(X, tracking=False)
        total, costs = np.zeros(X.dim), []
        for cost, constraint in game.rounds(turns):
            x = turns.ask()
            assert abs(cost(game.feasible)) < 1e-9
            assert constraint(game.feasible) < 1e-9
            turns.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
            total += cost.coefficients
            costs.append(cost(x))
        assert compiled.compiled
        np.testing.assert_allclose(compiled.costs, costs, atol=1e-6)
        np.testing.assert_allclose(game.cost_gradients(), total, atol=1e-6)


def test_movements_are_what_moved(games):
    """The decision moves along the gradient that is shown: from the second round on."""
    game = games_on(games)["the last movement is dear"]
    X, seen = game.decision_set, []
    learner = AdaptiveOCG(X, CertificateSteps())
    (chunk,) = game.compiled_rounds(game.horizon)
    rule = games.GAMES[game.name][0]
    memory, grad, before = np.zeros(2 * X.dim), np.empty(X.dim), None
    own = chunk.costs.own.reshape(game.horizon, 4)
    for row in own[:50]:
        x = learner.ask()
        rule.evaluate(games.NO_INDEX, game.tables[True], row, 0, x, memory, grad)
        assert np.linalg.norm(grad) == pytest.approx(1.0)
        if before is not None and np.linalg.norm(x - before) > 0.1:
            seen.append(grad @ (x - before) / np.linalg.norm(x - before))
        before = x
        learner.tell(hr.feedback.EvalGrad(0.0, grad.copy()))
    assert len(seen) > 3
    assert min(seen) > 0.999


def test_the_best_action_satisfies_every_possible_round(games):
    for name, game in games_on(games).items():
        X = game.decision_set
        trace = hr.simulate(hr.projection_free_coco(X), game)
        best, total = game.best_cost(), game.cost_gradients()
        free = X.minimum(total) - total @ game.feasible
        assert free - 1e-6 <= best <= 1e-6, "no worse than z, which costs 0"
        assert game.interpreted == 0, name
        assert trace.costs.size == game.horizon


def test_exponents_follow_from_the_values_that_are_shipped(rates, games):
    rows = STORED["growth"]
    places = {(row["set"], row["game"], row["player"]) for row in rows}
    assert len(places) == len(rows) == len(games.SETS) * len(games.GAMES) * len(rates.PLAYERS)
    for row in rows:
        assert row["exponent"] == rates.fitted(row)
        assert row["horizons"] == list(rates.FEWER.get(row["set"], rates.HORIZONS))


def test_bounds_are_those_of_the_library(rates):
    assert rates.bounds() == STORED["bounds"]


def test_a_small_game_is_played_by_every_player(rates, monkeypatch):
    monkeypatch.setattr(rates, "HORIZONS", (50, 100, 200))
    monkeypatch.setattr(rates, "SETS", {"s": lambda: hr.sets.Simplex(8)})
    rows = rates.growth(["s"])
    assert {row["player"] for row in rows} == set(rates.PLAYERS)
    pushed = next(row for row in rows if row["player"] == "one step")
    assert pushed["exponent"] is not None
    assert all(regret > 0.0 for regret in pushed["regret"])


def test_the_note_has_the_evidence():
    made = (ROOT / "docs" / "note" / "rates.tex").read_text(encoding="utf-8")
    assert made == rates_note.rates(STORED), "python tools/rates_note.py renews it"
    assert made.count(r"\begin{table}") == made.count(r"\label{") == 3
