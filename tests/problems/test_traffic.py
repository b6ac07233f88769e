"""Traffic engineering: functions of link loads, the problem, its benchmarks, and operators."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines import FixedSplit, LastMatrix, MeanMatrix
from hedgerow.functions import Linear, Maximum
from hedgerow.networks import Topology, TrafficMatrices
from hedgerow.problems import (
    CongestionCost,
    FortzThorup,
    LargestUtilisation,
    QueueingDelay,
    SplitLoads,
    TrafficEngineering,
    gravity_demands,
    link_failures,
)
from hedgerow.problems.link_loads import each_link, mean_latency
from hedgerow.sets import MultiCommodityFlow, PathShares
from hedgerow.testing import check_policy
from measured import data

RING = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def ring() -> Topology:
    """Four nodes in a ring with a chord, every link both ways."""
    edges = np.array([*RING, *((v, u) for u, v in RING)])
    latency = np.tile([2.0, 3.0, 2.0, 3.0, 1.0], 2)
    capacity = np.tile([10.0, 20.0, 10.0, 20.0, 5.0], 2)
    return Topology("ring", ("a", "b", "c", "d"), None, edges, latency, capacity)


def problem(rounds: int = 40, seed: int = 0, **arguments) -> TrafficEngineering:
    matrices = gravity_demands(ring(), rounds, seed, rounds_per_day=20)
    return TrafficEngineering.from_network(ring(), matrices, k=3, **arguments)


def dense_utilisation(P: TrafficEngineering, x: np.ndarray, demand: np.ndarray) -> np.ndarray:
    """Add up the loads path by path."""
    X = P.decision_set
    loads = np.zeros(len(X.edges))
    for share, path, d in zip(x, X.paths, X.pair_of, strict=True):
        loads[list(path)] += share * demand[d]
    return loads / P.capacity


def somewhere(X, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.dirichlet(np.ones(F.dim)) for F in X.factors])


def test_loads_and_their_functions_are_the_sums_over_paths() -> None:
    P = problem(limit=0.5)
    x = somewhere(P.decision_set, 1)
    for demand, (f, g) in zip(P.demands, P, strict=True):
        used = dense_utilisation(P, x, demand)
        assert P.loads.utilisation(x, demand) == pytest.approx(used, rel=1e-13)
        assert g(x) == pytest.approx(used.max() - 0.5, rel=1e-12)
        assert g.grad(x) @ x - 0.5 == pytest.approx(g(x), rel=1e-12)
        lengths = [sum(P.latency[list(path)]) for path in P.decision_set.paths]
        mean = (demand[P.decision_set.pair_of] * x * lengths).sum() / demand.sum()
        assert f(x) == pytest.approx(mean, rel=1e-12)
    many = [dense_utilisation(P, x, demand) for demand in P.demands]
    assert P.utilisation(x) == pytest.approx(np.array(many), rel=1e-13)


def test_each_link_is_a_part_and_their_maximum_is_the_largest() -> None:
    P, x = problem(limit=0.4), somewhere(problem().decision_set, 2)
    demand = P.demands[0]
    parts = each_link(P.loads, demand, 0.4)
    whole = LargestUtilisation(P.loads, demand, 0.4)
    assert isinstance(parts, Maximum)
    assert parts(x) == pytest.approx(whole(x), rel=1e-13)
    assert parts.grad(x) == pytest.approx(whole.grad(x), rel=1e-13)
    assert len(parts.parts) == len(P.capacity)


@pytest.mark.parametrize("congestion", [FortzThorup(), QueueingDelay(0.9)])
def test_congestion_is_convex_and_its_slope_is_the_derivative(congestion) -> None:
    u = np.linspace(0.01, 2.0, 2311)
    h = 1e-7
    numeric = (congestion.value(u + h) - congestion.value(u - h)) / (2.0 * h)
    kinks = np.min(np.abs(u[:, None] - np.array([1 / 3, 2 / 3, 0.9, 1.0, 1.1])), axis=1) < 1e-6
    assert congestion.slope(u)[~kinks] == pytest.approx(numeric[~kinks], rel=1e-5)
    assert (np.diff(congestion.slope(u)) >= 0.0).all()
    assert congestion.value(np.zeros(1))[0] == 0.0


def test_queueing_delay_goes_on_smoothly_beyond_the_knee() -> None:
    delay = QueueingDelay(0.8)
    low, high = delay.value(np.array([0.8 - 1e-9, 0.8 + 1e-9]))
    assert low == pytest.approx(4.0, rel=1e-6) == high
    assert delay.value(np.array([50.0]))[0] == pytest.approx(4.0 + 49.2 * 25.0)


@pytest.mark.parametrize("congestion", [FortzThorup(), QueueingDelay()])
def test_the_gradient_of_a_congestion_cost(congestion) -> None:
    P = problem(cost=congestion, limit=1.0)
    f = next(iter(P))[0]
    assert isinstance(f, CongestionCost)
    x, y = somewhere(P.decision_set, 3), somewhere(P.decision_set, 4)
    h = 1e-6
    numeric = (f(x + h * (y - x)) - f(x - h * (y - x))) / (2.0 * h)
    assert f.grad(x) @ (y - x) == pytest.approx(numeric, rel=1e-5)
    assert f(y) >= f(x) + f.grad(x) @ (y - x) - 1e-12


def test_the_smallest_limit_is_that_of_the_linear_programme_of_all_rounds() -> None:
    from scipy.optimize import linprog

    P = problem()
    X = P.decision_set
    rows = np.array([P.loads.row(e, d) for d in P.demands for e in range(len(P.capacity))])
    n, pairs = X.dim, len(X.pairs)
    A_eq = np.zeros((pairs, n + 1))
    A_eq[X.pair_of, np.arange(n)] = 1.0
    found = linprog(
        np.append(np.zeros(n), 1.0),
        np.column_stack([rows, -np.ones(len(rows))]),
        np.zeros(len(rows)),
        A_eq,
        np.ones(pairs),
    )
    assert P.smallest_limit == pytest.approx(found.fun, rel=1e-8)
    assert X.contains(P.feasible, 1e-8)
    assert P.largest_utilisation(P.feasible).max() == pytest.approx(P.smallest_limit, rel=1e-9)
    assert P.smallest_limit < P.limit  # declared feasible
    assert max(g(P.feasible) for _, g in P) < 0.0


def test_hindsight_is_cheaper_than_the_declared_split_and_dearer_than_each_rounds_own() -> None:
    P = problem()
    best = hr.hindsight(P)
    assert best.status == "optimal"
    assert best.violation <= 1e-9
    optima = P.round_optima()
    declared = sum(f(P.feasible) for f, _ in P)
    shortest = sum(f(P.shortest) for f, _ in P)
    assert shortest <= optima.costs.sum() + 1e-9
    assert optima.costs.sum() <= best.cost + 1e-6
    assert best.cost < declared
    assert optima.limits == pytest.approx(np.full(P.horizon, P.limit))


def test_a_limit_that_no_split_keeps_is_raised_to_the_least_one() -> None:
    P = problem(limit=1e-3)
    optima = P.round_optima()
    x, limit = P.best_for(P.loads, P.demands[0])
    assert limit == optima.limits[0] > 1e-3
    assert P.loads.utilisation(x, P.demands[0]).max() == pytest.approx(limit, rel=1e-6)


def test_operators_play_what_they_are_named_after() -> None:
    P = problem(limit=0.5)
    X = P.decision_set
    lengths = np.array([sum(P.latency[list(path)]) for path in X.paths])
    assert (P.shortest * lengths).sum() == sum(
        lengths[X.pair_of == d].min() for d in range(len(X.pairs))
    )
    hops = np.array([len(path) for path in X.paths])
    for d in range(len(X.pairs)):
        mine = X.pair_of == d
        fewest = mine & (hops == hops[mine].min())
        assert P.equal_split[mine].sum() == pytest.approx(1.0)
        assert P.equal_split[fewest] == pytest.approx(np.full(fewest.sum(), 1.0 / fewest.sum()))
    last, mean = LastMatrix(P), MeanMatrix(P)
    for t, (f, g) in enumerate(P):
        for policy in (last, mean):
            x = policy.ask()
            policy.tell(hr.feedback.full_information(f, x), hr.feedback.full_information(g, x))
        assert (last.ask() == P.best_for(P.loads, P.demands[t])[0]).all()
        planned = P.best_for(P.loads, P.demands[: t + 1].mean(axis=0))[0]
        costs = f.coefficients
        assert costs @ mean.ask() == pytest.approx(costs @ planned, abs=1e-7)
    assert last.oracle_calls == mean.oracle_calls == P.horizon


def test_the_best_split_for_a_constant_matrix_is_found_after_one_round() -> None:
    P = problem(1)
    steady = TrafficEngineering(
        P.decision_set, np.tile(P.demands, (5, 1)), P.latency, P.capacity, P.smallest_limit * 1.1
    )
    trace = hr.simulate(LastMatrix(steady), steady)
    assert (trace.violations[1:] <= 1e-7).all()
    assert trace.costs[1:] == pytest.approx(steady.round_optima().costs[1:])


def test_operators_refuse_other_rounds() -> None:
    P = problem()
    x = P.shortest
    f = Linear(np.ones(x.size))
    with pytest.raises(TypeError, match="play it on TrafficEngineering"):
        LastMatrix(P).tell(hr.feedback.full_information(f, x), hr.feedback.full_information(f, x))
    with pytest.raises(TypeError, match="learns from Full feedback"):
        LastMatrix(P).tell(hr.first_order(f, x), hr.first_order(f, x))
    with pytest.raises(ValueError, match="x must lie in the decision set"):
        FixedSplit(P.decision_set, np.zeros(x.size))


def test_a_snapshot_of_an_operator_plays_on() -> None:
    P = problem(6)
    one, two = MeanMatrix(P), MeanMatrix(P)
    rounds = list(P)
    for f, g in rounds[:3]:
        one.tell(
            hr.feedback.full_information(f, one.ask()), hr.feedback.full_information(g, one.ask())
        )
    two.restore(one.state())
    for f, g in rounds[3:]:
        for policy in (one, two):
            policy.tell(
                hr.feedback.full_information(f, policy.ask()),
                hr.feedback.full_information(g, policy.ask()),
            )
    assert (one.ask() == two.ask()).all()


def test_policies_keep_the_limit_better_than_shortest_paths() -> None:
    matrices = gravity_demands(ring(), 600, 0, rounds_per_day=60, crowds=0.0)
    P = TrafficEngineering.from_network(ring(), matrices, k=3)
    X = P.decision_set
    fixed = hr.simulate(FixedSplit(X, P.shortest), P)
    assert fixed.ccv > 1.0
    for tracking in (True, False):
        policy = hr.projection_free_coco(X, tracking=tracking)
        assert hr.simulate(policy, P).ccv < 0.5 * fixed.ccv
    two = PathShares([(0, 1), (0, 1), (1, 2)], [(0, 1), (0, 2)])
    check_policy(lambda: hr.projection_free_coco(two, tracking=False))


def test_whole_graphs_and_links_as_constraints_of_their_own_are_played() -> None:
    matrices = gravity_demands(ring(), 20, 1, pairs=4)
    P = TrafficEngineering.from_network(ring(), matrices, k=None, per_link=True, limit=0.5)
    assert isinstance(P.decision_set, MultiCommodityFlow)
    policy = hr.projection_free_coco(P.decision_set, constraints=len(P.capacity))
    trace = hr.simulate(policy, P)
    assert trace.costs.size == 20
    paths = TrafficEngineering.from_network(ring(), matrices, k=9, limit=0.5)
    assert P.smallest_limit == pytest.approx(paths.smallest_limit, rel=1e-6)
    assert P.shortest @ np.tile(P.latency, 4) == pytest.approx(
        mean_latency(paths.loads, paths.latency, np.ones(4))(paths.shortest) * 4.0
    )


def test_generated_demand_is_fixed_by_its_seed_and_scaled_to_the_network() -> None:
    one, two = (gravity_demands(ring(), 30, 5, rounds_per_day=10) for _ in range(2))
    assert (one == two).all()
    assert (one != gravity_demands(ring(), 30, 6, rounds_per_day=10)).any()
    P = TrafficEngineering.from_network(ring(), one, limit=1.0)
    mean = P.loads.utilisation(P.shortest, P.demands.mean(axis=0))
    assert mean.max() == pytest.approx(0.5)
    still = gravity_demands(ring(), 140, 5, rounds_per_day=10, noise=0.0, crowds=0.0)
    assert still[:10] == pytest.approx(still[10:20])  # one day is like the next
    assert still[50:60].sum() == pytest.approx(0.6 * still[:10].sum())  # but on the weekend
    assert still[70:80] == pytest.approx(still[:10])
    few = gravity_demands(ring(), 5, 5, pairs=3)
    assert (few.any(axis=0)).sum() == 3
    crowded = gravity_demands(ring(), 40, 5, noise=0.0, daily=0.0, crowds=0.1, crowd_rounds=3)
    by_target = crowded.sum(axis=1)
    assert (by_target.max(axis=0) / by_target.min(axis=0)).max() == pytest.approx(2.0)


def test_failed_links_leave_a_way_round() -> None:
    available = link_failures(ring(), 400, 1, failures=0.05, duration=7)
    down = available < 1.0
    assert 0.0 < down.mean() < 0.5
    assert (down[:, :5] == down[:, 5:]).all()  # both directions
    assert (down.sum(axis=1) <= 2).all()
    matrices = gravity_demands(ring(), 400, 1)
    P = TrafficEngineering.from_network(ring(), matrices, available=available, limit=1.0)
    t = int(np.argmax(down.any(axis=1)))
    g = list(P)[t][1]
    assert g(P.shortest) + 1.0 == pytest.approx(P.largest_utilisation(P.shortest)[t])
    whole = P.loads.utilisation(P.shortest, P.demands[t])
    assert P.utilisation(P.shortest)[t] == pytest.approx(whole / available[t])
    alone = Topology("line", ("a", "b"), None, np.array([(0, 1)]), [1.0], [1.0])
    assert (link_failures(alone, 50, 0, failures=1.0) == 1.0).all()


WRONG = {
    "shape": ([[1.0, 2.0]], "demands must have shape"),
    "negative": ([[1.0], [-1.0]], "got -1.0 for pair 0 in round 2"),
    "missing": ([[math.nan]], "must be finite and at least 0, got nan"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_demands_are_refused(name: str) -> None:
    demands, sentence = WRONG[name]
    X = PathShares([(0, 1)], [(0, 1)])
    with pytest.raises(ValueError, match=sentence):
        TrafficEngineering(X, demands, [1.0], [1.0], 0.5)


def test_wrong_networks_are_refused() -> None:
    X = PathShares([(0, 1)], [(0, 1)])
    with pytest.raises(ValueError, match="capacities must be above 0, got 0 on link 0"):
        SplitLoads(X.incidence, X.pair_of, np.zeros(1))
    with pytest.raises(ValueError, match="limit must be above 0"):
        TrafficEngineering(X, [[1.0]], [1.0], [1.0], 0.0)
    with pytest.raises(ValueError, match=r"must have shape \(rounds, 4, 4\)"):
        TrafficEngineering.from_network(ring(), np.ones((2, 3, 3)))
    with pytest.raises(ValueError, match="no pair of nodes has a demand"):
        TrafficEngineering.from_network(ring(), np.zeros((2, 4, 4)))
    bare = hr.networks.Network(("a", "b"), [(0, 1)], [1.0], "measured")
    with pytest.raises(ValueError, match="needs a capacity on every link"):
        TrafficEngineering.from_network(bare, np.ones((1, 2, 2)))
    with pytest.raises(ValueError, match="available must have shape"):
        TrafficEngineering(X, [[1.0]], [1.0], [1.0], 0.5, available=np.zeros((1, 1)))
    with pytest.raises(ValueError, match="ask for at most 16777216 rounds"):
        gravity_demands(ring(), 10**8, 0)
    with pytest.raises(ValueError, match="daily must be at least 0 and below 1, got 1"):
        gravity_demands(ring(), 10, 0, daily=1.0)
    with pytest.raises(ValueError, match="knee must lie between 0 and 1"):
        QueueingDelay(1.0)


@pytest.mark.measured
def test_a_measured_day_is_kept_better_than_by_shortest_paths() -> None:
    network = Topology.load(data("traffic/abilene.json"))
    week = TrafficMatrices.load(data("traffic/abilene_demands.npz"), network.nodes)
    assert week.demands.shape == (2016, 12, 12)
    P = TrafficEngineering.from_network(network, week.demands[:288], limit=1.0)
    P = P.with_limit(0.7 * P.shortest_limit)
    fixed = hr.simulate(FixedSplit(P.decision_set, P.shortest), P)
    assert hr.simulate(hr.projection_free_coco(P.decision_set), P).ccv < 0.5 * fixed.ccv
