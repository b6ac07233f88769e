"""Make the heavy evidence that the documents quote: `make evidence`.

Each function below writes evidence/<its name>.json. Names on the command line choose some; those of
policies choose what `adversary_search` searches against, and the file keeps the others.
`problems` reads measured files in the folder that HEDGEROW_DATA names.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import CLOUDS, DEVICES, MARKETS, STAR, measured_files

import hedgerow as hr
from hedgerow.games.game_search import evaluate_game, worst_game
from hedgerow.games.linear_game import LinearGame, ccv, hindsight_regret, regret
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.edges import read_edges
from hedgerow.networks.hub_graphs import hub_graph
from hedgerow.networks.matrix import read_matrix
from hedgerow.problems.assignments import AdSlots, Ranking
from hedgerow.problems.drifting import Caching
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.portfolios import LogPortfolio, Portfolio
from hedgerow.problems.variation import PAPER_LATENCY, Series
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.simplices.simplex import KSubsets

HERE = Path(__file__).parent
MEASURED = (STAR, CLOUDS, DEVICES, *MARKETS.values())


def exponent(points: list[tuple[int, float]]) -> float | None:
    """The slope of log y over log T, fitted to the mean of y at each T; None if a mean is 0."""
    horizons = sorted({T for T, _ in points})
    means = [np.mean([y for at, y in points if at == T]) for T in horizons]
    if min(means) <= 0.0:
        return None
    return round(float(np.polyfit(np.log(horizons), np.log(means), 1)[0]), 3)


class Rounds(hr.problems.LinearProblem):
    """Linear rounds on a set, all in one chunk."""

    def __init__(self, decision_set: hr.DecisionSet, chunk: hr.problems.LinearChunk):
        self.decision_set, self.chunk, self.horizon = decision_set, chunk, len(chunk.costs)

    def chunks(self, size: int = 0) -> Any:  # noqa: ARG002 - all rounds at once
        """Yield the chunk."""
        yield self.chunk


def box_wall(n: int, horizon: int, seed: int) -> Rounds:
    """On [-1, 1]^n, u = 1/sqrt(n) ones: f_t = <-0.6 u + noise, x>, g_t = <u + noise, x> - 0.3."""
    u, shape = np.full(n, n**-0.5), (horizon, n)
    costs, limits = (np.random.default_rng([seed, i]) for i in (1, 2))
    noise = 0.2 / np.sqrt(n)
    chunk = hr.problems.LinearChunk(
        noise * costs.standard_normal(shape) - 0.6 * u,
        np.zeros(horizon),
        noise * limits.standard_normal(shape) + u,
        np.full(horizon, -0.3),
    )
    return Rounds(hr.sets.Box(-np.ones(n), np.ones(n)), chunk)


def bandit_policies(
    X: hr.DecisionSet, T: int, seed: int, lipschitz: float, bound: tuple[float, float]
) -> dict[str, hr.ConstrainedBandit]:
    """The practical preset, the same with the lagged surrogate, and the theory preset."""
    given: dict[str, Any] = {"lipschitz": lipschitz, "bound": bound}
    drift = hr.projection_free_bandit(X, T, seed, **given)
    assert isinstance(drift.surrogate, hr.surrogates.DriftSurrogate)
    kept = drift.surrogate
    lagged = hr.ConstrainedBandit(
        hr.learners.BlockBandit(X, hr.learners.PracticalBlocks(T), seed),
        hr.surrogates.LaggedSurrogate(kept.potential, kept.initial, kept.ranges),
    )
    theory = hr.projection_free_bandit(X, T, seed, **given, preset="theory")
    return {"practical, drift": drift, "practical, lagged": lagged, "theory": theory}


def play_bandit(
    policy: hr.ConstrainedBandit,
    table: hr.problems.LinearChunk,
    lipschitz: float,
    bound: tuple[float, float],
) -> tuple[float, float]:
    """Play recorded linear rounds from values alone; return total cost and CCV."""
    total = ccv = 0.0
    for a, b, c, d in zip(*table, strict=True):
        x = policy.ask()
        f, g = float(a @ x + b), float(c @ x + d)
        policy.tell(
            hr.feedback.Eval(f, lipschitz, bound[0]), hr.feedback.Eval(g, lipschitz, bound[1])
        )
        total, ccv = total + f, ccv + max(0.0, g)
    return total, ccv


def bandit_game(game: str, n: int, T: int, seed: int) -> list[dict[str, Any]]:
    """One game, all policies: regret against the best point that satisfies every constraint."""
    problem = (
        hr.problems.SwitchingBall(n, T, seed) if game == "SwitchingBall" else box_wall(n, T, seed)
    )
    table = hr.problems.LinearChunk(
        *(np.concatenate(part) for part in zip(*problem.chunks(), strict=True))
    )
    box = hr.sets.Box(-np.ones(n), np.ones(n))
    best = hr.hindsight(box, hr.RecordedProblem(box, table.rounds()))
    assert best.status == "optimal", game
    assert problem.decision_set.contains(best.x), "the best point of the box must be in the ball"
    linear = (table.costs, table.constraints)
    norms = [np.linalg.norm(part, axis=1) for part in linear]
    lipschitz = float(max(norms[0].max(), norms[1].max()))
    # the largest |value| of a linear function over the unit ball, or over the unit box
    ranges = norms if game == "SwitchingBall" else [np.abs(part).sum(axis=1) for part in linear]
    bound = (float(ranges[0].max()), float((ranges[1] - table.constraint_offsets).max()))
    rows = []
    for name, policy in bandit_policies(problem.decision_set, T, seed, lipschitz, bound).items():
        if name == "theory" and T > 100_000 and seed > 0:
            continue  # one seed will do: it does not see the constraint
        surrogate: Any = policy.surrogate
        Q0 = surrogate.queue * surrogate.ranges.violation
        total, ccv = play_bandit(policy, table, lipschitz, bound)
        rows.append(
            {
                "game": game,
                "n": n,
                "horizon": T,
                "seed": seed,
                "policy": name,
                "regret": round(total - best.cost, 2),
                "ccv": round(ccv, 2),
                "Q0": round(Q0, 2),
                "oracle_calls": policy.oracle_calls,
            }
        )
    return rows


def bandit_growth() -> dict[str, list[dict[str, Any]]]:
    """Algorithm 4 from values alone, 3 seeds; the theory preset has one seed at T = 256000."""
    rows = []
    for game in ("SwitchingBall", "BoxWall"):
        for n in (5, 10):
            for T in (1000, 4000, 16000, 64000, 256000):
                for seed in range(3):
                    rows += bandit_game(game, n, T, seed)
    return {"rows": rows, "exponents": bandit_exponents(rows)}


def bandit_exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fit one line to each game, dimension and policy."""
    exponents = []
    for game, n, policy in {(row["game"], row["n"], row["policy"]): 0 for row in rows}:
        runs = [r for r in rows if (r["game"], r["n"], r["policy"]) == (game, n, policy)]
        exponents.append(
            {
                "game": game,
                "n": n,
                "policy": policy,
                "ccv": exponent([(r["horizon"], r["ccv"]) for r in runs]),
                "ccv_plus_Q0": exponent([(r["horizon"], r["ccv"] + r["Q0"]) for r in runs]),
                "positive_regret_plus_sqrt_T": exponent(
                    [(r["horizon"], max(0.0, r["regret"]) + r["horizon"] ** 0.5) for r in runs]
                ),
                "runs": len(runs),
                "runs_with_negative_regret": sum(r["regret"] < 0.0 for r in runs),
                "largest_oracle_calls_per_round": round(
                    max(r["oracle_calls"] / r["horizon"] for r in runs), 4
                ),
            }
        )
    return exponents


def vertex_sets() -> dict[str, hr.DecisionSet]:
    """k-subsets, trees and paths of the sizes that are measured."""
    rng = np.random.default_rng(7)
    pairs = [(i, j) for i in range(25) for j in range(i + 1, 25)]
    chain = [(i, i + 1) for i in range(24)]
    others = [pair for pair in pairs if pair not in chain]
    chosen = rng.choice(len(others), 80 - len(chain), replace=False)
    edges = chain + [others[int(i)] for i in chosen]
    complete = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    return {
        "KSubsets(12, 4)": KSubsets(12, 4),
        "SpanningTrees(K6)": SpanningTrees(complete),
        "DagPaths(25 nodes, 80 edges)": hr.sets.DagPaths(edges, 0, 24),
    }


INSTANCES = ("fixed normal, iid cost", "fixed normal, switching cost", "alternating normal")


def vertex_rounds(X: hr.DecisionSet, instance: str, T: int, seed: int) -> hr.problems.LinearChunk:
    """Linear rounds in which cost and constraint pull apart, and some mixture is feasible."""
    rng = np.random.default_rng([seed, 5])
    mean, other = rng.uniform(0.0, 1.0, (2, X.dim))
    normals = 1.0 - np.array([mean, mean[::-1]]) + rng.uniform(-0.2, 0.2, (2, X.dim))
    costs = np.clip(mean + rng.uniform(-0.5, 0.5, (T, X.dim)), 0.0, 1.0)
    if instance == INSTANCES[1]:  # two means take turns of sqrt(T) rounds
        turn = (np.arange(T) // int(np.sqrt(T))) % 2 == 1
        costs[turn] += other - mean
    least = X.minimum(normals[0])
    if instance == INSTANCES[2]:
        limits = np.tile(normals, (T // 2, 1))
        middle = 0.5 * (X.lmo(normals[0]) + X.lmo(normals[1]))
        level = float(max(normals @ middle))
    else:
        limits = np.tile(normals[0], (T, 1))
        level = least + 0.4 * float(normals[0] @ X.lmo(mean) - least)
    return hr.problems.LinearChunk(costs, np.zeros(T), limits, np.full(T, -level))


def ftpl_growth() -> dict[str, list[dict[str, Any]]]:
    """Algorithm 7 on vertices, 4 seeds each, against the best feasible mixture."""
    rows, exponents = [], []
    for name, X in vertex_sets().items():
        for instance in INSTANCES:
            runs = []
            for T in (500, 2000, 8000, 32000):
                for seed in range(4):
                    table = vertex_rounds(X, instance, T, seed)
                    total = hr.Linear(table.costs.sum(axis=0))
                    limits = [g for _, g in itertools.islice(table.rounds(), 2)]  # all there are
                    best = hr.hindsight(X, [(total, hr.Maximum(limits))])
                    assert best.status == "optimal", name
                    policy = hr.ftpl_coco(X, T, seed)
                    trace = hr.simulate(policy, Rounds(X, table))
                    runs.append(
                        {
                            "set": name,
                            "instance": instance,
                            "horizon": T,
                            "seed": seed,
                            "regret": round(trace.regret(best), 2),
                            "signed_ccv": round(trace.signed_ccv, 2),
                            "hard_ccv": round(trace.ccv, 2),
                            "oracle_calls": policy.oracle_calls,
                        }
                    )
            at = [r["horizon"] for r in runs]
            exponents.append(
                {
                    "set": name,
                    "instance": instance,
                    "positive_regret_plus_sqrt_T": exponent(
                        [(T, max(0.0, r["regret"]) + T**0.5) for T, r in zip(at, runs, strict=True)]
                    ),
                    "positive_signed_ccv_plus_sqrt_T": exponent(
                        [
                            (T, max(0.0, r["signed_ccv"]) + T**0.5)
                            for T, r in zip(at, runs, strict=True)
                        ]
                    ),
                    "hard_ccv": exponent(
                        [(T, r["hard_ccv"]) for T, r in zip(at, runs, strict=True)]
                    ),
                    "runs": len(runs),
                    "runs_with_negative_regret": sum(r["regret"] < 0.0 for r in runs),
                }
            )
            rows += runs
    return {"rows": rows, "exponents": exponents}


def stories(data: Path) -> dict[str, hr.Problem]:
    """Every problem with a story, 1000 rounds where the data have them."""
    star = read_atlas(data / STAR)
    hub = hub_graph(star, 191, 1200, 0, bandwidth="synthetic:lognormal(50,0.8)")
    cloud = read_edges(data / CLOUDS)
    devices = read_matrix(data / DEVICES, factor=10.0)
    failing = Series(devices.latency_series, failed=10_000.0)
    far, near = ("aws:eu-west-1", "aws:ap-southeast-2"), ("aws:ap-northeast-2", "gcp:asia-east2")
    found: dict[str, hr.Problem] = {
        "ShortestPath, ripe_hub191": hr.ShortestPath.from_network(
            hub, hub.source, hub.target, 1000, 0
        ),
        "ShortestPath, intercloud45": hr.ShortestPath.from_network(
            cloud, *far, 1000, 0, orientation="distance"
        ),
        "LatencyCap, intercloud45": LatencyCap.from_network(
            cloud, *near, 1000, 0, orientation="distance"
        ),
        "LatencyCap, seattle99": LatencyCap.from_network(
            devices, "7", "56", 1000, 0, orientation="distance", latency_rounds=failing
        ),
    }
    for name, days in (("nyse_o", 1000), ("djia", None), ("msci", None)):
        path = data / MARKETS[name]
        found[f"Portfolio, {name}"] = Portfolio.from_csv(path, horizon=days)
        found[f"LogPortfolio, {name}"] = LogPortfolio.from_csv(path, horizon=days)
    for seed in range(5):
        found[f"Ranking, seed {seed}"] = Ranking(horizon=1000, seed=seed)
        found[f"AdSlots, seed {seed}"] = AdSlots(horizon=1000, seed=seed)
        found[f"Caching, seed {seed}"] = Caching(horizon=1000, seed=seed)
    return found


def random_pairs(data: Path) -> list[dict[str, Any]]:
    """CCV on LatencyCap between 20 random pairs of each network: most pairs are not special."""
    cloud = read_edges(data / CLOUDS)
    devices = read_matrix(data / DEVICES, factor=10.0)
    failing = Series(devices.latency_series, failed=10_000.0)
    rng, rows = np.random.default_rng(0), []
    for name, network, rounds in (
        ("intercloud45", cloud, PAPER_LATENCY),
        ("seattle99", devices, failing),
    ):
        for _ in range(20):
            s, t = rng.choice(len(network.nodes), 2, replace=False).tolist()
            problem = LatencyCap.from_network(
                network, s, t, 1000, 0, orientation="distance", latency_rounds=rounds
            )
            X, row = problem.decision_set, {"network": name, "source": s, "target": t}
            policies = {
                "blind_ccv": hr.unconstrained(X),
                "ccv": hr.projection_free_coco(X),
            }
            played = {key: hr.simulate(policy, problem).ccv for key, policy in policies.items()}
            rows.append(row | {key: round(ccv, 1) for key, ccv in played.items()})
    return rows


def problems() -> dict[str, list[dict[str, Any]]]:
    """Regret, CCV and certificate of the practical preset on each problem with a story."""
    rows, data = [], measured_files(*MEASURED)
    for name, problem in stories(data).items():
        X, linear = problem.decision_set, not isinstance(problem, LogPortfolio)
        policy = hr.projection_free_coco(X)
        trace, blind = hr.simulate(policy, problem), hr.simulate(hr.unconstrained(X), problem)
        feasible: Any = getattr(problem, "feasible")  # noqa: B009 - all stories have it
        assert all(constraint(feasible) <= 0.0 for _, constraint in problem), name
        at_feasible = sum(cost(feasible) for cost, _ in problem)
        best = hr.hindsight(problem).cost if linear else at_feasible
        rows.append(
            {
                "problem": name,
                "rounds": problem.horizon,
                "dim": X.dim,
                "benchmark": "hindsight" if linear else "feasible point",
                "benchmark_cost": round(best, 3),
                "feasible_cost": round(at_feasible, 3),
                "regret": round(trace.cost - best, 3),
                "certificate": round(policy.certificate(), 3),
                "ccv": round(trace.ccv, 3),
                "blind_regret": round(blind.cost - best, 3),
                "blind_ccv": round(blind.ccv, 3),
                "violation_range": round(problem.violation_range, 3),  # type: ignore[attr-defined]
            }
        )
    return {"rows": rows, "latency_cap_on_random_pairs": random_pairs(data)}


def searched(X: hr.DecisionSet, T: int) -> dict[str, tuple[Any, Any, int]]:
    """The learners and policies to search against: maker, feedback, draws of the noise."""
    values = partial(hr.bandit, lipschitz=1.0, bound=X.diameter)

    def learner(steps: Any) -> Any:
        return lambda _: hr.ConstrainedPolicy(
            hr.learners.AdaptiveOCG(X, steps), hr.surrogates.CostOnlySurrogate()
        )

    return {
        "AdaptiveOCG, PaperSteps": (learner(hr.learners.steps.PaperSteps(T)), hr.first_order, 1),
        "AdaptiveOCG, RmsSteps": (learner(hr.learners.steps.RmsSteps()), hr.first_order, 1),
        "AdaptiveOCG, CertificateSteps": (
            learner(hr.learners.steps.CertificateSteps()),
            hr.first_order,
            1,
        ),
        "projection_free_coco": (lambda _: hr.projection_free_coco(X), hr.first_order, 1),
        "projection_free_coco, theory": (
            lambda _: hr.projection_free_coco(X, T, preset="theory", lipschitz=1.0),
            hr.first_order,
            1,
        ),
        "projection_free_long_term": (lambda _: hr.projection_free_long_term(X), hr.first_order, 1),
        "ftpl_coco": (lambda draw: hr.ftpl_coco(X, T, draw), hr.first_order, 4),
        "projection_free_bandit": (
            lambda draw: hr.projection_free_bandit(X, T, draw, lipschitz=1.0, bound=X.diameter),
            values,
            4,
        ),
    }


def adversary_search() -> list[dict[str, Any]]:
    """The worst that the search found for each learner and policy, against random games.

    Norms of all gradients are at most 1 and T = 200. Plain learners play without constraints
    (share 1), policies with share 1/2. Regret is against the best feasible action where that is
    affordable; where "exact" is false it is a lower bound, against the game's own comparators.
    "fresh" judges a randomised policy by 32 new draws.
    """
    T, path = 200, HERE / "adversary_search.json"
    chosen = [name for name in searched(hr.sets.Simplex(5), T) if name in sys.argv]
    stored = json.loads(path.read_text()) if chosen else []
    rows = [row for row in stored if row["policy"] not in chosen]
    for X in (hr.sets.Simplex(5), hr.sets.L2Ball(3)):
        for name, (make, feedback, draws) in searched(X, T).items():
            if chosen and name not in chosen:
                continue
            plain = name.startswith("AdaptiveOCG")
            game = LinearGame(X, T, share=1.0 if plain else 0.5)
            quick = X.supports(
                hr.sets.HasLinearDescription
            )  # hindsight is one small linear programme
            exact = not plain and (quick or draws == 1)
            costly = hindsight_regret if exact else regret
            for objective in (costly,) if plain else (costly, ccv):
                given: dict[str, Any] = {"draws": draws, "feedback": feedback}
                slow = objective is hindsight_regret and not quick
                evaluations = 450 if slow or draws > 1 else 1800
                found = worst_game(make, game, objective, seed=0, evaluations=evaluations, **given)
                unit = T if objective is ccv else game.rate
                row = {
                    "set": type(X).__name__,
                    "policy": name,
                    "measure": "ccv/T" if objective is ccv else "regret/(D L T^{3/4})",
                    "exact": objective is ccv or exact or plain,
                    "worst": round(found.value / unit, 4),
                    "best_random": round(found.random_value / unit, 4),
                    "evaluations": found.evaluations,
                }
                if draws > 1:
                    given["draws"] = 32
                    fresh = evaluate_game(
                        lambda draw, make=make: make(1000 + draw),
                        game,
                        found.rounds,
                        objective,
                        **given,
                    )
                    row["worst_fresh"] = round(fresh / unit, 4)
                rows.append(row)
    order = list(searched(hr.sets.Simplex(5), T))
    return sorted(rows, key=lambda row: order.index(row["policy"]))


MAKERS = {
    maker.__name__: maker
    for maker in (
        bandit_growth,
        ftpl_growth,
        problems,
        adversary_search,
    )
}


def main() -> None:
    """Run the chosen makers, all of them if none is named."""
    warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
    chosen = [name for name in MAKERS if name in sys.argv] or list(MAKERS)
    if problems.__name__ in chosen:
        measured_files(*MEASURED)  # before hours of work
    for name in chosen:
        path = HERE / f"{name}.json"
        path.write_text(json.dumps(MAKERS[name](), indent=1) + "\n")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
