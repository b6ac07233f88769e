"""The catalogue of sets: complete, up to date, and every set of it under test."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.report.catalogue import catalogue, catalogue_markdown
from sets.table import EXAMPLES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make_docs", DOCS / "make.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "made"), [("methods.md", "with_methods"), ("experiments.md", "with_tuned")]
)
def test_tables_of_evidence_are_up_to_date(make, name, made):
    page = (DOCS / name).read_text()
    assert getattr(make, made)(page) == page, f"docs/{name} is stale; run python docs/make.py"


def test_the_page_is_up_to_date(make):
    page = (DOCS / "sets.md").read_text()
    assert catalogue_markdown() in page, "docs/sets.md is stale; run python docs/make.py"
    assert make.with_catalogue(page) == page


def test_a_stale_page_is_noticed(make):
    page = (DOCS / "sets.md").read_text()
    stale = page.replace("| `Simplex` |", "| `Simpler` |")
    assert stale != page
    assert make.with_catalogue(stale) == page


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
    assert not issubclass(hr.DijkstraPaths, hr.DecisionSet)  # so it stands in neither


def test_the_page_speaks_of_every_set():
    page = (DOCS / "sets.md").read_text().partition("<!-- /catalogue -->")[2]
    for entry in catalogue():
        assert f"`{entry.name}" in page, f"docs/sets.md has no word on {entry.name}"
