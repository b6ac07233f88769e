"""The commands: each thin, one function."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import hedgerow
from hedgerow.cli.backtest import backtest
from hedgerow.cli.data import data
from hedgerow.cli.demo import run_demo
from hedgerow.cli.errors import report_errors
from hedgerow.cli.fetch import fetch
from hedgerow.cli.habits import SETTINGS, show_log
from hedgerow.cli.ingest import ingest
from hedgerow.cli.listing import experiments, methods, problems, show, show_list
from hedgerow.cli.live import compact, dashboard, live, serve, token
from hedgerow.cli.network import network
from hedgerow.cli.report import report
from hedgerow.cli.reproduce import reproduce
from hedgerow.cli.run import run
from hedgerow.cli.saying import say
from hedgerow.cli.tune import tune
from hedgerow.experiments.models import LONGEST_HORIZON
from hedgerow.experiments.registry import SETS_GROUP as SETS
from hedgerow.imports import plugin_names
from hedgerow.report.catalogue import catalogue_table

app = typer.Typer(
    help="Good decisions every round, with one linear minimisation and no projection.",
    no_args_is_help=True,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
)
app.add_typer(ingest, name="ingest")
app.add_typer(network, name="network")
app.add_typer(data, name="data")
app.add_typer(fetch, name="fetch")
app.command("list")(show_list)
app.command()(problems)
app.command()(methods)
app.command()(experiments)
app.command()(show)
app.command()(run)
app.command()(backtest)
app.command()(report)
app.command()(reproduce)
app.command()(tune)
app.add_typer(live, name="live")
app.add_typer(token, name="token")
app.command()(serve)
app.command()(dashboard)
app.command()(compact)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    show_log()
    if version:
        Console().print(f"hedgerow {hedgerow.__version__}")
        raise typer.Exit


@app.command()
def sets() -> None:
    """List the decision sets and the capabilities of each besides its oracle."""
    Console().print(catalogue_table())
    if installed := plugin_names(SETS):
        say(f"Of installed packages: {', '.join(installed)}.")


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Fixes the graph and all rounds.", min=0)] = 0,
    horizon: Annotated[
        int, typer.Option(help="The number of rounds.", min=8, max=LONGEST_HORIZON)
    ] = 1600,
    out: Annotated[Path, typer.Option(help="Where the figure goes.")] = Path("out"),
) -> None:
    """Play the paper's constrained shortest-path game with three policies."""
    with report_errors():
        run_demo(seed=seed, horizon=horizon, out=out)
