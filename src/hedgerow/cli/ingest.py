"""`hedgerow ingest`: measurement files to a network file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hedgerow.cli.errors import check_output, in_options, report_errors
from hedgerow.cli.output import command_group, print_line, print_stderr
from hedgerow.networks.atlas.collector import AtlasChoices
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.edge_rows import EdgeColumns
from hedgerow.networks.edges import read_edges
from hedgerow.networks.matrix import read_matrix
from hedgerow.networks.network import Network
from hedgerow.networks.source_files import MOST_NUMBERS
from hedgerow.report.networks import network_sentences, network_table, rejection_table

ingest = command_group("Read measurements and write a network file.")

Out = Annotated[Path, typer.Option("--out", "-o", help="The network file to write.")]
Aggregate = Annotated[str, typer.Option(help="Of an edge's readings: median, min or last.")]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going", help="Count broken readings and continue, instead of refusing the file."
    ),
]

Series = Annotated[str | None, typer.Option(help="The length of a round: 30s, 15min, 1h or 1d.")]
FromColumn = Annotated[
    str | None, typer.Option("--from", help="Column of the first node. (default: guessed)")
]
ToColumn = Annotated[
    str | None, typer.Option("--to", help="Column of the second node. (default: guessed)")
]
LatencyColumn = Annotated[
    str | None, typer.Option("--latency", help="Column of the latency in ms. (default: guessed)")
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        "--time",
        help="Column of the time: ISO 8601, Unix seconds, milliseconds, a number. "
        "(default: guessed)",
    ),
]
MostNumbers = Annotated[
    int, typer.Option(min=1, help="The largest size of one array; a larger one is refused.")
]
READ = ("made by", "files", "readings", "kept", "left_out")
"""Keys that the provenance of a network that was read must have."""


@ingest.command()
def atlas(
    files: Annotated[
        list[Path], typer.Argument(exists=True, help="Files or folders; gzip and bzip2 too.")
    ],
    out: Out,
    type: Annotated[  # noqa: A002 - the option is --type
        str, typer.Option(help="http, sslcert, ping, traceroute or auto.")
    ] = "auto",
    start: Annotated[
        str | None,
        typer.Option(help="The start, with a time zone: 2024-12-14T20:30:00Z."),
    ] = None,
    stop: Annotated[str | None, typer.Option(help="The end, excluded, with a time zone.")] = None,
    af: Annotated[int | None, typer.Option(help="The address family, 4 or 6.")] = None,
    node_key: Annotated[
        str, typer.Option(help="prb_id, from or src_addr; only prb_id is an identity.")
    ] = "prb_id",
    hub: Annotated[
        str, typer.Option(help="auto, an address or name, probe:ID, or none for all targets.")
    ] = "auto",
    latency: Annotated[str, typer.Option(help="ttc, rt, ttfb, min, avg or auto.")] = "auto",
    bandwidth: Annotated[
        str,
        typer.Option(
            help="none, synthetic:lognormal(M,S) with median M, or a proxy: http_total, "
            "http_body, http_read, tls_cert. RIPE Atlas measures no bandwidth."
        ),
    ] = "none",
    aggregate: Aggregate = "median",
    series: Series = None,
    seed: Annotated[int, typer.Option(help="Fixes a synthetic bandwidth.", min=0)] = 0,
    keep_going: KeepGoing = False,
    most_numbers: MostNumbers = MOST_NUMBERS,
) -> None:
    """Read RIPE Atlas results in any file format: a hub and the probes that measured it."""
    with report_errors():
        check_output(out, files)
        choices = AtlasChoices(
            type, start, stop, af, node_key, hub, latency, bandwidth, aggregate, seed, keep_going,
            series, most_numbers,
        )  # fmt: skip
        _finish(read_atlas(files, choices), out)


@ingest.command()
def edges(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, help="A CSV with a header, or JSON records; gzip and bzip2 too."
        ),
    ],
    out: Out,
    tail: FromColumn = None,
    head: ToColumn = None,
    latency: LatencyColumn = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(help="Column in Mbit/s. (default: bandwidth_mbps or throughput_mbps)"),
    ] = None,
    time: TimeColumn = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(help="Another column to keep. Repeatable. (default: all numeric ones)"),
    ] = None,
    series: Series = None,
    hub: Annotated[str | None, typer.Option(help="The hub, where the edges are a star.")] = None,
    route: Annotated[
        tuple[str, str] | None, typer.Option(help="Where routes begin and end, two nodes.")
    ] = None,
    both_ways: Annotated[
        bool, typer.Option("--both-ways", help="Each row also counts for the reverse edge.")
    ] = False,
    places: Annotated[
        Path | None, typer.Option(help="A CSV of name, latitude and longitude, for the map.")
    ] = None,
    decimal: Annotated[str, typer.Option(help="The decimal separator: . or ,")] = ".",
    latency_label: Annotated[
        str, typer.Option(help="The label of the latency: measured, proxy:... or synthetic:...")
    ] = "measured",
    bandwidth_label: Annotated[
        str, typer.Option(help="measured, proxy:METHOD or synthetic:LAW.")
    ] = "measured",
    quantity_label: Annotated[
        str, typer.Option(help="The label of the other quantities.")
    ] = "measured",
    aggregate: Aggregate = "median",
    keep_going: KeepGoing = False,
    most_numbers: MostNumbers = MOST_NUMBERS,
) -> None:
    """Read a table with one edge, or one measurement of an edge, in each row."""
    with report_errors():
        check_output(out, [file, *([] if places is None else [places])])
        network = read_edges(
            file,
            EdgeColumns(tail, head, latency, bandwidth, time, quantity),
            latency_label=latency_label,
            bandwidth_label=bandwidth_label,
            quantity_label=quantity_label,
            aggregate=aggregate,
            series=series,
            decimal=decimal,
            both_ways=both_ways,
            hub=hub,
            route=route,
            places=places,
            keep_going=keep_going,
            most_numbers=most_numbers,
        )
        _finish(network, out)


@ingest.command()
def matrix(
    file: Annotated[
        Path, typer.Argument(exists=True, help="An .npz with an array rounds x nodes x nodes.")
    ],
    out: Out,
    key: Annotated[str | None, typer.Option(help="The array, where there are several.")] = None,
    factor: Annotated[float, typer.Option(help="The factor from an entry to milliseconds.")] = 1.0,
    zero: Annotated[str, typer.Option(help="What 0 means: gap (no reading) or value.")] = "gap",
    label: Annotated[str, typer.Option(help="What the latency is.")] = "measured",
    aggregate: Aggregate = "median",
    keep_going: KeepGoing = False,
    most_numbers: MostNumbers = MOST_NUMBERS,
) -> None:
    """Read a stack of latency matrices, one for each round."""
    with report_errors():
        check_output(out, [file])
        network = read_matrix(
            file,
            key,
            factor=factor,
            zero=zero,
            aggregate=aggregate,
            label=label,
            keep_going=keep_going,
            most_numbers=most_numbers,
        )
        _finish(network, out)


def _finish(network: Network, out: Path) -> None:
    """Save the network, then print what was left out (stderr) and a summary."""
    if lacks := [name for name in READ if name not in network.provenance]:
        raise ValueError(
            f"the provenance of a network that was read has {', '.join(READ)}; this one lacks "
            f"{', '.join(lacks)}, so it does not show what was measured"
        )
    network.save(out)
    if left_out := network.provenance["left_out"]:
        Console(stderr=True).print(rejection_table(left_out))
    print_readings(network)
    Console().print(network_table(network))
    for sentence in network_sentences(network):
        print_line(sentence)
    print_line(f"Network: {out}")


def print_readings(network: Network) -> None:
    """Print how many readings a network was made of, with remarks, on stderr."""
    counts = network.provenance
    print_stderr(f"Kept {counts['kept']} of {counts['readings']} readings.")
    for remark in counts.get("remarks", ()):
        print_stderr(in_options(remark))
