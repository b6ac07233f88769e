"""The commands: what they print where, and their exit codes."""

from __future__ import annotations

import json

import pytest
from small_experiment import TEXT, hedgerow, invoked, small, written

from hedgerow.baselines.methods import METHODS, TODAY
from hedgerow.experiments.problems import KINDS
from hedgerow.experiments.results import Results

TINY = TEXT.replace("[60]", "[20]").replace("[20, 21]", "[20]").replace(', "theory"', "")
TINIEST = TINY.split('[[problems]]\nkind = "halfspace_box"')[0].replace(
    '["projection_free_coco", "ftpl_coco", "unconstrained"]', '["unconstrained"]'
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_run_on_a_pipe(tmp_path):
    written(tmp_path, TINY)
    invoked("run", "small.toml", "--workers", 1, "-o", "compiled")  # which is announced on stderr
    first = hedgerow("run", "small.toml", "--workers", 1, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stderr == "", "no progress on a pipe"
    told = "5 runs and 3 benchmarks done, 1 run refused, 0 tasks failed; 0 of 7 tasks finished"
    assert told in first.stdout, "a game that reacts has a benchmark for each run"
    *_, where, who, why = first.stdout.splitlines()
    assert where == "Results: out/small; `hedgerow report out/small` draws them."
    assert who == "ftpl_coco refused:"
    assert why.startswith("  once: HalfspaceBox reacts to the plays")
    again = invoked("run", "small.toml", "--workers", 1, "--json")
    found = json.loads(again.stdout)
    assert (found["ran"], found["found_finished"], found["runs_refused"]) == (0, 7, 1)
    assert list(found["reasons"]) == ["ftpl_coco"]
    assert list(found["reasons"]["ftpl_coco"].values()) == [1]
    quiet = invoked("run", "small.toml", "--workers", 1, "--quiet")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")


BAD = {
    "a kind": (("run", "small.toml"), "did you mean 'iid_simplex'"),
    "no file": (("run", "none.toml"), "there is no experiment file none.toml"),
    "both": (("run", "smoke", "--workers", "2", "--cluster", "tcp://x:1"), "exclude each other"),
    "no scheduler": (("run", "smoke", "--cluster", "tcp://127.0.0.1:9"), "no Dask scheduler"),
    "no gap": (("run", "smoke", "--network", "none.json"), "leave out --network"),
    "no table": (("tune", "smoke"), "no [tune] table"),
    "a file": (("run", "smoke", "-o", "small.toml"), "small.toml is not a folder; give another"),
    "below a file": (("run", "smoke", "-o", "small.toml/x"), "small.toml/x is not a folder"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_bad_input_is_exit_code_2_and_one_sentence(mistake, tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.experiments.executors.TIMEOUT", 0.3)
    arguments, words = BAD[mistake]
    written(tmp_path, TINY.replace("iid_simplex", "iid_simplx"))
    result = invoked(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"], "nothing was made"


def test_a_failure_is_exit_code_1(tmp_path, monkeypatch):
    def broken(_):
        raise MemoryError("no room")

    monkeypatch.setattr("hedgerow.experiments.executors.perform", broken)
    written(tmp_path, TINIEST)
    result = invoked("run", "small.toml", "--workers", 1)
    assert result.exit_code == 1
    assert "0 runs and 0 benchmarks done, 0 runs refused, 2 tasks failed" in result.stdout
    assert "MemoryError: no room" in result.stderr


def test_reproduce_runs_reports_and_grows(tmp_path, monkeypatch):
    asked = []

    def load(name, network):
        asked.append((name, network))
        return small(tmp_path, TINIEST.replace("[20]\n\n", "[300]\n\n"))

    monkeypatch.setattr("hedgerow.cli.paper.load_experiment", load)
    folder = tmp_path / "out/reproduce"
    for options, seeds in (((), 1), (("--full",), 30), ((), 30)):
        result = invoked("reproduce", "--workers", "1", "--json", *options)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert (tmp_path / found["page"]).read_text().startswith("<!doctype html>")
        assert len(Results(folder).runs) == seeds
        assert len(Results(folder).experiment["seeds"]) == seeds, "it never shrinks"
    assert found["ran"] == 0
    assert asked == [("paper", None)] * 3


def test_help_tells_defaults():
    for name, folder in (("run", "out/NAME"), ("tune", "out/NAME-tuned")):
        shown = invoked(name, "--help").stdout.replace("│", " ")
        assert f"(default: {folder})" in " ".join(shown.split())


def test_list():
    found = json.loads(invoked("list", "--json").stdout)
    assert {row["kind"] for row in found["problems"]} == set(KINDS)
    assert {row["method"] for row in found["methods"]} == {*METHODS, *TODAY}
    compiled = {row["method"]: row["compiled"] for row in found["methods"]}
    assert compiled["sinha_vaze_2024"] is compiled["liakopoulos_cold"] is True
    assert compiled["guo_recoo"] is True
    assert compiled["ecmp"] is False  # fixed
    assert {"paper", "smoke"} <= {row["name"] for row in found["experiments"]}
    shown = invoked("list").stdout
    assert "…" not in shown
    for name in (*KINDS, *METHODS, *TODAY, "paper"):
        assert name in shown
