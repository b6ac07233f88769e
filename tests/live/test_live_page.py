"""The commands of the pages on live sessions: serve, decide, watch, back up, upgrade, roll back."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from listening import listening
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.live.checking import check_store
from hedgerow.live.opening import begin
from hedgerow.live.service import make_app
from hedgerow.live.specs import Spec, policy_of
from kill_live import functions, state_of
from operator_case import operator_csv
from postgres_server import INSTALLED

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
SERVICE = (PAGES / "live-service.md").read_text(encoding="utf-8")
OPERATIONS = (PAGES / "live-operations.md").read_text(encoding="utf-8")
SPEC = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}
NOT_RUN = ("python3 -m venv", ". new", "pip install", "hedgerow serve")
"""Other releases cannot be installed in a test; the other page starts the service."""


def blocks(text, language="sh"):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def section(title):
    return OPERATIONS.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def opened(place):
    return begin(place, "edge-eu", policy_of(Spec(**SPEC)), spec=json.dumps(SPEC), every=8)


def played(place, first, count):
    with opened(place) as session:
        for k in range(first, first + count):
            session.tell(session.ask().id, *functions(k, 4))
        return state_of(session)


def run(command, folder):
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env={**os.environ, "PATH": programs, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_block(block):
    """Run the commands of a block in this folder, ours in this process; return what ours said."""
    said = []
    for line in block.splitlines():
        if line.startswith("hedgerow ") and not line.startswith(NOT_RUN):
            done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
            said.append((done.exit_code, " ".join(done.output.split())))
        elif not line.startswith(NOT_RUN):
            run(line, ".")
    return said


needs_sqlite = pytest.mark.skipif(
    shutil.which("sqlite3") is None, reason="needs the command sqlite3: apt-get install sqlite3"
)
FINE = (0, "Nothing is damaged.")


def test_the_commands_of_the_service_run_as_they_stand(tmp_path, monkeypatch, capsys):
    """Ours run in this process, which saves most of the time; the service has a port of its own."""
    if shutil.which("curl") is None:
        pytest.skip("needs the command curl: apt-get install curl")
    monkeypatch.chdir(tmp_path)
    programs = dict(zip(("router.py", "replay.py"), blocks(SERVICE, "py"), strict=True))
    Path("out/operator").mkdir(parents=True)
    operator_csv(Path("out/operator/measurements.csv"), minutes=30)
    config, rules = blocks(SERVICE, "yaml")
    for name, text in (("prometheus.yml", config), ("hedgerow-rules.yml", rules)):
        Path(name).write_text(text)
    lines = "".join(blocks(SERVICE)[:7]).replace("\\\n", " ").replace("\n   ", " ").splitlines()
    assert lines.pop(2) == "hedgerow serve routes.db &"
    said = []
    with listening(make_app(hr.live.Store("routes.db"))) as http:
        here = str(http.base_url).rstrip("/")
        for line in lines:
            given = re.fullmatch(r"(?:(\w+)=\$\()?hedgerow (.*?)\)?(?: > (\S+))?", line)
            if given is not None:
                name, words, file = given.groups()
                done = CliRunner().invoke(app, shlex.split(words))
                assert done.exit_code == 0, done.output
                if file is None:
                    monkeypatch.setenv(name, done.stdout.strip())
                else:
                    Path(file).write_text(done.stdout)
            elif " python " in line:
                name = line.split()[-1]
                exec(
                    compile(programs[name].replace("http://127.0.0.1:8765", here), name, "exec"), {}
                )
            elif not line.startswith("promtool") or shutil.which("promtool") is not None:
                said.append(run(line.replace("http://127.0.0.1:8765", here), "."))
    begun, decision, told, status, metrics = said[:5]
    assert json.loads(begun)["name"] == "edge-eu"
    shown, decision = json.loads(blocks(SERVICE, "json")[0]), json.loads(decision)
    assert [*decision] == [*shown]
    assert (decision["id"], decision["named"]) == (shown["id"], pytest.approx(shown["named"]))
    assert decision["action"] == pytest.approx(shown["action"])
    assert json.loads(told)["order"] == 2
    assert json.loads(status)["answered"] == 1
    shares, *routes = capsys.readouterr().out.splitlines()
    shares = re.fullmatch(r"\{'ams': (.*), 'fra': (.*), 'lon': (.*)\}", shares)
    assert sum(map(float, shares.groups())) == pytest.approx(1.0, abs=0.02)
    assert routes
    assert all(re.fullmatch(r" *[\d.]+%  Lisbon > (.* > )?Warsaw", route) for route in routes)
    table = SERVICE.partition("| metric |")[2].partition("\n\n")[0]
    named = set(re.findall(r"hedgerow_session_\w+", rules + table))
    exposed = set(re.findall(r"^(hedgerow_session_\w+)\{", metrics, re.MULTILINE))
    assert len(named) == 9
    assert named <= exposed


@needs_sqlite
def test_a_backup_is_made_in_use_and_restored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = played("routes.db", 0, 20)
    make, restore = blocks(section("Backup"))
    with opened("routes.db") as session:
        session.ask()
        assert run_block(make) == [FINE]
        for k in range(5):
            session.tell(session.ask().id, *functions(100 + k, 4))
    with opened("routes-backup.db") as session:
        assert state_of(session) == (before[0] + 1, before[1])
    assert run_block(restore) == [FINE]
    with opened("routes.db") as session:
        assert session.status().decisions == 21


def release(monkeypatch, name, eagerness=1.0):
    """Be another release, which builds the same call otherwise where it is more eager."""
    for module in ("opening", "replica"):
        monkeypatch.setattr(f"hedgerow.live.{module}.this_release", lambda: name)

    def build(spec):
        made = hr.projection_free_coco(hr.sets.Simplex(4), eagerness=eagerness)
        made._call = policy_of(spec).made_by()
        return made

    monkeypatch.setattr("hedgerow.live.opening.policy_of", build)
    monkeypatch.setitem(globals(), "opened", lambda place: begin(
        place, "edge-eu", build(Spec(**SPEC)), spec=json.dumps(SPEC), every=8
    ))  # fmt: skip


@needs_sqlite
def test_a_session_is_upgraded_and_rolled_back_by_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rehearse, install, go_on = blocks(section("Upgrade"))
    roll_back, restore = blocks(section("Rollback"))
    release(monkeypatch, "1.0")
    before = played("routes.db", 0, 20)
    run_block(blocks(section("Backup"))[0])
    release(monkeypatch, "1.1")
    same = (0, "session edge-eu: this release decides as recorded.")
    assert run_block(rehearse) == [same]
    release(monkeypatch, "2.0", eagerness=4.0)
    run("cp routes-backup.db other.db", ".")
    ((code, said),) = run_block(rehearse.replace("routes-backup.db", "other.db"))
    assert code == 1
    assert "would have decided otherwise from round" in said
    run_block(install)
    goes_on = (0, "session edge-eu continues with this release.")
    assert run_block(go_on) == [goes_on]
    played("routes.db", 20, 5)
    release(monkeypatch, "1.0")
    assert run_block(roll_back) == [goes_on]
    with opened("routes.db") as session:
        assert session.status().answered == 25
        session.tell(session.ask().id, *functions(25, 4))
    assert run_block(restore) == [FINE]
    with opened("routes.db") as session:
        assert state_of(session) == before


def test_a_store_is_checked_repaired_and_compacted_by_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    played("routes.db", 0, 20)
    (damaged,) = blocks(section("A damaged store"))
    assert run_block(damaged) == [FINE, FINE]
    (compact,) = blocks(section("A store that grows"))
    assert run_block(compact) == [(0, "32 rows of the journal were compacted.")]
    assert check_store("routes.db") == []


def test_a_dump_of_postgresql_is_a_backup(place, tmp_path, request):
    if not place.startswith("postgresql"):
        pytest.skip("is about PostgreSQL")
    before = played(place, 0, 20)
    dump, restore = (INSTALLED[-1].parent / name for name in ("pg_dump", "psql"))
    run(f"{dump} '{place}' > dump.sql", tmp_path)
    played(place, 20, 5)
    other = place.replace("/test_", "/restored_")
    name = re.search(r"/(restored_\w+)\?", other)[1]
    server = request.getfixturevalue("server")
    run(f"{restore} -q '{server}' -c 'CREATE DATABASE {name}'", tmp_path)
    run(f"{restore} -q -v ON_ERROR_STOP=1 '{other}' < dump.sql", tmp_path)
    assert check_store(other) == []
    with opened(other) as session:
        assert state_of(session) == before
    with hr.live.Store(place) as store:
        assert store.status("edge-eu").answered == 25
