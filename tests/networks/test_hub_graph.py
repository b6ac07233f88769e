"""The paper's graph: what the recipe promises, recorded and repeatable."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.networks.atlas.collector import AtlasChoices
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.hub_graphs import hub_graph
from hedgerow.networks.network import Network
from measured import data

LAW = "synthetic:lognormal(50,0.8)"


def star(spokes=12, **changes):
    values = {
        "nodes": ("hub", *(f"s{i}" for i in range(spokes))),
        "edges": [(i + 1, 0) for i in range(spokes)],
        "latency_ms": 2.0 ** np.arange(spokes),
        "latency_label": "measured",
        "bandwidth_mbps": 3.0 ** np.arange(spokes),
        "bandwidth_label": "measured",
        "hub": 0,
    }
    return Network(**(values | changes))


def test_the_graph_of_191_nodes_and_1200_edges(star_results, tmp_path):
    written = []
    for name in ("a.json", "b.json"):
        measured = read_atlas(star_results, AtlasChoices(aggregate="min"))
        graph = hub_graph(measured, 191, 1200, seed=0, bandwidth=LAW)
        written.append(graph.save(tmp_path / name).read_bytes())
    assert written[0] == written[1]
    paths = hr.sets.DagPaths(graph.edges, graph.source, graph.target)
    assert (len(graph.nodes), paths.dim, int(paths.live.sum())) == (191, 1200, 1200)
    hub = measured.nodes[0]
    assert graph.nodes[graph.hub] == hub
    assert graph.latency_label == "proxy:hub_sum(measured)"
    assert graph.bandwidth_label == "synthetic:hub_min(lognormal(50,0.8))"
    spokes = [measured.nodes[i] for i in measured.edges[:, 0]]
    base = dict(zip(spokes, measured.latency_ms, strict=True))
    base[hub] = 0.0
    for (u, v), ms in zip(graph.edges.tolist(), graph.latency_ms, strict=True):
        assert ms == base[graph.nodes[u]] + base[graph.nodes[v]]
    cheapest = float(graph.latency_ms @ paths.lmo(graph.latency_ms))
    ends = base[graph.nodes[graph.source]] + base[graph.nodes[graph.target]]
    assert cheapest == pytest.approx(ends, rel=1e-12), "no detour beats the hub at base values"


def test_the_spokes_have_equally_spaced_ranks_of_latency(two_stars):
    """The first, the last, and between two of them as many left out as anywhere, or one more."""
    whole = read_atlas(two_stars, AtlasChoices(type="traceroute", aggregate="min"))
    spokes = [whole.nodes[i] for i in whole.edges[:, 0]]
    ranked = sorted(zip(whole.latency_ms.tolist(), map(int, spokes), strict=True))
    kept = set(hub_graph(whole, 191, 1200).nodes) - {whole.nodes[0]}
    ranks = [rank for rank, (_, probe) in enumerate(ranked) if str(probe) in kept]
    assert len(kept) == len(ranks) == 190 < len(spokes)
    assert (ranks[0], ranks[-1]) == (0, len(ranked) - 1)
    assert set(np.diff(ranks)) <= {len(ranked) // 190, len(ranked) // 190 + 1}


@pytest.mark.measured
def test_the_spokes_of_ripe_hub191_come_back_from_the_whole_mesh():
    """Equally spaced ranks of latency among 537 anchors: the way that data set was made."""
    choices = AtlasChoices(type="traceroute", aggregate="min")
    whole = read_atlas(data("atlas_hub_mesh/results.ndjson.gz"), choices)
    small = read_atlas(data("ripe_hub191"), AtlasChoices(aggregate="min"))
    assert set(hub_graph(whole, 191, 1200).nodes) == set(small.nodes)


def test_the_edges_are_those_of_the_synthetic_game():
    graph = hub_graph(star(29), 30, 90, seed=5)
    problem = hr.ShortestPath.random_network(nodes=30, edges=90, horizon=1, seed=5)
    np.testing.assert_array_equal(graph.edges, problem.decision_set.edges)


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_is_live_and_follows_the_recipe(seed):
    graph = hub_graph(star(), 10, 30, seed)
    paths = hr.sets.DagPaths(graph.edges, graph.source, graph.target)
    assert paths.live.all()
    assert len(graph.nodes) == 10
    assert {graph.nodes[graph.source], graph.nodes[graph.target]} < set(star().nodes) - {"hub"}
    pairs = graph.edges.tolist()
    assert [graph.source, graph.target] not in pairs
    for (u, v), ms, mbps in zip(pairs, graph.latency_ms, graph.bandwidth_mbps, strict=True):
        spokes = [int(graph.nodes[i][1:]) for i in (u, v) if i != graph.hub]
        assert ms == sum(2.0**i for i in spokes)
        assert mbps == min(3.0**i for i in spokes)


def test_source_and_target_can_be_given():
    graph = hub_graph(star(), 13, 40, source="s3", target="s7")
    assert (graph.nodes[graph.source], graph.nodes[graph.target]) == ("s3", "s7")
    assert (graph.choices["source"], graph.choices["target"]) == ("s3 (given)", "s7 (given)")
    swapped = hub_graph(star(), 13, 40, source="s7", target="s3")
    assert (swapped.nodes[0], swapped.nodes[-1]) == ("s7", "s3")
    drawn = hub_graph(star(), 13, 40, seed=1)
    assert drawn.choices["source"] == f"{drawn.nodes[0]} (seeded)"


def test_every_open_choice_is_recorded():
    made = hub_graph(star(choices={"aggregate": "min"}), 13, 40, seed=2, bandwidth=LAW)
    assert made.choices["star"] == {"aggregate": "min"}
    for name in (
        "measurement", "hub", "spokes", "latency", "bandwidth", "edges", "direction", "source",
        "target", "random numbers", "seed", "left to the problem",
    ):  # fmt: skip
        assert name in made.choices
    bare = hub_graph(star(bandwidth_mbps=None, bandwidth_label=None), 13, 40)
    assert bare.bandwidth_mbps is None
    assert "the star has none" in bare.choices["bandwidth"]


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({}, {"nodes": 14}, "the star has 12 spokes, 14 nodes need 13"),
        ({}, {"nodes": 3}, "at least 4"),
        ({}, {"edges": 9}, "13 nodes allow 22 to 77 edges, got 9"),
        ({}, {"seed": -1}, "at least 0"),
        ({}, {"source": "s99"}, "'s99' is not among the 12 spokes"),
        ({}, {"source": "s1", "target": "s1"}, "two spokes"),
        ({}, {"bandwidth": "measured"}, "synthetic:lognormal"),
        ({"hub": None}, {}, "built from a star"),
        ({"hub": 3}, {}, "built from a star"),
        ({"edges": [(0, 1), (1, 0), *[(i, 0) for i in range(2, 12)]]}, {}, "two edges to the hub"),
    ],
)
def test_refusals(changes, options, words):
    with pytest.raises(ValueError, match=words):
        hub_graph(star(**changes), **({"nodes": 13, "edges": 40} | options))
