"""The pages that were written by hand; what `make docs` generates beside them is left out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = (DOCS / "gallery", DOCS / "reference" / "api")
WRITTEN = {
    page.relative_to(DOCS).as_posix(): page
    for page in sorted(DOCS.rglob("*.md"))
    if not any(page.is_relative_to(folder) for folder in GENERATED)
}
"""The pages of the site, by their path in docs/."""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *WRITTEN.values()]


def label(page: Path) -> str:
    """Name a page in the id of a test."""
    return page.relative_to(ROOT).as_posix()


def saved(text: str) -> set[str]:
    """Return the programs that a page asks its reader to save: "save this as `day.py`:"."""
    return set(re.findall(r"`(\w+\.py)`:\n\n```py", text))
