"""`hedgerow report`: a folder of results to one page, figures and tables."""

from __future__ import annotations

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
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw figures, tables and one self-contained page from a folder of results."""
    with report_errors():
        summary = Summary(Results(folder))
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
