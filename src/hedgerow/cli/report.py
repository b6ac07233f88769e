"""`hedgerow report`: a folder of results to one page, figures and tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hedgerow.cli.refusals import refusals
from hedgerow.cli.run import Json, Quiet
from hedgerow.experiment.results import Results
from hedgerow.report.experiment.page import write_report
from hedgerow.report.experiment.summary import Summary
from hedgerow.report.experiment.terminal import summary_table, verdict_table
from hedgerow.report.experiment.verdicts import verdicts


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `hedgerow run` wrote.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to.  [default: FOLDER/report]")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw figures, tables and one self-contained page from a folder of results."""
    with refusals():
        summary = Summary(Results(folder))
        if not summary.rows:
            raise ValueError(f"{folder} holds no finished run with a benchmark; run more of it")
        page = write_report(summary, out or folder / "report")
    judged = verdicts(summary, summary.places[0])
    if as_json:
        found = {"page": str(page), "verdicts": [verdict._asdict() for verdict in judged]}
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    elif not quiet:
        console = Console(highlight=False)
        console.print(summary_table(summary, summary.places[0], summary.presets[0]))
        console.print(verdict_table(judged, summary.places[0]))
        console.print(f"Report: {page}", soft_wrap=True)
