"""Numbers in the pages are those of the evidence: tables are generated, and few stand in prose."""

from __future__ import annotations

import importlib
import re

import pytest

import evidence_tables
import parts
import tables
from documents import ROOT, WRITTEN
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.paper import paper_potential
from hedgerow.report.provenance import expected_runs
from hedgerow.report.verdicts import CLAIMS

PAGES = {"README.md": ROOT / "README.md"} | WRITTEN
CHECKED_BY_ITS_OWN_CODE = {"explanation/theory.md"}


def text_of(name):
    return PAGES[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", parts.PARTS)
def test_generated_parts_are_up_to_date(name):
    page = text_of(name)
    assert parts.renewed(name, page) == page, f"docs/{name} is stale; run make docs"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("appendix/games.md", "The default fell back in 0 of", "The default fell back in 1 of"),
        ("appendix/fair.md", "| `unconstrained`, not tuned |", "| `unconstrained`, tuned |"),
        ("reference/sets.md", "| `Simplex` |", "| `Simpler` |"),
    ],
)
def test_a_stale_table_is_noticed_and_mended(name, old, new):
    page = text_of(name)
    stale = page.replace(old, new)
    assert stale != page
    assert parts.renewed(name, stale) == page


@pytest.mark.parametrize("name", ["README.md", "explanation/choosing.md", "reference/methods.md"])
def test_the_theorems_constants_act_from_the_horizon_that_pages_name(name):
    """Below it the weight of the constraint is below 1 even if every round violates by 1."""

    def weight(T):
        potential, queue = paper_potential(T, 1.0)
        return potential.weight(queue + T)

    exponent = next(k for k in range(1, 60) if weight(10**k) >= 1.0)
    assert f"about\n  1e{exponent}" in text_of(name) or f"about 1e{exponent}" in text_of(name)


def test_marks_without_a_function_are_refused():
    name, page = "appendix/games.md", text_of("appendix/games.md")
    with pytest.raises(ValueError, match="does not make"):
        parts.renewed(name, page + "\n<!-- new -->\n\n<!-- /new -->\n")
    with pytest.raises(ValueError, match="no place for"):
        parts.renewed(name, page.replace("<!-- /growth -->", ""))


def test_every_evidence_file_is_shown():
    for made in parts.PARTS.values():
        for part in made.values():
            part()
    files = {
        path.name for kind in ("json", "csv") for path in (ROOT / "evidence").glob(f"*.{kind}")
    }
    behind = {
        "fair_games.csv",  # evidence/fair_table.py computes two tables from it
        "violated_share.json",  # tools/share_figure.py draws it
    }
    assert files - behind == tables.OPENED


@pytest.mark.parametrize("name", sorted(PAGES.keys() - CHECKED_BY_ITS_OWN_CODE))
def test_tables_of_numbers_are_generated(name):
    """Outside generated parts no table is mostly numbers."""
    rest = parts.MARKED.sub("", text_of(name))
    for table in re.findall(r"(?:^\|.*\n)+", rest, re.MULTILINE):
        rows = table.splitlines()[2:]
        cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")]
        numbers = [cell for cell in cells if re.fullmatch(r"[-+]?\d+\.\d+.*", cell)]
        assert len(numbers) <= 0.1 * len(cells), f"{name} has a table of numbers by hand:\n{table}"


def test_tuned_evidence_has_the_shape_of_its_experiments(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "evidence")
    fair = importlib.import_module("fair")
    rows = [row for file in ("fair.csv", "fair_networks.csv") for row in tables.read(file)]
    assert {tuple(row) for row in rows} == {fair.HEADINGS}
    asked = {}
    for name, table in evidence_tables.experiment_files().items():
        methods = {*METHODS, *fair.RULES} - set(table["without"])
        added = [fair.TRAFFIC] if name == "fair" else []
        by_time = "rounds" in table["tune"]
        games = len(table["problems"]) if by_time else table["seeds"]["count"]
        for problem in (*table["problems"], *added):
            (horizon,) = problem.get("horizons", table["horizons"])
            label = problem.get("label", problem["kind"]).partition(":")[0]
            held_out = horizon - table["tune"].get("rounds", 0)
            asked |= {(label, method): (str(held_out), str(games)) for method in methods}
    played = [row for row in rows if row["group"] != "two constants"]
    found = {(r["problem"], r["method"]): (r["horizon"], r["games"]) for r in played}
    assert len(found) == len(played), "no row twice"
    refused = {(r["problem"], r["method"]): r for r in played if r["group"] == "refused"}
    assert all(row["reason"] for row in refused.values())
    labels = {problem for problem, _ in found}
    for key in found.keys() - refused.keys():
        assert found[key] == asked[key]
    covered = {method for _, method in found}
    assert covered <= {method for _, method in asked}
    whole = {key for key in asked if key[0] in labels and key[1] in covered}
    assert found.keys() == whole, "a covered method has all problems"
    shown = evidence_tables.setting()
    said = re.findall(r"^\| `(\w+)` \|.*\| not played yet \|", shown, re.MULTILINE)
    assert set(said) == {problem for problem, _ in asked} - labels


@pytest.mark.parametrize("name", ["fair", "fair_network"])
def test_no_seed_that_chose_our_constants_is_reported(name):
    assert evidence_tables.experiment_files()[name]["seeds"]["first"] >= 300


def test_the_verdicts_have_the_shape_of_their_experiment(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "evidence")
    experiment = importlib.import_module("verdicts").experiment()
    found = tables.read("verdicts.json")
    assert found["runs"] == f"{expected_runs(experiment.resolved())} runs"
    assert found["judged_on"] == {"problem": "random_network", "horizon": 1600}
    assert [row["claim"] for row in found["verdicts"]] == [claim for claim, _ in CLAIMS]
