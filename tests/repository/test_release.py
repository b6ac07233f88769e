"""A release: one version everywhere, and archives that install into an empty environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import hedgerow
import licences

ROOT = Path(__file__).parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_package_takes_its_version_from_one_file():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert project()["dynamic"] == ["version"]
    assert 'path = "src/hedgerow/__init__.py"' in text
    assert hedgerow.__version__ not in text


def test_the_citation_and_the_changelog_name_the_version_and_its_day():
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    (version,) = re.findall(r"^version: (.*)$", cited, re.MULTILINE)
    (day,) = re.findall(r"^date-released: (.*)$", cited, re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## \[(\d.*)\] - (.*)$", changes, re.MULTILINE)[0]
    assert (version, day) == (hedgerow.__version__, newest[1])
    assert newest[0] == hedgerow.__version__


def test_bibtex_says_what_the_citation_file_says():
    """Both entries: the software, and the paper, which is also in the bibliography."""
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    bibtex = (ROOT / "CITATION.bib").read_text("utf-8")
    fields = dict(re.findall(r"^ *(?:- )?([a-z-]+): +(?!>)(\S.*)$", cited, re.MULTILINE))
    software, paper = re.split(r"(?=^@)", bibtex, flags=re.MULTILINE)[1:]
    assert f"version = {{{fields['version']}}}" in software
    assert f"year = {{{fields['date-released'][:4]}}}" in software
    assert f"author = {{{{{fields['name']}}}}}" in software
    assert " ".join(re.findall(r"abstract: >-\n((?:  .*\n)+)", cited)[0].split()) in software
    names = re.findall(r"family-names: (.*)\n *given-names: (.*)", cited)
    assert f"author = {{{' and '.join(', '.join(name) for name in names)}}}" in paper
    (_, title) = re.findall(r"^ *title: (.*)$", cited, re.MULTILINE)
    assert f"title = {{{title}}}" in paper
    assert f"booktitle = {{{fields['collection-title']}}}" in paper
    assert paper.strip() in (ROOT / "docs/references.bib").read_text("utf-8")
    assert bibtex in (ROOT / "docs/reference/citing.md").read_text("utf-8")


def test_the_hosted_checks_run_every_version_that_is_declared():
    prefix = "Programming Language :: Python :: 3."
    declared = [name for name in project()["classifiers"] if name.startswith(prefix)]
    flow = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    (line,) = re.findall(r"python: \[(.*)\]", flow)
    assert [f'"3.{name.removeprefix(prefix)}"' for name in declared] == line.split(", ")
    assert project()["requires-python"] == f">={line.split(', ')[0].strip(chr(34))}"


def test_the_recipe_asks_for_what_the_package_asks_for():
    text = (ROOT / "conda-recipe" / "recipe.yaml").read_text("utf-8")
    assert f'version: "{hedgerow.__version__}"' in text
    assert f'python_min: "{project()["requires-python"].removeprefix(">=")}"' in text
    asked = [*project()["dependencies"], *project()["optional-dependencies"]["cli"]]
    wanted = [one.replace("matplotlib>", "matplotlib-base>").replace(">=", " >=") for one in asked]
    listed = re.findall(r"^    - ([\w-]+ >=[\d.]+)$", text.partition("  run:")[2], re.MULTILINE)
    assert listed == wanted


def test_every_action_is_pinned_by_hash():
    flows = [path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    used = re.findall(r"uses: (.*)", "\n".join(flows))
    assert len(used) > 8
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_what_publishes_needs_no_token():
    flow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "id-token: write" in flow
    assert "secrets." not in flow
    assert "permissions: {}" in flow, "each job asks for its own"


def run(*command, cwd=None, **environment):
    """Run a command and return what it prints."""
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=plain | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The source archive, the wheel of the tree, and the wheel that pip makes of the archive."""
    at = tmp_path_factory.mktemp("archives")
    run(sys.executable, "-m", "hatchling", "build", "-d", at, cwd=ROOT)
    (sdist,), (wheel,) = at.glob("*.tar.gz"), at.glob("*.whl")
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *offline, "-w", at / "from_sdist", sdist)
    (again,) = (at / "from_sdist").glob("*.whl")
    return sdist, wheel, again


def test_the_same_sources_make_the_same_archives(archives, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "-d", tmp_path, cwd=ROOT)
    for archive in archives[:2]:
        assert (tmp_path / archive.name).read_bytes() == archive.read_bytes()


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_of_the_source_archive_is_that_of_the_tree(archives):
    _, wheel, again = archives
    tree = contents(wheel)
    assert contents(again) == tree
    assert {"hedgerow/py.typed", "hedgerow/sets/__init__.pyi", "hedgerow/live/page.js"} <= set(tree)
    assert not [name for name in tree if not re.match(r"hedgerow[/-]", name)]
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyi")]
    assert {path.relative_to(ROOT / "src").as_posix() for path in sources} <= set(tree)


def test_the_source_archive_has_what_its_checks_need(archives):
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Makefile",
        "LICENSE",
        "CITATION.cff",
        "CITATION.bib",
        "requirements/test.txt",
        "docs/front.png",
    } <= names
    assert {"tests/repository/test_release.py", "tools/parts.py", "evidence/fair.csv"} <= names
    assert not [name for name in names if name.startswith((".git/", ".venv", "out/", ".ci"))]


@pytest.fixture(scope="module")
def empty(tmp_path_factory, archives):
    """An environment with the archive's wheel and what it declares for `cli`, nothing else."""
    at = tmp_path_factory.mktemp("empty")
    venv.create(at, with_pip=False, symlinks=os.name != "nt")
    python = at / BIN / Path(sys.executable).name
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in licences.closure("cli"):
        files = metadata.distribution(name).files or []
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            target = site / top
            if not target.exists():
                target.symlink_to(metadata.distribution(name).locate_file(top))
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"),
        *("--disable-pip-version-check", archives[2]),
    )
    return python


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_the_archive_runs_the_demonstration_in_an_empty_environment(empty, tmp_path):
    code = "import hedgerow, json; print(json.dumps([hedgerow.__file__, hedgerow.__version__]))"
    file, version = json.loads(run(empty, "-c", code, cwd=tmp_path))
    assert Path(file).is_relative_to(empty.parents[1])
    assert version == hedgerow.__version__
    command = empty.parent / "hedgerow"
    out = run(command, "demo", "--horizon", "40", cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    assert "practical preset" in out
    assert (tmp_path / "out" / "demo.png").stat().st_size > 10_000


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_an_example_runs_from_the_archive_without_the_repository(empty, tmp_path):
    program = tmp_path / "plot_13_certificate.py"
    program.write_bytes((ROOT / "examples" / "gallery" / program.name).read_bytes())
    run(empty, "-W", "error", program, cwd=tmp_path, MPLBACKEND="Agg", NUMBA_DISABLE_JIT="1")
