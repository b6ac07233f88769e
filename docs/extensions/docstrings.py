"""Docstrings are plain text with code in backquotes: escape them before napoleon reads them."""

from __future__ import annotations

import re
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


def shorten(  # autodoc's event has these arguments
    _app: Sphinx, _what: str, _name: str, _value: Any, _options: Any, *texts: str | None
) -> tuple[str | None, ...]:
    """Show type aliases in signatures by their names, also inside of other types."""
    alias = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return tuple(text and alias.sub(r"\1", text) for text in texts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    app.connect("autodoc-process-docstring", process, priority=BEFORE_NAPOLEON)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True}
