"""Networks as problems: orientation, failed links, series, and networks from files played."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from stories import grid

import hedgerow as hr
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.edges import read_edges
from hedgerow.networks.hub_graphs import hub_graph
from hedgerow.networks.matrix import read_matrix
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import draw_synthetic
from hedgerow.problems.latency_cap import LatencyCap
from hedgerow.problems.routes import find_routes
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.problems.variation import Series, UniformScaling

FAR = {  # ends, and how much of the threshold the cheapest routes lack, at least
    ("elm:region-2", "elm:region-12"): 0.7,
    ("aws:eu-west-1", "aws:ap-southeast-2"): 0.9,
}
DETOURS = [  # the direct link takes 910 ms, through other regions 213 ms; measured: 97 and 42 ms
    ("oak:region-3", "elm:region-4"),
    ("aws:ap-northeast-2", "gcp:asia-east2"),  # Seoul to Hong Kong across clouds
]
FAILING = {24: ("3", "17"), 99: ("7", "56")}  # devices: the link without a reading in most rounds


def ends(network, pairs):
    """Return the pair of nodes that the network has."""
    return next(pair for pair in pairs if set(pair) <= set(network.nodes))


def played(problem):
    """Play with and without the constraint; return the policy, both traces and the benchmark."""
    policy = hr.projection_free_coco(problem.decision_set)
    blind = hr.unconstrained(problem.decision_set)
    best = hr.hindsight(problem)
    assert best.status == "optimal"
    return policy, hr.simulate(policy, problem), hr.simulate(blind, problem), best


def keeps(problem, x):
    return all(
        (chunk.constraints @ x + chunk.constraint_offsets <= 0.0).all()
        for chunk in problem.chunks()
    )


def test_orientation_by_distance_keeps_the_shortest_route_and_no_cycle():
    for seed in range(20):
        net = grid(seed)
        found = find_routes(net, "(0, 0)", "(3, 3)", "distance")
        assert [net.edges[i] for i in found.kept] == [tuple(e) for e in found.paths.edges]
        np.testing.assert_array_equal(found.latency, net.latency_ms[found.kept])
        assert found.paths.live.all()
        walks = hr.sets.HopLimitedWalks(net.edges, "(0, 0)", "(3, 3)", 15)
        assert found.paths.minimum(found.latency) == pytest.approx(walks.minimum(net.latency_ms))


def test_orientation_by_an_order_and_as_given():
    net = SimpleNamespace(
        nodes=("s", "a", "t"),
        edges=np.array([[0, 1], [1, 0], [1, 2], [0, 2], [2, 1]]),
        latency_ms=[1.0, 1.0, 1.0, 3.0, 1.0],
    )
    ordered = find_routes(net, "s", "t", ["s", "a", "t"])
    assert ordered.kept.tolist() == [0, 2, 3]
    assert find_routes(net, 0, 2, [0, 2]).kept.tolist() == [3], "nodes outside the order are out"
    with pytest.raises(ValueError, match=r"orient the graph by an order of its nodes first"):
        find_routes(net, "s", "t", None)
    with pytest.raises(ValueError, match=r'"distance" or None, got \'depth\''):
        find_routes(net, "s", "t", "depth")
    with pytest.raises(ValueError, match="no node 'b'"):
        find_routes(net, "s", "b", "distance")
    with pytest.raises(ValueError, match=r"no path leads from 2 to 0"):
        find_routes(net, "t", "s", ["s", "a", "t"])


def test_a_network_and_plain_arrays_give_the_same_problem():
    edges, latency = np.array([[0, 1], [1, 2], [2, 1], [0, 2]]), [10.0, 10.0, 9.0, 30.0]
    network = Network(("s", "a", "t"), edges, latency, "measured", [9.0, 8.0, 7.0, 2.0], "measured")
    plain = SimpleNamespace(
        edges=edges, latency_ms=latency, bandwidth_mbps=network.bandwidth_mbps,
        bandwidth_label="measured",
    )  # fmt: skip
    one = ShortestPath.from_network(network, "s", "t", 20, 3, orientation="distance")
    two = ShortestPath.from_network(plain, 0, 2, 20, 3, orientation="distance")
    for a, b in zip(next(one.chunks(20)), next(two.chunks(20)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.record["latency"] == "measured, x U[0.5, 1.5]"
    assert two.record["latency"] == "given, x U[0.5, 1.5]"
    assert one.record["bandwidth"] == "measured, x U[0.8, 1.2]"
    assert one.kept.tolist() == [0, 1, 3]


def test_a_series_is_tiled_and_failures_count_as_the_penalty():
    net = SimpleNamespace(edges=[("s", "a"), ("a", "t"), ("s", "t")], latency_ms=[1.0, 1.0, 1.0])
    series = Series([[1.0, 2.0, 9.0], [1.0, np.nan, 4.0]], failed=50.0)
    problem = LatencyCap.from_network(net, "s", "t", 5, 0, latency_rounds=series)
    rounds = np.concatenate([chunk.constraints for chunk in problem.chunks(2)])
    np.testing.assert_array_equal(rounds, [[1, 2, 9], [1, 50, 4], [1, 2, 9], [1, 50, 4], [1, 2, 9]])
    assert problem.record["latency"].endswith("2 measured rounds, played 2.5 times; 1 missing, "
                                              "counted as 50")  # fmt: skip
    np.testing.assert_array_equal(problem.feasible, [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="1 missing values of 2; give `failed`"):
        Series([[1.0, np.nan]])
    with pytest.raises(ValueError, match="must be finite"):
        Series([[1.0, np.inf]])
    with pytest.raises(ValueError, match="at least 0, got shape"):
        Series([[1.0, -2.0]])
    with pytest.raises(ValueError, match="the series has 2 edges, the network 3"):
        LatencyCap.from_network(net, "s", "t", 5, 0, latency_rounds=Series([[1.0, 1.0]]))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda n: ShortestPath.from_network(n, "s", "t", 5, 0, threshold=1e9), "lower it"),
        (lambda n: LatencyCap.from_network(n, "s", "t", 5, 0, cap=0.1), "raise it"),
        (lambda n: LatencyCap.from_network(n, "s", "t", 0, 0), "horizon must be at least 1"),
        (lambda n: LatencyCap.from_network(n, "s", "t", 5, 0, price=[-1.0]), "prices must be"),
        (lambda n: LatencyCap.from_network(n, "s", "x", 5, 0), "target 'x' is not a node"),
        (lambda _: UniformScaling(2.0, 1.0), "0 <= low <= high"),
    ],
)
def test_refusals(build, words):
    net = SimpleNamespace(
        edges=[("s", "t")], latency_ms=[3.0], bandwidth_mbps=[5.0], bandwidth_label="measured"
    )
    with pytest.raises(ValueError, match=words):
        build(net)


def test_no_bandwidth_is_refused_with_the_way_out():
    network = Network(("s", "t"), [(0, 1)], [3.0], "measured")
    with pytest.raises(ValueError, match="keep latency below a cap with LatencyCap"):
        ShortestPath.from_network(network, "s", "t", 5, 0)


def test_clouds_with_both_quantities(edges_csv):
    net = read_edges(edges_csv)
    pair = ends(net, FAR)
    problem = ShortestPath.from_network(net, *pair, 1000, 0, orientation="distance")
    assert problem.record["bandwidth"].startswith("measured")
    assert keeps(problem, problem.feasible)
    policy, trace, blind, best = played(problem)
    assert trace.regret(best) <= policy.certificate() + 1e-6
    assert trace.ccv < 0.02 * blind.ccv
    assert blind.ccv > FAR[pair] * 1000 * problem.threshold, "the cheapest routes carry little"
    # the summed bandwidth of the paper: the feasible route visits a large part of the world
    assert problem.feasible.sum() > 0.45 * len(net.nodes)


def test_detours_between_clouds_are_quicker_than_the_direct_link(edges_csv):
    net = read_edges(edges_csv)
    problem = LatencyCap.from_network(net, *ends(net, DETOURS), 1000, 0, orientation="distance")
    assert keeps(problem, problem.feasible)
    policy, trace, blind, best = played(problem)
    assert blind.cost == pytest.approx(1000.0), "blind play takes the one direct link"
    assert trace.regret(best) <= policy.certificate() + 1e-6
    assert trace.ccv < 0.1 * blind.ccv


def test_devices_route_around_a_link_that_fails(matrices_npz):
    net = read_matrix(matrices_npz, factor=10.0)
    rounds = Series(net.latency_series, failed=10_000.0)
    given = {"orientation": "distance", "latency_rounds": rounds}
    problem = LatencyCap.from_network(net, *FAILING[len(net.nodes)], 1000, 0, **given)
    count = len(net.latency_series)
    played_often = f"{count} measured rounds, played {1000 / count:.3g} times"
    assert played_often in problem.record["latency"]
    assert keeps(problem, problem.feasible)
    policy, trace, blind, best = played(problem)
    assert trace.regret(best) <= policy.certificate() + 1e-6
    assert trace.ccv < 0.1 * blind.ccv
    assert blind.ccv > 1e6


def test_latencies_of_devices_with_synthetic_bandwidth(matrices_npz):
    net, law = read_matrix(matrices_npz, factor=10.0), "synthetic:lognormal(50,0.8)"
    bandwidth = draw_synthetic(law, len(net.edges), seed=0)
    net = replace(net, bandwidth_mbps=bandwidth, bandwidth_label=law)
    rounds = Series(net.latency_series, failed=10_000.0)
    given = {"orientation": "distance", "latency_rounds": rounds}
    source, target = {24: ("5", "20"), 99: ("3", "50")}[len(net.nodes)]
    once = len(net.latency_series)
    problem = ShortestPath.from_network(net, source, target, once, 0, **given)
    assert problem.record["bandwidth"].startswith(law)
    assert keeps(problem, problem.feasible)
    policy, trace, blind, best = played(problem)
    assert trace.regret(best) <= policy.certificate() + 1e-6
    assert trace.ccv < 0.1 * blind.ccv


def test_the_papers_graph_from_raw_results(star_results):
    net = hub_graph(read_atlas(star_results), 191, 1200, 0, bandwidth="synthetic:lognormal(50,0.8)")
    problem = ShortestPath.from_network(net, net.source, net.target, 1000, 0)
    assert (problem.decision_set.nodes, problem.decision_set.dim) == (191, 1200)
    assert problem.record["latency"].startswith("proxy:hub_sum(measured)")
    assert problem.record["bandwidth"].startswith("synthetic:hub_min(lognormal(50,0.8))")
    assert keeps(problem, problem.feasible)
    policy, trace, blind, best = played(problem)
    assert trace.regret(best) <= policy.certificate() + 1e-6
    assert trace.ccv < 0.05 * blind.ccv
