"""`hedgerow network`: look at a network file, or build the paper's graph from a star."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hedgerow.cli.errors import check_output, report_errors
from hedgerow.cli.habits import SETTINGS
from hedgerow.cli.ingest import MostNumbers
from hedgerow.cli.saying import say
from hedgerow.networks.hub_graphs import hub_graph
from hedgerow.networks.network import Network
from hedgerow.networks.source_files import MOST_NUMBERS
from hedgerow.report.network_figure import draw_network, draw_series, series_of
from hedgerow.report.networks import network_sentences, network_table, record_table
from hedgerow.report.picture import slug

network = typer.Typer(
    help="Show a network file, or build the paper's graph.",
    no_args_is_help=True,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
)


@network.command()
def show(
    file: Annotated[Path, typer.Argument(help="A network file.")],
    out: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("out"),
    colour: Annotated[
        str,
        typer.Option("--colour", "--color", help="The quantity shown by the colour of the edges."),
    ] = "latency",
    width: Annotated[
        str | None,
        typer.Option(
            help="The quantity shown by their width. (default: bandwidth, or another; '': none)"
        ),
    ] = None,
    most_numbers: MostNumbers = MOST_NUMBERS,
) -> None:
    """Print a summary and draw the graph, its distributions and its series."""
    with report_errors():
        found = Network.load(file, most_numbers)
        figures = [draw_network(found, out / "network.png", colour=colour, width=width)]
        for name in series_of(found):
            figures.append(draw_series(found, name, out / f"series-{slug(name) or 'other'}.png"))
        _describe(found)
        for figure in figures:
            say(f"Figure: {figure}")


@network.command()
def build(
    star: Annotated[Path, typer.Argument(help="A network file with a hub.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The network file to write.")],
    nodes: Annotated[int, typer.Option(help="The number of nodes, the hub included.")] = 191,
    edges: Annotated[int, typer.Option(help="The number of edges, all on a path.")] = 1200,
    seed: Annotated[int, typer.Option(help="Fixes every draw.", min=0)] = 0,
    bandwidth: Annotated[
        str | None,
        typer.Option(help="synthetic:lognormal(M,S), median M; the default keeps the star's."),
    ] = None,
    source: Annotated[str | None, typer.Option(help="The first node. (default: seeded)")] = None,
    target: Annotated[str | None, typer.Option(help="The last node. (default: seeded)")] = None,
) -> None:
    """Build the paper's graph from a measured star, and print every choice made."""
    with report_errors():
        check_output(out, [star])
        graph = hub_graph(
            Network.load(star),
            nodes,
            edges,
            seed,
            bandwidth=bandwidth,
            source=source,
            target=target,
        )
        graph.save(out)
        Console().print(record_table(graph.choices))
        _describe(graph)
        say(f"Network: {out}")


def _describe(found: Network) -> None:
    Console().print(network_table(found))
    for sentence in network_sentences(found):
        say(sentence)
