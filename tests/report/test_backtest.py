"""The backtest: numbers as the file has them, a table of 80 columns, a page of its own, errors."""

from __future__ import annotations

import io
import itertools
import re
import shlex
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.experiments.backtesting import BEST, DEFAULT, backtest, count_switches
from hedgerow.networks import EdgeColumns, Network, read_edges
from hedgerow.networks.quantities import Quantity
from hedgerow.policies import Certificate
from hedgerow.problems import MeasuredRoutes
from hedgerow.protocols.limits import MixedUnitsError
from hedgerow.protocols.service_level import shown
from hedgerow.report import backtest_table, write_backtest
from hedgerow.report.backtest import certificate_sentence, each_table, next_weights
from hedgerow.report.backtest_figures import place_names
from hedgerow.report.backtest_verdict import better_in_both, verdict
from hedgerow.report.picture import canvas
from operator_case import LINKS, OUTAGE, operator_csv, operator_readings

MINUTES = 1280
CAP = 45.0


@pytest.fixture(scope="module")
def measurements(tmp_path_factory):
    return operator_csv(tmp_path_factory.mktemp("operator") / "measurements.csv", MINUTES)


@pytest.fixture(scope="module")
def problem(measurements):
    columns = EdgeColumns("site_a", "site_b", "rtt_ms", time="time")
    links = read_edges(measurements, columns, both_ways=True)
    return MeasuredRoutes(links, "Lisbon", "Warsaw", cost="price", caps={"latency": CAP})


@pytest.fixture(scope="module")
def test(problem):
    return backtest(problem)


def along(route):
    """Latency of each minute and price of a route, as the generator has them."""
    latency, price = operator_readings(MINUTES)
    index = [
        next(i for i, link in enumerate(LINKS) if set(link) == {a, b}) for a, b in pairwise(route)
    ]
    return np.round(latency[:, index], 3).sum(axis=1), price[index].sum(), index


@pytest.mark.parametrize("name", ["cheapest path", "shortest path"])
def test_a_static_path_has_the_numbers_of_the_file(test, problem, name):
    run = test[name]
    (action,) = problem.decision_set.routes(run.plays[0])
    route = action.name.split(" > ")
    latency, price, index = along(route)
    assert run.any_level.minutes == (latency > CAP + 1e-9).sum()
    assert run.levels[0].worst == pytest.approx(max(0.0, (latency - CAP).max()), abs=1e-9)
    assert run.mean_cost == pytest.approx(price)
    assert run.switches == 0
    dead = 60.0 if LINKS.index(OUTAGE) in index else 0.0
    assert run.dead_minutes == dead


def test_shares_on_a_dead_link_count_by_their_share(test, problem):
    edge = list(problem.decision_set.edges).index(OUTAGE)
    run = test[DEFAULT]
    expected = run.plays[1200:1260, edge].sum()
    assert run.dead_minutes == pytest.approx(expected)


def test_the_learner_plays_what_it_plays_alone(test, problem):
    alone = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    assert np.array_equal(test[DEFAULT].trace.costs, alone.costs)
    assert test.now.x == pytest.approx(test[DEFAULT].following, abs=1e-9)


def test_the_best_row_is_the_benchmark(test, problem):
    run = test.runs[-1]
    assert run.name == "best in hindsight"
    assert run.trace.cost == pytest.approx(test.best.cost)
    assert run.trace.ccv == pytest.approx(test.best.ccv)
    assert test.best.least == (problem.unkept > 0)


def test_next_weights_state_what_rounding_costs(problem):
    problem = MeasuredRoutes(
        problem.network, "Lisbon", "Warsaw", cost="price", caps={"latency": 60.0}
    )
    test = backtest(problem)
    assert test.now[0].share < 0.9  # the traffic is split, so that rounding matters
    *lines, loss = next_weights(test, 1)
    assert len(lines) == 1
    (cost, constraint) = list(problem)[-1]
    before, after = test[DEFAULT].following, test.now.rounded(1).x
    assert f"the cost by {cost(after) - cost(before):+.3g} and" in loss
    assert f"value by {constraint(after) - constraint(before):+.3g}." in loss
    assert f"moved {100.0 * (1.0 - test.now[0].share):.1f} %" in loss


def test_next_weights_add_no_units_of_several_limits(problem):
    several = MeasuredRoutes(
        problem.network, "Lisbon", "Warsaw", cost="price", caps="latency=40, hops=10", horizon=400
    )
    test = backtest(several)
    *_, loss = next_weights(test, 1)
    _, constraint = list(several)[-1]
    before, after = test[DEFAULT].following, test.now.rounded(1).x
    assert not np.allclose(before, after)
    latency, hops = (part(after) - part(before) for part in constraint.parts)
    said = f"{latency:+.3g} ms of latency at most 40 ms, {hops:+.3g} links of hops at most 10"
    assert f"and the constraint values by {said}" in loss
    assert "largest" not in loss


def test_switches_count_changes_of_the_main_route(problem):
    X = problem.decision_set
    one, two = X.lmo(problem.price), X.lmo(problem.latency)
    assert not np.array_equal(one, two)
    plays = np.array([one, 0.9 * one + 0.1 * two, 0.1 * one + 0.9 * two, two, one])
    assert count_switches(problem, plays) == 2


def test_own_policies_play_too(problem):
    short = MeasuredRoutes(
        problem.network, "Lisbon", "Warsaw", cost="price", caps={"latency": CAP}, horizon=30
    )
    X = short.decision_set
    mine = hr.baselines.fixed(X, X.start())
    found = backtest(short, {"mine": mine, "ecmp": hr.baselines.fixed(X, X.start())})
    assert np.array_equal(found["mine"].plays, found["ecmp"].plays)
    with pytest.raises(KeyError, match="no policy 'yours'; there are hedgerow, "):
        found["yours"]


def test_several_constraints_have_a_row_each(problem, tmp_path):
    several = MeasuredRoutes(
        problem.network, "Lisbon", "Warsaw", cost="hops", caps="latency=45, price=12", horizon=60
    )
    found = backtest(several)
    assert len(found.runs[0].levels) == 2
    page = write_backtest(found, tmp_path).read_text()
    assert "price_eur at most 12 eur" in page
    assert "over a limit" in verdict(found)
    assert (tmp_path / "figures/limit-2.png").is_file()


def test_several_limits_that_nobody_satisfies_are_not_added_up(problem, tmp_path):
    """Milliseconds and euros have a number each, for the best action and for the certificate."""
    several = MeasuredRoutes(
        problem.network, "Lisbon", "Warsaw", cost="hops", caps="latency=30, price=6", horizon=150
    )
    found = backtest(several)
    best = found[BEST]
    assert found.best.least
    assert found.best.units == (30.0, 6.0)
    relative = best.trace.violations_each / np.array([[30.0], [6.0]])
    assert found.best.ccv == pytest.approx(np.maximum(relative.max(axis=0), 0.0).sum())
    latency, price = best.trace.ccv_each
    assert found.runs[0].certificate.budget == (latency, price)
    page = write_backtest(found, tmp_path).read_text()
    assert f"violates by {latency:.4g} ms (latency at most 30 ms), {price:.4g} eur (price" in page
    assert "in units of 30, 6" in page
    mixed = np.maximum(best.trace.violations, 0.0).sum()
    assert f"{mixed:.6g} in all" not in page
    console = Console(width=80, file=io.StringIO())
    console.print(each_table(found))
    for text in (page, console.file.getvalue()):
        for name, total in zip(("ms", "eur"), found.runs[0].trace.ccv_each, strict=True):
            assert f"{shown(total)} {name}" in text
    assert max(map(len, console.file.getvalue().splitlines())) <= 80
    with pytest.raises(MixedUnitsError, match=r"price_eur at most 6 eur\), whose units differ"):
        _ = best.trace.ccv


def printed(line, at, monkeypatch):
    monkeypatch.chdir(at)
    monkeypatch.setenv("COLUMNS", "80")
    return CliRunner().invoke(app, ["backtest", *shlex.split(line)])


def test_one_command_does_it_all(measurements, tmp_path, monkeypatch):
    done = printed(
        f"{measurements} --source Lisbon --target Warsaw --cost price --cap latency=45 "
        "--today 'Lisbon, Paris, Frankfurt, Warsaw'",
        tmp_path,
        monkeypatch,
    )
    assert done.exit_code == 0, done.output
    table = [line for line in done.stdout.splitlines() if line.startswith(" ")]
    assert max(map(len, table)) <= 80
    assert "…" not in done.stdout
    for name in ("hedgerow", "cheapest path", "shortest path", "ecmp", "today"):
        assert any(line.startswith(f" {name} ") for line in table), name
    assert (
        "Each link is measured in one direction only and used for both; pass --one-way to prevent "
        "this." in done.stderr
    )
    last = done.stdout.splitlines()[-1]
    assert re.match(r"Hedgerow was [\d.]+ % \w+.* than the route of today, with \d+ ", last)
    weights = re.findall(r"^  ( *\d+)  Lisbon > .* > Warsaw$", done.stdout, re.MULTILINE)
    assert sum(map(int, weights)) == 100
    sentence = r"^Rounding (moved \d+\.\d %|to these weights moves less than 0.1 %) of the traffic"
    assert re.search(sentence, done.stdout, re.MULTILINE)
    page = (tmp_path / "out/backtest/backtest.html").read_text()
    assert page.count("data:image/png;base64,") == 6
    assert page.index('class="verdict"') < page.index("<img ") < page.index("<table>")
    assert page.count("<p") == 3 + page[page.index("<img ") :].count("<p")  # the meta tag is one
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "Lisbon" in page


def test_a_network_file_and_a_file_without_times(problem, tmp_path, monkeypatch):
    problem.network.save(tmp_path / "net.json")
    ends = "--source Lisbon --target Warsaw --cap latency=45 --rounds 20"
    assert printed(f"net.json {ends}", tmp_path, monkeypatch).exit_code == 0
    (tmp_path / "flat.csv").write_text("src,dst,rtt_ms\na,b,5\nb,c,6\na,c,20\n")
    line = "flat.csv --source a --target c --cap latency=15"
    done = printed(line, tmp_path, monkeypatch)
    assert done.exit_code == 2
    assert "its values make one round" in done.stderr
    done = printed(f"{line} --rounds 20 --scale latency=0.5..1.5", tmp_path, monkeypatch)
    assert done.exit_code == 0, done.output
    assert " rounds " in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--source Lisbon --target Warsav --cap latency=45", "the nearest names are 'Warsaw'"),
        ("--source Lisbon --target zzz --cap latency=45", "there are 'Amsterdam', 'Frankfurt'"),
        ("--source Lisbon --target Warsaw", "no limit; give --cap, --floor or --demand, as in"),
        ("--source Lisbon --target Warsaw --cap latency", "as 'latency=120', got 'latency'"),
        ("--source Lisbon --target Warsaw --cap jitter=3", "no quantity 'jitter'; there are"),
        ("--target Warsaw --cap latency=45", "the network names no source; give --source"),
        (
            "--source Lisbon --target Warsaw --cap latency=45 --scale latency=2",
            "as 'latency=0.5..1.5', got",
        ),
        ("--source Lisbon --target Warsaw --cap latency=45 --today Lisbon,Warsaw", "no link from"),
        ("--source Lisbon --target Warsaw --cap latency=45 --from origin", "no column 'origin'"),
    ],
)
def test_mistakes_get_one_sentence(options, sentence, tmp_path, monkeypatch):
    small = operator_csv(tmp_path / "small.csv", 3)
    done = printed(f"{small} {options}", tmp_path, monkeypatch)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3


def test_a_missing_file_comes_before_missing_options(tmp_path, monkeypatch):
    done = printed("none.csv", tmp_path, monkeypatch)
    assert done.exit_code == 2
    assert done.stderr == "hedgerow: there is no file none.csv; check the path\n"
    for command in ("ingest edges", "ingest matrix", "ingest atlas", "network build"):
        done = CliRunner().invoke(app, [*command.split(), "none.csv"])
        assert done.exit_code == 2
        assert "'none.csv' does not exist" in done.stderr
        assert "--out" not in done.stderr


def test_links_measured_once_count_for_both_ways():
    price = Quantity([1.0, 2.0], "measured", np.array([[1.0, 2.0], [3.0, 4.0]]))
    once = Network(
        ("a", "b", "c"), [(0, 1), (1, 2)], [5.0, 6.0], "measured", [7.0, 8.0], "measured",
        latency_series=np.array([[5.0, 6.0], [7.0, 8.0]]), quantities={"price": price},
    )  # fmt: skip
    assert once.is_one_way
    twice = once.both_ways()
    assert twice.edges.tolist() == [[0, 1], [1, 2], [1, 0], [2, 1]]
    assert twice.latency_series[1].tolist() == [7.0, 8.0, 7.0, 8.0]
    assert twice.quantities["price"].series[0].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert not twice.is_one_way
    with pytest.raises(ValueError, match="some edges lead back already"):
        twice.both_ways()


def test_the_table_is_a_table(test):
    heads = [column.header for column in backtest_table(test).columns]
    assert heads == ["policy", "over\nmin", "\n%", "mean\nms", "total\nms", "worst\nms",
                     "cost\neur", "switches", "dead\nmin"]  # fmt: skip
    first = test.runs[0]
    cells = [next(iter(column.cells)).plain for column in backtest_table(test).columns]
    assert cells[4] == shown(first.trace.ccv)
    assert cells[3] == shown(first.trace.ccv / MINUTES)


def test_the_verdict_counts_against_the_shortest_path_or_todays_route(test, problem):
    mine, shortest = test[DEFAULT], test["shortest path"]
    change = 100.0 * (mine.mean_cost / shortest.mean_cost - 1.0)
    word = "cheaper" if change < 0.0 else "more expensive"
    more = mine.any_level.minutes - shortest.any_level.minutes
    assert verdict(test) == (
        f"Hedgerow was {abs(change):.1f} % {word} than the shortest path, with {abs(more):.0f} "
        f"{'more' if more > 0 else 'fewer'} minutes over the limit ({mine.any_level.minutes:.0f} "
        f"against {shortest.any_level.minutes:.0f}); in "
        + (f"{problem.unkept} minutes no route" if problem.unkept else "every minute some route")
        + " could have met it."
    )
    same = replace(test, runs=(mine, replace(mine, name="today"), *test.runs[1:]))
    assert "was as cheap as the route of today, with as many minutes over the" in verdict(same)
    assert better_in_both(same) == better_in_both(test)
    cheap = replace(mine.trace, costs=0.9 * mine.trace.costs)
    two = replace(test, runs=(mine, replace(mine, name="half", trace=cheap)))
    assert better_in_both(two) == "At least as good in both, and better in one: half."
    alone = replace(test, runs=(mine,))
    assert better_in_both(alone) == "No other policy was at least as good in both."


def test_a_certificate_beyond_all_regrets_is_said_to_say_nothing(test, problem):
    mine = test[DEFAULT]
    proved = mine.certificate
    total = sum(cost.coefficients for cost, _ in problem)
    X = problem.decision_set
    cheapest, dearest = X.minimum(total), -X.minimum(-total)
    assert proved.most == pytest.approx(mine.trace.cost - cheapest, rel=1e-6)
    assert proved.least == pytest.approx(mine.trace.cost - dearest, rel=1e-6)
    inside = Certificate(0.5 * proved.most, most=proved.most, least=proved.least)
    assert certificate_sentence(test, inside) == (
        f"Certificate: over the run Hedgerow cost at most {0.5 * proved.most:.4g} eur more than "
        "any fixed split that meets the limits in all rounds."
    )
    for number in (2.0 * proved.most, 2.0 * proved.least - 1.0):
        vacuous = Certificate(number, most=proved.most, least=proved.least)
        assert certificate_sentence(test, vacuous).startswith("The certificate says nothing here")
    budget = Certificate(0.0, 7.25, most=1.0)
    assert certificate_sentence(test, budget).endswith(
        "violates the limits by at most 7.25 ms in total."
    )


def test_names_beside_points_cover_nothing():
    figure, axes = canvas(1, 1, 6.0, 4.0)
    points = [(1.0, 1.0), (1.01, 1.0), (1.02, 1.01), (2.0, 2.0)]
    axes[0, 0].scatter(*zip(*points, strict=True))
    figure.draw_without_rendering()
    names = ["first of all", "second of all", "third of all", "alone"]
    place_names(axes[0, 0], points, dict.fromkeys(names, "black"))
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes[0, 0].texts if text.get_text()]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_odd_names_outages_and_sparse_readings_end_in_a_verdict(tmp_path, monkeypatch):
    rows = ["measured_at,src_site,dst_site,avg_rtt,price_eur"]
    links = {("lis", "par"): (20, 3), ("par", "waw"): (20, 3), ("lis", "mil"): (25, 1),
             ("mil", "waw"): (25, 1)}  # fmt: skip
    for minute in range(120):
        for k, ((a, b), (ms, eur)) in enumerate(links.items()):
            if minute % 4 == k:
                out = (a, b) == ("par", "waw") and 40 <= minute < 60
                at = f"2026-05-04 {minute // 60:02d}:{minute % 60:02d}:00"
                rows.append(f"{at},{a},{b},{'' if out else ms},{eur}")
    (tmp_path / "probes.csv").write_text("\n".join(rows))
    sparse = read_edges(tmp_path / "probes.csv")
    assert "for longer rounds use series='5min'." in sparse.provenance["remarks"][-1]
    problem = MeasuredRoutes(sparse.both_ways(), "lis", "waw", caps={"latency": 60.0})
    assert "5 of 480 readings are empty and count as outages; 360 (75 %) were" in problem.missing
    # dead from the first empty reading to the next one that answers
    assert np.flatnonzero(problem.dead_links().any(axis=1)).tolist() == list(range(41, 61))
    line = "probes.csv --source lis --target waw --cost price --cap latency=60 --series 4min"
    done = printed(line, tmp_path, monkeypatch)
    assert done.exit_code == 0, done.output
    assert "5 readings are empty: their links count as failed then." in done.stderr
    assert "--series" not in done.stderr
    dead = [row.split()[-1] for row in done.stdout.splitlines() if row.startswith(" shortest")]
    assert dead == ["20.0"]
    page = (tmp_path / "out/backtest/backtest.html").read_text()
    assert "5 of 120 readings are empty and count as outages." in page
    assert re.search(r'class="verdict">Hedgerow was \d+ % cheaper than the shortest path', page)


def test_a_share_of_violated_rounds(problem, measurements, tmp_path):
    shared = backtest(problem, violated=0.02)
    first, rule = shared.runs[:2]
    assert (first.name, rule.name) == ("hedgerow, 2 %", "threshold, 2 %")
    assert first.any_level.violated <= shared[DEFAULT].any_level.violated
    assert shared.now.x == pytest.approx(first.following, abs=1e-9)
    assert first.certificate is not None
    assert rule.certificate is None
    line = (
        f"backtest {measurements} --source Lisbon --target Warsaw --cost price "
        f"--cap latency={CAP:g} --rounds 300 --out {tmp_path}/out"
    )
    done = CliRunner().invoke(app, [*shlex.split(line), "--violated", "2%"])
    assert done.exit_code == 0, done.output
    assert "hedgerow, 2 %" in done.output
    for wrong in ("200%", "much", "-1%"):
        done = CliRunner().invoke(app, [*shlex.split(line), "--violated", wrong])
        assert done.exit_code == 2
        assert "--violated must be as '1%' or 0.01" in done.stderr


def test_rules_of_several_limits_do_not_mix_units(problem):
    links = problem.network
    two = MeasuredRoutes(
        links, "Lisbon", "Warsaw", cost="price", caps={"latency": CAP, "price": 14.0}, horizon=60
    )
    played = backtest(two, violated=0.05)
    assert "PI control" not in {run.name for run in played.runs}
    rule = played["threshold, 5 %"]
    assert len(rule.levels) == 2
    assert played["threshold rule"].any_level.violated <= played["cheapest path"].any_level.violated


def test_advice_is_one_more_row_with_a_picture_of_its_voices(problem, tmp_path):
    test = backtest(problem, advice=["lp-last", "shortest"], time_limit=5.0)
    run = test["hedgerow, advised"]
    assert list(run.voices) == ["lp-last", "shortest", "policy"]
    weights = np.array(list(run.voices.values()))
    assert weights.shape == (3, problem.horizon)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    page = write_backtest(test, tmp_path)
    assert "Who was followed: hedgerow, advised" in page.read_text(encoding="utf-8")
    assert next(tmp_path.rglob("voices.png")).stat().st_size > 5000
    assert not test["hedgerow"].voices


def test_an_unknown_adviser_is_refused_before_anything_is_played(problem):
    with pytest.raises(ValueError, match=r"no adviser 'lp-lats', there are 'lp-last'"):
        backtest(problem, advice=["lp-lats"])
