"""The invented internet: planned capacities, usual splits, and links that can fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.games.sharded_traffic import judge
from hedgerow.networks.topology import Topology
from hedgerow.problems import InternetTraffic, SplitOfPaths, equal_shares, shortest_shares


@pytest.fixture(scope="module")
def traffic() -> InternetTraffic:
    return InternetTraffic(300, nodes=60, seed=2)


def test_one_seed_fixes_everything(traffic: InternetTraffic) -> None:
    again, other = InternetTraffic(300, nodes=60, seed=2), InternetTraffic(300, nodes=60, seed=3)
    assert (again.paths.numbers == traffic.paths.numbers).all()
    assert (again.capacity == traffic.capacity).all()
    assert again.failing == traffic.failing
    assert (other.stream.mean != traffic.stream.mean).any()


def test_capacities_are_planned_for_shortest_paths(traffic: InternetTraffic) -> None:
    split = SplitOfPaths(traffic.paths, traffic.latency, shortest_shares(traffic.paths))
    loads = split.loads(traffic.stream.mean)
    assert loads[-2] == pytest.approx(300.0)  # a mean demand is 1
    by_hand = np.zeros(len(traffic.edges))
    for pair in range(300):
        by_hand[traffic.paths.edges_of(int(traffic.paths.first[pair]))] += traffic.stream.mean[pair]
    assert loads[:-2] == pytest.approx(by_hand)
    used = loads[:-2] / traffic.capacity
    assert used.max() < 2.0 / 1.25
    assert np.log2(traffic.capacity) == pytest.approx(np.log2(traffic.capacity).round())


def test_equal_shares_are_on_paths_with_the_fewest_links(traffic: InternetTraffic) -> None:
    shares, paths = equal_shares(traffic.paths), traffic.paths
    for pair in range(300):
        own = range(paths.first[pair], paths.first[pair + 1])
        hops = [len(paths.edges_of(path)) for path in own]
        fewest = [n == min(hops) for n in hops]
        assert shares[list(own)] == pytest.approx(np.array(fewest) / sum(fewest))


def test_links_fail_that_every_pair_can_avoid(traffic: InternetTraffic) -> None:
    failed = [
        {int(e) for e in np.flatnonzero(traffic.capacity_in(t, 80) < traffic.capacity)}
        for t in range(80)
    ]
    assert set().union(*failed) == set(traffic.failing)
    for link in traffic.failing:
        assert sum(link in some for some in failed) == 10
        for pair in range(300):
            paths = range(traffic.paths.first[pair], traffic.paths.first[pair + 1])
            assert any(link not in traffic.paths.edges_of(path) for path in paths)


def test_a_round_is_judged_by_its_loads() -> None:
    seen = judge(np.array([4.0, 9.0, 1.0, 10.0, 25.0]), np.full(3, 8.0), 0.5)
    assert seen[:3] == (2.5, 0.5, 1.125)


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="too few pairs"):
        InternetTraffic(1000, nodes=20)


def test_the_command_plays_a_large_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["run", "traffic", "--pairs", "200", "--workers", "1", "--out", str(tmp_path / "o")]
    ran = CliRunner().invoke(app, [*arguments, "--json"])
    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.stdout)
    assert data["pairs"] == 200
    ours, shortest = (data["methods"][n] for n in ("a learner for each demand", "shortest paths"))
    assert ours["violation"] < shortest["violation"]
    assert len(list((tmp_path / "hedgerow" / "paths").iterdir())) == 1
    refused = CliRunner().invoke(app, [*arguments, "--demands", "x.csv"])
    assert refused.exit_code != 0
    assert "--pairs draws demands" in refused.output


def test_a_network_of_one_s_own_keeps_its_links_and_latencies() -> None:
    edges, latency = [(0, 1), (1, 0), (1, 2), (2, 0), (0, 2)], [1.0, 2.0, 3.0, 4.0, 5.0]
    network = Topology("three", ("a", "b", "c"), None, edges, latency, [1.0] * 5)
    traffic = InternetTraffic(1, network=network)
    assert traffic.nodes == 3
    assert traffic.edges.tolist() == [[0, 1], [1, 2], [0, 2], [1, 0], [2, 1], [2, 0]]
    # the link from 1 to 2 has no measurement of the way back, and takes its own
    assert traffic.latency - 0.1 == pytest.approx([1.0, 3.0, 5.0, 2.0, 3.0, 4.0])
