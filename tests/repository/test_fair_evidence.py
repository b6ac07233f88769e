"""The tuned comparison: corrected tests, ranks, and rivals with a second constant."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import evidence_tables
import hedgerow as hr
from hedgerow.baselines.methods import METHODS, find_method
from hedgerow.experiments.executors import serial
from hedgerow.experiments.reading import read_experiment, shipped

EVIDENCE = Path(__file__).parents[2] / "evidence"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(EVIDENCE)


@pytest.fixture
def fair():
    return importlib.import_module("fair")


@pytest.fixture
def fair_table():
    return importlib.import_module("fair_table")


def test_holms_correction(fair_table):
    found = fair_table.holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})
    assert fair_table.holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}, "no p-value above 1"


DEFAULT, OTHER, THIRD = "projection_free_coco", "jenatton_2016", "liakopoulos_cold"
BLIND = "unconstrained"


def games_of(values, label="p", steps="own"):
    """Return games from {method: [(regret, ccv) of each seed]}; their units are 100."""
    return [
        {
            "label": label, "seed": seed, "horizon": 10, "method": method, "steps": steps,
            "eagerness": 1.0, "cost": 0.0, "regret": regret, "ccv": ccv, "price": 100.0,
            "blind_ccv": 100.0, "oracle_calls": 20, "projections": 0,
        }
        for method, pairs in values.items()
        for seed, (regret, ccv) in enumerate(pairs)
    ]  # fmt: skip


def test_others_are_compared_with_the_default_game_by_game(fair_table):
    rng = np.random.default_rng(3)
    hard = rng.normal(0.0, 50.0, 8)  # some games are expensive for all methods
    ours = [(h, 1.0) for h in hard]
    dear = [(h + 1.0 + 0.1 * e, 1.0) for h, e in zip(hard, rng.normal(size=8), strict=True)]
    found = fair_table.statistics(games_of({DEFAULT: ours, OTHER: dear, THIRD: ours}))
    mine, other, same = (found["p", "tuned", name] for name in (DEFAULT, OTHER, THIRD))
    assert "regret_p" not in mine
    alone = stats.ttest_rel([r for r, _ in dear], [r for r, _ in ours]).pvalue
    assert other["regret_p"] == pytest.approx(4.0 * alone), "the least of four p-values"
    assert other["regret_p"] < 1e-6 < 5.0 < other["regret_percent_half"], "intervals hide it"
    assert (other["ccv_p"], same["regret_p"], same["ccv_p"]) == (1.0, 1.0, 1.0)
    assert mine["oracle_calls_per_round"] == 2.0


def test_the_correction_is_over_all_problems(fair_table):
    rng = np.random.default_rng(4)
    ours = [tuple(pair) for pair in rng.normal(size=(6, 2))]
    other = [(r + 1.0 + 0.5 * rng.normal(), c + rng.normal()) for r, c in ours]
    one = games_of({DEFAULT: ours, OTHER: other})
    alone = fair_table.statistics(one)["p", "tuned", OTHER]
    more = games_of({DEFAULT: [(0.0, 0.0)] * 6, OTHER: [(90.0, 0.0)] * 6}, label="q: a to b")
    both = fair_table.statistics([*one, *more])
    assert both["q", "tuned", OTHER]["regret_p"] == 0.0, "differences without spread"
    assert alone["regret_p"] < 0.5, "the least of two p-values: twice its own"
    assert both["p", "tuned", OTHER]["regret_p"] == pytest.approx(1.5 * alone["regret_p"])


def test_ranks_and_dominance(fair_table):
    means = {DEFAULT: (1.0, 2.0), OTHER: (0.0, 3.0), THIRD: (1.0, 4.0), BLIND: (-9.0, 9.0)}
    found = fair_table.statistics(games_of({name: [pair] * 2 for name, pair in means.items()}))
    rows = [found["p", "tuned", name] for name in (DEFAULT, OTHER, THIRD)]
    assert [row["rank_by_regret"] for row in rows] == [2, 1, 2]
    assert [row["rank_by_ccv"] for row in rows] == [1, 2, 3]
    assert [row["undominated"] for row in rows] == [1, 1, 0]
    assert "rank_by_regret" not in found["p", "apart", BLIND]
    assert found["p", "apart", BLIND]["undominated"] == ""


def test_other_steps_count_for_rivals_with_two_constants_alone(fair_table):
    own = games_of({DEFAULT: [(1.0, 1.0)] * 2, "guo_recoo": [(4.0, 4.0)] * 2})
    short = games_of({"guo_recoo": [(2.0, 2.0)] * 2}, steps="short")
    found = fair_table.statistics([*own, *short])
    assert found["p", "tuned", "guo_recoo"]["regret_percent"] == 4.0
    assert found["p", "two constants", "guo_recoo"]["regret_percent"] == 2.0
    assert found["p", "two constants", "guo_recoo"].get("regret", "") == ""


@pytest.mark.parametrize("name", ["fair.csv", "fair_networks.csv"])
def test_the_tables_follow_from_the_games_that_are_shipped(fair_table, name):
    """Means, intervals, tests and ranks, to the last digit that is written."""
    rows = fair_table.read_rows(name)
    found = fair_table.statistics(fair_table.read_rows("fair_games.csv"))
    assert rows == fair_table.renewed(rows, found)
    shipped_rows = {(row["problem"], row["group"], row["method"]) for row in rows}
    problems = {row["problem"] for row in rows}
    assert {key for key in found if key[0] in problems} == shipped_rows


def test_the_games_have_the_constants_of_the_tables(fair_table):
    games = fair_table.grouped(fair_table.read_rows("fair_games.csv"))
    for row in [row for name in fair_table.FILES for row in fair_table.read_rows(name)]:
        played = games[row["problem"], row["group"], row["method"]]
        assert {game["horizon"] for game in played} == {row["horizon"]}
        chosen = {float(game["eagerness"]) for game in played}
        assert chosen == {float(factor) for factor in row["eagerness"].split()}
        if row["group"] == "two constants":
            assert {game["steps"] for game in played} == set(row["steps"].split())


def test_the_games_of_one_seed_have_one_benchmark(fair_table):
    """Cost less regret, price and the blind action's CCV do not depend on the method."""
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for game in fair_table.read_rows("fair_games.csv"):
        numbers = [float(game[name]) for name in ("cost", "regret", "price", "blind_ccv")]
        best = (numbers[0] - numbers[1], *numbers[2:])
        found.setdefault((game["label"], game["seed"]), []).append(best)
    for where, games in found.items():
        np.testing.assert_allclose(games, [games[0]] * len(games), rtol=1e-7, err_msg=str(where))


def test_the_medians_of_the_default_follow_from_the_games_that_are_shipped():
    default = importlib.import_module("default")
    stored = json.loads((EVIDENCE / "default.json").read_text(encoding="utf-8"))
    rows = default.stored_games()
    for part in ("games", "measured"):
        assert default.summed([row for row in rows if row["part"] == part]) == stored[part]


def test_a_rival_keeps_its_best_steps_alone(fair):
    def row(method, score):
        tried = [{"eagerness": 1.0, "mean_score": score}]
        return {"problem": "p", "method": method, "eagerness": 1.0, "end": None, "tried": tried}

    names = [name for family in fair.FAMILIES.values() for name in family]
    scores = dict(zip(names, (3.0, 2.0, 1.0, 1.0, 1.0, 2.0, 5.0, 6.0, 7.0), strict=True))
    kept = fair.without_losers({"rows": [row(*entry) for entry in scores.items()]})["rows"]
    assert {r["method"] for r in kept if r["eagerness"] is not None} == {
        *fair.FAMILIES,  # with their own steps they are reported in any case
        "two_constants:sinha_vaze_2024_long",
    }


def test_steps_of_one_are_the_methods_themselves():
    two = importlib.import_module("two_constants")
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=1)
    X, c = problem.decision_set, hr.learners.steps.CertificateSteps().c
    ones = {
        "sinha_vaze_2024": two._sinha_vaze(X, 60, 2.0, 1.0),
        "guo_recoo": two._recoo(X, 2.0, 1.0),
        "wang_2025": two._wang(X, 60, 2.0, c),
    }
    for name, policy in ones.items():
        method = METHODS[name]
        own = method.policy(X, 60, 0, "practical", eagerness=2.0)
        costs = [hr.simulate(p, problem, method.feedback()).costs for p in (policy, own)]
        np.testing.assert_array_equal(*costs)


def test_other_steps_play_otherwise():
    two = importlib.import_module("two_constants")
    problem = hr.problems.IidSimplex(n=20, horizon=200, seed=1)
    for family in two.FAMILIES.values():
        methods = [find_method(name) for name in family]
        costs = {
            hr.simulate(
                method.policy(problem.decision_set, 200, 0, "practical"), problem, method.feedback()
            ).cost
            for method in methods
        }
        assert len(costs) == 3


def tiny(problem, methods):
    """Return a comparison of a few rounds, trained on the grid's middle."""
    table = {"name": "tiny", "methods": methods, "horizons": [20], "seeds": [300, 301]}
    tune = {"seeds": [290, 291], "eagerness": [0.5, 1, 2], "rule": "sum"}
    return read_experiment({**table, "problems": [problem], "tune": tune}, EVIDENCE)


@pytest.mark.parametrize("label", ["ad_slots", "sensor_coverage", "log_portfolio"])
def test_a_problem_of_the_table_is_tuned_and_reported(fair, fair_table, label, tmp_path):
    asked = tomllib.loads(shipped()["fair"].read_text(encoding="utf-8"))["problems"]
    (problem,) = [p for p in asked if p["kind"] == label]
    experiment = tiny({**problem, "horizons": [20]}, [DEFAULT, BLIND])
    selection, results, refused = fair.tuned(experiment, tmp_path, serial)
    ours, blind = fair.rows_of(label, selection, results, refused)
    assert [row["group"] for row in (ours, blind)] == ["tuned", "apart"]
    assert {row["trained_on"] for row in (ours, blind)} == {"seeds 290 to 291"}
    games = fair.games_of(results)
    assert [(game["method"], game["seed"]) for game in games] == [
        (DEFAULT, 300), (DEFAULT, 301), (BLIND, 300), (BLIND, 301)
    ]  # fmt: skip
    assert {tuple(game) for game in games} == {fair_table.COLUMNS}
    found = fair_table.statistics(games)
    ours, blind = (found[label, *key] for key in (("tuned", DEFAULT), ("apart", BLIND)))
    assert ours["ccv_percent"] < blind["ccv_percent"]
    mean = np.mean([run.regret for run in results.runs if run.record["method"] == DEFAULT])
    assert ours["regret"] == pytest.approx(mean, rel=1e-8)


def test_who_refuses_a_problem_has_a_row_with_the_reason(fair, fair_table, tmp_path):
    experiment = tiny({"kind": "random_network"}, [DEFAULT, "lu_bagel", BLIND])
    rows = fair.rows_of("graph", *fair.tuned(experiment, tmp_path, serial))
    assert [row["method"] for row in rows] == [DEFAULT, BLIND, "lu_bagel"]
    refused = rows[-1]
    assert (refused["group"], refused["trained_on"]) == ("refused", "seeds 290 to 291")
    assert "needs a set with R / r of at most" in refused["reason"]
    (row,) = fair_table.renewed([refused], {})
    assert (row["games"], row["regret_percent"]) == ("0", "")


@pytest.fixture
def later(monkeypatch):
    """Pretend that every problem was played, and that one method refused one of them."""
    rows = [dict(row) for row in evidence_tables.fair_rows()]
    some = [row for row in rows if row["problem"] == "iid_simplex"]
    shown = re.findall(r"^\| `(\w+)`", evidence_tables.setting(), re.MULTILINE)
    missing = [name for name in shown if name not in evidence_tables.problems()]
    for name in missing:
        rows += [{**row, "problem": name} for row in some]
    keep = [r for r in rows if (r["problem"], r["method"]) != ("traffic", "jenatton_2016")]
    gone = next(r for r in rows if (r["problem"], r["method"]) == ("traffic", "jenatton_2016"))
    blank = dict.fromkeys(gone, "") | {key: gone[key] for key in ("problem", "method", "horizon")}
    keep.append({**blank, "group": "refused", "games": "0", "reason": "it takes no traffic"})
    files = {"fair.csv": keep, "fair_networks.csv": []}
    monkeypatch.setattr(evidence_tables, "read", files.__getitem__)
    return missing


def test_the_page_takes_new_problems_and_refusals_as_they_come(later):
    problems = evidence_tables.problems()
    assert set(later) <= set(problems)
    assert evidence_tables.NOT_YET not in evidence_tables.setting()
    tuned = next(part for part in evidence_tables.fair().split("\n\n") if " traffic " in part)
    (line,) = [line for line in tuned.splitlines() if line.startswith("| `jenatton_2016`")]
    assert "refuses" in line
    last = evidence_tables.ranks().splitlines()[-1]
    assert last.startswith("| `jenatton_2016` |"), "no total, so no place"
    assert last.endswith("| - |")
    assert "jenatton_2016" not in evidence_tables.rank_totals()
    assert len(evidence_tables.tests().splitlines()) == len(problems) + 2


@pytest.mark.parametrize("table", [evidence_tables.fair, evidence_tables.rivals])
def test_a_method_that_the_evidence_lacks_is_named_as_such(table, monkeypatch):
    before = table()
    assert "new_2030" not in before
    monkeypatch.setitem(METHODS, "new_2030", METHODS[OTHER])
    after = table()
    lines = [line for line in after.splitlines() if line.startswith("| `new_2030`")]
    assert lines
    assert all(evidence_tables.NOT_YET in line for line in lines)
    assert [line for line in after.splitlines() if line not in lines] == before.splitlines()
