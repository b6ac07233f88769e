"""`hedgerow run traffic`: a week of traffic engineering, compared with usual rules on one page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import hedgerow as hr
from hedgerow.baselines.fixed_actions import FixedSplit, LastMatrix, MeanMatrix
from hedgerow.cli.network import find_topology
from hedgerow.cli.output import counted, print_json, print_line
from hedgerow.games.advice import record_advice
from hedgerow.inputs import Vector
from hedgerow.networks.topology import Topology
from hedgerow.networks.traffic_matrices import TrafficMatrices
from hedgerow.problems.generated_demand import gravity_demands
from hedgerow.problems.traffic_engineering import TrafficEngineering
from hedgerow.protocols.trace import Step
from hedgerow.report.picture import Picture, canvas, save_figure
from hedgerow.report.plots import plot_voices
from hedgerow.report.traffic import (
    draw_before_and_after,
    draw_days,
    draw_frames,
    draw_moved,
    traffic_rows,
    traffic_table,
    write_traffic_page,
)

NETWORK = "topozoo/Abilene"
"""Played on if no network is given: small enough for a linear programme per round."""
ROUNDS_PER_DAY, DAYS = 144, 7
"""Generated demand: one round every ten minutes, for a week."""
BUSY = 0.95
"""Maps show the round that is busier under shortest paths than this share of all rounds."""
SHORTEST, BLOCKS, ON_MAP = "shortest paths", "a learner for each demand", "projection_free_coco"
ADVISED = "projection_free_coco, advised"
ADVISERS: dict[str, Callable[[TrafficEngineering], Any]] = {
    "lp-last": LastMatrix,
    "lp-mean": MeanMatrix,
    "shortest": lambda problem: FixedSplit(problem.decision_set, problem.shortest),
}
"""Who may advise: the programmes of the last and of the mean matrix, and shortest paths."""
FRAMES = 24
"""Pictures of the animation."""


def run_traffic(
    network: Path | None,
    demands: Path | None,
    out: Path,
    advice: Sequence[str],
    as_json: bool,
    quiet: bool,
) -> None:
    """Play a network's traffic, print a table and write maps and a page."""
    unknown = [name for name in advice if name not in ADVISERS]
    if unknown:
        known = ", ".join(map(repr, ADVISERS))
        raise ValueError(f"there is no adviser {unknown[0]!r} of traffic, there are {known}")
    out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    topology = find_topology(NETWORK if network is None else str(network))
    problem, day, described = _rounds(topology, demands)
    policies = _policies(problem, advice)
    shown, frames = _shown_rounds(problem)
    records = {name: _Record(problem, {shown, *frames}) for name in policies}
    certificates = {}
    for name, policy in policies.items():
        records[name].play(policy, advice if name == ADVISED else ())
        if hasattr(policy, "certificate"):
            most = records[name].trace.cost  # no latency is negative
            certificates[name] = policy.certificate().within(-math.inf, most)
    silent = _remove_vacuous(problem, certificates)
    traces = {name: record.trace for name, record in records.items()}
    rows = traffic_rows(traces, certificates, problem.limit)
    best = hr.hindsight(problem, time_limit=60.0)
    sentences = [*described, *_benchmark(problem, best), *silent]
    last = records[ON_MAP]
    splits = {name: records[name].plays[shown] for name in (SHORTEST, ON_MAP)}
    draw_before_and_after(topology, splits, problem, shown, out / "map.png")
    draw_days(traces, problem.limit, day, out / "days.png")
    pictures = [
        Picture(
            "map",
            f"Before and after, round {shown + 1}",
            "A busy round: utilisation of every link. A link's two directions lie side by side.",
        ),
        Picture("days", "Round by round", "Every policy on the same demands."),
    ]
    if draw_moved(problem, last.mean, out / "moved.png") is not None:
        pictures.append(
            Picture("moved", "Demands that were moved", f"On average, by {ON_MAP}; the most first.")
        )
    if advice:
        figure, axes = canvas(1, 1, 9.5, 2.6)
        plot_voices(records[ADVISED].voices, axes[0, 0])
        save_figure(figure, out / "voices.png", dpi=140)
        pictures.append(
            Picture("voices", f"Who was followed: {ADVISED}", "The weight after each round.")
        )
    film = draw_frames(topology, {t: last.plays[t] for t in frames}, problem, out / "frames.gif")
    page = write_traffic_page(
        f"Traffic engineering: {topology.name}", sentences, rows, pictures, out / "report.html"
    )
    if as_json:
        print_json(_as_data(problem, best, traces, certificates, page))
    elif not quiet:
        for sentence in sentences:
            print_line(sentence)
        Console().print(traffic_table(rows))
        print_line(f"Moving picture: {film}")
        print_line(f"Page: {page}")


def _rounds(
    topology: Topology, demands: Path | None
) -> tuple[TrafficEngineering, float | None, list[str]]:
    """Return the problem, the number of rounds per day if known, and a description."""
    day = None
    if demands is None:
        day = float(ROUNDS_PER_DAY)
        matrices = gravity_demands(
            topology, DAYS * ROUNDS_PER_DAY, 0, rounds_per_day=ROUNDS_PER_DAY
        )
        source, left_out = "generated: a gravity model with days, noise and flash crowds", 0
    else:
        measured = TrafficMatrices.load(demands, topology.nodes)
        matrices, source, left_out = measured.demands, measured.source, measured.left_out
    problem = TrafficEngineering.from_network(topology, matrices, source=source)
    X = problem.decision_set
    sentences = [
        f"{topology.name}: {len(topology.nodes)} nodes, {len(topology.edges)} directed links, "
        f"{len(X.pairs)} demands on {X.dim} paths, {problem.horizon} rounds. {topology.source}.",
        f"Demands: {source}."
        + (f" {counted(left_out, 'empty round')} left out." if left_out else ""),
        f"Limit: {problem.limit:.3f} of each link's capacity. One fixed split could satisfy "
        f"{problem.smallest_limit:.3f} in all rounds; shortest paths exceed "
        f"{problem.shortest_limit:.3f} in a tenth of them.",
    ]
    return problem, day, sentences


def _policies(problem: TrafficEngineering, advice: Sequence[str]) -> dict[str, Any]:
    """Return the policies by name."""
    X = problem.decision_set
    return {
        SHORTEST: FixedSplit(X, problem.shortest),
        "ECMP": FixedSplit(X, problem.equal_split),
        "best for the last matrix": LastMatrix(problem),
        "best for the mean matrix": MeanMatrix(problem),
        BLOCKS: hr.projection_free_coco(X, tracking=False),
        ON_MAP: hr.projection_free_coco(X),
        **({ADVISED: hr.projection_free_coco(X, advisers=advice)} if advice else {}),
    }


class _Record:
    """The trace of a game, its decisions in some rounds, and the mean of all."""

    def __init__(self, problem: TrafficEngineering, wanted: set[int]):
        self.problem, self.wanted = problem, wanted
        self.plays: dict[int, Vector] = {}
        self.mean = np.zeros(problem.decision_set.dim)
        self.voices: dict[str, list[float]] = {}

    def play(self, policy: Any, advice: Sequence[str]) -> None:
        """Play all rounds, with these advisers."""
        problem = self.problem
        recorded = {name: record_advice(ADVISERS[name](problem), problem) for name in advice}
        begin = time.perf_counter()
        steps = hr.play(policy, problem, advice=recorded or None)
        trace = hr.Trace.of(self._seen(step, policy) for step in steps)
        self.trace = replace(trace, seconds=time.perf_counter() - begin)

    def _seen(self, step: Step, policy: Any) -> Step:
        for name, weight in getattr(policy, "voices", {}).items():
            self.voices.setdefault(name, []).append(weight)
        if step.t - 1 in self.wanted:
            self.plays[step.t - 1] = step.x
        self.mean += step.x / self.problem.horizon
        return step


def _shown_rounds(problem: TrafficEngineering) -> tuple[int, list[int]]:
    """Return a busy round for the map, and rounds around it for the moving picture."""
    used, T = problem.largest_utilisation(problem.shortest), problem.horizon
    shown = int(np.argsort(used)[int(BUSY * (T - 1))])
    first = max(0, min(shown - T // 14, T - T // 7 - 1))
    return shown, np.unique(
        np.linspace(first, min(T - 1, first + T // 7), FRAMES, dtype=int)
    ).tolist()


def _benchmark(problem: TrafficEngineering, best: hr.Benchmark) -> list[str]:
    if best.status == "infeasible":
        return ["No fixed split satisfies the limit in all rounds."]
    gap = max(0.0, best.gap) / problem.horizon
    sure = f" within {gap:.1g} ms" if gap >= 5e-4 else ""
    return [
        f"Hindsight: the cheapest fixed split that satisfies every round costs "
        f"{best.cost / problem.horizon:.3f} ms, proved{sure}."
    ]


def _remove_vacuous(
    problem: TrafficEngineering, certificates: dict[str, hr.policies.Certificate]
) -> list[str]:
    """Remove the certificates that bound nothing, and return why."""
    reasons = []
    for name, proved in list(certificates.items()):
        why = proved.says_nothing
        if problem.limit < problem.smallest_limit:
            why = "says nothing here, because no fixed split satisfies the limit in all rounds"
        if why is not None:
            reasons.append(f"The certificate of {name} {why}.")
            del certificates[name]
    return reasons


def _as_data(
    problem: TrafficEngineering, best: hr.Benchmark, traces: Any, certificates: Any, page: Path
) -> dict[str, Any]:
    T = problem.horizon
    return {
        **problem.record,
        "rounds": T,
        "hindsight": {"status": best.status, "cost": best.cost / T},
        "policies": {
            name: {
                "cost": trace.cost / T,
                "ccv": trace.ccv,
                "violating": float((trace.violations > 0.0).mean()),
                "certificate": certificates[name] / T if name in certificates else None,
                "seconds": trace.seconds / T,
            }
            for name, trace in traces.items()
        },
        "page": str(page),
    }
