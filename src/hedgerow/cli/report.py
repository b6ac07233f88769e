"""`hedgerow report`: a folder of results to one page, figures and tables."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import print_json, print_line
from hedgerow.cli.run import Json, Quiet
from hedgerow.experiments.results import Results
from hedgerow.report.page import write_report
from hedgerow.report.provenance import how_far, mixture
from hedgerow.report.summary import ProblemAtHorizon, Summary
from hedgerow.report.tables import summary_table, verdict_table
from hedgerow.report.verdicts import Verdict, route_place, verdicts


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `hedgerow run` wrote.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The output folder. (default: FOLDER/report)")
    ] = None,
    highlight: Annotated[
        list[str] | None,
        typer.Option(
            help="A method that stands out and comes first in figures and tables. Repeatable. "
            "(default: your own methods)"
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Names to show: METHOD=NAME, or a TOML file with such lines. Repeatable."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw figures, tables and one self-contained page from a folder of results."""
    with report_errors():
        shown = read_labels(labels or ())
        summary = Summary(Results(folder), labels=shown, highlight=highlight or ())
        if not summary.rows:
            raise ValueError(_why_empty(summary))
        page = write_report(summary, out or folder / "report")
        place = route_place(summary)
        judged = [] if place is None else verdicts(summary, place)
        if as_json:
            _print_json(summary, page, place, judged)
        elif not quiet:
            _print_tables(summary, place, judged)
            print_line(f"Report: {page}")


def read_labels(given: Sequence[str]) -> dict[str, str]:
    """Return names to show by method, from texts METHOD=NAME and TOML files.

    >>> read_labels(["sinha_vaze_2024=SV24", "mine:fw=Ours = best"])
    {'sinha_vaze_2024': 'SV24', 'mine:fw': 'Ours = best'}
    """
    found: dict[str, str] = {}
    for text in given:
        method, equals, name = text.partition("=")
        if equals:
            table: dict[str, Any] = {method.strip(): name.strip()}
        elif Path(text).is_file():
            try:
                table = tomllib.loads(Path(text).read_text(encoding="utf-8"))
            except ValueError as error:  # not TOML, or not UTF-8
                raise ValueError(f"{text}: this is not TOML ({error})") from None
        else:
            raise ValueError(
                f"labels must be METHOD=NAME or a TOML file, and there is no file {text!r}; "
                'write "sinha_vaze_2024=SV24"'
            )
        for key, value in table.items():
            if not isinstance(value, str) or not key or not value.strip():
                raise ValueError(f"a label must be METHOD=NAME, two texts, got {key}={value!r:.60}")
        found |= table
    return found


def _print_json(
    summary: Summary, page: Path, place: ProblemAtHorizon | None, judged: Sequence[Verdict]
) -> None:
    found: dict[str, Any] = {"page": str(page), "runs": how_far(summary.results)}
    found |= {"left_out": len(summary.unjudged), "mixture": mixture(summary.results)}
    if place is not None:
        found |= {"judged_on": place._asdict(), "verdicts": [v.record() for v in judged]}
    print_json(found)


def _print_tables(
    summary: Summary, place: ProblemAtHorizon | None, judged: Sequence[Verdict]
) -> None:
    """Print the first problem's table and, on routes, the verdicts on the paper's claims."""
    console = Console()
    console.print(summary_table(summary, summary.places[0], summary.presets[0]))
    if place is not None:
        console.print(verdict_table(judged, place))
    print_line(f"{how_far(summary.results)}.")
    if mixed := mixture(summary.results):
        print_line(f"{mixed}.")
    for at, seed, runs, why in summary.unjudged:
        print_line(f"left out: {at.problem}, T = {at.horizon}, seed {seed}, {runs} runs: {why}")


def _why_empty(summary: Summary) -> str:
    """Return why there is nothing to report."""
    folder = summary.results.folder
    reasons = sorted({game.why for game in summary.unjudged})
    if not reasons:
        return f"{folder} holds no finished run; run more of it"
    return f"{folder} holds no run with a regret: {'; '.join(reasons)}"
