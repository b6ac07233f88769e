"""`hedgerow backtest`: compare policies on measured rounds, and write a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hedgerow.baselines.fixed_actions import fixed
from hedgerow.cli.errors import report_errors
from hedgerow.cli.ingest import (
    FromColumn,
    LatencyColumn,
    Series,
    TimeColumn,
    ToColumn,
    print_readings,
)
from hedgerow.cli.output import print_line, print_stderr
from hedgerow.experiments.backtesting import ADVISERS
from hedgerow.experiments.backtesting import backtest as play_all
from hedgerow.experiments.validation import LONGEST_HORIZON
from hedgerow.networks.edge_rows import EdgeColumns
from hedgerow.networks.edges import read_edges
from hedgerow.networks.network import Network
from hedgerow.problems.edge_quantities import HOPS, levels
from hedgerow.problems.measured_routes import MeasuredRoutes
from hedgerow.problems.variation import UniformScaling
from hedgerow.report.backtest import (
    MOST_ROUTES,
    backtest_table,
    each_table,
    legend,
    next_weights,
    sentences,
    write_backtest,
)
from hedgerow.report.backtest_verdict import better_in_both, verdict
from hedgerow.report.network_figure import series_of


def backtest(
    file: Annotated[
        Path, typer.Argument(help="Measurements: CSV or JSON records, or a network file.")
    ],
    source: Annotated[str | None, typer.Option(help="The source node.")] = None,
    target: Annotated[str | None, typer.Option(help="The target node.")] = None,
    cost: Annotated[str, typer.Option(help="What a link costs: a quantity, or hops.")] = HOPS,
    cap: Annotated[
        list[str] | None, typer.Option(help="Upper limit along a path: latency=120. Repeatable.")
    ] = None,
    floor: Annotated[
        list[str] | None, typer.Option(help="Lower limit on the sum along a path: bandwidth=80.")
    ] = None,
    demand: Annotated[
        list[str] | None, typer.Option(help="What each link must have room for: bandwidth=50.")
    ] = None,
    today: Annotated[
        list[str] | None,
        typer.Option(help="A route in use today: its nodes, comma-separated. Repeatable."),
    ] = None,
    eagerness: Annotated[
        float, typer.Option(help="Larger means less violation, at a higher cost.")
    ] = 1.0,
    violated: Annotated[
        str | None,
        typer.Option(help="The share of rounds in which a limit may be violated: 1%."),
    ] = None,
    advice: Annotated[
        list[str] | None,
        typer.Option(help=f"An adviser to mix in: {', '.join(ADVISERS)}. Repeatable."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The output folder.")] = Path(
        "out/backtest"
    ),
    tail: FromColumn = None,
    head: ToColumn = None,
    latency: LatencyColumn = None,
    time: TimeColumn = None,
    series: Series = None,
    one_way: Annotated[
        bool,
        typer.Option("--one-way", help="Links lead only from the first node to the second."),
    ] = False,
    places: Annotated[
        Path | None, typer.Option(help="A CSV of name, latitude and longitude, for the map.")
    ] = None,
    outage_latency: Annotated[
        float | None,
        typer.Option(help="What an empty reading counts as, in ms. (default: 10 times the limit)"),
    ] = None,
    dead_from: Annotated[
        float | None,
        typer.Option(help="The latency in ms that makes a link dead. (default: 10 medians)"),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, max=LONGEST_HORIZON, help="The number of rounds. (default: all)"),
    ] = None,
    routes: Annotated[
        int, typer.Option(min=1, help="The largest number of routes to propose.")
    ] = MOST_ROUTES,
    scale: Annotated[
        list[str] | None,
        typer.Option(help="Random factors, where nothing varies: latency=0.5..1.5."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of these factors.")] = 0,
) -> None:
    """Compare Hedgerow with today's routes on measured rounds, and write a page."""
    with report_errors():
        if not file.is_file():
            raise ValueError(f"there is no file {file}; check the path")
        if not (cap or floor or demand):
            raise ValueError(
                "there is no limit; give --cap, --floor or --demand, as in --cap 'latency=120'"
            )
        network = _network(file, (tail, head, latency, time), series, one_way, places)
        if rounds is None and not series_of(network):
            raise ValueError(
                f"{file} has no times, so its values make one round; give --rounds, and perhaps "
                "--scale, or --time for the column of the times"
            )
        problem = MeasuredRoutes(
            network,
            source,
            target,
            cost=cost,
            caps=_levels(cap, "--cap"),
            floors=_levels(floor, "--floor"),
            demands=_levels(demand, "--demand"),
            horizon=rounds,
            outage_latency=outage_latency,
            scaling=_laws(scale),
            seed=seed,
        )
        print_line(f"{len(network.nodes)} nodes, {problem.decision_set.dim} edges on routes.")
        print_line(problem.missing)
        print_line(problem.feasibility)
        own = {
            "today" if k == 1 else f"today {k}": fixed(problem.decision_set, route)
            for k, route in enumerate(today or (), start=1)
        }
        test = play_all(
            problem,
            own,
            eagerness=eagerness,
            violated=_share(violated),
            advice=advice or (),
            dead_from=dead_from,
        )
        Console().print(backtest_table(test))
        for line in legend(test):
            print_line(line)
        each = each_table(test)
        if each is not None:
            Console().print(each)
        print_line("")
        for sentence in sentences(test)[2:]:  # one is above, and one at the end
            print_line(sentence)
        print_line("For the next round, weights of routes:")
        *weights, loss = next_weights(test, routes)
        for line in weights:
            print_line(f"  {line}")
        print_line(loss)
        print_line(f"Page: {write_backtest(test, out, routes)}")
        print_line("")
        print_line(f"{verdict(test)} {better_in_both(test)}")


def _network(
    file: Path,
    columns: tuple[str | None, ...],
    series: str | None,
    one_way: bool,
    places: Path | None,
) -> Network:
    """Read a network file, or a table whose columns are named or guessed."""
    if file.suffix == ".json" and '"hedgerow.networks"' in file.read_text(errors="replace")[:200]:
        return Network.load(file)
    tail, head, latency, time = columns
    named = EdgeColumns(tail, head, latency, None, time)
    network = read_edges(file, named, series=series, places=places)
    print_readings(network)
    if network.is_one_way and not one_way:
        print_stderr(
            "Each link is measured in one direction only and used for both; pass --one-way to "
            "prevent this."
        )
        network = network.both_ways()
    return network


def _levels(given: list[str] | None, option: str) -> dict[str, float]:
    return levels(" ".join(given or []), option)


def _share(given: str | None) -> float | None:
    """Return a share as a number, from 1% or 0.01."""
    if given is None:
        return None
    try:
        number = float(given.removesuffix("%")) / (100.0 if given.endswith("%") else 1.0)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 1.0:
        raise ValueError(f"--violated must be as '1%' or 0.01, below 100 %, got {given!r:.80}")
    return number


def _laws(given: list[str] | None) -> dict[str, UniformScaling]:
    found = {}
    for law in given or ():
        name, _, factors = law.partition("=")
        low, dots, high = factors.partition("..")
        try:
            found[name] = UniformScaling(float(low), float(high))
        except ValueError:
            dots = ""
        if not (name and dots):
            raise ValueError(f"--scale must be as 'latency=0.5..1.5', got {law!r:.80}")
    return found
