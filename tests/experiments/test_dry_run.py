"""`hedgerow run --dry-run`: the tasks that are left, how long they take, and who says so."""

from __future__ import annotations

import json
from statistics import fmean

import pytest
from small_experiment import TEXT, invoked, small, written

from hedgerow.experiments import sweeps as module
from hedgerow.experiments.executors import serial
from hedgerow.experiments.sweeps import estimates, sweep
from hedgerow.experiments.tasks import plan


def test_a_dry_run_probes_what_was_never_played_and_writes_nothing(tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    file, folder = written(tmp_path), tmp_path / "out"
    told = invoked("run", file, "-o", folder, "--dry-run", "--json")
    assert told.exit_code == 0, told.stderr
    found = json.loads(told.stdout)
    tasks = plan(small(tmp_path))
    assert (found["tasks"], found["finished"]) == (len(tasks), 0)
    assert [entry["id"] for entry in found["left"]] == [task.id for task in tasks]
    assert {entry["from"] for entry in found["left"]} == {"a probe"}
    assert all(entry["seconds"] > 0.0 for entry in found["left"])
    assert found["seconds"] == pytest.approx(sum(entry["seconds"] for entry in found["left"]))
    assert {path.name for path in tmp_path.iterdir()} == before | {file.name}


def test_times_that_are_stored_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_probe", None)  # nothing is to be probed
    one, folder = TEXT.replace("[20, 21]", "[20]"), tmp_path / "out"
    sweep(small(tmp_path, one), folder, serial)
    told = invoked("run", written(tmp_path), "-o", folder, "--dry-run", "--json")
    assert told.exit_code == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["finished"] == len(found["left"]) == found["tasks"] // 2
    assert {entry["from"] for entry in found["left"]} == {"stored timings"}
    lines = (folder / "timings.jsonl").read_text().split("\n")
    stored = {e["id"]: e["task_seconds"] for e in map(json.loads, filter(None, lines))}
    assert found["seconds"] == pytest.approx(sum(stored.values())), "one seed more, as long"


def test_seeds_share_the_mean_of_their_times(tmp_path, monkeypatch):
    tasks = [task for task in plan(small(tmp_path)) if task.place == "benchmarks"][:2]
    monkeypatch.setattr(module, "task_seconds", lambda _: {tasks[0].id: 2.0, tasks[1].id: 5.0})
    (found,) = estimates(tasks, tasks[:1], tmp_path)
    assert (found.seconds, found.source) == (fmean([2.0, 5.0]), "stored timings")


@pytest.mark.parametrize("horizon", [10, 64, 1000, 10_000_000])
def test_a_probe_tells_set_up_from_rounds(tmp_path, monkeypatch, horizon):
    """A task of 0.01 s and 2 microseconds per round: probes stop when they take a moment."""
    played = []

    def timed(_, rounds):
        played.append(rounds)
        return 0.01 + 2e-6 * rounds

    monkeypatch.setattr(module, "_timed", timed)
    text = TEXT.rpartition("[[problems]]")[0].replace("[60]", f"[{horizon}]")
    (found,) = estimates([], plan(small(tmp_path, text))[:1], tmp_path)
    assert found.seconds == pytest.approx(0.01 + 2e-6 * horizon, rel=1e-9)
    assert max(played) <= min(horizon, 64 * 8**3), "far fewer rounds than the task has"


def test_what_cannot_be_probed_is_told_apart(tmp_path, monkeypatch):
    def timed(task, _):
        if task.place == "benchmarks":
            raise ValueError("too short")
        return 1.0

    monkeypatch.setattr(module, "_timed", timed)
    told = invoked("run", written(tmp_path), "-o", tmp_path / "out", "--dry-run", "--workers", 2)
    assert told.exit_code == 0, told.stderr
    tasks = plan(small(tmp_path))
    failed = sum(task.place == "benchmarks" for task in tasks)
    assert f"{len(tasks)} tasks, 0 finished, {len(tasks)} left." in told.stdout
    shown = " ".join(told.stdout.split())
    seconds = len(tasks) - failed
    assert f"About {seconds} s on one processor, {seconds / 2:.0f} s on 2;" in shown
    assert f"{seconds} by a probe, {failed} not counted, as their probes failed." in shown
    assert "benchmark" in shown
    assert "?" in shown


def test_a_finished_experiment_has_nothing_left(tmp_path):
    sweep(small(tmp_path), tmp_path / "out", serial)
    told = invoked("run", written(tmp_path), "-o", tmp_path / "out", "--dry-run")
    assert told.exit_code == 0, told.stderr
    assert told.stdout.endswith("finished, 0 left.\n")


def test_a_sweep_says_what_is_under_way(tmp_path):
    """Before a task ends its id is there, and afterwards it is not."""
    seen = []

    def watched(tasks):
        for task in tasks:
            seen.append(tuple(tally[0].under_way))
            assert seen[-1] == (task.id,)
            yield from serial([task])

    tally = []
    end = sweep(small(tmp_path), tmp_path / "out", watched, lambda now: tally.append(now))
    assert len(seen) == end.total
    assert end.under_way == {}
