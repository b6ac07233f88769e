"""The catalogue of sets: complete, and every set of it under test."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow.report.catalogue import catalogue, catalogue_markdown
from sets.table import EXAMPLES

DOCS = Path(__file__).parents[2] / "docs"


def test_table_cells_hold_no_bars():
    rows = [line for line in catalogue_markdown().splitlines() if line.startswith("|")]
    for row in rows:
        cells = row.replace("\\|", "").count("|") - 1
        assert cells in (3, 8), f"this row falls apart: {row}"


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_every_set_says_what_it_is_and_what_its_oracle_costs(entry):
    assert entry.sentence.endswith((".", "?"))
    assert len(entry.sentence) > 20
    assert entry.oracle, f"{entry.name} needs a sentence that begins with 'Oracle:'"


def test_every_set_has_examples():
    tested = {type(make()) for make in EXAMPLES.values()}
    missing = {entry.name for entry in catalogue()} - {cls.__name__ for cls in tested}
    assert not missing, f"tests/sets/table.py has no example of {missing}"


def test_the_page_speaks_of_every_set():
    page = (DOCS / "reference/sets.md").read_text().partition("<!-- /catalogue -->")[2]
    for entry in catalogue():
        assert f"`{entry.name}" in page, f"docs/reference/sets.md has no word on {entry.name}"
