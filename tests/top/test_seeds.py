"""`rng` beside `seed`: the same streams through either, and generators that draw a seed once."""

from __future__ import annotations

import copy
import inspect
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inputs import as_seed

X = hr.sets.Simplex(3)
VALUES = {"lipschitz": 1.0, "bound": 1.0}
L, B, P = hr.learners, hr.baselines, hr.problems
NETWORK = hr.networks.Network(
    ("hub", *"abcdefg"), [(i, 0) for i in range(1, 8)], np.arange(1.0, 8.0), "measured", hub=0
)


RING = SimpleNamespace(
    nodes=tuple("abcd"),
    edges=np.array([(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1), (3, 2), (0, 3)]),
    latency_ms=np.ones(8),
    capacity_mbps=np.full(8, 10.0),
    bandwidth_mbps=np.full(8, 10.0),
)


POLICIES = {
    "ftpl_coco": lambda **seed: hr.ftpl_coco(X, 100, **seed),
    "projection_free_bandit": lambda **seed: hr.projection_free_bandit(X, 100, **VALUES, **seed),
    "semi_bandit_coco": lambda **seed: hr.semi_bandit_coco(hr.sets.KSubsets(4, 2), 100, **seed),
    "garber_kretzu_2024_bandit": lambda **seed: B.garber_kretzu_2024_bandit(
        X, 100, **VALUES, **seed
    ),
    "wang_2025_bandit": lambda **seed: B.wang_2025_bandit(X, 100, **VALUES, **seed),
    "Sampled": lambda **seed: hr.Sampled(hr.projection_free_coco(X), **seed),
    "LazySampled": lambda **seed: hr.LazySampled(
        hr.projection_free_coco(X, tracking=False), **seed
    ),
    "FTPL": lambda **seed: L.FTPL(X, **seed),
    "BlockBandit": lambda **seed: L.BlockBandit(X, L.PracticalBlocks(100), **seed),
    "RestartedBlockBandit": lambda **seed: L.RestartedBlockBandit(
        X, L.PracticalBlocks(100), **seed
    ),
}
PROBLEMS = {
    **{
        name: getattr(P, name)
        for name in (
            *("IidSimplex", "QuadraticBox", "SwitchingBall", "DriftingSubsets"),
            *("OptimalTransport", "SensorCoverage", "Caching", "AdSlots", "Ranking"),
            *("JobSequencing", "HardBox", "HalfspaceBox", "OrthogonalBall"),
        )
    },
    "IidLinear": lambda **seed: P.IidLinear(X, horizon=20, **seed),
    "random_network": lambda **seed: hr.ShortestPath.random_network(40, 200, 30, **seed),
    "drifting_paths": lambda **seed: P.drifting_paths(40, 200, 30, **seed),
    "RandomSigns": lambda **seed: P.RandomSigns(X, np.array([1.0, 2.0, 4.0]), 99, **seed),
}
ARRAYS = {
    "gravity_demands": lambda **seed: P.gravity_demands(RING, 20, **seed),
    "link_failures": lambda **seed: P.link_failures(RING, 400, failures=0.1, **seed),
    "hub_graph": lambda **seed: hr.networks.hub_graph(NETWORK, 6, 9, **seed).edges,
}
ALL = POLICIES | PROBLEMS | ARRAYS


def drawn(name, made):
    """Return what a part drew, in a form that can be compared."""
    if name in ARRAYS:
        return np.asarray(made).tolist()
    if name in PROBLEMS:
        x = made.decision_set.lmo(np.arange(1.0, 1.0 + made.decision_set.dim))
        policy = hr.projection_free_coco(made.decision_set)
        rounds = made.rounds(policy) if made.adaptive else iter(made)
        return [(cost(x), constraint(x)) for (cost, constraint), _ in zip(rounds, range(40))]  # noqa: B905
    state = made.state()
    return state["checksum"], made.ask().tolist()


@pytest.mark.parametrize("name", ALL)
def test_a_whole_number_is_the_same_seed_through_either(name):
    make = ALL[name]
    wanted = drawn(name, make(seed=5))
    assert drawn(name, make(rng=5)) == wanted
    assert drawn(name, make(rng=np.int64(5))) == wanted
    assert drawn(name, make(rng=6)) != wanted


@pytest.mark.parametrize("name", ALL)
def test_both_are_refused_also_where_the_seed_is_the_default(name):
    for seed in (0, 5):
        with pytest.raises(TypeError, match=rf"give seed or rng, not both; got seed={seed} and"):
            ALL[name](seed=seed, rng=5)


@pytest.mark.parametrize("name", ALL)
def test_a_generator_draws_a_seed_of_its_own(name):
    make = ALL[name]
    first, again = np.random.default_rng(3), np.random.default_rng(3)
    assert drawn(name, make(rng=first)) == drawn(name, make(rng=again))
    assert drawn(name, make(rng=first)) != drawn(name, make(rng=np.random.default_rng(3)))
    sequence = np.random.SeedSequence(7)
    assert drawn(name, make(rng=sequence)) == drawn(name, make(rng=np.random.SeedSequence(7)))
    assert drawn(name, make(rng=np.random.PCG64(7)))


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_generator_made_is_copied_and_recorded_by_its_seed(name):
    made = POLICIES[name](rng=np.random.default_rng(3))
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert drawn(name, other) == drawn(name, made)
    call = made.made_by()
    assert isinstance(call.arguments["seed"], int)
    assert "rng" not in call.arguments | call.defaults
    assert drawn(name, POLICIES[name](seed=call.arguments["seed"])) == drawn(name, made)


def test_every_public_seed_has_an_rng_beside_it():
    """Parts of `testing` and of experiments, whose seeds are in files, are left out."""
    without = set()
    for folder in (hr, hr.policies, hr.learners, hr.baselines, hr.problems, hr.networks):
        for name in folder.__all__:
            value = getattr(folder, name)
            if callable(value):
                try:
                    names = inspect.signature(value).parameters
                except (TypeError, ValueError):
                    continue
                if "seed" in names and "rng" not in names:
                    without.add(name)
    # these are built by functions that take rng, choose what to download, or are drawn anew by
    # every machine of a large game, from a whole number that all of them know
    drawn_anywhere = {"DriftingDemand", "InternetTraffic", "gravity_means"}
    others = {"AtlasChoices", "LatencyCap", "SemiBandit", "ShortestPath"}
    assert without == others | drawn_anywhere


@pytest.mark.parametrize("rng", [True, 1.5, "3", np.random.RandomState(0)])
def test_another_rng_gets_a_sentence(rng):
    with pytest.raises(TypeError, match="rng must be a whole number, or a Generator"):
        as_seed(None, rng)


def test_no_seed_and_a_negative_one_get_a_sentence():
    with pytest.raises(TypeError, match="seed must be a whole number, got None; choose one"):
        hr.ftpl_coco(X, 100)
    with pytest.raises(ValueError, match="rng must be at least 0, got -1"):
        hr.ftpl_coco(X, 100, rng=-1)
    with pytest.raises(TypeError, match="SteadyPush draws nothing at random"):
        P.SteadyPush(rng=3)
