"""Fixed actions in experiment files: one, several, by numbers, by nodes and by name."""

from __future__ import annotations

import numpy as np
import pytest
from small_experiment import invoked, written

from hedgerow.baselines.methods import METHODS
from hedgerow.experiments import Results, load_experiment, sweep
from hedgerow.experiments.executors import serial
from hedgerow.networks.network import Network
from hedgerow.report import Summary, write_report

NODES = ("a", "b", "c", "d")
EDGES = [(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)]
PRICES = [5.0, 6.0, 1.0, 1.0, 9.0]
TEXT = """
name = "today"
methods = ["shortest_path", "cheapest_path", "ecmp", "best_of_yesterday", "ours", "backup", "half"]
horizons = [4]
seeds = [0]

[fixed]
ours = ["a", "b", "d"]
backup = "a > d"
half = [0.5, 0.5, 0, 0, 0.5]

[[problems]]
kind = "measured_routes"
network = "links.json"
source = "a"
target = "d"
cost = "latency"
caps = "latency=100"
"""


@pytest.fixture
def folder(tmp_path):
    Network(NODES, EDGES, PRICES, "synthetic:drawn").save(tmp_path / "links.json")
    return tmp_path


def costs(folder, text):
    experiment = load_experiment(written(folder, text))
    assert sweep(experiment, folder / "out", serial).failed == {}
    results = Results(folder / "out")
    return {run.record["method"]: run.record["cost"] for run in results.runs}, results


def test_each_plays_its_own_action(folder):
    found, results = costs(folder, TEXT)
    assert found == pytest.approx(
        {
            "shortest_path": 8.0, "cheapest_path": 8.0, "ecmp": 36.0, "best_of_yesterday": 36.0,
            "ours": 44.0, "backup": 36.0, "half": 40.0,
        }
    )  # fmt: skip
    summary = Summary(results)
    page = write_report(summary, folder / "report").read_text()
    assert "one action for ever, a &gt; b &gt; d" in page
    assert "7 runs" in page
    assert "not finished" not in page


def test_one_alone_is_called_fixed(folder):
    text = TEXT[: TEXT.index("[fixed]")] + TEXT[TEXT.index("[[problems]]") :]
    text = text.replace('"ours", "backup", "half"]', '"fixed"]\nfixed = "a, b, d"')
    found, results = costs(folder, text)
    assert found["fixed"] == pytest.approx(44.0)
    (record,) = (r.record for r in results.runs if r.record["method"] == "fixed")
    assert record["action"] == "a, b, d"
    other = text.replace("a, b, d", "a, d")
    with pytest.raises(ValueError, match="another experiment"):
        sweep(load_experiment(written(folder, other)), folder / "out", serial)


def test_all_takes_them_in(folder):
    text = TEXT.replace(TEXT[TEXT.index("methods") : TEXT.index("horizons")], 'methods = "all"\n')
    experiment = load_experiment(written(folder, text))
    assert experiment.methods == (*METHODS, "ours", "backup", "half")


def test_on_a_problem_without_it_the_run_is_refused(folder):
    text = TEXT + '[[problems]]\nkind = "iid_simplex"\nn = 5\n'
    _, results = costs(folder, text)
    refused = {r.record["method"]: r.record["reason"] for r in results.runs if r.record["reason"]}
    assert refused["ours"] == "Simplex has no routes; give the action as a vector"
    assert refused["half"].startswith("the fixed action lies outside")


MISTAKES = {
    "a link": ('["a", "b", "d"]', '["a", "d", "b"]',
        "the fixed action 'ours': there is no link from 'd' to 'b' on a route of this problem"),
    "too short": ("[0.5, 0.5, 0, 0, 0.5]", "[0.5]", "the fixed action 'half': "),
    "outside": ("[0.5, 0.5, 0, 0, 0.5]", "[1, 1, 1, 1, 1]", "lies outside of the decision set"),
    "mixed": ("[0.5, 0.5, 0, 0, 0.5]", '[0.5, "a"]',
        "fixed.half must be an action: a list of numbers, a list of the nodes of a route, or the "),
    "empty": ('"a > d"', '""', "fixed.backup must be an action: .* got ''"),
    "nan": ("[0.5, 0.5,", "[0.5, nan,", r"fixed.half\[1\] must be a finite number, got nan"),
    "a method's name": ("half = ", "ecmp = ", "fixed.ecmp has the name of a method"),
    "idle": (', "half"]', "]", "the fixed action 'half' does not play; name it in methods, too"),
    "no action": (', "half"]', ', "half", "fixed"]', "is 'fixed', which needs its action; give it"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_one_sentence(folder, what):
    old, new, words = MISTAKES[what]
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=words):
        load_experiment(written(folder, TEXT.replace(old, new)))
    said = invoked("run", folder / "small.toml", "-o", folder / "out")
    assert said.exit_code == 2
    assert said.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_the_play_is_the_action(folder):
    from hedgerow.experiments.tasks import RunTask, plan

    experiment = load_experiment(written(folder, TEXT))
    tasks = [task for task in plan(experiment) if isinstance(task, RunTask)]
    assert len({task.id for task in tasks}) == 7
    (half,) = (task for task in tasks if task.method == "half")
    method, preset = half.method_and_preset()
    play = method.policy(half.game.build().decision_set, 4, 0, preset).ask()
    np.testing.assert_array_equal(play, [0.5, 0.5, 0.0, 0.0, 0.5])
