"""Code quoted in paper-to-code.md stands in its file and runs in what it is quoted for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quoted_runs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/paper-to-code.md").read_text(encoding="utf-8")
QUOTE = re.compile(r"`([\w/]+\.py)`: `([^`]+)`")
RUN = re.compile(r"Run: `([^`]+)`")

CONVENTION = "passed[VALUE] = value + beta * far2  # F_t(x_t)"
"""What CONTRIBUTING.md quotes for the paper's symbols."""


def source(file):
    path = ROOT / file if file.startswith("tests/") else ROOT / "src/hedgerow" / file
    return path.read_text(encoding="utf-8").splitlines()


def lines_of(file, code):
    return [n for n, line in enumerate(source(file), start=1) if code in line]


def section(title):
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(table):
    """Yield (what is run, file, code) for every quotation; a row names it for all below."""
    run = None
    for line in table.splitlines():
        if not line.startswith("|"):
            continue
        if found := RUN.search(line):
            run = found[1]
        for file, code in QUOTE.findall(line):
            yield run, file, code


TRACED = [*rows(section("Algorithms")), *rows(section("Beyond the paper"))]


@pytest.fixture(scope="module")
def executed():
    asked = json.dumps(sorted({run for run, _, _ in TRACED}))
    script = ROOT / "tools/executed_lines.py"
    done = subprocess.run(
        [sys.executable, str(script)], input=asked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_quoted_line_stands_in_its_file():
    quotes = QUOTE.findall(PAGE)
    assert len(quotes) > 30
    for file, code in quotes:
        assert lines_of(file, code), f"{file} no longer says {code}"


def test_every_row_of_code_names_what_runs_it():
    assert len(TRACED) > 25
    assert all(run for run, _, _ in TRACED), "a row with code stands above the first Run"
    names = re.findall(r"^\| (Algorithm \d)", section("Algorithms"), re.MULTILINE)
    assert sorted(set(names)) == [f"Algorithm {k}" for k in range(1, 8)]


@pytest.mark.parametrize(("run", "file", "code"), TRACED, ids=lambda text: str(text)[:40])
def test_every_quoted_line_is_executed_by_what_it_is_quoted_for(run, file, code, executed):
    hit = set(executed[run]["lines"].get(file, ()))
    quoted = lines_of(file, code)
    assert hit & set(quoted), f"{run} never executes {file}: {code} (lines {quoted})"


@pytest.mark.parametrize("run", sorted({run for run, _, _ in TRACED}))
@pytest.mark.filterwarnings("ignore::hedgerow.VacuousConstantsWarning")
def test_what_was_traced_plays_as_compiled_code_does(run, executed):
    """Kernels as plain Python add up in another order, so up to rounding."""
    assert quoted_runs.play(run) == pytest.approx(executed[run]["last"], rel=1e-9, abs=1e-12)


def test_a_line_that_is_never_executed_is_noticed(executed):
    """Every round of this policy asks its oracle, so that the kernel for the others never runs."""
    file, code = "learners/adaptive_ocg.py", "own[SKIPPED] += 1.0"
    assert lines_of(file, code), f"{file} no longer says {code}"
    hit = executed['unconstrained(X, T, preset="theory")']["lines"]
    assert hit[file]
    assert not set(hit[file]) & set(lines_of(file, code))


def test_the_line_that_shows_the_convention_stands_in_the_code():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert CONVENTION in page
    assert lines_of("learners/adaptive_ocg.py", CONVENTION)
