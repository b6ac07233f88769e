"""A game in shards against a literal NumPy round, with equal bits for every number of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.games import Changes, ShardedTraffic
from hedgerow.games.traffic_shard import Host, sum_by_twos
from hedgerow.learners import BlockOCG
from hedgerow.problems import DriftingDemand, gravity_means
from hedgerow.sets import PathBlock, Product, Simplex, bulk_paths
from hedgerow.surrogates import CurrentSurrogate, ObservedRanges, PowerPotential

NODES, LIMIT = 14, 0.6


class Instance:
    """A ring with chords, and demands that drift."""

    def __init__(self, seed: int = 0):
        rng = np.random.default_rng(seed)
        steps = (1, 3, NODES - 1, NODES - 3)
        edges = [(i, (i + s) % NODES) for i in range(NODES) for s in steps]
        pairs = [(i, j) for i in range(NODES) for j in range(NODES) if i != j]
        self.latency = rng.uniform(1.0, 3.0, len(edges))
        self.paths: PathBlock = bulk_paths(edges, pairs, 4, self.latency)
        self.stream = DriftingDemand(rng.lognormal(0.0, 1.0, len(pairs)), 1, period=30.0)
        self.capacity = np.full(len(edges), 40.0)

    def game(self, **options: Any) -> ShardedTraffic:
        settings = {"stream": self.stream, "shards": 4, "threads": 1} | options
        return ShardedTraffic(self.paths, self.latency, self.capacity, LIMIT, **settings)

    def left(self, t: int) -> np.ndarray:
        """A link fails in some rounds."""
        return self.capacity * np.where((np.arange(56) == 5) & (8 <= t < 14), 0.05, 1.0)


@pytest.fixture(scope="module")
def instance() -> Instance:
    return Instance()


class Literal:
    """The same game with dense matrices and the library's own policy."""

    def __init__(self, instance: Instance):
        block = instance.paths
        self.latency, self.A = instance.latency, np.zeros((56, block.paths))
        for path in range(block.paths):
            self.A[block.edges_of(path), path] = 1.0
        sizes = np.diff(block.first)
        self.pair = np.repeat(np.arange(block.pairs), sizes)
        start = np.zeros(block.paths)
        start[block.first[:-1]] = 1.0
        learner = BlockOCG(Product(*(Simplex(int(n)) for n in sizes)), start=start)
        weight = CurrentSurrogate(PowerPotential(2.0, 1.0), 0.0, ObservedRanges(learner))
        self.policy = hr.ConstrainedPolicy(learner, weight)

    def report(self, demand: np.ndarray, capacity: np.ndarray) -> tuple[float, float, float]:
        x, d, total = self.policy.ask(), demand[self.pair], demand.sum()
        a = d * (self.A.T @ self.latency) / total
        loads = self.A @ (d * x)
        above = np.maximum(loads - LIMIT * capacity, 0.0)
        c = d * (self.A.T @ (above > 0.0)) / total
        value = float(above.sum() / total)
        self.policy.tell(EvalGrad(float(a @ x), a), EvalGrad(value, c))
        return float(a @ x), value, float((loads / capacity).max())


@pytest.mark.parametrize("shards", [1, 4])
def test_rounds_are_those_of_the_library_with_dense_matrices(
    instance: Instance, shards: int
) -> None:
    game, literal = instance.game(shards=shards), Literal(instance)
    violated = 0
    for t in range(25):
        demand = instance.stream.part(t, 0, instance.paths.pairs)
        seen = game.report(None, instance.left(t))
        assert seen[:3] == pytest.approx(literal.report(demand, instance.left(t)), rel=1e-6)
        assert seen.weight == pytest.approx(literal.policy.weight, rel=1e-6)
        assert np.abs(game.shares() - literal.policy.ask()).max() < 1e-6
        violated += seen.violation > 0.0
    assert violated > 5  # the constraint took part
    assert game.certificate() == pytest.approx(literal.policy.certificate(), rel=1e-6)


def test_every_number_of_threads_gives_the_same_bits(instance: Instance) -> None:
    games = [instance.game(shards=8, threads=n) for n in (1, 2, 3)]
    for t in range(12):
        rounds = [game.report(None, instance.left(t)) for game in games]
        assert rounds[0] == rounds[1] == rounds[2]
    shares = [game.shares() for game in games]
    assert (shares[0] == shares[1]).all()
    assert (shares[0] == shares[2]).all()
    assert games[0].certificate() == games[2].certificate()


def test_sums_by_twos_can_be_cut_into_equal_parts() -> None:
    rng = np.random.default_rng(0)
    vectors = [rng.lognormal(0.0, 9.0, 50) for _ in range(8)]
    whole = sum_by_twos(vectors)
    for size in (1, 2, 4):
        parts = [sum_by_twos(vectors[i : i + size]) for i in range(0, 8, size)]
        assert (sum_by_twos(parts) == whole).all()
    assert (sum(vectors) != whole).any()  # an order matters


def test_changes_are_as_good_as_whole_vectors(instance: Instance) -> None:
    whole, sparse = instance.game(stream=None), instance.game(stream=None)
    rng, demand = np.random.default_rng(1), np.ones(instance.paths.pairs)
    whole.report(demand)
    sparse.report(demand)
    for _ in range(6):
        pairs = np.sort(rng.choice(demand.size, 20, replace=False))
        demand = demand.copy()
        demand[pairs] = rng.lognormal(0.0, 1.0, 20)
        assert whole.report(demand) == sparse.report(Changes(pairs, demand[pairs]))
    assert (whole.shares() == sparse.shares()).all()


def test_loads_of_32_bits_change_little(instance: Instance) -> None:
    exact, single = instance.game(), instance.game(single=True)
    for _ in range(10):
        a, b = exact.report(), single.report()
        assert a.largest == pytest.approx(b.largest, rel=1e-4)
        assert a.cost == pytest.approx(b.cost, rel=1e-4)
    assert a != b


def test_it_learns_to_satisfy_the_limit(instance: Instance) -> None:
    """Violations fall, below those of shortest paths and of equal shares."""
    game = instance.game()
    first = game.report().violation  # equal shares
    seen = [game.report() for _ in range(150)]
    late = np.mean([one.violation for one in seen[75:]])
    assert late < 0.1 * first
    assert np.isfinite(game.certificate())


def test_checkpoints_restore_every_bit(instance: Instance, tmp_path: Path) -> None:
    game, other = instance.game(), instance.game()
    for t in range(6):
        game.report()
        assert isinstance(game.hosts, Host)
        game.hosts.save(tmp_path, t)
    assert isinstance(other.hosts, Host)
    other.hosts.load(tmp_path, 5)
    assert (game.shares() == other.shares()).all()
    assert len(list(tmp_path.iterdir())) == 2 * 4  # the last two of each shard
    [path] = tmp_path.glob("pairs-0-round-5.npy")
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    with pytest.raises(ValueError, match="was cut or changed"):
        other.hosts.load(tmp_path, 5)


def test_bad_input_is_refused_before_anything_changes(instance: Instance) -> None:
    game = instance.game(stream=None)
    before = game.shares()
    for demand, message in (
        (np.ones(3), "demand"),
        (np.full(instance.paths.pairs, -1.0), "at least 0"),
        (None, "no stream"),
    ):
        with pytest.raises(ValueError, match=message):
            game.report(demand)
    with pytest.raises(ValueError, match="above 0"):
        game.report(np.ones(instance.paths.pairs), np.zeros(56))
    assert (game.shares() == before).all()
    assert game.rounds == 0
    with pytest.raises(ValueError, match="power of two"):
        instance.game(shards=3)
    with pytest.raises(ValueError, match="links"):
        ShardedTraffic(instance.paths, np.ones(3), np.ones(3), 0.5)


def test_streams_have_the_same_demands_for_every_cut() -> None:
    stream = DriftingDemand(np.arange(1.0, 101.0), seed=5, period=24.0, hold=4)
    for t in (0, 3, 4, 17):
        whole = stream.part(t, 0, 100)
        parts = [stream.part(t, begin, begin + 25) for begin in range(0, 100, 25)]
        assert (np.concatenate(parts) == whole).all()
    assert (stream.part(3, 0, 100) != DriftingDemand(stream.mean, 6).part(3, 0, 100)).all()
    steady = DriftingDemand(stream.mean, 5, daily=0.0, noise=0.0)
    assert (steady.part(9, 0, 100) == stream.mean).all()
    ratio = np.array([stream.part(t, 0, 100) / stream.mean for t in range(24)])
    assert 0.5 * np.exp(-0.5) <= ratio.min() < 0.7
    assert 1.6 < ratio.max() <= 1.5 * np.exp(0.5)
    means = gravity_means(np.array([1.0, 2.0, 4.0]), np.array([[0, 1], [1, 2]]), 0, spread=0.0)
    assert means == pytest.approx([0.4, 1.6])
