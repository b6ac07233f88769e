"""One game on a Dask cluster: the bits of a single process, also when a worker is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.experiments import DaskShards
from hedgerow.games import Changes, ShardedTraffic
from hedgerow.problems import DriftingDemand
from hedgerow.sets import bulk_paths

distributed = pytest.importorskip("distributed")
NODES, PAIRS = 12, 132
ROUNDS = 11


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=60
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def game(**options: Any) -> ShardedTraffic:
    rng = np.random.default_rng(0)
    edges = [(i, (i + s) % NODES) for i in range(NODES) for s in (1, 3, NODES - 1, NODES - 3)]
    pairs = [(i, j) for i in range(NODES) for j in range(NODES) if i != j]
    latency = rng.uniform(1.0, 3.0, len(edges))
    stream = DriftingDemand(rng.lognormal(0.0, 1.0, len(pairs)), 1, period=30.0)
    return ShardedTraffic(
        bulk_paths(edges, pairs, 4, latency),
        latency,
        np.full(len(edges), 25.0),
        0.6,
        **{"stream": stream, "shards": 4, "threads": 1} | options,
    )


def test_workers_give_the_bits_of_one_process_also_when_one_is_killed(
    client: Any, tmp_path: Path
) -> None:
    alone = game()
    spread = game(hosts=lambda plan: DaskShards(plan, client, tmp_path, every=4))
    shards = spread.hosts
    assert isinstance(shards, DaskShards)
    rng = np.random.default_rng(2)
    for t in range(ROUNDS):
        # streams, whole vectors and changes, which a new worker must all take in again
        demand: Any = None
        if t % 3 == 1:
            demand = rng.lognormal(0.0, 1.0, PAIRS)
        elif t % 3 == 2:
            demand = Changes(np.array([3, 70]), np.array([5.0, 9.0]))
        assert alone.report(demand) == spread.report(demand)
        if t in (2, 9):  # before the first checkpoint, and after the second
            process = client.run(os.getpid)[shards._at[t % 2]]
            os.kill(process, signal.SIGKILL)
    assert shards.replaced >= 2
    assert (alone.shares() == spread.shares()).all()
    assert alone.certificate() == spread.certificate()
    assert shards.bytes_moved > 0
    shards.close()


def test_a_folder_with_files_and_a_wrong_address_are_refused(client: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="not empty"):
        game(hosts=lambda plan: DaskShards(plan, client, tmp_path))
    with pytest.raises(TypeError, match="address"):
        game(hosts=lambda plan: DaskShards(plan, 5, tmp_path / "new"))
