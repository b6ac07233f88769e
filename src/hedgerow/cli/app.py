"""The command line application: the list of all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli.backtest import backtest
from hedgerow.cli.help import use_plain_help
from hedgerow.cli.ingest import ingest
from hedgerow.cli.listing import experiments, methods, problems, sets, show, show_list
from hedgerow.cli.live import compact, dashboard, live, serve, token
from hedgerow.cli.machine import doctor, warm_up
from hedgerow.cli.network import data, fetch, network
from hedgerow.cli.output import command_group, print_line, show_log
from hedgerow.cli.paper import demo, reproduce
from hedgerow.cli.report import report
from hedgerow.cli.run import run
from hedgerow.cli.steer import steer
from hedgerow.cli.tune import tune
from hedgerow.cli.verify import verify
from hedgerow.release import this_version

app = command_group("Good decisions every round, with one linear minimisation and no projection.")
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
app.command()(verify)
app.add_typer(live, name="live")
app.add_typer(token, name="token")
app.command()(serve)
app.command()(dashboard)
app.command()(compact)
app.command()(steer)
app.command()(sets)
app.command()(demo)
app.command("warm-up")(warm_up)
app.command()(doctor)
use_plain_help(app)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and digests of the sources.")
    ] = False,
) -> None:
    show_log()
    if version:
        print_line(f"hedgerow {this_version()}")
        raise typer.Exit
