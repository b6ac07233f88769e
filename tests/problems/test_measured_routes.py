"""Routes on measured series: rounds as measured, named quantities, several constraints, names."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.experiments.problems import find_kind
from hedgerow.networks import Network
from hedgerow.networks.quantities import Quantity
from hedgerow.problems import FullestLink, MeasuredRoutes, UniformScaling

NAMES = ("Oslo", "Bergen", "Turku", "Riga")
EDGES = [(0, 1), (1, 0), (0, 2), (1, 2), (1, 3), (2, 3)]


def network(rounds=40, seed=0, **more):
    rng = np.random.default_rng(seed)
    base = rng.uniform(5.0, 30.0, len(EDGES))
    series = base * rng.lognormal(0.0, 0.3, (rounds, len(EDGES)))
    loss = rng.uniform(0.0, 2.0, (rounds, len(EDGES)))
    given = {
        "bandwidth_mbps": rng.uniform(20.0, 90.0, len(EDGES)),
        "bandwidth_label": "measured",
        "latency_series": series,
        "quantities": {
            "price_eur": Quantity(rng.uniform(1.0, 9.0, len(EDGES)), "measured"),
            "loss_percent": Quantity(loss.mean(axis=0), "measured", loss),
        },
        "times": 1.7e9 + 60.0 * np.arange(rounds),
        "source": 0,
        "target": 3,
    } | more
    return Network(NAMES, EDGES, np.median(series, axis=0), "measured", **given)


def routes_of(problem):
    """Every path of the set, as points."""
    X = problem.decision_set
    points = (np.array(bits, float) for bits in itertools.product((0, 1), repeat=X.dim))
    return np.array([x for x in points if X.contains(x)])


def test_rounds_are_played_as_measured_in_the_units_of_the_file():
    net = network()
    problem = MeasuredRoutes(net, cost="price", caps={"latency": 25.0, "loss": 1.5})
    assert problem.horizon == 40
    assert [limit.quantity.unit for limit in problem.limits] == ["ms", "percent"]
    kept = problem.kept
    for t, (cost, constraint) in enumerate(problem):
        latency, loss = constraint.parts
        assert np.array_equal(cost.coefficients, net.quantities["price_eur"].values[kept])
        assert np.array_equal(latency.coefficients, net.latency_series[t, kept])
        assert latency.offset == -25.0
        assert np.array_equal(loss.coefficients, net.quantities["loss_percent"].series[t, kept])


def test_edges_have_the_names_of_the_network():
    X = MeasuredRoutes(network(), cost="hops", caps="latency=25").decision_set
    assert set(X.edges) <= {(NAMES[a], NAMES[b]) for a, b in EDGES}
    assert (X.source, X.target) == ("Oslo", "Riga")


def test_hops_cost_one_for_each_link():
    problem = MeasuredRoutes(network(), caps="latency=25")
    assert all((cost.coefficients == 1.0).all() for cost, _ in problem)


def test_a_longer_game_begins_again_and_a_shorter_one_ends_sooner():
    net = network(rounds=7)
    whole = list(MeasuredRoutes(net, caps="latency=25", horizon=10))
    assert np.array_equal(whole[8][1].coefficients, whole[1][1].coefficients)
    assert len(list(MeasuredRoutes(net, caps="latency=25", horizon=3))) == 3


def gaps(of_network, *rounds):
    """The network without readings of its first edge in these rounds, and which of them failed."""
    series = of_network.latency_series.copy()
    series[list(rounds), 0] = np.nan
    return series, np.isnan(series)


def test_a_reading_that_was_not_made_is_the_last_one():
    series, _ = gaps(network(), 0, 5, 6, 7)
    net = network(latency_series=series)
    problem = MeasuredRoutes(net, caps="latency=25")
    filled = [g.coefficients for _, g in problem]
    assert [row[0] for row in filled[5:8]] == [series[4, 0]] * 3
    assert filled[0][0] == net.latency_ms[0]
    assert not problem.dead_links().any()
    assert problem.dead_links(dead_from=0.0)[8].all()
    size = series[:, problem.kept].size
    share = f"{400 / size:.2g}"
    assert problem.missing == (
        f"Of {size} readings 4 ({share} %) were not made, and the last one counts there."
    )


def test_an_outage_violates_the_cap_and_makes_the_link_dead():
    series, out = gaps(network(), 5, 6, 7)
    out[7] = False  # not measured in that round
    net = network(latency_series=series, outages=out)
    problem = MeasuredRoutes(net, caps="latency=25", floors="bandwidth=60")
    latency = np.array([g.parts[0].coefficients for _, g in problem])
    level = 10.0 * max(25.0, net.latency_ms[0])
    assert latency[5:8, 0].tolist() == [level, level, level]  # an outage lasts to the next reading
    bandwidth = np.array([g.parts[1].coefficients for _, g in problem])
    assert (bandwidth[5:8, 0] == 0.0).all()
    assert (bandwidth[8:, 0] < 0.0).all()
    dead = problem.dead_links()
    assert np.argwhere(dead).tolist() == [[5, 0], [6, 0], [7, 0]]
    assert problem.missing.startswith(f"2 of {series[:, problem.kept].size} readings are empty")
    given = MeasuredRoutes(net, caps="latency=25", outage_latency=900.0)
    assert [g.coefficients[0] for _, g in given][5:8] == [900.0, 900.0, 900.0]
    assert "3 outages, counted as 900" in given.record["latency at most 25 ms"]


def test_scaling_is_drawn_only_where_it_is_asked_for():
    net = network()
    law = {"latency": UniformScaling(0.5, 1.5)}
    problem = MeasuredRoutes(net, caps="latency=25", scaling=law, seed=3)
    ratio = np.array([g.coefficients for _, g in problem]) / net.latency_series[:, problem.kept]
    assert 0.5 <= ratio.min() < ratio.max() <= 1.5
    assert ratio.std() > 0.1
    again = MeasuredRoutes(net, caps="latency=25", scaling=law, seed=3)
    assert all(
        np.array_equal(a[1].coefficients, b[1].coefficients)
        for a, b in zip(problem, again, strict=True)
    )


def test_limits_that_no_action_satisfies_are_named_one_by_one():
    problem = MeasuredRoutes(network(), caps={"latency": 25.0, "loss": 1000.0})
    assert problem.unkept > 1
    latency, loss = problem.unavoidable_each
    assert not loss.any()
    assert "loss" not in problem.feasibility
    assert problem.unavoidable == pytest.approx(latency / 25.0), "several limits have no unit"
    one = MeasuredRoutes(network(), caps={"latency": 25.0})
    assert one.unavoidable == pytest.approx(latency), "one has its own"
    names = [(limit.name, limit.unit) for limit in problem.limits]
    assert names == [
        ("latency at most 25 ms", "ms"),
        ("loss_percent at most 1000 percent", "percent"),
    ]
    assert (problem.one_unit, one.one_unit) == (False, True)


def test_a_network_without_rounds_is_one_round_played_again():
    net = network(latency_series=None, times=None, quantities={})
    problem = MeasuredRoutes(net, caps="latency=25", horizon=3)
    assert all(np.array_equal(g.coefficients, net.latency_ms[problem.kept]) for _, g in problem)
    with pytest.raises(ValueError, match="no series, so its values make one round; give horizon="):
        MeasuredRoutes(net, caps="latency=25")


def test_what_no_action_keeps_is_counted_as_every_path_says():
    net = network()
    problem = MeasuredRoutes(net, caps={"latency": 25.0, "loss": 1.0})
    at = routes_of(problem)
    for t, (_, constraint) in enumerate(problem):
        # for one constraint the least of all mixtures is at a path; for several it is below
        least = [max(0.0, min(part(x) for x in at)) for part in constraint.parts]
        assert problem.unavoidable_each[:, t] == pytest.approx(least)
        assert problem.unavoidable[t] == pytest.approx(max(least[0] / 25.0, least[1] / 1.0))
    assert 0 < problem.unkept < problem.horizon
    assert problem.unkept == np.count_nonzero(problem.unavoidable)
    said = problem.feasibility
    assert said.startswith(f"In {problem.unkept} of 40 minutes no route meets all limits: latency")
    for least, unit in zip(problem.unavoidable_each, ("ms", "percent"), strict=True):
        count = np.count_nonzero(least)
        assert count > 1
        assert f"is missed in {count}, by up to {least.max():.3g} {unit}" in said
    easy = MeasuredRoutes(net, caps={"latency": 1000.0})
    assert easy.unkept == 0
    assert easy.feasibility == "In every minute some route meets the 1000 ms limit."


def test_a_demand_must_fit_on_the_least_link_of_each_path():
    net = network()
    problem = MeasuredRoutes(net, demands={"bandwidth": 30.0})
    capacity = net.bandwidth_mbps[problem.kept]
    for x in routes_of(problem):
        used = x > 0.0
        ((_, constraint), *_) = problem
        assert (constraint(x) <= 0.0) == (capacity[used].min() >= 30.0)
        assert constraint(x) == pytest.approx(
            max(30.0 - capacity[used].min(), -capacity[~used].min())
        )


def test_link_loads_are_convex_with_a_subgradient():
    rng = np.random.default_rng(1)
    load = FullestLink(rng.uniform(0.0, 50.0, 6), 40.0)
    for _ in range(200):
        x, y = rng.uniform(0.0, 1.0, (2, 6))
        assert load(y) >= load(x) + load.grad(x) @ (y - x) - 1e-9


def test_unavoidable_overload_is_never_more_than_the_best_action_has():
    net = network()
    problem = MeasuredRoutes(net, demands={"bandwidth": 150.0}, horizon=1)
    best = hr.hindsight(problem)
    assert best.status == "infeasible"
    assert 0.0 < problem.unavoidable[0] <= best.violation + 1e-6


def test_the_sum_of_bandwidth_is_there_too():
    problem = MeasuredRoutes(network(), floors="bandwidth=60")
    ((_, constraint), *_) = problem
    x = problem.decision_set.start()
    assert constraint(x) == pytest.approx(60.0 - network().bandwidth_mbps[problem.kept] @ x)


def test_one_linear_constraint_is_played_by_the_compiled_loop_and_several_are_played():
    one = MeasuredRoutes(network(), cost="price", caps="latency=40")
    assert hr.simulate(hr.projection_free_coco(one.decision_set), one).compiled
    several = MeasuredRoutes(
        network(), cost="price", caps="latency=40, loss=2", demands="bandwidth=30"
    )
    assert several.constraints == 3
    policy = hr.projection_free_coco(several.decision_set, constraints=several.constraints)
    trace = hr.simulate(policy, several)
    assert trace.violations_each.shape == (3, 40)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cost": "prise", "caps": "latency=1"}, "no quantity 'prise'; there are latency, "),
        ({"cost": "hops"}, "no constraint; give caps"),
        ({"caps": "latency:120"}, "as 'latency=120', got 'latency:120'"),
        ({"caps": "latency=many"}, "as 'latency=120', got 'latency=many'"),
        ({"caps": "latency=1", "source": "Olso"}, "'Olso', the source; the nearest names"),
        ({"caps": "latency=1", "source": "Riga"}, "two nodes, both are 'Riga'"),
        ({"caps": "latency=1", "source": "Riga", "target": "Oslo"}, "no path leads from 'Riga'"),
        ({"caps": "latency=1", "scaling": {"price": UniformScaling(1, 2)}}, "neither the cost nor"),
    ],
)  # fmt: skip
def test_bad_input_is_answered_in_names(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        MeasuredRoutes(network(), **given)


def test_a_quantity_that_is_not_known_on_a_link_names_the_link():
    price = Quantity([1.0, 1.0, np.nan, 1.0, 1.0, 1.0], "measured")
    net = network(quantities={"price": price})
    with pytest.raises(ValueError, match="the price of the link from Oslo to Turku is not known"):
        MeasuredRoutes(net, cost="price", caps="latency=25")


def test_two_quantities_that_begin_alike_are_both_named():
    one = Quantity(np.ones(len(EDGES)), "measured")
    net = network(quantities={"price_eur": one, "price_usd": one})
    with pytest.raises(ValueError, match="perhaps you want 'price_eur' or 'price_usd'"):
        MeasuredRoutes(net, cost="price", caps="latency=25")


def test_experiment_files_can_ask_for_it(tmp_path):
    path = network().save(tmp_path / "net.json")
    problem = find_kind("measured_routes").build(
        30, 0, network=path, cost="price", caps="latency=25, loss=1"
    )
    assert problem.horizon == 30
    assert [str(limit) for limit in problem.limits] == [
        "latency at most 25 ms",
        "loss_percent at most 1 percent",
    ]
    assert SimpleNamespace(**problem.record).cost.startswith("price_eur: measured")
