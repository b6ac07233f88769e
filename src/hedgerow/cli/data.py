"""`hedgerow data`: the networks that come with the extra `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.errors import report_errors
from hedgerow.cli.habits import SETTINGS
from hedgerow.cli.saying import counted, say
from hedgerow.networks.topology import Topology, shipped_names
from hedgerow.report.picture import slug
from hedgerow.report.traffic import draw_topology

data = typer.Typer(
    help="List and show networks of the Topology Zoo, SNDlib and CAIDA (extra `data`).",
    no_args_is_help=True,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
)


def known_names(incomplete: str) -> list[str]:
    """Complete the name of a network in a shell, and nothing where the extra is missing."""
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
            say(name)


@data.command()
def show(
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
        topology = found_topology(name)
        links, nodes = len(topology.edges), len(topology.nodes)
        say(f"{topology.name}: {counted(nodes, 'node')}, {counted(links, 'directed link')}.")
        low, high = topology.latency_ms.min(), topology.latency_ms.max()
        say(f"Latency of a link: {low:.3g} to {high:.3g} ms. From {topology.source}.")
        if topology.matrix is not None:
            say(f"It comes with a matrix of {counted(int((topology.matrix > 0).sum()), 'demand')}.")
        say(f"Map: {draw_topology(topology, out / f'{slug(name)}.png')}")


def found_topology(name: str) -> Topology:
    """Return the network of a file, or a shipped one of that name."""
    if Path(name).is_file():
        return Topology.load(name)
    if Path(name).suffix.lower() in (".json", ".xml"):
        raise ValueError(f"there is no file {name}; check the path")
    return Topology.shipped(name)
