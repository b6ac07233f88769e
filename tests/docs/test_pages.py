"""Pages hold together: examples run, links lead somewhere."""

from __future__ import annotations

import re

import pytest

from documents import PAGES, label


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


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_examples_run(page, capsys):
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(code, str(page), "exec", dont_inherit=True), {"__name__": "example"})
    capsys.readouterr()
