"""Networks: `hedgerow network`, `hedgerow data` and `hedgerow fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from hedgerow.cli.errors import check_output, report_errors
from hedgerow.cli.ingest import MostNumbers
from hedgerow.cli.output import command_group, counted, print_line
from hedgerow.cli.progress import progress_bar
from hedgerow.networks.atlas import fetching
from hedgerow.networks.hub_graphs import hub_graph
from hedgerow.networks.network import Network
from hedgerow.networks.source_files import MOST_NUMBERS
from hedgerow.networks.topology import Topology, shipped_names
from hedgerow.report.network_figure import draw_network, draw_series, series_of
from hedgerow.report.networks import network_sentences, network_table, record_table
from hedgerow.report.picture import slug
from hedgerow.report.traffic import draw_topology

network = command_group("Show a network file, or build the paper's graph.")


@network.command("show")
def show_network(
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
            print_line(f"Figure: {figure}")


@network.command()
def build(
    star: Annotated[Path, typer.Argument(exists=True, help="A network file with a hub.")],
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
        print_line(f"Network: {out}")


def _describe(found: Network) -> None:
    Console().print(network_table(found))
    for sentence in network_sentences(found):
        print_line(sentence)


data = command_group("List and show networks of the Topology Zoo, SNDlib and CAIDA (extra `data`).")


def known_names(incomplete: str) -> list[str]:
    """Complete the name of a network in a shell; nothing without the extra."""
    try:
        return [name for name in shipped_names() if name.startswith(incomplete)]
    except ImportError:
        return []


@data.command("list")
def show_names(
    family: Annotated[
        str, typer.Argument(help="Only names with this prefix, such as topozoo or sndlib/g.")
    ] = "",
) -> None:
    """List the names of all networks, one per line."""
    with report_errors():
        names = [name for name in shipped_names() if name.startswith(family)]
        if not names:
            raise ValueError(f"no network's name begins with {family!r}; leave it out to see all")
        for name in names:
            print_line(name)


@data.command("show")
def show_topology(
    name: Annotated[
        str,
        typer.Argument(
            help="A name of the list, or a JSON or SNDlib XML file.", autocompletion=known_names
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the map goes.")] = Path("out"),
) -> None:
    """Print a summary of a network and draw its map."""
    with report_errors():
        topology = find_topology(name)
        links, nodes = len(topology.edges), len(topology.nodes)
        print_line(f"{topology.name}: {counted(nodes, 'node')}, {counted(links, 'directed link')}.")
        low, high = topology.latency_ms.min(), topology.latency_ms.max()
        print_line(f"Latency of a link: {low:.3g} to {high:.3g} ms. From {topology.source}.")
        if topology.matrix is not None:
            print_line(
                f"It comes with a matrix of {counted(int((topology.matrix > 0).sum()), 'demand')}."
            )
        print_line(f"Map: {draw_topology(topology, out / f'{slug(name)}.png')}")


def find_topology(name: str) -> Topology:
    """Return the network of a file, or a shipped one of that name."""
    if Path(name).is_file():
        return Topology.load(name)
    if Path(name).suffix.lower() in (".json", ".xml"):
        raise ValueError(f"there is no file {name}; check the path")
    return Topology.shipped(name)


fetch = command_group("Fetch public measurements (extra `data`).")


@fetch.callback()
def _group() -> None:
    """Keep `atlas` a subcommand, although it is the only one."""


@fetch.command()
def atlas(
    measurement: Annotated[int, typer.Argument(min=1, help="The number of the measurement.")],
    start: Annotated[str, typer.Option(help="The start, with a time zone: 2024-12-14T20:30:00Z.")],
    stop: Annotated[str, typer.Option(help="The end, excluded, with a time zone.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file. (default: atlas-MEASUREMENT.ndjson)"),
    ] = None,
    window: Annotated[
        str, typer.Option(help="The span of one request: 30min, 6h or 1d.")
    ] = fetching.WINDOW,
    service: Annotated[str, typer.Option(help="The address of the API.")] = fetching.SERVICE,
) -> None:
    """Fetch results of RIPE Atlas as JSON lines; the same command goes on if it was cut off."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[results]} results"),
        TimeRemainingColumn(),
    )
    with report_errors(), progress_bar(*columns) as shown:
        bar = shown.add_task(f"measurement {measurement}", total=None, results=0)
        found = fetching.fetch_atlas(
            measurement,
            start,
            stop,
            out or Path(f"atlas-{measurement}.ndjson"),
            window=window,
            service=service,
            progress=lambda done, total, results: shown.update(
                bar, completed=done, total=total, results=results
            ),
        )
    earlier = f", {found.kept} of them fetched before" if found.kept else ""
    print_line(f"{counted(found.results, 'result')}{earlier}.")
    print_line(f"Results: {found.path}")
