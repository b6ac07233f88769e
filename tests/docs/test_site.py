"""The site: every page has its place, and it builds without a warning or a foreign request."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest

import api_pages
from documents import DOCS, ROOT, WRITTEN

TREE = re.compile(r"^(?:```\{toctree\}|\.\. toctree::)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MADE = {"gallery/index", "reference/api/hedgerow"}
"""Pages of the tree that `make docs` writes, and that have trees of their own."""
NEEDS = (
    "latex2mathml",
    "myst_parser",
    "pydata_sphinx_theme",
    "sphinx_copybutton",
    "sphinx_gallery",
)
needs_sphinx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDS),
    reason="needs the extra docs: make docs installs it",
)


def below(name, text):
    """Return the pages that the trees of a page name, by their path in docs/."""
    folder = name.rpartition("/")[0]
    lines = [line.strip() for tree in TREE.findall(text) for line in tree.splitlines()]
    entries = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and line[0] != ":"]
    return [f"{folder}/{entry}".lstrip("/") for entry in entries]


def reached(pages):
    """Return the pages that the trees lead to from the front page."""
    found, waiting = set(), ["index"]
    while waiting:
        name = waiting.pop()
        assert name not in found, f"{name} stands in two trees"
        found.add(name)
        if name not in MADE:
            waiting += below(name, pages[f"{name}.md"])
    return found


def test_every_page_has_one_place():
    pages = {name: page.read_text(encoding="utf-8") for name, page in WRITTEN.items()}
    assert reached(pages) == {name.removesuffix(".md") for name in pages} | MADE
    cut = pages | {"appendix/index.md": pages["appendix/index.md"].replace("\nfair\n", "\n")}
    assert "appendix/fair" not in reached(cut)


def test_every_page_of_the_api_has_one_place():
    pages = api_pages.pages()
    named = [entry for name, text in pages.items() for entry in below(name, text)]
    assert sorted(named) == sorted(
        name.removesuffix(".md") for name in pages if name != "hedgerow.md"
    )


def test_the_four_kinds_and_the_appendix_are_kept_apart():
    kinds = {name.partition("/")[0] for name in WRITTEN} - {"index.md"}
    assert kinds == {"tutorial", "how-to", "reference", "explanation", "appendix"}
    for kind in kinds:
        assert f"{kind}/index.md" in WRITTEN


@pytest.mark.parametrize("folder", ["benchmarks", "evidence", "examples", "src", "tests", "tools"])
def test_pages_that_files_name_exist(folder):
    for path in (ROOT / folder).rglob("*.py"):
        for name in re.findall(r"\bdocs/([\w/-]+\.(?:md|png|tex))", path.read_text("utf-8")):
            known = (DOCS / name).is_file() or name in ("a.md", "note/table.tex")
            assert known, f"{path} names docs/{name}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build a copy of the site, its examples not run."""
    at = tmp_path_factory.mktemp("site")
    made = shutil.ignore_patterns("gallery", "api")
    shutil.copytree(DOCS, at / "docs", ignore=made)
    (at / "docs" / "tutorial" / "formula.md").write_text(
        "---\norphan: true\n---\n# Formula\n\n$x^2$, $\\lVert y\\rVert/2$\n"
    )
    linked = ("CITATION.bib", "CITATION.cff")
    for name in ("evidence", "examples", "requirements", "src", "tools", *linked):
        (at / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, "docs", "site"], cwd=at, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return at / "site"


@needs_sphinx
def test_the_site_builds_without_a_warning(site):
    for name in WRITTEN:
        assert (site / name.replace(".md", ".html")).is_file(), name
    assert (site / "searchindex.js").stat().st_size > 1e5


@needs_sphinx
def test_public_names_lead_to_their_entries(site):
    page = (site / "explanation/choosing.html").read_text("utf-8")
    assert 'href="../reference/api/hedgerow.html#hedgerow.projection_free_coco"' in page


@needs_sphinx
def test_members_of_classes_have_entries(site):
    """Also those of private bases; those of a public base have theirs there."""
    top, sets = ((site / f"reference/api/{n}.html").read_text("utf-8") for n in
                 ("hedgerow", "hedgerow.sets"))  # fmt: skip
    assert 'id="hedgerow.Trace.ccv"' in top
    assert 'id="hedgerow.Trace.regret"' in top
    assert 'id="hedgerow.sets.Simplex.lmo"' in sets
    assert 'id="hedgerow.sets.Simplex.contains"' in sets, "of a private base"
    assert 'id="hedgerow.sets.Simplex.minimum"' not in sets, "of DecisionSet"
    assert "TypeAliasForwardRef" not in sets
    assert 'href="hedgerow.sets.html#module-hedgerow.sets"' in top


@needs_sphinx
def test_mathematics_is_rendered_and_no_page_loads_from_elsewhere(site):
    formula = (site / "tutorial/formula.html").read_text("utf-8")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in formula
    assert formula.count('<mo stretchy="false" lspace="0" rspace="0">') == 3, "two bars, a slash"
    for path in site.rglob("*.html"):
        loads = re.findall(
            r"<(?:script|img|iframe)[^>]* src=\"(https?:[^\"]*)|<link[^>]* href=\"(https?:[^\"]*)",
            path.read_text("utf-8"),
        )
        assert not loads, f"{path} loads {loads[0]}"
