"""One game of up to a million demands: times, memory, peers, shards on Dask, and paths in bulk.

Run it by `python evidence/scale.py SECTION ...`: paths, game, growth, solvers, dask, single, world;
all of them if none is named. It writes scale.json section by section. `--pairs` limits the demands.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hedgerow.experiments import DaskShards
from hedgerow.games import ShardedTraffic
from hedgerow.games.sharded_traffic import judge
from hedgerow.networks.topology import Topology
from hedgerow.problems.generated_demand import gravity_demands
from hedgerow.problems.internet_traffic import (
    InternetTraffic,
    SplitOfPaths,
    equal_shares,
    shortest_shares,
)
from hedgerow.sets import PathShares, bulk_paths

FILE = Path(__file__).with_name("scale.json")
CACHE = Path(tempfile.gettempdir()) / "hedgerow-paths"
LIMIT, ROUNDS, SEED = 0.9, 200, 1
NETWORKS = (
    "topozoo/Abilene", "topozoo/Geant2012", "topozoo/Uninett2011", "topozoo/TataNld",
    "sndlib/germany50", "sndlib/nobel-eu", "sndlib/ta2", "sndlib/cost266", "sndlib/india35",
    "sndlib/janos-us-ca",
)  # fmt: skip
SOLVER_SECONDS = 900.0
SOLVED = {1000: 50, 10_000: 25, 100_000: 10}
"""In how many rounds of the second day, evenly spread, all are judged, by the number of demands."""
LOWER = (0.9, 0.88, 0.86, 0.84, 0.82, 0.8, 0.75, 0.7)
"""Limits of ours, all judged by the first one."""
PRICE = 1e3
"""What a unit of traffic above the limit costs in the programme, in ms: more than any detour."""


def scene(pairs: int, network: Topology | None = None) -> InternetTraffic:
    """Return a random internet of 10,000 nodes, or a network."""
    return InternetTraffic(pairs, 10_000, SEED, folder=CACHE, network=network)


def game(traffic: InternetTraffic, **options: Any) -> ShardedTraffic:
    """Return a game on it."""
    settings = {"stream": traffic.stream, "threads": 1} | options
    return ShardedTraffic(traffic.paths, traffic.latency, traffic.capacity, LIMIT, **settings)


def say(*parts: object) -> None:
    """Show progress on stderr."""
    sys.stderr.write(" ".join(map(str, parts)) + "\n")


def gigabytes() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure_paths(pairs: int) -> Any:  # noqa: ARG001
    """Compare the optima that bulk paths allow with those of Yen's paths, by HiGHS."""
    rows = []
    for name in NETWORKS:
        net = Topology.shipped(name)
        demand = gravity_demands(net, 1, SEED)[0]
        origin, target = np.nonzero(demand)
        ends = np.stack([origin, target], axis=1)
        d = demand[origin, target]
        begin = time.perf_counter()
        X = PathShares(net.edges, list(map(tuple, ends.tolist())), 4, net.latency_ms)
        yen_seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        block = bulk_paths(net.edges, ends, 4, np.maximum(net.latency_ms, 1e-6), threads=1)
        bulk_seconds = time.perf_counter() - begin
        sizes = [np.bincount(X.pair_of), np.diff(block.first)]
        hops = [[*map(list, X.paths)], [block.edges_of(p) for p in range(block.paths)]]
        problems = [Programme(net, d, h, s) for h, s in zip(hops, sizes, strict=True)]
        least = [problem.least_limit() for problem in problems]
        limit = 1.05 * max(least)
        cost = [problem.cheapest(limit) for problem in problems]
        row = {"network": name, "pairs": len(d), "least": least, "limit": limit, "cost": cost}
        rows.append(row | {"seconds": [yen_seconds, bulk_seconds]})
        say(rows[-1])
    return rows


class Programme:
    """The linear programme of one matrix, in the form that HiGHS takes."""

    def __init__(self, net: Any, demand: np.ndarray, hops: list[list[int]], sizes: np.ndarray):
        lengths = [len(path) for path in hops]
        link = np.concatenate([np.asarray(path, np.int64) for path in hops])
        pair = np.repeat(np.arange(sizes.size), sizes)
        coordinate = np.repeat(np.arange(len(hops)), lengths)
        self.shape = len(net.edges), len(hops)
        A = sparse.csr_array((np.ones(link.size), (link, coordinate)), shape=self.shape)
        self._fill(A, np.asarray(net.latency_ms), np.asarray(net.bandwidth_mbps), demand, pair)

    @classmethod
    def of_block(cls, traffic: InternetTraffic, demand: np.ndarray) -> Programme:
        """Return the programme of bulk paths."""
        self, paths = cls.__new__(cls), traffic.paths
        self.shape = len(traffic.edges), paths.paths
        ptr = paths.ptr.astype(np.int64)
        by_path = sparse.csr_array(
            (np.ones(paths.hops.size), paths.hops.astype(np.int64), ptr), shape=self.shape[::-1]
        )
        pair = np.repeat(np.arange(paths.pairs), np.diff(paths.first))
        self._fill(sparse.csr_array(by_path.T), traffic.latency, traffic.capacity, demand, pair)
        return self

    def _fill(self, A: Any, latency: Any, capacity: Any, demand: Any, pair: Any) -> None:
        n = self.shape[1]
        self.demand, self.capacity, self.pair, self.loads = demand, capacity, pair, A
        self.cost = (A.T @ latency) * demand[pair] / demand.sum()
        scaled = A.multiply(demand[pair][None, :])
        self.rows = sparse.csr_array(sparse.diags_array(1.0 / capacity) @ scaled)
        self.sums = sparse.csr_array((np.ones(n), (pair, np.arange(n))), shape=(demand.size, n))

    def least_limit(self) -> float:
        """Return the least limit that a split satisfies."""
        m, n = self.shape
        beside = sparse.csr_array(np.full((m, 1), -1.0))
        zero = sparse.csr_array((self.sums.shape[0], 1))
        A = sparse.vstack([sparse.hstack([self.rows, beside]), sparse.hstack([self.sums, zero])])
        upper = np.concatenate([np.zeros(m), np.ones(zero.shape[0])])
        lower = np.concatenate([np.full(m, -np.inf), np.ones(zero.shape[0])])
        x, _, _ = solve(np.append(np.zeros(n), 1.0), A, lower, upper, "choose")
        return float(x[-1])

    def cheapest(self, limit: float) -> float:
        """Return the least cost below a limit."""
        return float(self.cost @ solve(self.cost, *self.bounded(limit), "choose")[0])

    def elastic(self, limit: float, solver: str) -> Any:
        """Return the cheapest split where traffic above the limit has a price, so one exists.

        Links that no split can fill to the limit have no row.
        """
        demand, links = self.demand, self.loads
        uses = sparse.csr_array(self.sums @ links.T)
        uses.data[:] = 1.0
        risky = np.flatnonzero(demand @ uses > limit * self.capacity)
        m, p = risky.size, self.sums.shape[0]
        beside = sparse.diags_array(np.full(m, -1.0))
        zero = sparse.csr_array((p, m))
        scale = 1.0 / demand.sum()  # of unit demand, as the constraint is
        loads = sparse.csr_array(links[risky]).multiply(scale * demand[self.pair][None, :])
        A = sparse.vstack([sparse.hstack([loads, beside]), sparse.hstack([self.sums, zero])])
        lower = np.concatenate([np.full(m, -np.inf), np.ones(p)])
        upper = np.concatenate([scale * limit * self.capacity[risky], np.ones(p)])
        cost = np.concatenate([self.cost, np.full(m, PRICE)])
        return solve(cost, A, lower, upper, solver, SOLVER_SECONDS)

    def bounded(self, limit: float) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return all rows with their bounds."""
        m, p = self.shape[0], self.sums.shape[0]
        A = sparse.vstack([self.rows, self.sums])
        return (
            A,
            np.concatenate([np.full(m, -np.inf), np.ones(p)]),
            np.concatenate([np.full(m, limit), np.ones(p)]),
        )


def solve(
    cost: np.ndarray,
    A: Any,
    lower: np.ndarray,
    upper: np.ndarray,
    solver: str,
    seconds: float = 1e9,
) -> tuple[np.ndarray, float, str]:
    """Return a solution by HiGHS, its processor seconds, and its status."""
    import highspy

    highs, lp = highspy.Highs(), highspy.HighsLp()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("solver", solver)
    highs.setOptionValue("time_limit", seconds)
    highs.setOptionValue("threads", 1)
    if solver == "ipm":
        highs.setOptionValue("run_crossover", "off")  # a split need not be a vertex
    if solver == "pdlp":
        highs.setOptionValue("kkt_tolerance", 1e-4)  # its usual accuracy
    A = sparse.csr_array(A)
    lp.num_col_, lp.num_row_ = A.shape[1], A.shape[0]
    lp.col_cost_, lp.col_lower_ = cost, np.zeros(cost.size)
    lp.col_upper_, lp.row_lower_, lp.row_upper_ = np.full(cost.size, np.inf), lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    highs.passModel(lp)
    begin = time.process_time()
    highs.run()
    spent = time.process_time() - begin
    status = highs.modelStatusToString(highs.getModelStatus())
    return np.array(highs.getSolution().col_value), spent, status


def measure_game(pairs: int) -> Any:
    """Play 200 rounds with two failures, beside ECMP and shortest paths."""
    begin = time.perf_counter()
    traffic = InternetTraffic(pairs, 10_000, SEED)  # no paths of an earlier run
    paths_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    ours = game(traffic, threads=2)
    build_seconds = time.perf_counter() - begin
    fixed = {
        "shortest paths": SplitOfPaths(
            traffic.paths, traffic.latency, shortest_shares(traffic.paths)
        ),
        "ECMP": SplitOfPaths(traffic.paths, traffic.latency, equal_shares(traffic.paths)),
    }
    rounds: dict[str, list[Any]] = {"ours": [], **{name: [] for name in fixed}}
    seconds = []
    for t in range(ROUNDS):
        capacity = traffic.capacity_in(t, ROUNDS)
        begin = time.perf_counter()
        rounds["ours"].append(ours.report(None, capacity))
        seconds.append(time.perf_counter() - begin)
        demand = traffic.stream.part(t, 0, pairs)
        for name, split in fixed.items():
            rounds[name].append(judge(split.loads(demand), capacity, LIMIT))
        if t % 20 == 0:
            say(t, {name: one[-1][:3] for name, one in rounds.items()}, seconds[-1])
    peak = gigabytes()
    one = game(traffic, threads=1)
    times = []
    for t in range(8):
        begin = time.perf_counter()
        seen = one.report(None, traffic.capacity_in(t, ROUNDS))
        times.append(time.perf_counter() - begin)
        assert seen == rounds["ours"][t], "one thread and two must give the same bits"
    return {
        "pairs": pairs,
        "nodes": traffic.nodes,
        "links": len(traffic.edges),
        "paths": traffic.paths.paths,
        "hops": int(traffic.paths.hops.size),
        "rounds": ROUNDS,
        "limit": LIMIT,
        "failing": traffic.failing,
        "paths_seconds": paths_seconds,
        "build_seconds": build_seconds,
        "peak_gb": peak,
        "seconds": {
            "1 thread": float(np.median(times[2:])),
            "2 threads": float(np.median(seconds)),
        },
        "certificate": ours.certificate() / ROUNDS,
        "longest": float(traffic.paths.along(traffic.latency).max()),
        "methods": {
            name: {
                "cost": float(np.mean([r.cost for r in seen])),
                "violation": float(np.mean([r.violation for r in seen])),
                "violation_late": float(np.mean([r.violation for r in seen[ROUNDS // 2 :]])),
                "largest": float(np.median([r.largest for r in seen])),
                "curve": [round(r.violation, 6) for r in seen],
            }
            for name, seen in rounds.items()
        },
    }


def measure_growth(pairs: int) -> Any:
    """Time rounds and memory of 10^2 to 10^6 demands, each size in a process of its own."""
    sizes = [n for n in (100, 1000, 10_000, 100_000, 1_000_000) if n <= pairs]
    rows = []
    for size in sizes:
        out = subprocess.run(  # noqa: S603 - this file
            [sys.executable, __file__, "one-size", "--pairs", str(size)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        rows.append(json.loads(out.stdout.splitlines()[-1]))
        say(rows[-1])
    large = [row for row in rows if row["pairs"] >= 10_000]
    fit = {}
    for threads in ("1", "2"):
        logs = np.log([[row["pairs"], row["seconds"][threads]] for row in large])
        fit[threads] = float(np.polyfit(*logs.T, 1)[0]) if len(large) > 1 else None
    return {"sizes": rows, "exponent": fit}


def one_size(pairs: int) -> Any:
    """Time the rounds of one size; the floor is what must be read and written once."""
    traffic = scene(pairs)
    before = gigabytes()
    seconds = {}
    for threads in (1, 2):
        played = game(traffic, threads=threads)
        times = []
        for _ in range(24 if pairs < 1_000_000 else 10):
            begin = time.perf_counter()
            played.report()
            times.append(time.perf_counter() - begin)
        seconds[str(threads)] = float(np.median(times[2:]))
        if threads == 1:
            peak = gigabytes()
            shard = played.hosts.shards[0]  # type: ignore[attr-defined]
            state = 8 * shard.learner._state.array.size / shard.demand.size
        del played
    copied, quickest = np.ones(2**25), np.inf
    for _ in range(7):  # the first ones touch new memory
        begin = time.perf_counter()
        copied += 1.0
        quickest = min(quickest, time.perf_counter() - begin)
    bandwidth = 2 * copied.nbytes / quickest
    # the state is read and written, the links of paths are read twice, c is written and read twice
    moved = pairs * 2 * state + 2 * traffic.paths.numbers.nbytes + 3 * 8 * traffic.paths.paths
    return {
        "pairs": pairs,
        "seconds": seconds,
        "peak_gb": peak,
        "game_gb": peak - before,
        "state_bytes_per_demand": state,
        "floor_bytes": moved,
        "floor_seconds": moved / bandwidth,
    }


def measure_solvers(pairs: int) -> Any:
    """Split for the last matrix by HiGHS, and compare with ours where it violates no more.

    All have one thread, and times are processor seconds. Ours is played with lower and lower
    limits, until the traffic above `LIMIT` is no more than that of the programme's split.
    """
    rows = []
    for size in [n for n in (1000, 10_000, 100_000) if n <= pairs]:
        traffic = scene(size)
        rounds = [*range(100, 200, 100 // SOLVED[size])]
        row: dict[str, Any] = {"pairs": size, "rounds": len(rounds), "solvers": {}}
        for solver in ("simplex", "ipm", "pdlp"):
            found = [
                solved(traffic, t, solver) for t in (rounds if solver == "simplex" else rounds[-1:])
            ]
            row["solvers"][solver] = {
                "seconds": float(np.median([one["seconds"] for one in found])),
                "status": found[-1]["status"],
            }
            if all("cost" in one for one in found):
                row["solvers"][solver] |= {
                    name: float(np.mean([one[name] for one in found]))
                    for name in ("cost", "violation")
                }
            say(size, solver, row["solvers"][solver])
        row["ours"] = []
        for limit in LOWER:
            row["ours"].append(tightened(traffic, limit, rounds))
            say(size, row["ours"][-1])
        rows.append(row)
    return rows


def solved(traffic: InternetTraffic, t: int, solver: str) -> dict[str, Any]:
    """Split for the matrix before round t, and judge the split in round t."""
    before, present = (traffic.stream.part(s, 0, traffic.pairs) for s in (t - 1, t))
    x, spent, status = Programme.of_block(traffic, before).elastic(LIMIT, solver)
    found: dict[str, Any] = {"seconds": spent, "status": status}
    if status == "Optimal":
        first = traffic.paths.first
        x = np.clip(x[: traffic.paths.paths], 0.0, 1.0)
        x /= np.repeat(np.add.reduceat(x, first[:-1]), np.diff(first))
        seen = judge(
            SplitOfPaths(traffic.paths, traffic.latency, x).loads(present), traffic.capacity, LIMIT
        )
        found |= {"cost": seen.cost, "violation": seen.violation}
    return found


def tightened(traffic: InternetTraffic, limit: float, rounds: list[int]) -> dict[str, float]:
    """Play 200 rounds with a limit of its own, and judge some by `LIMIT`."""
    ours = ShardedTraffic(
        traffic.paths, traffic.latency, traffic.capacity, limit, stream=traffic.stream, threads=1
    )
    times, seen = [], []
    for t in range(200):
        if t in rounds:
            split = SplitOfPaths(traffic.paths, traffic.latency, ours.shares())
            demand = traffic.stream.part(t, 0, traffic.pairs)
            seen.append(judge(split.loads(demand), traffic.capacity, LIMIT))
        begin = time.process_time()
        ours.report()
        times.append(time.process_time() - begin)
    return {
        "limit": limit,
        "seconds": float(np.median(times[2:])),
        "cost": float(np.mean([one.cost for one in seen])),
        "violation": float(np.mean([one.violation for one in seen])),
    }


def measure_dask(pairs: int) -> Any:
    """Play on 1, 2 and 4 workers, and kill one on the way; results must be those of one process."""
    import distributed

    traffic, rounds = scene(pairs), 12
    alone = game(traffic)
    expected = [alone.report() for _ in range(rounds)]
    rows = []
    for workers, kill in ((1, False), (2, False), (4, False), (2, True)):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=60
            ) as cluster,
            distributed.Client(cluster) as client,
            tempfile.TemporaryDirectory() as folder,
        ):
            spread = game(traffic, hosts=lambda plan: DaskShards(plan, client, folder, every=6))
            shards, times = spread.hosts, []
            assert isinstance(shards, DaskShards)
            for t in range(rounds):
                begin = time.perf_counter()
                assert spread.report() == expected[t], "a cluster must give the same bits"
                times.append(time.perf_counter() - begin)
                if kill and t == 8:
                    os.kill(client.run(os.getpid)[shards._at[0]], signal.SIGKILL)
            begin = time.perf_counter()
            for _ in range(20):
                client.run_on_scheduler(int)
            latency = (time.perf_counter() - begin) / 20
            row = {"workers": workers, "killed": kill, "replaced": shards.replaced}
            row |= {"seconds": float(np.median(times[2:])), "latency": latency}
            row |= {"bytes_per_round": shards.bytes_moved / rounds, "equal": True}
            rows.append(row)
            say(rows[-1])
            shards.close()
    return {"pairs": pairs, "links": len(traffic.edges), "rows": rows}


SECTIONS = {
    "paths": (measure_paths, 10**6),
    "growth": (measure_growth, 10**6),
    "solvers": (measure_solvers, 10**5),
    "dask": (measure_dask, 10**5),
    "game": (measure_game, 10**6),
}


def main() -> None:
    """Measure the sections that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, "one-size", []])
    parser.add_argument("--pairs", type=int, default=10**6)
    given = parser.parse_args()
    if given.sections == ["one-size"]:
        sys.stdout.write(json.dumps(one_size(given.pairs)) + "\n")
        return
    for name in given.sections or SECTIONS:
        measure, most = SECTIONS[name]
        found = measure(min(given.pairs, most))
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        FILE.write_text(json.dumps(known | {name: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
