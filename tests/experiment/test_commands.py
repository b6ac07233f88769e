"""The commands: what they print where, and their exit codes."""

from __future__ import annotations

import json

import pytest
from small_experiment import TEXT, hedgerow, small, written
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiment.problems import KINDS
from hedgerow.experiment.results import Results
from hedgerow.policies.methods import METHODS

TINY = TEXT.replace("[60]", "[20]").replace("[20, 21]", "[20]").replace(', "theory"', "")


def test_run_on_a_pipe(tmp_path):
    written(tmp_path, TINY)
    first = hedgerow("run", "small.toml", "--workers", 1, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stderr == "", "no progress on a pipe"
    assert "5 runs done, 1 refused, 0 tasks failed; 0 of 7 tasks were finished" in first.stdout
    assert "refused once: HalfspaceBox reacts to the plays" in first.stdout
    assert first.stdout.endswith("Results: out/small\n")
    again = hedgerow("run", "small.toml", "--workers", 1, "--json", cwd=tmp_path)
    found = json.loads(again.stdout)
    assert (found["ran"], found["found_finished"], found["runs_refused"]) == (0, 7, 1)
    quiet = hedgerow("run", "small.toml", "--workers", 1, "--quiet", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_bad_input_is_exit_code_2_and_one_sentence(tmp_path):
    written(tmp_path, TINY.replace("iid_simplex", "iid_simplx"))
    for arguments, words in (
        (("run", "small.toml"), "did you mean 'iid_simplex'"),
        (("run", "none.toml"), "there is no experiment file none.toml"),
        (("run", "smoke", "--workers", "2", "--cluster", "tcp://x:1"), "exclude each other"),
        (("run", "smoke", "--network", "none.json"), "leave --network out"),
        (("tune", "smoke"), "no [tune] table"),
    ):
        result = hedgerow(*arguments, cwd=tmp_path)
        assert result.returncode == 2, arguments
        assert words in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""
    assert not (tmp_path / "out").exists(), "nothing was made"


@pytest.mark.parametrize(("options", "seeds"), [((), 1), (("--full",), 30)])
def test_reproduce_runs_and_reports(options, seeds, tmp_path, monkeypatch):
    tiny = TINY.split('[[problems]]\nkind = "halfspace_box"')[0]
    tiny = tiny.replace(
        '["projection_free_coco", "ftpl_coco", "unconstrained"]', '["unconstrained"]'
    )
    asked = []

    def load(name, network):
        asked.append((name, network))
        return small(tmp_path, tiny)

    monkeypatch.setattr("hedgerow.cli.reproduce.load_experiment", load)
    out = str(tmp_path / "out")
    result = CliRunner().invoke(app, ["reproduce", "-o", out, "--workers", "1", "-q", *options])
    assert result.exit_code == 0, result.output
    assert asked == [("paper", None)]
    assert len(Results(tmp_path / "out").runs) == seeds
    assert (tmp_path / "out/report/report.html").is_file()


def test_list(tmp_path):
    found = json.loads(hedgerow("list", "--json", cwd=tmp_path).stdout)
    assert {row["kind"] for row in found["problems"]} == set(KINDS)
    assert {row["method"] for row in found["methods"]} == set(METHODS)
    assert {"paper", "smoke"} <= {row["name"] for row in found["experiments"]}
    shown = hedgerow("list", cwd=tmp_path).stdout
    assert "…" not in shown
    for name in (*KINDS, *METHODS, "paper"):
        assert name in shown
