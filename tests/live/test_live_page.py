"""The commands of the page on live sessions: check, back up, upgrade, roll back."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.live.checking import check_store
from hedgerow.live.opening import begin
from hedgerow.live.specs import Spec, policy_of
from kill_live import functions, state_of
from postgres_server import INSTALLED

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "live.md").read_text()
SECTION = PAGE[PAGE.index("## A damaged store") : PAGE.index("## Over HTTP")]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
SPEC = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}


def opened(place):
    return begin(place, "edge-eu", policy_of(Spec(**SPEC)), spec=json.dumps(SPEC), every=8)


def played(place, first, count):
    with opened(place) as session:
        for k in range(first, first + count):
            session.tell(session.ask().id, *functions(k, 4))
        return state_of(session)


def run(command, folder):
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        check=True,
        env={**os.environ, "PATH": programs},
        capture_output=True,
    )


def test_the_commands_of_the_page_run(tmp_path):
    if shutil.which("sqlite3") is None:
        pytest.skip("needs the command sqlite3: apt-get install sqlite3")
    before = played(tmp_path / "routes.db", 0, 20)
    with opened(tmp_path / "routes.db") as session:  # in use while it is backed up
        session.ask()
        for block in BLOCKS:
            run(block, tmp_path)
        for k in range(5):
            session.tell(session.ask().id, *functions(100 + k, 4))
    assert len(BLOCKS) == 3
    with opened(tmp_path / "routes-backup.db") as session:
        assert state_of(session) == (before[0] + 1, before[1])
        assert session.status().decisions == 21
    assert check_store(str(tmp_path / "routes.db")) == []


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
