"""Python in a page and what it prints: the block without a language directly below it.

python tools/shown_output.py    # writes what is printed now into every page
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n^```\n(?P<shown>(?!\$ ).*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A program, what the page shows of it, and where that stands; None where nothing is shown."""

    code: str
    shown: str | None
    begin: int
    end: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the programs of a page."""
    for found in BLOCK.finditer(page):
        yield Block(found["code"], found["shown"], *found.span("shown"))


def printed(code: str, name: str) -> str:
    """Run a program by itself and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, name, "exec", dont_inherit=True), {"__name__": "example"})  # noqa: S102
    return out.getvalue()


def renewed(page: str, name: str) -> str:
    """Return a page that shows what its programs print now."""
    for block in reversed([block for block in blocks(page) if block.shown is not None]):
        page = page[: block.begin] + printed(block.code, name) + page[block.end :]
    return page


def renew_all() -> None:
    """Write what is printed now into every page that shows it."""
    for path in [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]:
        page = path.read_text(encoding="utf-8")
        if any(block.shown is not None for block in blocks(page)):
            path.write_text(renewed(page, path.name), encoding="utf-8")


if __name__ == "__main__":
    renew_all()
