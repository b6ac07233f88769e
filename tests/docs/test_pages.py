"""Pages hold together: examples print what is shown, links and the files they name exist."""

from __future__ import annotations

import re

import pytest

import shown_output
from documents import DOCS, PAGES, ROOT, label, saved

FOLLOWED = DOCS / "tutorial" / "index.md"
"""Its programs belong together: test_tutorial.py runs them."""


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    code_free = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", code_free, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links to {target}#{anchor}"


FOLDERS = [ROOT / name for name in ("src/hedgerow", "tests", "tools", "examples")]
KNOWN = {path.name for folder in FOLDERS for path in folder.rglob("*.py*")}


def missing_files(text):
    """Return the files that a text names in backquotes and that the repository lacks."""
    named = set(re.findall(r"`([\w/.]+\.pyi?)\b", text)) - saved(text)
    return {
        name
        for name in named
        if "NAME" not in name  # a pattern
        and not any((folder / name).is_file() for folder in (ROOT, *FOLDERS))
        and not ("/" not in name and name in KNOWN)
    }


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_files_that_a_page_names_exist(page):
    assert missing_files(page.read_text(encoding="utf-8")) == set()


def test_a_file_that_does_not_exist_is_noticed():
    text = "`sets/decision_set.py`, `tests/conftest.py`, `rounds.py`, `sets/gone.py`, `lost.py`"
    assert missing_files(text) == {"sets/gone.py", "lost.py"}


@pytest.mark.parametrize("page", [page for page in PAGES if page != FOLLOWED], ids=label)
def test_examples_run_and_print_what_is_shown(page):
    text = page.read_text(encoding="utf-8")
    found = list(shown_output.blocks(text))
    assert len(found) == text.count("\n```python\n")
    for block in found:
        out = shown_output.printed(block.code, page.name)
        assert block.shown is None or out == block.shown, "make docs writes what is printed now"


PROGRAM = "# A page\n\n```python\nprint(6 * 7)\n```\n\n```\n{}```\n\nText.\n"


def test_an_output_that_is_not_printed_is_noticed_and_renewed():
    (block,) = shown_output.blocks(PROGRAM.format("41\n"))
    assert block.shown == "41\n" != shown_output.printed(block.code, "a page")
    assert shown_output.renewed(PROGRAM.format(""), "a page") == PROGRAM.format("42\n")


def test_the_map_of_contributing_names_every_folder_and_file():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("| folder or file |")[2].partition("\n\n")[0]
    named = {
        n for row in table.splitlines()[2:] for n in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }
    package = ROOT / "src/hedgerow"
    found = {path.parent.name for path in package.glob("*/__init__.py")}
    found |= {path.name for path in package.glob("[!_]*.py")}
    assert named == found
