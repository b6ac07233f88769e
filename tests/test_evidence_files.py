"""Evidence that needs measured files says so in a sentence, before it writes anything."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EVIDENCE = Path(__file__).parents[1] / "evidence"
SCRIPTS = {
    "make.py": [],
    "make.py problems": ["problems"],
    "beyond_real.py": [],
    "traffic.py measured": ["measured"],
}


def refusal(script, monkeypatch):
    """Run it and return the sentence it ends with; no evidence may have changed."""
    monkeypatch.syspath_prepend(EVIDENCE)
    monkeypatch.setattr(sys, "argv", [script, *SCRIPTS[script]])
    before = {path: path.stat().st_mtime_ns for path in EVIDENCE.glob("*.json")}
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EVIDENCE / script.split()[0]), run_name="__main__")
    assert {path: path.stat().st_mtime_ns for path in EVIDENCE.glob("*.json")} == before
    return ended.value.code


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_the_variable(script, monkeypatch):
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    assert refusal(script, monkeypatch).startswith("set HEDGEROW_DATA to the folder")


@pytest.mark.parametrize("script", SCRIPTS)
def test_with_a_folder_that_lacks_a_file(script, monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    assert f"HEDGEROW_DATA={tmp_path} has no " in refusal(script, monkeypatch)
