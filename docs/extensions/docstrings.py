"""Docstrings are plain text with code in backquotes: escape them before napoleon reads them."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

import api_pages

BEFORE_NAPOLEON = 100


def process(_app: Sphinx, _what: str, _name: str, _value: Any, _options: Any, lines: Any) -> None:
    """Escape all lines but those of doctests."""
    doctest = False
    for i, line in enumerate(lines):
        doctest = line.lstrip().startswith(">>>") or (doctest and bool(line.strip()))
        if not doctest:
            lines[i] = api_pages.escaped(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    app.connect("autodoc-process-docstring", process, priority=BEFORE_NAPOLEON)
    return {"parallel_read_safe": True}
