"""In notebooks: data frames, and small tables and drawings in which nothing is a tag."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow.display import html_table, sparkline
from hedgerow.protocols.trace import Trace
from hedgerow.sets.paths import path_drawing

SCRIPT = "<script>alert(1)</script>"


def parsed(text):
    """Return what an XML parser makes of it: every tag is closed, every text is escaped."""
    return ET.fromstring(f"<page>{text}</page>")


def words(tree):
    return " ".join(" ".join(tree.itertext()).split())


def points(tree):
    """Return the points of the first sparkline."""
    line = next(tree.iter("polyline")).get("points")
    return np.array([[float(v) for v in pair.split(",")] for pair in line.split()])


@pytest.fixture
def trace():
    problem = hr.problems.IidSimplex(n=4, horizon=300, seed=1)
    return hr.simulate(hr.projection_free_coco(problem.decision_set), problem)


def test_a_trace_becomes_a_frame_with_a_row_for_each_round(trace):
    frame = trace.to_frame()
    assert list(frame.columns) == ["cost", "violation", "total_cost", "ccv"]
    assert (frame.index.name, frame.index[0], frame.index[-1]) == ("t", 1, 300)
    np.testing.assert_array_equal(frame["violation"], trace.violations)
    assert frame["total_cost"].iloc[-1] == pytest.approx(trace.cost)
    assert frame["ccv"].iloc[-1] == pytest.approx(trace.ccv)
    assert frame["ccv"].is_monotonic_increasing


def test_several_constraints_have_a_column_each():
    each = np.array([[1.0, -1.0], [0.5, 2.0]])
    frame = Trace(np.zeros(2), each.max(axis=0), violations_each=each).to_frame()
    np.testing.assert_array_equal(frame[["violation_1", "violation_2"]].to_numpy().T, each)


def test_without_pandas_there_is_one_sentence():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import numpy as np\n"
        "from hedgerow.protocols.trace import Trace\n"
        "try:\n    Trace(np.zeros(2), np.zeros(2)).to_frame()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'a data frame needs pandas; install it with: pip install ".[frames]"\n'


def test_pandas_is_not_imported_before_a_frame_is_asked_for():
    code = (
        "import sys, numpy as np\nfrom hedgerow.protocols.trace import Trace\n"
        "Trace(np.zeros(2), np.zeros(2))._repr_html_(); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_trace_is_a_table_with_two_sparklines(trace):
    tree = parsed(trace._repr_html_())
    assert len(list(tree.iter("svg"))) == 2
    shown = words(tree)
    assert "Trace of 300 rounds" in shown
    assert f"{trace.cost:.6g}" in shown
    assert f"{trace.ccv:.6g}" in shown
    assert f"{int((trace.violations > 0).sum())} of 300" in shown


@pytest.mark.parametrize("rounds", [0, 1, 2, 199, 200, 201, 100_000])
def test_a_trace_of_any_length_is_short(rounds):
    rng = np.random.default_rng(rounds)
    text = Trace(rng.normal(size=rounds), rng.normal(size=rounds))._repr_html_()
    tree = parsed(text)
    assert len(text) < 10_000
    assert "nan" not in text.lower()
    if rounds:
        assert len(points(tree)) == min(rounds, 200)


def test_a_sparkline_rises_where_the_series_does_and_stays_inside():
    drawn = points(parsed(sparkline(np.array([1.0, 5.0, np.inf, 3.0]), "x")))
    assert drawn.shape == (3, 2), "what is not finite is left out"
    assert drawn[1, 1] < drawn[2, 1] < drawn[0, 1], "upwards is smaller in SVG"
    assert (drawn >= 0).all()
    assert (drawn <= [220, 40]).all()
    flat = points(parsed(sparkline(np.full(5, 7.0), "x")))
    assert len(set(flat[:, 1])) == 1
    halves = points(parsed(sparkline(np.repeat([0.0, 1.0], 5000), "x")))
    assert set(halves[:100, 1]) == {halves[0, 1]}
    assert set(halves[100:, 1]) == {halves[-1, 1]}


def test_cells_are_text_whatever_they_say():
    tree = parsed(html_table([SCRIPT], [[SCRIPT, "a\x1b[31m\u202eb"]], caption=SCRIPT))
    assert not list(tree.iter("script"))
    assert words(tree).count(SCRIPT) == 3
    assert "\x1b" not in words(tree)
    assert "\u202e" not in words(tree)
    assert SCRIPT in words(parsed(sparkline(np.ones(2), SCRIPT)))


GRAPH = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")]
SETS = {
    "DagPaths": lambda edges, s, t: hr.sets.DagPaths(edges, s, t),
    "UnitFlow": lambda edges, s, t: hr.sets.UnitFlow(edges, s, t),
    "HopLimitedWalks": lambda edges, s, t: hr.sets.HopLimitedWalks(edges, s, t, hops=4),
}


@pytest.mark.parametrize("kind", SETS)
def test_a_set_of_paths_is_drawn(kind):
    tree = parsed(SETS[kind](GRAPH, "s", "t")._repr_html_())
    assert kind in words(tree)
    nodes = {text.text: text for text in tree.iter("text")}
    assert set(nodes) == {"s", "a", "b", "t"}
    assert len([path for path in tree.iter("path") if path.get("fill") == "none"]) == len(GRAPH)
    assert len(list(tree.iter("circle"))) == 4
    x = {name: float(text.get("x")) for name, text in nodes.items()}
    assert x["s"] < x["a"] == x["b"] < x["t"], "columns by the number of edges from the source"


def test_names_of_nodes_are_no_tags():
    edges = [(SCRIPT, "x" * 100), ("x" * 100, "t")]
    tree = parsed(hr.sets.UnitFlow(edges, SCRIPT, "t")._repr_html_())
    assert not list(tree.iter("script"))
    assert "<script>alert(1)</sc" in words(tree)
    assert max(len(text.text) for text in tree.iter("text")) <= path_drawing.LONGEST_NAME


def test_a_large_graph_is_drawn_as_a_sample_and_says_so():
    graph = hr.ShortestPath.random_network(nodes=191, edges=1200, horizon=2, seed=0).decision_set
    text = graph._repr_html_()
    tree = parsed(text)
    assert len(list(tree.iter("path"))) == path_drawing.MOST_EDGES
    assert "400 of 1200 edges are drawn" in words(tree)
    assert len(text) < 100_000


def test_a_node_that_no_path_reaches_is_drawn_too():
    tree = parsed(hr.sets.UnitFlow([("s", "t"), ("u", "v"), ("v", "t")], "s", "t")._repr_html_())
    assert {text.text for text in tree.iter("text")} == {"s", "t", "u", "v"}


def test_results_become_a_frame_and_a_table(tmp_path):
    from hedgerow.experiments import Results, load_experiment, sweep
    from hedgerow.experiments.executors import serial

    label = "<i>small</i>"
    asked = {
        "name": "frame",
        "methods": ["projection_free_coco", "lu_bagel"],
        "horizons": [30],
        "seeds": [1, 2],
        "problems": [
            {"kind": "iid_simplex", "n": 3, "label": label},
            {"kind": "iid_linear", "set": {"kind": "DagPaths", "edges": [[0, 1], [0, 2], [1, 2]],
                                           "source": 0, "target": 2}},
        ],
    }  # fmt: skip
    sweep(load_experiment(asked), tmp_path, serial)
    results = Results(tmp_path)
    frame = results.to_frame()
    assert len(frame) == len(results.runs) == 8
    for run in results.runs:
        row = frame.loc[run.record["id"]]
        assert (row["method"], row["seed"]) == (run.record["method"], run.record["seed"])
        if run.record["status"] == "done":
            assert row["regret"] == run.regret
            assert row["regret"] == row["cost"] - row["benchmark_cost"]
            assert row["seconds"] >= 0.0
        else:
            assert pd.isna(row["cost"])
    tree = parsed(results._repr_html_())
    assert not list(tree.iter("i"))
    assert label in words(tree)
    assert len(list(tree.iter("tr"))) == 1 + 4
    mean = frame[(frame["problem"] == label) & (frame["method"] == "projection_free_coco")]
    assert f"{mean['regret'].mean():.5g}" in words(tree)
