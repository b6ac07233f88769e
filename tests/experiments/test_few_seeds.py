"""Some methods play every seed, a few seeds are enough for the others."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from small_experiment import invoked, small

from hedgerow.experiments.executors import serial
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, plan
from hedgerow.report.provenance import expected_runs, how_far

TEXT = """
name = "small"
methods = ["projection_free_coco", "sinha_vaze_2024", "unconstrained"]
eagerness = [1, 2]
eagerness_methods = ["projection_free_coco"]
horizons = [6, 12]
seeds = [40, 41, 42, 43]
common_seeds = 2
all_seeds = ["projection_free_coco"]

[[problems]]
kind = "iid_simplex"
n = 3
"""


def test_who_plays_which_seeds(tmp_path):
    tasks = plan(small(tmp_path, TEXT))
    played: dict[tuple[str, float, int], list[int]] = {}
    for task in tasks:
        if isinstance(task, RunTask):
            key = task.method, task.eagerness, task.game.horizon
            played.setdefault(key, []).append(task.seed)
    assert played == {
        ("projection_free_coco", 1.0, 6): [40, 41],
        ("projection_free_coco", 1.0, 12): [40, 41, 42, 43],
        ("projection_free_coco", 2.0, 12): [40, 41],
        ("sinha_vaze_2024", 1.0, 12): [40, 41],
        ("unconstrained", 1.0, 12): [40, 41],
    }
    games = {(task.horizon, task.seed) for task in tasks if isinstance(task, BenchmarkTask)}
    assert games == {(6, 40), (6, 41), (12, 40), (12, 41), (12, 42), (12, 43)}


def test_a_folder_grows_to_all_seeds_and_never_shrinks(tmp_path):
    some = small(tmp_path, TEXT)
    out = tmp_path / "out"
    first = sweep(some, out, serial)
    results = Results(out)
    assert expected_runs(results.experiment) == len(results.runs) == 12
    everything = replace(some, common_seeds=None)
    grown = sweep(everything, out, serial)
    assert grown.before == first.ran
    assert "common_seeds" not in Results(out).experiment
    assert how_far(Results(out)) == f"{2 * 4 * 4} runs"
    assert sweep(some, out, serial).ran == 0
    assert "common_seeds" not in Results(out).experiment


@pytest.mark.parametrize("line", ["common_seeds = 2\n", 'all_seeds = ["projection_free_coco"]\n'])
def test_one_without_the_other_is_refused(tmp_path, line):
    alone = "all_seeds" if line.startswith("common_seeds") else "common_seeds"
    with pytest.raises(ValueError, match=rf"go together; got {alone} alone"):
        small(tmp_path, TEXT.replace(line, ""))


def test_reproduce_writes_a_first_page_from_the_first_seeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []

    def write(summary, folder):
        seen.append((len(summary.results.runs), how_far(summary.results)))
        return folder / "report.html"

    monkeypatch.setattr("hedgerow.cli.paper.write_report", write)
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    monkeypatch.setattr("hedgerow.cli.paper.load_experiment", lambda *_: small(tmp_path, TEXT))
    found = json.loads(invoked("reproduce", "--workers", "1", "--json").stdout)
    assert seen == [(3, "3 of 12 runs; not finished")]
    assert (found["ran"], found["found_finished"]) == (found["tasks"], 0) == (18, 0)
    assert (tmp_path / found["page"]).is_file()
    invoked("reproduce", "--workers", "1", "--json")
    assert len(seen) == 1, "nothing was new"
