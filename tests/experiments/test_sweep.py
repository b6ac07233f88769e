"""Sweeps: files hold what was played, bytes do not depend on who played it, the rest is resumed."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from small_experiment import TEXT, record, results_of, small, timed

import hedgerow as hr
from hedgerow.experiments.executors import Done, attempt, processes, serial
from hedgerow.experiments.folder import folder_lock, open_results
from hedgerow.experiments.playing import materialise
from hedgerow.experiments.records import POINTS, curve_rounds
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    tally = sweep(small(folder), folder / "out", serial)
    assert (tally.ran, tally.before, tally.failed) == (tally.total, 0, {})
    return folder / "out"


def test_a_run_is_what_simulate_gives(swept):
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=21)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    found = record(
        swept, problem="iid_simplex", method="projection_free_coco", preset="practical", seed=21
    )
    best = hr.hindsight(problem)
    assert found.record["cost"] == trace.cost
    assert found.record["ccv"] == trace.ccv
    assert found.record["signed_ccv"] == trace.signed_ccv
    assert found.record["oracle_calls"] == trace.oracle_calls
    assert found.record["violated_rounds"] == int((trace.violations > 0).sum())
    assert found.regret == trace.cost - best.cost
    assert found.regret <= found.record["certificate"]
    curves = Results(swept).curves(found)
    np.testing.assert_array_equal(curves[0], np.arange(1, 61))
    np.testing.assert_allclose(curves[1], np.cumsum(trace.costs), rtol=1e-13)
    np.testing.assert_allclose(curves[2], np.cumsum(np.maximum(trace.violations, 0)), rtol=1e-13)
    against = Results(swept).benchmark_curves(found)
    costs = [cost(best.x) for cost, _ in problem]
    np.testing.assert_allclose(against[1], np.cumsum(costs), rtol=1e-12)


def test_the_blind_action_is_the_best_without_constraint(swept):
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=20)
    found = record(swept, problem="iid_simplex", method="unconstrained", preset="theory", seed=20)
    total = sum(cost.coefficients for cost, _ in problem)
    x = np.eye(4)[np.argmin(total)]
    blind = found.benchmark["blind"]
    assert blind["cost"] == pytest.approx(total.min(), rel=1e-9)
    assert blind["ccv"] == pytest.approx(sum(max(0.0, g(x)) for _, g in problem), rel=1e-9)


def test_a_theorem_is_told_exact_constants(swept):
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=20)
    known = record(
        swept, problem="iid_simplex", method="projection_free_coco", preset="theory", seed=20
    ).record
    rounds = [(f.coefficients, g.coefficients, g.offset) for f, g in problem]
    constants = known["constants"]
    assert constants["how"] == "exact: all rounds"
    assert constants["lipschitz"] == pytest.approx(
        [max(np.linalg.norm(c) for c, _, _ in rounds), max(np.linalg.norm(a) for _, a, _ in rounds)]
    )
    assert constants["bound"] == pytest.approx(
        [max(abs(c).max() for c, _, _ in rounds), max(abs(a + b).max() for _, a, b in rounds)]
    ), "on a simplex the largest values are at vertices"
    assert "so it is ignored" in known["notes"][0], "the warning is kept"


def test_a_game_that_reacts_has_a_benchmark_for_each_run(swept):
    found = record(
        swept, problem="halfspace_box", method="projection_free_coco", preset="practical", seed=20
    )
    problem = hr.problems.HalfspaceBox(n=3, horizon=60, seed=20)
    seen, policy = [], hr.projection_free_coco(problem.decision_set)
    for cost, constraint in problem.rounds(policy):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        seen.append((cost, constraint))
    best = hr.hindsight(problem.decision_set, seen)
    assert found.record["benchmark"] == found.record["id"]
    assert found.benchmark["cost"] == pytest.approx(best.cost)


def test_what_does_not_fit_is_refused_and_told(swept):
    found = record(swept, problem="halfspace_box", method="ftpl_coco", preset="practical", seed=20)
    assert found.record["status"] == "refused"
    assert found.record["reason"].startswith("HalfspaceBox reacts to the plays")
    assert found.record["cost"] is found.regret is None
    assert not (swept / "runs" / f"{found.record['id']}.npy").exists()


def test_a_set_that_lacks_something_is_refused_too(tmp_path):
    text = TEXT.replace('["projection_free_coco", "ftpl_coco", "unconstrained"]',
                        '["follow_the_leader_feasible"]')  # fmt: skip
    text = text.split("[[problems]]")[0] + "[[problems]]\nkind = 'switching_ball'"
    tally = sweep(small(tmp_path, text), tmp_path / "out", serial)
    assert tally.failed == {}
    assert {run.record["status"] for run in Results(tmp_path / "out").runs} == {"refused"}


def test_an_error_in_the_game_is_a_failure_and_no_refusal(tmp_path, monkeypatch):
    experiment = small(tmp_path, TEXT.split('[[problems]]\nkind = "halfspace_box"')[0])

    def broken(*_):
        raise ValueError("a value above its declared bound")

    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.experiments.playing.simulate", broken)
        tally = sweep(experiment, tmp_path / "out", serial)
    assert len(tally.failed) == tally.total - 2, "all but the two benchmarks"
    assert Results(tmp_path / "out").runs == ()
    assert sweep(experiment, tmp_path / "out", serial).ran == len(tally.failed)


def test_what_played_each_game_is_told_beside_the_results(swept):
    results, told = Results(swept), {"method": "projection_free_coco", "preset": "practical"}
    engines = results.engines()
    assert set(engines) == set(results.timings())
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=20)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    linear = record(swept, problem="iid_simplex", seed=20, **told).record
    assert engines[linear["id"]] == trace.compiled
    reacts = record(swept, problem="halfspace_box", seed=20, **told).record
    assert engines[reacts["id"]] is False
    assert "compiled" not in linear


@pytest.mark.parametrize(
    "problem",
    [
        hr.problems.IidSimplex(n=4, horizon=60, seed=20),
        hr.problems.QuadraticBox(n=3, horizon=30, seed=20),
    ],
)
def test_rounds_drawn_beforehand_are_the_same(problem, monkeypatch):
    x = problem.decision_set.start()
    kept = materialise(problem)
    assert kept is not problem
    values = [[(f(x), g(x)) for f, g in rounds] for rounds in (problem, kept, kept)]
    assert values[0] == values[1] == values[2]
    assert len(values[0]) == problem.horizon
    monkeypatch.setattr("hedgerow.experiments.playing.MOST_BYTES", 100)
    assert materialise(problem) is problem, "too many to keep"


def test_several_processes_give_the_same_bytes(swept, tmp_path):
    sweep(small(tmp_path), tmp_path / "out", lambda tasks: processes(tasks, 2))
    assert results_of(tmp_path / "out") == results_of(swept)


def test_a_sweep_does_only_what_is_missing(swept, tmp_path):
    experiment = small(tmp_path)

    def three(tasks):
        for task, _ in zip(tasks, range(3), strict=False):
            yield attempt(task)

    first = sweep(experiment, tmp_path / "out", three)
    assert first.ran == 3
    begun = set(timed(tmp_path / "out"))
    second = sweep(experiment, tmp_path / "out", serial)
    assert (second.before, second.ran) == (3, second.total - 3)
    assert results_of(tmp_path / "out") == results_of(swept)
    done = timed(tmp_path / "out")
    assert len(done) == len(set(done)) == second.total
    assert begun <= set(done)


def test_a_record_without_its_file_is_not_finished(swept, tmp_path):
    """A kill between array and record leaves an array that nobody vouches for: it is made again."""
    experiment = small(tmp_path)
    sweep(experiment, tmp_path / "out", serial)
    victim = next((tmp_path / "out/runs").glob("*.json"))
    victim.unlink()
    (tmp_path / "out/partial/0.part").write_bytes(b"half a fi")
    with (tmp_path / "out/timings.jsonl").open("ab") as file:
        file.write(b'\n{"id": "cut sho')
    assert sweep(experiment, tmp_path / "out", serial).ran == 1
    assert results_of(tmp_path / "out") == results_of(swept)
    assert not list((tmp_path / "out/partial").glob("*.part"))
    played = {run.record["id"] for run in Results(swept).runs if run.record["status"] == "done"}
    assert set(Results(tmp_path / "out").timings()) == played


def test_who_is_not_alone_begins_at_the_other_end_and_sweeps_nothing_up(tmp_path):
    experiment, orders = small(tmp_path), []

    def note(tasks):
        orders.append([task.id for task in tasks])
        yield from ()

    sweep(experiment, tmp_path / "out", note)
    half = tmp_path / "out/partial/0.part"
    half.write_bytes(b"of somebody else")
    with folder_lock(tmp_path / "out") as alone:
        half.write_bytes(b"of somebody else")
        sweep(experiment, tmp_path / "out", note)
    assert alone
    assert orders[1] == orders[0][::-1]
    assert half.exists()


def test_a_failure_is_told_and_tried_again_next_time(tmp_path, monkeypatch):
    tries = []

    def broken(task):
        tries.append(task)
        raise MemoryError("no room")

    experiment = small(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.experiments.executors.perform", broken)
        tally = sweep(experiment, tmp_path / "out", serial)
    assert len(tally.failed) == tally.total
    assert len(tries) == 2 * tally.total, "each was tried twice"
    assert "no room" in next(iter(tally.failed.values()))
    assert sweep(experiment, tmp_path / "out", serial).ran == tally.total


def test_a_folder_belongs_to_one_experiment(swept, tmp_path):
    before = results_of(swept)
    other = small(tmp_path, TEXT.replace("n = 4", "n = 5"))
    with pytest.raises(ValueError, match="results of another experiment"):
        sweep(other, swept, serial)
    assert results_of(swept) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("precious")
    with pytest.raises(ValueError, match="is not empty and holds no results"):
        sweep(other, tmp_path / "mine", serial)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_folder_grows_by_seeds(tmp_path):
    few = small(tmp_path, TEXT.replace("[60]", "[10]"))
    more = replace(few, seeds=(20, 21, 22), about="another sentence")
    sweep(few, tmp_path / "grown", serial)
    grown = sweep(more, tmp_path / "grown", serial)
    assert (grown.before, grown.ran) == (2 * grown.total // 3, grown.total // 3)
    sweep(more, tmp_path / "at once", serial)
    assert results_of(tmp_path / "grown") == results_of(tmp_path / "at once")
    assert sweep(few, tmp_path / "grown", serial).ran == 0
    assert Results(tmp_path / "grown").experiment["seeds"] == [20, 21, 22], "it never shrinks"
    with pytest.raises(ValueError, match="seeds are added after those it has"):
        sweep(replace(few, seeds=(21, 22)), tmp_path / "grown", serial)


@pytest.mark.skipif(os.name != "posix", reason="POSIX locks")
def test_many_may_begin_at_once(tmp_path):
    """Each start sweeps up half-written files when it is alone; nobody's own may be among them."""
    resolved, folder = small(tmp_path).resolved(), tmp_path / "out"

    def begin(_):
        for _ in range(10):
            with open_results(folder, resolved):
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(begin, range(4)))
    assert Results(folder).experiment == resolved
    assert not list((folder / "partial").glob("*.part"))


@pytest.mark.parametrize("horizon", [1, 2, 399, 400, 401, 12_345, 10**7])
def test_curves_begin_and_end_where_the_game_does(horizon):
    t = curve_rounds(horizon)
    assert t[0] == 1
    assert t[-1] == horizon
    assert t.size <= POINTS
    assert (np.diff(t) > 0).all()
    assert t.size == horizon or horizon > POINTS // 2, "short games are shown whole"


def test_files_are_plain(swept):
    text = json.loads((swept / "experiment.json").read_bytes())
    assert text["hedgerow"] == hr.__version__
    for path in (swept / "runs").glob("*.npy"):
        curves = np.load(path, allow_pickle=False)
        assert curves.shape == (4, 60)
    assert Done._fields[0] == "task"
