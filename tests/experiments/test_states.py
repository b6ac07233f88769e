"""Two states of the library do not mix_versions in one folder unawares."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from small_experiment import TEXT, invoked, results_of, small

import hedgerow
from hedgerow.experiments.executors import attempt, serial
from hedgerow.experiments.results import Results, StoppedError
from hedgerow.experiments.sweeps import sweep
from hedgerow.experiments.tuning import tune
from hedgerow.release import fingerprint, sources

TINY = TEXT.replace("[60]", "[10]").replace("[20, 21]", "[20]").replace(', "theory"', "")
OTHER = "0" * 16


def test_the_fingerprint_is_of_the_sources_that_runs_depend_on(tmp_path):
    (tmp_path / "sets/balls").mkdir(parents=True)
    (tmp_path / "sets/balls/boxes.py").write_text("SIDE = 2\n")
    first = fingerprint(tmp_path)
    assert len(first) == 16
    (tmp_path / "report").mkdir()
    (tmp_path / "report/page.py").write_text("WIDTH = 3\n")
    (tmp_path / "notes.txt").write_text("no source")
    assert fingerprint(tmp_path) == first, "no run depends on a report"
    (tmp_path / "sets/balls/boxes.py").write_text("SIDE = 3\n")
    second = fingerprint(tmp_path)
    (tmp_path / "sets/balls/boxes.py").rename(tmp_path / "sets/balls/l1_l2_balls.py")
    third = fingerprint(tmp_path)
    (tmp_path / "reports.py").write_text("")
    assert len({first, second, third, fingerprint(tmp_path)}) == 4
    assert fingerprint(Path(hedgerow.__file__).parent) == sources()


def three(tasks):
    for task, _ in zip(tasks, range(3), strict=False):
        yield attempt(task)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with three tasks done by another state of the library."""
    with monkeypatch.context() as patch:
        for module in ("playing", "sweeps", "folder"):
            patch.setattr(f"hedgerow.experiments.{module}.sources", lambda: OTHER)
        assert sweep(small(tmp_path, TINY), tmp_path / "out", three).ran == 3
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    return tmp_path / "out"


def test_every_record_says_who_made_it(tmp_path):
    sweep(small(tmp_path, TINY), tmp_path / "out", serial)
    results = Results(tmp_path / "out")
    assert set(results.states) == {sources()}
    assert results.states.total() == len(results.runs) + len(results.benchmarks) == 9


def test_runs_of_another_state_are_not_added(folder, tmp_path):
    before = results_of(folder)
    result = invoked("run", tmp_path / "small.toml", "-o", folder, "--workers", 1)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert f"{folder} holds results of another state of the library" in line
    assert f"(sources {OTHER}; here {sources()})" in line
    assert "give another folder with --out, or allow the mixture with --mix-versions" in line
    assert results_of(folder) == before


def test_results_of_releases_that_stored_no_state_are_another(folder, tmp_path):
    for path in folder.glob("*/*.json"):
        record = json.loads(path.read_bytes())
        for key in ("sources", "checksum", "curves_sha256"):
            del record[key]
        path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"\(sources unknown; here "):
        sweep(small(tmp_path, TINY), folder, serial)
    assert set(Results(folder).states) == {None}
    assert invoked("report", folder).exit_code == 0, "it can still be read"


def test_a_mixture_that_was_accepted_is_shown(folder, tmp_path):
    again = ("run", tmp_path / "small.toml", "-o", folder, "--workers", 1, "--json")
    result = invoked(*again, "--mix-versions")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["found_finished"] == 3
    assert set(Results(folder).states) == {sources(), OTHER}
    words = "A mixture: results of 2 states of the library"
    told = invoked("report", folder)
    assert words in " ".join(told.stdout.split())
    page = (folder / "report/report.html").read_text()
    assert words in page
    assert OTHER in page
    assert words in json.loads(invoked("report", folder, "--json").stdout)["mixture"]
    assert json.loads(invoked(*again).stdout)["ran"] == 0, "where nothing is added nothing mixes"


def test_one_state_is_no_mixture(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    sweep(small(tmp_path, TINY), tmp_path / "out", serial)
    assert "A mixture" not in invoked("report", tmp_path / "out").stdout
    page = (tmp_path / "out/report/report.html").read_text()
    assert f"(sources {sources()})" in page
    assert "A mixture" not in page


@pytest.mark.parametrize("other", [OTHER, None])
def test_a_worker_of_another_state_is_found_out(other, tmp_path):
    """On a cluster, or where files changed under the feet of a pool."""

    def foreign(tasks):
        for task in tasks:
            done = attempt(task)
            records = [{**output.record, "sources": other} for output in done.outputs]
            for record in records:
                if other is None:
                    del record["sources"]
            parts = zip(done.outputs, records, strict=True)
            yield done._replace(outputs=tuple(o._replace(record=r) for o, r in parts))

    experiment = small(tmp_path, TINY)
    with pytest.raises(
        StoppedError, match=r"a worker has another state of the library .*mix_versions=True"
    ):
        sweep(experiment, tmp_path / "out", foreign)
    assert not list((tmp_path / "out").glob("*/*.json")), "nothing was kept"
    sweep(experiment, tmp_path / "mixed", foreign, mix_versions=True)
    assert set(Results(tmp_path / "mixed").states) == {other}


def test_what_one_state_chose_is_not_played_by_another(tmp_path, monkeypatch):
    text = TINY.split('[[problems]]\nkind = "halfspace_box"')[0]
    text += "\n[tune]\nseeds = [0]\neagerness = [1]\nrule = 'sum'"
    experiment = small(tmp_path, text)
    tune(experiment, tmp_path / "out", serial)
    shutil.rmtree(tmp_path / "out/held_out")
    for module in ("playing", "sweeps", "folder"):
        monkeypatch.setattr(f"hedgerow.experiments.{module}.sources", lambda: OTHER)
    with pytest.raises(ValueError, match="train holds results of another state"):
        tune(experiment, tmp_path / "out", serial)
    assert not (tmp_path / "out/held_out").exists()
    _, tallies = tune(experiment, tmp_path / "out", serial, mix_versions=True)
    assert tallies[-1].ran == tallies[-1].total > 0


def test_another_version_is_another_state(tmp_path, monkeypatch):
    experiment = small(tmp_path, TINY)
    sweep(experiment, tmp_path / "out", three)
    monkeypatch.setattr(hedgerow, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"it is of version .*, here is 9\.9"):
        sweep(experiment, tmp_path / "out", serial)
    assert sweep(experiment, tmp_path / "out", serial, mix_versions=True).before == 3
