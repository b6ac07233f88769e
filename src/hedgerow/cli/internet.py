"""`hedgerow run traffic --pairs N`: one large game, on threads or on a Dask cluster."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from hedgerow.cli.network import find_topology
from hedgerow.cli.output import print_json, print_line
from hedgerow.cli.progress import progress_bar
from hedgerow.experiments.dask_shards import DaskShards
from hedgerow.games.sharded_traffic import SHARDS, ShardedTraffic, TrafficRound, judge
from hedgerow.policies.certificate import Certificate
from hedgerow.problems.internet_traffic import (
    InternetTraffic,
    SplitOfPaths,
    default_folder,
    equal_shares,
    shortest_shares,
)

ROUNDS, LIMIT, MOST_NODES = 200, 0.9, 10_000
OURS = "a learner for each demand"


def run_internet(
    pairs: int,
    network: Path | None,
    threads: int | None,
    cluster: str | None,
    out: Path,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play many demands on a network beside ECMP and shortest paths; print a table."""
    given = None if network is None else find_topology(str(network))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with progress_bar(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("paths", total=None)

        def found(done: int, all_: int) -> None:
            bar.update(task, completed=done, total=all_)

        nodes = min(MOST_NODES, max(50, pairs // 10))
        traffic = InternetTraffic(
            pairs, nodes, folder=default_folder(), progress=found, network=given
        )
        game = _game(traffic, threads, cluster, out)
        paths, latency = traffic.paths, traffic.latency
        fixed = {
            "shortest paths": SplitOfPaths(paths, latency, shortest_shares(paths)),
            "ECMP": SplitOfPaths(paths, latency, equal_shares(paths)),
        }
        rounds: dict[str, list[TrafficRound]] = {OURS: [], **{name: [] for name in fixed}}
        task, seconds = bar.add_task("rounds", total=ROUNDS), 0.0
        for t in range(ROUNDS):
            capacity = traffic.capacity_in(t, ROUNDS)
            begin = time.perf_counter()
            rounds[OURS].append(game.report(None, capacity))
            seconds += time.perf_counter() - begin
            demand = traffic.stream.part(t, 0, pairs)
            for name, split in fixed.items():
                rounds[name].append(judge(split.loads(demand), capacity, LIMIT))
            bar.advance(task)
    data = _as_data(traffic, game, rounds, seconds / ROUNDS)
    if as_json:
        print_json(data)
    elif not quiet:
        _print(data)
    if isinstance(game.hosts, DaskShards):
        game.hosts.close()


def _game(
    traffic: InternetTraffic, threads: int | None, cluster: str | None, out: Path
) -> ShardedTraffic:
    shards = min(SHARDS, 1 << (traffic.pairs.bit_length() - 1))
    hosts = None
    if cluster is not None:
        hosts = partial(DaskShards, address=cluster, folder=out / "checkpoints")
    return ShardedTraffic(
        traffic.paths,
        traffic.latency,
        traffic.capacity,
        LIMIT,
        stream=traffic.stream,
        shards=shards,
        threads=threads,
        hosts=hosts,
    )


def _as_data(
    traffic: InternetTraffic,
    game: ShardedTraffic,
    rounds: dict[str, list[TrafficRound]],
    seconds: float,
) -> dict[str, Any]:
    def mean(seen: list[float]) -> float:
        return sum(seen) / len(seen)

    return {
        "network": "A random internet" if traffic.network is None else traffic.network.name,
        "nodes": traffic.nodes,
        "links": len(traffic.edges),
        "pairs": traffic.pairs,
        "paths": traffic.paths.paths,
        "rounds": ROUNDS,
        "failing": len(traffic.failing),
        "limit": LIMIT,
        "seconds": seconds,
        "certificate": game.certificate() / ROUNDS,
        "longest": float(traffic.paths.along(traffic.latency).max()),
        "methods": {
            name: {
                "cost": mean([one.cost for one in seen]),
                "violation": mean([one.violation for one in seen]),
                "violating": mean([float(one.violation > 0.0) for one in seen]),
                "largest": max(one.largest for one in seen),
            }
            for name, seen in rounds.items()
        },
    }


def _print(data: dict[str, Any]) -> None:
    print_line(
        f"{data['network']}: {data['nodes']} nodes, {data['links']} directed links, "
        f"{data['pairs']} demands on {data['paths']} paths, {data['rounds']} rounds; "
        f"{data['failing']} links fail."
    )
    table = Table(box=SIMPLE_HEAD)
    for head in ("method", "latency, ms", "traffic above the limit", "rounds above it"):
        table.add_column(head, justify="left" if head == "method" else "right")
    for name, row in data["methods"].items():
        above, share = 100.0 * row["violation"], 100.0 * row["violating"]
        table.add_row(name, f"{row['cost']:.3f}", f"{above:.3f} %", f"{share:.0f} %")
    Console().print(table)
    print_line(f"{data['seconds']:.3g} s per round.")
    cost = data["methods"][OURS]["cost"]
    proved = Certificate(data["certificate"]).within(cost - data["longest"], cost)
    if proved.says_nothing is not None:
        print_line(f"The certificate {proved.says_nothing}.")
    else:
        print_line(
            f"Certificate: at most {data['certificate']:.3g} ms per round more than any fixed "
            "split that satisfies all rounds, if there is one."
        )
