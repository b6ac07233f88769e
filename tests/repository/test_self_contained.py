"""The repository needs nothing beside it: no file in it names a path that leaves it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "docs", "evidence", "examples", "src", "tests")
SUFFIXES = (".json", ".md", ".py", ".toml")
PAGES = list(ROOT.glob("*.md"))
BESIDE = "shared" + "/data"  # a folder that some workplaces have beside the repository
FILES = [p for name in FOLDERS for p in (ROOT / name).rglob("*") if p.suffix in SUFFIXES] + PAGES


def leaving(path, text):
    """Return the paths in a text that lead out of the repository, or beside it by name.

    A page may say ../ in a link; its commands are run where the repository is, and may not.
    """
    found = re.findall(BESIDE, text)
    if path.suffix == ".md":
        text = re.sub(r"\]\((\.\./[^)]*)\)", lambda link: _outside(path, link[1]), text)
        return found + re.findall(r"\.\./[^\s)`\"']*", text)
    relative = re.findall(r"(?:\.\./)+[^\s)`\"']*", text)
    return found + [each for each in relative if _outside(path, each)]


def _outside(path, relative):
    """Return the path if it leaves the repository, else ""."""
    target = (path.parent / relative).resolve()
    return "" if target.is_relative_to(ROOT) else relative


def climbs(text):
    """Return the largest number of folders that the code goes up from its own file."""
    names, largest = {}, 0

    def up(node):
        match node:
            case ast.Call(func=ast.Name("Path"), args=[ast.Name("__file__")]):
                return 0
            case ast.Call(func=ast.Attribute(value=inner, attr="resolve" | "absolute")):
                return up(inner)
            case ast.Attribute(value=inner, attr="parent"):
                more = 1
            case ast.Subscript(
                value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(index)
            ):
                more = 1 + index
            case ast.Name(name):
                return names.get(name)
            case _:
                return None
        below = up(inner)
        return None if below is None else below + more

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = up(node.value)
        largest = max(largest, up(node) or 0)
    return largest


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_no_file_names_a_path_that_leaves_the_repository(folder):
    files = [p for p in FILES if (ROOT / folder) in p.parents and (folder != "." or p in PAGES)]
    assert files
    for path in files:
        text = path.read_text()
        assert not leaving(path, text), f"{path} leads out of the repository"
        if path.suffix == ".py" and "__file__" in text:
            depth = len(path.relative_to(ROOT).parts)
            assert climbs(text) <= depth, f"{path} climbs above the repository"


UP = ".." + "/"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/a.md", f"$ hedgerow ingest edges {UP}data/edges.csv"),
        ("docs/a.md", f"[a]({UP}{UP}b.md)"),
        ("a.md", f"[a]({UP}b.md)"),
        ("evidence/a.json", f"{BESIDE}/b.csv"),
        ("tests/a.py", f'open("{UP}{UP}data")'),
        ("evidence/a.py", f'open("{UP}{UP}data/b.csv")'),
    ],
)
def test_paths_that_leave_are_found(name, text):
    assert leaving(ROOT / name, text)


def test_paths_that_stay_are_not():
    assert not leaving(ROOT / "docs/a.md", f"[a]({UP}evidence/b.json) and [b](c.md)")
    assert not leaving(ROOT / "tests/networks/a.py", f'"{UP}a.npz"')


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A = Path(__file__).parents[2]", 3),
        ("A = Path(__file__).parents[2].parent", 4),
        ("A = Path(__file__).resolve().parent\nB = A.parents[1] / 'data'", 3),
        ("A = Path(__file__).parent / 'b'\nB = C.parents[9]", 1),
    ],
)
def test_folders_are_counted(text, count):
    assert climbs(text) == count
