"""What the documents say is so: quoted code stands, examples run, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_quoted_line_stands_in_its_file():
    quotes = re.findall(r"`([\w/]+\.py)`: `([^`]+)`", (ROOT / "docs/paper-to-code.md").read_text())
    assert len(quotes) > 20
    for file, code in quotes:
        path = ROOT / file if file.startswith("tests/") else ROOT / "src/hedgerow" / file
        assert code in path.read_text(), f"{file} no longer says {code}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, capsys):
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(code, str(page), "exec", dont_inherit=True), {"__name__": "example"})
    capsys.readouterr()
