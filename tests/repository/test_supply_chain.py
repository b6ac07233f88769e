"""What is installed: pinned by hash, declared, under licences that are listed."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
TEST, DOCS, BENCH, RELEASE = (
    ROOT / "requirements" / f"{name}.txt" for name in ("test", "docs", "bench", "release")
)
OLDEST = ROOT / "requirements" / "numba-0.63.1.txt"
LOWEST, LITELLM = (ROOT / "requirements" / f"{name}.txt" for name in ("lowest", "litellm"))


def _tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


licences = _tool("licences")


def entries(lock: Path) -> list[str]:
    """The requirements of a lock, each with its hashes."""
    return re.findall(r"^\w(?:.*\\\n)*.*$", lock.read_text(), re.MULTILINE)


LOCKS = [TEST, DOCS, BENCH, RELEASE, OLDEST, LOWEST, LITELLM]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_is_pinned_by_hash_and_no_index_is_named(lock):
    found = entries(lock)
    assert len(found) > 10
    for entry in found:
        first, *hashes = entry.split(" \\\n")
        assert re.fullmatch(r"[\w-]+==[\w.]+( ; .+)?", first), entry
        assert hashes, entry
        assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}", one) for one in hashes), entry
    assert "://" not in lock.read_text()
    assert not re.search(r"^-", lock.read_text(), re.MULTILINE)


def _pin(entry):
    return Requirement(entry.split("\\")[0])


def is_pinned(pins):
    """Whether the tests run on the versions of the lock, and not on others, as test-lowest does."""
    return all(
        str(pins[name].specifier) == f"=={version(name)}" for name in ("numpy", "numba", "bokeh")
    )


def test_make_installs_nothing_that_is_not_pinned():
    makefile = (ROOT / "Makefile").read_text()
    commands = re.findall(r"^\t.*(?:install|INSTALL)\b.*$", makefile, re.MULTILINE)
    assert len(commands) == 12
    for command in commands:
        pinned = "$(VERIFIED) -r requirements/" in command
        assert pinned or command.endswith("--no-deps --no-build-isolation -e ."), command
    assert "VERIFIED := --require-hashes --only-binary :all:\n" in makefile


@pytest.mark.parametrize("extra", ["core", "all", "test", "docs", "make", "dev", "bench"])
def test_what_the_project_asks_for_is_in_its_lock(extra):
    file = {"docs": DOCS, "bench": BENCH}.get(extra, TEST)
    pins = {canonicalize_name(one.name): one for one in map(_pin, entries(file))}
    asked = [Requirement(line) for line in licences.project()[extra]]
    while asked:
        one = asked.pop()
        if one.name == "hedgerow":
            asked += [Requirement(line) for e in one.extras for line in licences.project()[e]]
            continue
        [pin] = pins[canonicalize_name(one.name)].specifier
        assert one.specifier.contains(pin.version), one
    if file is TEST and is_pinned(pins):  # packages of the others need not be installed here
        assert licences.closure(extra) <= pins.keys()


def imports(folder: Path) -> set[str]:
    """The packages of others that the modules below a folder import."""
    own = {path.stem for path in folder.rglob("*")} | {"hedgerow", "slow_kernels"}  # made by a test
    own |= {path.stem for folder in ("tools", "evidence") for path in (ROOT / folder).glob("*.py")}
    found = set()
    for file in folder.rglob("*.py"):
        text = file.read_text()
        found |= set(re.findall(r'(?:import_module|find_spec)\("(\w+)"\)', text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found - own - sys.stdlib_module_names


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_every_import_is_declared(folder):
    extras = [*licences.RUNTIME, *licences.ALONE, *(["test"] if folder == "tests" else [])]
    asked = [Requirement(line) for extra in extras for line in licences.project()[extra]]
    declared = {name.replace("-", "_") for one in asked for name in (one.name, *one.extras)}
    found = imports(ROOT / folder)
    assert {"numpy", "numba"} <= found <= declared


def test_nothing_under_the_gpl_is_needed_to_run():
    for extra in (*licences.RUNTIME, "all"):
        found = {name: licences.licence(name) for name in licences.closure(extra)}
        assert {"numpy", "scipy", "numba"} <= found.keys()
        assert {name for name, one in found.items() if licences.is_gpl(one)} == set()
    assert set(licences.project()) == {*licences.RUNTIME, *licences.ALONE, "all", *licences.OTHERS}
    tests = {name for name in licences.closure("test") if licences.is_gpl(licences.licence(name))}
    assert tests == {"quadprog"}


def test_the_page_of_licences_is_that_of_the_locks():
    pins = {canonicalize_name(one.name): one for one in map(_pin, entries(TEST))}
    if not is_pinned(pins):
        pytest.skip("needs the versions of the lock, which `make test` installs")
    text = licences.PAGE.read_text()
    rows = dict(re.findall(r"^\| ([\w-]+) \| (.+?) \|", text, re.MULTILINE))
    del rows["package"]
    pinned = licences.pinned()
    here = {name for name, one in pinned.items() if not one.marker or one.marker.evaluate()}
    assert here <= rows.keys() <= pinned.keys(), "run make licences"
    installed = {canonicalize_name(one.name): one.version for one in metadata.distributions()}
    same = [name for name in rows if str(pinned[name].specifier) == f"=={installed.get(name)}"]
    assert len(same) > 50
    for name in same:
        assert rows[name] == licences.licence(name), "run make licences"
    gpl = {name for name, one in rows.items() if licences.is_gpl(one)}
    assert gpl == {"docutils", "igraph", "quadprog"}
