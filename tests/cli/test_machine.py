"""`hedgerow warm-up` leaves nothing to compile; `hedgerow doctor` names what is broken."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import diagnosis as doctor
from hedgerow.cli.app import app
from hedgerow.live.store import Store

FIRST_GAME = """
import hedgerow as hr
from hedgerow._engine.announcement import compile_time
problem = hr.ShortestPath.random_network(nodes=30, edges=90, horizon=50, seed=0)
policy = hr.projection_free_coco(problem.decision_set)
for cost, constraint in problem:
    x = policy.ask()
    policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
assert hr.simulate(hr.projection_free_long_term(problem.decision_set), problem).compiled
print(compile_time.kernels, policy.certificate() > 0.0)
"""


@pytest.mark.skipif(not hr._engine.kernel.COMPILED, reason="needs numba's compiler")
def test_after_warm_up_the_first_game_compiles_nothing():
    warmed = CliRunner().invoke(app, ["warm-up"])
    assert warmed.exit_code == 0, warmed.output
    assert warmed.stdout.startswith("Compiled ")
    done = subprocess.run(
        [sys.executable, "-c", FIRST_GAME], capture_output=True, text=True, check=False
    )
    assert done.stdout == "0 True\n", done.stdout + done.stderr


def problems(*store):
    found = (one for one in doctor.diagnosis(*store) if one.remedy)
    return {one.about: f"{one.found}; {one.remedy}" for one in found}


def test_a_whole_environment_has_no_problem():
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0].startswith(f"ok       hedgerow  {hr.__version__} (sources ")
    assert len(lines) < 25, "one screen"
    assert {"python", "packages", "[cli]", "[live]", "cache"} <= {line.split()[1] for line in lines}


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_can_write", lambda _: False)
    monkeypatch.setattr("hedgerow._engine.cache.places", lambda _: iter([tmp_path / "none"]))
    assert problems() == {
        "cache": f"{tmp_path}/none (read-only, 0 kernels); set NUMBA_CACHE_DIR to a folder that "
        "only you can write to"
    }
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "one.nbc").touch()
    assert problems() == {}, "kernels of an image are read from a read-only folder"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_cache_that_others_can_write_to_is_named(monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    monkeypatch.setattr("hedgerow._engine.cache.places", lambda _: iter([tmp_path]))
    assert "others can write to it" in problems()["cache"]


@pytest.mark.parametrize(
    ("package", "version", "about", "words"),
    [
        ("numba", "0.60.0", "packages", 'numba 0.60.0, .*run pip install "numba>=0.63"'),
        ("scipy", None, "packages", r'scipy None.*run pip install "scipy>='),
        ("uvicorn", None, "[live]", r"not installed: uvicorn; .*install .\.\[live\]"),
        ("bokeh", "2.0", "[cli]", r"bokeh 2.0, needs 3.8; .*install .\.\[cli\]"),
    ],
)
def test_missing_and_old_packages_are_named(package, version, about, words, monkeypatch):
    installed = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: version if name == package else installed(name)
    )
    found = problems()

    assert re.search(words, found[about]), found


def test_an_extra_that_is_left_out_is_no_problem(monkeypatch):
    installed = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: None if name == "highspy" else installed(name)
    )
    (line,) = (one for one in doctor.diagnosis() if one.about == "[lp]")
    assert str(line) == "-        [lp]      not installed: highspy"


def test_stores_are_reached_and_not_changed(tmp_path):
    path = tmp_path / "sessions.db"
    assert "there is no such file" in problems(str(path))["store"]
    assert not path.exists()
    with Store(path):
        pass
    assert problems(str(path)) == {}
    path.write_bytes(b"not a database" * 100)
    assert "cannot be reached" in problems(str(path))["store"]


def test_an_unreachable_server_is_named_without_its_password():
    found = problems("postgresql://me:secret@127.0.0.1:9/none")["store"]
    assert "//127.0.0.1:9/none cannot be reached" in found
    assert "secret" not in found


def test_kernels_in_python_are_named(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert "several hundred times slower" in problems()["variables"]


def test_what_breaks_the_doctor_is_reported(monkeypatch):
    def fail():
        raise AttributeError("module 'numba' has no attribute 'njit'")

    monkeypatch.setattr(doctor, "_cache", fail)
    assert problems() == {
        "fail": "AttributeError: module 'numba' has no attribute 'njit'; this is what to report"
    }


def test_the_doctor_works_where_the_command_line_does_not():
    code = (
        "import sys; sys.modules['typer'] = None; sys.argv = ['hedgerow', 'doctor']; "
        "from hedgerow.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("ok       hedgerow"), done.stderr


def test_an_extra_is_begun_only_by_packages_of_its_own(monkeypatch):
    # of `live` and of `data`, and of `live` and of every installation, there in a lower version
    kept = {"httpx": "1.0", "pydantic": "2.8"}
    missing = dict.fromkeys(
        ("fastapi", "uvicorn", "starlette", "sqlalchemy", "psycopg", "httptools")
    )
    others = {"prometheus-client": None, "topohub": None, "bokeh": "9.9"} | missing | kept
    installed = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: others.get(name, installed(name)))
    assert problems() == {}
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "typer" else "99")
    assert problems()["[cli]"] == 'not installed: typer; run pip install ".[cli]"'
