"""Evidence has a script each; what needs measured files says so before it writes anything."""

from __future__ import annotations

import ast
import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "evidence"
SCRIPTS = {
    "make.py": [],
    "make.py problems": ["problems"],
    "steer_replay.py": [],
    "traffic.py measured": ["measured"],
    "advice.py measured": ["measured"],
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


def made_by_make():
    """Return the scripts that `make evidence` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.findall(r"^EVIDENCE\w* := (.*)$", makefile, re.MULTILINE)
    return [ROOT / name for names in listed for name in names.split()]


def written_by(script):
    """Return the evidence files that a script's code names: whole, by its own name, or one each."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    docs = {ast.get_docstring(tree, clean=False)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs
    ]
    found = {Path(text).name for text in texts if text.endswith((".json", ".csv"))}
    if ".json" in texts:  # Path(__file__).with_suffix(".json"), or f"{name}.json" for each maker
        found |= {f"{script.stem}.json"}
        found |= {f"{node.name}.json" for node in tree.body if isinstance(node, ast.FunctionDef)}
    return found


def test_make_evidence_makes_every_file():
    scripts = made_by_make()
    assert all(script.is_file() for script in scripts)
    made = set().union(*map(written_by, scripts))
    files = {path.name for kind in ("json", "csv") for path in EVIDENCE.glob(f"*.{kind}")}
    assert files <= made, f"no script of `make evidence` writes {sorted(files - made)}"


def test_a_file_without_a_script_is_noticed():
    assert "bench.json" not in set().union(
        *(written_by(script) for script in made_by_make() if script.stem != "bench")
    )


def imported(path):
    """Yield the modules of the library that a file imports, with the names taken from each."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hedgerow"):
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((a.name, []) for a in node.names if a.name.startswith("hedgerow"))


@pytest.mark.parametrize("folder", ["benchmarks", "evidence", "tools", "examples"])
def test_what_scripts_import_from_the_library_exists(folder):
    """No test runs most of these scripts, which reach into the library's own modules."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for module, names in imported(path):
            found = importlib.import_module(module)
            missing = [n for n in names if not hasattr(found, n) and not is_module(module, n)]
            assert not missing, f"{path.relative_to(ROOT)}: {module} has no {', '.join(missing)}"


def is_module(package, name):
    try:
        return importlib.util.find_spec(f"{package}.{name}") is not None
    except ModuleNotFoundError:
        return False
