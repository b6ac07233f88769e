"""What may go wrong around a sweep: a sentence that names the file and says how to go on."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from small_experiment import TEXT, invoked, results_of, small, written

from hedgerow.experiments.executors import attempt, serial
from hedgerow.experiments.fingerprints import ChangedFileError
from hedgerow.experiments.results import Results, UnwritableError, WorkersLostError
from hedgerow.experiments.sweeps import sweep
from hedgerow.report.picture import canvas, save_figure

TINY = TEXT.replace("[60]", "[10]").replace("[20, 21]", "[20]").replace(', "theory"', "")
NO_ROOM = {errno.ENOSPC: "no space left on device; free some", errno.EDQUOT: "disk quota exceeded"}
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["hedgerow", "run", "small.toml"])


def full_after(writes, number):
    """Return a stand-in for fsync on a disk that has room for so many files."""
    done = []

    def fsync(_):
        done.append(1)
        if len(done) > writes:
            raise OSError(number, os.strerror(number))

    return fsync


@pytest.mark.parametrize("number", NO_ROOM)
@pytest.mark.parametrize("writes", [0, 2, 9])
def test_a_full_disk_names_the_file_and_keeps_the_rest(number, writes, tmp_path, monkeypatch):
    file = written(tmp_path, TINY)
    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.files.os.fsync", full_after(writes, number))
        result = invoked("run", file, "--workers", 1)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert NO_ROOM[number] in line
    assert line.startswith("hedgerow: out/small/")
    assert "cannot be written" in line
    assert "finished and kept in out/small: " in line
    assert line.endswith("To resume: hedgerow run small.toml")
    assert not list(Path("out/small/partial").glob("*.part")), "it takes no room either"
    finished = sum(1 for _ in Path("out/small").glob("*/*.json"))
    tally = sweep(small(tmp_path, TINY), Path("out/small"), serial)
    assert (tally.before > 0) == (finished > 0)
    sweep(small(tmp_path, TINY), tmp_path / "quiet", serial)
    assert results_of(Path("out/small")) == results_of(tmp_path / "quiet")


@needs_full
def test_no_room_for_times(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "timings.jsonl").symlink_to("/dev/full")
    with pytest.raises(UnwritableError, match=r"timings.jsonl cannot be written: no space left"):
        sweep(small(tmp_path, TINY), out, serial)
    assert len(list(out.glob("*/*.json"))) == 1, "the result itself is kept"


@needs_full
@pytest.mark.parametrize("name", ["report.html", "table.csv", "table.tex"])
def test_no_room_for_a_report(name, tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    sweep(small(tmp_path, TINY), tmp_path / "out", serial)
    path = tmp_path / "out/report" / name
    path.parent.mkdir()
    path.symlink_to("/dev/full")
    result = invoked("report", tmp_path / "out")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line == f"hedgerow: {path}: no space left on device; free some and try again"


@needs_full
@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_no_room_for_a_figure(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        save_figure(canvas(1, 1, 1.0, 1.0)[0], path, dpi=20)
    assert caught.value.filename == str(path)


def test_lost_workers_say_how_to_resume(tmp_path, monkeypatch):
    def dying(tasks, address):
        yield attempt(next(iter(tasks)))
        raise WorkersLostError(f"the Dask scheduler at {address} is gone")

    monkeypatch.setattr("hedgerow.cli.run.check_cluster", lambda _: None)
    monkeypatch.setattr("hedgerow.cli.run.dask", dying)
    result = invoked("run", written(tmp_path, TINY), "--cluster", "tcp://host:1")
    assert result.exit_code == 1
    assert result.stderr == (
        "hedgerow: the Dask scheduler at tcp://host:1 is gone; finished and kept in out/small: "
        "0 runs. To resume: hedgerow run small.toml\n"
    )
    assert len(Results(Path("out/small")).benchmarks) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ChangedFileError("a.json is not the file"), "ChangedFileError: a.json is not the file"),
        (MemoryError("no room for 3 GiB"), "MemoryError: no room for 3 GiB"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_a_failure_to_be_expected_is_one_sentence(error, told, tmp_path, monkeypatch):
    def fails(_):
        raise error

    monkeypatch.setattr("hedgerow.experiments.executors.perform", fails)
    text = TINY.split('[[problems]]\nkind = "halfspace_box"')[0]
    result = invoked("run", written(tmp_path, text), "--workers", 1)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 4, "one for each task"
    assert all(line.startswith("hedgerow: ") and line.endswith(f"failed: {told}") for line in lines)


def test_a_mistake_of_ours_shows_where(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.experiments.executors.perform", lambda _: {}["nothing"])
    result = invoked("run", written(tmp_path, TINY), "--workers", 1)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "KeyError: 'nothing'" in result.stderr


def test_numbers_that_json_cannot_hold_fail_their_task_alone(tmp_path):
    def broken(tasks):
        for i, task in enumerate(tasks):
            done = attempt(task)
            if i == 1:
                (output,) = done.outputs
                record = {**output.record, "cost": float("nan")}
                done = done._replace(outputs=(output._replace(record=record),))
            yield done

    tally = sweep(small(tmp_path, TINY), tmp_path / "out", broken)
    ((_, why),) = tally.failed.items()
    assert why.startswith("its numbers cannot be stored: ")
    assert tally.ran == tally.total - 1


def test_json_output_says_what_was_damaged(tmp_path):
    file = written(tmp_path, TINY)
    run = ("run", file, "--workers", 1, "--json")
    assert json.loads(invoked(*run).stdout)["damaged"] == []
    victim = min(Path("out/small/runs").glob("*.npy"))
    victim.unlink()
    (sentence,) = json.loads(invoked(*run).stdout)["damaged"]
    assert sentence.startswith(f"{victim} was damaged (the file is missing")
