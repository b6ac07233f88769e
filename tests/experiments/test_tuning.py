"""Tuning: one grid and the same seeds for all, a rule stated beforehand, reports on other seeds."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from small_experiment import invoked, small, written

import hedgerow as hr
from hedgerow.experiments.executors import serial
from hedgerow.experiments.results import Results
from hedgerow.experiments.tuning import checked_tuning, tune

TEXT = """
name = "tuned"
methods = ["projection_free_coco", "unconstrained"]
horizons = [80]
seeds = [20, 21]

[[problems]]
kind = "iid_simplex"
n = 4

[tune]
seeds = [0, 1, 2]
eagerness = [0.5, 1, 2]
rule = "sum"
"""

UNFAIR = {
    "overlap": (TEXT.replace("[20, 21]", "[1, 20]"), r"seeds \[1\] are for training and for the"),
    "burnt": (TEXT.replace("[20, 21]", "[5, 20]"), r"seeds \[5\] cannot be reported"),
    "burnt later": (TEXT.replace("[20, 21]", "[69, 219]"), r"seeds \[69, 219\] cannot be reported"),
    "no table": (TEXT.split("[tune]")[0], r"no \[tune\] table"),
    "reacts": (
        TEXT.replace("iid_simplex", "halfspace_box"),
        "'halfspace_box' reacts to the decisions",
    ),
    "no preset": ('presets = ["theory"]\n' + TEXT, "presets must contain 'practical'"),
}


BY_TIME = """
name = "by_time"
methods = ["projection_free_coco", "unconstrained"]
horizons = [60]
seeds = [0]

[[problems]]
kind = "measured_latency_cap"
network = "links.json"
source = "s"
target = "t"
failed = 1000.0

[tune]
rounds = 20
eagerness = [1, 2]
rule = "sum"
"""


@pytest.fixture
def links(tmp_path):
    """Write a direct link that is slow in every third round, and a detour that never is."""
    rounds = np.arange(60)
    slow = np.where(rounds % 3 == 0, 90.0 + rounds / 10.0, 10.0)
    network = hr.networks.Network(
        nodes=("s", "a", "t"),
        edges=[(0, 1), (1, 2), (0, 2)],
        latency_ms=[8.0, 8.0, 40.0],
        latency_label="measured",
        latency_series=np.column_stack([np.full(60, 8.0), np.full(60, 8.0), slow]),
    )
    network.save(tmp_path / "links.json")
    return slow


def test_recorded_rounds_are_held_out_by_time(tmp_path, links):
    folder = tmp_path / "out"
    selection, _ = tune(small(tmp_path, BY_TIME), folder, serial)
    assert (selection["train_rounds"], selection["rows"][0]["horizon"]) == (20, 20)
    for part, rounds in (("train", links[:20]), ("held_out", links[20:])):
        found = Results(folder / part)
        blind = [run for run in found.runs if run.record["method"] == "unconstrained"]
        assert [run.record["horizon"] for run in blind] == [len(rounds)]
        (best,) = found.benchmarks.values()
        cap = max(1.01 * 16.0, 0.5 * (40.0 + 16.0))  # of the network, the same for both parts
        assert best["blind"]["ccv"] == pytest.approx(np.maximum(rounds - cap, 0.0).sum())
    chosen = {run.record["eagerness"] for run in Results(folder / "held_out").runs}
    assert chosen == {1.0, selection["rows"][0]["eagerness"]}


BY_TIME_REFUSED = {
    "too many": (("rounds = 20", "rounds = 60"), "so none is left to report"),
    "both": (("rounds = 20", "rounds = 20\nseeds = [1]"), "got both"),
    "neither": (("rounds = 20", ""), "got neither"),
    "not from the start": (("failed = 1000.0", "failed = 1000.0\nstart = 3"), "from round 0"),
    "beyond the data": (("failed = 1000.0", "failed = 1000.0\nstart = 60"), "from 0 to 59, got 60"),
}


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("reason", BY_TIME_REFUSED)
def test_what_cannot_be_divided_in_time_is_refused(reason, tmp_path):
    change, sentence = BY_TIME_REFUSED[reason]
    with pytest.raises(ValueError, match=sentence):
        checked_tuning(small(tmp_path, BY_TIME.replace(*change)))


def test_seeds_cannot_be_divided_in_time(tmp_path):
    text = TEXT.replace("seeds = [0, 1, 2]", "rounds = 20")
    with pytest.raises(ValueError, match=r"not recorded.*; use tune\.seeds"):
        checked_tuning(small(tmp_path, text))


@pytest.mark.parametrize("grid", [(0.001, 0.004), (250.0, 1000.0)])
def test_a_grid_whose_end_is_chosen_is_continued(grid, tmp_path):
    experiment = small(tmp_path, TEXT)
    tuning = replace(experiment.tuning, eagerness=grid, widen=2)
    selection, _ = tune(replace(experiment, tuning=tuning), tmp_path / "out", serial)
    ours, blind = selection["rows"]
    tried = [entry["eagerness"] for entry in ours["tried"]]
    assert set(grid) < set(tried), "the end was chosen, and something beyond it was played"
    assert np.diff(np.log(tried)) == pytest.approx(np.log(4.0))
    best = min(ours["tried"], key=lambda entry: entry["mean_score"])["eagerness"]
    assert ours["eagerness"] == best
    ends = {tried[0]: "low", tried[-1]: "high"}
    assert ours["end"] == ends.get(best)
    assert (ours["end"] is None) or len(tried) == 4, "as often as allowed"
    assert (blind["end"], len(blind["tried"])) == (None, 1)
    again, tallies = tune(replace(experiment, tuning=tuning), tmp_path / "out", serial)
    assert again == selection
    assert not any(tally.ran for tally in tallies)


@pytest.mark.parametrize("reason", UNFAIR)
def test_unfair_tuning_is_refused(reason, tmp_path):
    text, sentence = UNFAIR[reason]
    with pytest.raises(ValueError, match=sentence):
        checked_tuning(small(tmp_path, text))


def scores(eagerness):
    """Return (regret, CCV) for each training seed, unit-free, from scratch."""
    found, units = [], []
    for seed in (0, 1, 2):
        problem = hr.problems.IidSimplex(n=4, horizon=80, seed=seed)
        policy = hr.projection_free_coco(problem.decision_set, eagerness=eagerness)
        trace, best = hr.simulate(policy, problem), hr.hindsight(problem)
        blind = hr.hindsight(problem, constrained=False)
        blind_ccv = sum(max(0.0, g(blind.x)) for _, g in problem)
        found.append((trace.regret(best), trace.ccv))
        units.append((best.cost - blind.cost, blind_ccv))
    return np.array(found) / np.mean(units, axis=0)


def test_the_rule_is_applied_to_training_seeds_alone(tmp_path):
    folder = tmp_path / "out"
    selection, tallies = tune(small(tmp_path, TEXT), folder, serial)
    assert json.loads((folder / "selection.json").read_bytes()) == selection
    ours, blind = selection["rows"]
    assert [entry["eagerness"] for entry in ours["tried"]] == [0.5, 1.0, 2.0]
    means = {}
    for entry in ours["tried"]:
        pairs = scores(entry["eagerness"])
        means[entry["eagerness"]] = np.mean(np.maximum(pairs[:, 0], 0.0) + pairs[:, 1])
        assert entry["mean_regret"] == pytest.approx(pairs[:, 0].mean())
        assert entry["mean_ccv"] == pytest.approx(pairs[:, 1].mean())
        assert entry["mean_score"] == pytest.approx(means[entry["eagerness"]])
    assert ours["eagerness"] == min(means, key=means.get)
    assert blind["eagerness"] == 1.0, "nothing to tune"
    reported = Results(folder / "held_out").runs
    assert {run.record["seed"] for run in reported} == {20, 21}
    assert {run.record["eagerness"] for run in reported if "coco" in run.record["method"]} == {
        ours["eagerness"]
    }
    assert {run.record["seed"] for run in Results(folder / "train").runs} == {0, 1, 2}
    again, tallies = tune(small(tmp_path, TEXT), folder, serial)
    assert again == selection
    assert [tally.ran for tally in tallies] == [0, 0, 0]


def test_a_constraint_that_never_binds_leaves_nothing_to_choose(tmp_path):
    text = TEXT.replace("iid_simplex", "portfolio").replace("n = 4", "window = 5\ncap = 50.0")
    with pytest.raises(ValueError, match="does not bind on any training seed of 'portfolio' with"):
        tune(small(tmp_path, text), tmp_path / "out", serial)
    assert not list((tmp_path / "out/train/runs").iterdir()), "found before any run"


def test_another_rule_needs_another_folder(tmp_path):
    short = TEXT.replace("[80]", "[10]").replace("[0, 1, 2]", "[0]").replace("[0.5, 1, 2]", "[1]")
    tune(small(tmp_path, short), tmp_path / "out", serial)
    other = short.replace('"sum"', '"target"\nccv_target = 1.0')
    before = (tmp_path / "out/selection.json").read_bytes()
    with pytest.raises(ValueError, match="was chosen by another rule"):
        tune(small(tmp_path, other), tmp_path / "out", serial)
    assert (tmp_path / "out/selection.json").read_bytes() == before


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, TEXT.replace('"sum"', '"target"\nccv_target = 1e-9'))
    result = invoked("tune", "small.toml", "--workers", 1, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    ours = found["selection"]["rows"][0]
    least = min(ours["tried"], key=lambda entry: entry["mean_ccv"])
    assert ours["eagerness"] == least["eagerness"], "none keeps the target: the least CCV"
    written(tmp_path, UNFAIR["overlap"][0])
    refused = invoked("tune", "small.toml", "-o", "other")
    assert refused.exit_code == 2
    assert "keep tune.seeds and seeds apart" in refused.stderr
    assert not (tmp_path / "other").exists()
