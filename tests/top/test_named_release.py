"""What is written names the very sources that wrote it."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import release
from hedgerow.files import read_snapshot, write_snapshot


@pytest.mark.parametrize(
    ("file", "changed"),
    [("games/many.py", "sources"), ("cli/app.py", "commands"), ("report/page.py", "commands")],
)
def test_two_trees_never_say_the_same(file, changed, tmp_path, monkeypatch):
    before = release.sources(), release.commands()
    shutil.copytree(release.PACKAGE, tmp_path / "tree", ignore=shutil.ignore_patterns("__pyc*"))
    monkeypatch.setattr(release, "PACKAGE", tmp_path / "tree")
    again = [part.__wrapped__() for part in (release.sources, release.commands)]
    assert tuple(again) == before
    with (tmp_path / "tree" / file).open("a") as source:
        source.write("# another tree\n")
    sources, commands = (part.__wrapped__() for part in (release.sources, release.commands))
    assert (sources != before[0], commands != before[1]) == (
        changed == "sources",
        changed == "commands",
    )


def test_the_version_names_the_whole_tree():
    text = release.this_version()
    assert text.startswith(f"{hr.__version__} (sources ")
    assert release.sources() in text
    assert release.commands() in text


def test_a_saved_policy_names_the_release(tmp_path, monkeypatch):
    path = tmp_path / "policy.snapshot"
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    policy.save(path)
    saved = read_snapshot(path)
    assert saved["release"] == release.this_release()
    again = hr.projection_free_coco(hr.sets.Simplex(3))
    again.load(path)
    assert np.array_equal(again.ask(), policy.ask())
    saved["version"] = 99
    monkeypatch.setattr("hedgerow.files.this_release", lambda: "9.9 abc")
    write_snapshot(path, saved)
    with pytest.raises(ValueError, match=r"\(hedgerow 9.9 abc wrote it\)"):
        again.load(path)
