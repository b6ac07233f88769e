"""What plot_trace, plot_compare and plot_shares show."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without windows
from matplotlib.dates import num2date

import hedgerow as hr
from hedgerow.protocols.limits import MixedUnitsError
from hedgerow.report import plot_compare, plot_shares, plot_trace

PROBLEM = hr.problems.IidSimplex(4, 60, 0)
TIMES = 1772323200.0 + 60.0 * np.arange(60)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def game():
    policy = hr.projection_free_coco(PROBLEM.decision_set)
    steps = list(hr.play(policy, PROBLEM))
    return steps, hr.Trace.of(steps), hr.hindsight(PROBLEM)


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def test_a_trace_is_cost_by_round_and_violation_added_up(game):
    _, trace, best = game
    left, right = plot_trace(trace, best)
    cost = lines(left)
    np.testing.assert_array_equal(cost["every round"].get_ydata(), trace.costs)
    assert cost["every round"].get_xdata().tolist() == list(range(1, 61))
    assert cost["moving mean"].get_ydata()[-1] == pytest.approx(trace.costs[-1:].mean())
    assert cost["best fixed action"].get_ydata()[0] == best.cost / 60
    ccv = lines(right)
    assert ccv["CCV"].get_ydata()[-1] == pytest.approx(trace.ccv)
    assert ccv["signed sum"].get_ydata()[-1] == pytest.approx(trace.signed_ccv)
    assert {text.get_text() for text in right.get_legend().get_texts()} == {"CCV", "signed sum"}
    assert "best fixed action" not in lines(plot_trace(trace)[0])


def test_the_moving_mean_is_that_of_the_last_fiftieth():
    costs = np.arange(200.0)
    left, _ = plot_trace(hr.Trace(costs, np.zeros(200)))
    mean = lines(left)["moving mean"].get_ydata()
    assert mean[:5].tolist() == [0.0, 0.5, 1.0, 1.5, 2.5]
    assert mean[-1] == np.mean([196, 197, 198, 199])


CAPS = [hr.Linear([1.0, 0.0], -0.3), hr.Linear([0.0, 300.0], -90.0)]
"""A share and watts."""


def test_each_of_several_constraints_has_axes_of_its_own():
    limits = {"share of $A": "", "heat": "W"}
    rounds = [(hr.Linear([1.0, 2.0]), CAPS)] * 20
    problem = hr.RecordedProblem(hr.sets.Simplex(2), rounds, limits=limits)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    left, *others = plot_trace(trace)
    assert len(others) == 2
    for ax, row in zip(others, trace.violations_each, strict=True):
        assert lines(ax)["CCV"].get_ydata()[-1] == pytest.approx(np.maximum(row, 0.0).sum())
        assert lines(ax)["signed sum"].get_ydata()[-1] == pytest.approx(row.sum())
    assert [ax.get_title(loc="left") for ax in others] == [
        r"Violation of share of \$A, added up",
        "Violation of heat, added up",
    ]
    assert [ax.get_ylabel() for ax in others] == ["sum of g_t(x_t)", "W"]
    with pytest.raises(ValueError, match="plot_trace needs 3 axes here"):
        plot_trace(trace, axes=[left, others[0]])


def test_constraints_with_one_unit_are_drawn_as_one():
    limits = {"first": "W", "second": "W"}
    rounds = [(hr.Linear([1.0, 2.0]), CAPS)] * 20
    problem = hr.RecordedProblem(hr.sets.Simplex(2), rounds, limits=limits)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    for left, right in (plot_trace(trace), plot_compare({"ours": trace})):
        assert left is not right
        assert right.get_ylabel() == "W"
        assert right.lines[0].get_ydata()[-1] == pytest.approx(trace.ccv)


def test_a_changing_number_of_constraints_is_not_drawn_as_one():
    rounds = [(hr.Linear([1.0, 2.0]), CAPS[: 1 + t % 2]) for t in range(20)]
    problem = hr.RecordedProblem(hr.sets.Simplex(2), rounds)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    with pytest.raises(MixedUnitsError, match="several constraints, whose units may differ, so"):
        plot_trace(trace)


def test_games_with_several_constraints_have_axes_for_each():
    """One is a share, the other in watts."""
    caps = [hr.Linear([1.0, 0.0], -0.3), hr.Linear([0.0, 300.0], -90.0)]
    problem = hr.RecordedProblem(hr.sets.Simplex(2), [(hr.Linear([1.0, 2.0]), caps)] * 20)
    X = problem.decision_set
    games = {"one": hr.projection_free_coco(X), "each": hr.projection_free_coco(X, constraints=2)}
    traces = {name: hr.simulate(policy, problem) for name, policy in games.items()}
    left, *others = plot_compare(traces)
    assert list(lines(left)) == list(games)
    assert [ax.get_title(loc="left") for ax in others] == [
        "CCV of constraint 1 so far",
        "CCV of constraint 2 so far",
    ]
    for k, ax in enumerate(others):
        ends = [line.get_ydata()[-1] for line in ax.lines]
        assert ends == pytest.approx([trace.ccv_each[k] for trace in traces.values()])
    with pytest.raises(ValueError, match="needs 3 axes here, one for the cost and one for each"):
        plot_compare(traces, axes=[left, others[0]])
    single = hr.simulate(
        games["one"], hr.RecordedProblem(X, [(hr.Linear([1.0, 2.0]), caps[0])] * 20)
    )
    with pytest.raises(ValueError, match=r"equally many constraints, got \[1, 2\]"):
        plot_compare({"two": traces["one"], "one": single})


def test_games_are_compared_by_mean_cost_and_ccv(game):
    _, trace, best = game
    blind = hr.simulate(hr.unconstrained(PROBLEM.decision_set, 60), PROBLEM)
    left, right = plot_compare({"ours": trace, "blind": blind}, best)
    assert list(lines(left)) == ["ours", "blind", "best fixed action"]
    for name, one, line in zip(("ours", "blind"), (trace, blind), right.lines, strict=True):
        assert lines(left)[name].get_ydata()[-1] == pytest.approx(one.cost / 60)
        assert line.get_ydata()[-1] == pytest.approx(one.ccv)
        assert line.get_color() == lines(left)[name].get_color()


def test_axes_that_are_given_are_drawn_on(game):
    steps, trace, _ = game
    figure, (first, second, third) = plt.subplots(1, 3)
    assert plot_trace(trace, axes=(first, second)) == (first, second)
    assert plot_compare({"a": trace}, axes=(first, second)) == (first, second)
    assert plot_shares(steps, axes=third) is third
    assert third.figure is figure


@pytest.mark.parametrize("form", ["steps", "iterator", "rows", "array"])
def test_shares_are_those_that_were_played(form, game):
    steps, _, _ = game
    plays = np.array([step.x for step in steps])
    given = {"steps": steps, "iterator": iter(steps), "rows": list(plays), "array": plays}[form]
    ax = plot_shares(given, ["a", "b", "c", "d"])
    (mesh,) = ax.collections
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = ["abcd".index(name) for name in names]
    assert order == np.argsort(-plays.sum(axis=0), kind="stable")[: len(order)].tolist()
    drawn = mesh.get_array().reshape(len(order), 60)
    np.testing.assert_allclose(drawn, plays[:, order].T)
    assert ax.yaxis_inverted(), "who carried most is at the top"


def test_few_rows_of_many_and_long_games_in_parts():
    plays = np.zeros((2000, 40))
    plays[:1000, 7], plays[1000:, 3], plays[:, 1] = 1.0, 0.5, 0.125
    ax = plot_shares(plays, most=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["7", "3"]
    assert ax.get_title(loc="left") == "Shares over time (38 others have less)"
    drawn = ax.collections[0].get_array().reshape(2, -1)
    assert drawn.shape[1] == 667
    assert (drawn[0, 0], drawn[0, -1], drawn[1, -1]) == (1.0, 0.0, 0.5)
    whole = plot_shares(plays)
    assert whole.get_title(loc="left") == "Shares over time (37 others have none)"


def test_times_are_on_the_axis(game):
    steps, trace, _ = game
    left, _ = plot_trace(trace, times=TIMES)
    first = num2date(lines(left)["every round"].get_xdata()[0])
    assert first.isoformat() == "2026-03-01T00:00:00+00:00"
    ax = plot_shares(steps, times=TIMES)
    ax.figure.canvas.draw()
    assert "00:30" in [label.get_text() for label in ax.get_xticklabels()]
    left, _ = plot_compare({"a": trace}, times=TIMES)
    left.figure.canvas.draw()
    assert "00:30" in [label.get_text() for label in left.get_xticklabels()]


def test_what_cannot_be_drawn_is_refused(game):
    steps, trace, _ = game
    with pytest.raises(TypeError, match="plot_trace needs a Trace, as simulate returns it, got 3"):
        plot_trace(3)
    with pytest.raises(TypeError, match="benchmark must be a Benchmark, as hindsight returns it"):
        plot_trace(trace, 3.0)
    short = hr.Trace(np.zeros(3), np.zeros(3))
    for wrong in ({}, [trace], {"a": trace, "b": short}, {"a": 3}):
        with pytest.raises(TypeError, match="a dict of Traces by name, all of equally many rounds"):
            plot_compare(wrong)
    with pytest.raises(ValueError, match="names must have one entry for each of 4 coordinates"):
        plot_shares(steps, ["a"])
    with pytest.raises(ValueError, match="plays must be a row of shares for each round"):
        plot_shares(np.ones(3))
    with pytest.raises(ValueError, match="plays must be a row of shares for each round"):
        plot_shares([])
    with pytest.raises(ValueError, match=r"times must have shape \(60,\)"):
        plot_trace(trace, times=TIMES[:3])
