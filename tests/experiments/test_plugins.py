"""Methods and problems from outside of the library: by import path, and as an installed plug-in."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from small_experiment import invoked, record, results_of, small

from hedgerow import imports
from hedgerow.baselines.methods import METHODS, find_method
from hedgerow.experiments.executors import processes, serial
from hedgerow.experiments.fingerprints import sha256
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.experiments.tasks import plan
from hedgerow.feedback import first_order
from hedgerow.games import hindsight, simulate
from hedgerow.report.summary import Mean
from hedgerow.sets import Box, Simplex

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
COINS = (PLUGIN / "coins.toml").read_text()

OWN = """
import numpy as np
from hedgerow import baselines, Linear, RecordedProblem, projection_free_coco
from hedgerow.sets import Simplex
from hedgerow.experiments import problem_kind
from hedgerow.problems import HalfspaceBox

def plain(X, horizon):
    return baselines.sinha_vaze_2024(X, horizon)

@baselines.baseline(sees="whole", regret="T")
def whole(X, horizon=None, *, preset="practical"):
    return baselines.guo_recoo(X, horizon, preset=preset)

def each(X, horizon=None, *, preset="practical"):
    return projection_free_coco(X, horizon, preset=preset, constraints=2)

class Silent:  # it does not say what it learns from
    oblivious_only, oracle_calls = False, 0
    def __init__(self, X):
        self.decision_set, self.seen = X, []
    def ask(self):
        return self.decision_set.start()
    def tell(self, cost, constraint):
        self.seen.append(constraint.function)  # of whole constraints alone

@baselines.baseline(sees="whole")
def silent(X):
    return Silent(X)

def two_caps(horizon, seed):
    caps = [Linear([1.0, 0.0, 0.0], -0.5), Linear([0.0, 1.0, 0.0], -0.1)]
    rng = np.random.default_rng(seed)
    means = np.array([-1.0, -0.6, 0.0])
    costs = means + 0.2 * rng.standard_normal((horizon, 3))
    same = {"first": "share", "second": "share"}
    return RecordedProblem(Simplex(3), [(Linear(c), caps) for c in costs], limits=same)

def two_units(horizon, seed):
    caps = [Linear([1.0, 0.0, 0.0], -0.5), Linear([0.0, 300.0, 0.0], -30.0)]
    rng = np.random.default_rng(seed)
    costs = np.array([-1.0, -0.6, 0.0]) + 0.2 * rng.standard_normal((horizon, 3))
    rounds = [(Linear(c), caps) for c in costs]
    return RecordedProblem(Simplex(3), rounds, limits={"share of A": "", "heat": "W"})

def two_sizes(horizon, seed):
    found = two_units(horizon, seed)
    found.constraint_units = (0.5, 30.0)
    return found

def two_coins(horizon, seed, *, limit: float = 0.5):
    rounds = [(Linear([-1.0, seed]), Linear([1.0, 0.0], -limit))] * horizon
    return RecordedProblem(Simplex(2), rounds)

@problem_kind(reacts=True)
def corner(horizon, seed, *, n: int = 2):
    return HalfspaceBox(n, 4, horizon, seed)

def forgot(horizon, seed):
    return HalfspaceBox(2, 4, horizon, seed)

def no_problem(horizon, seed):
    return 7

def untyped(horizon, seed, *, n=3): ...
def no_seed(horizon, *, n: int = 3): ...
def greedy(X, horizon, temperature): ...
def nothing(): ...
NUMBER = 3
"""

BY_PATH = """
name = "own"
methods = ["own_code:plain", "own_code:whole", "hedgerow.baselines:sun_safe", "unconstrained"]
horizons = [40]
seeds = [20, 21]

[[problems]]
kind = "own_code:two_coins"
limit = 0.4

[[problems]]
kind = "own_code:corner"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a user's module, which no package holds, and put its folder on the path."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own_code.py").write_text(OWN)
    monkeypatch.syspath_prepend(folder)
    yield folder / "own_code.py"
    sys.modules.pop("own_code", None)


@pytest.fixture
def installed(plugin_site, monkeypatch):
    """Put the installed example on the path of this process."""
    monkeypatch.syspath_prepend(plugin_site)
    yield plugin_site
    imports.load_plugin.cache_clear()
    for name in [name for name in sys.modules if name.startswith("hedgerow_example_plugin")]:
        del sys.modules[name]


def both_ways(experiment, folder):
    """Play in this process and in two others; return the folder of the second."""
    sweep(experiment, folder / "one", serial)
    tally = sweep(experiment, folder / "two", partial(processes, workers=2))
    assert tally.failed == {}
    assert results_of(folder / "one") == results_of(folder / "two")
    return folder / "two"


def test_an_installed_plug_in_is_played_by_name_in_worker_processes(installed, tmp_path):
    assert not installed.is_relative_to(PLUGIN), "it is installed, not read from its sources"
    folder = both_ways(small(tmp_path, COINS), tmp_path)
    run = record(folder, method="careful_start", problem="coin_flips", seed=20)
    other = record(folder, method="projection_free_coco", problem="coin_flips", seed=20)
    assert run.record["status"] == "done"
    assert run.record["cost"] != other.record["cost"], "it is a method of its own"
    own_set = record(folder, method="careful_start", problem="staircases", seed=21)
    assert own_set.record["status"] == "done"
    assert own_set.record["parameters"]["set"] == {
        "kind": "staircases",
        "arguments": {"n": 5},
        "code": sha256(installed / "hedgerow_example_plugin" / "staircases.py"),
    }
    assert own_set.regret is not None
    assert {r.record["method"] for r in Results(folder).runs} == {
        "careful_start",
        "projection_free_coco",
    }
    assert "careful_start" not in METHODS, "the library's own table does not change"
    page = invoked("report", folder)
    assert page.exit_code == 0, page.stderr
    assert "careful_start (an example)" in page.stdout


def test_a_plug_in_is_listed(installed):
    assert installed.is_dir()
    shown = invoked("list", "--json")
    assert '"careful_start"' in shown.stdout
    assert '"coin_flips"' in shown.stdout
    assert {"set": "staircases", "about": "Schedules 0 <= x_1 <= x_2 <= ... <= x_n <= 1."} in (
        json.loads(shown.stdout)["sets"]
    )
    assert "staircases" in invoked("list").stdout
    assert "staircases" in invoked("sets").stdout


BROKEN = """
[hedgerow.methods]
broken = broken_plugin:method
silent = silent_plugin:method
stuck = stuck_plugin:method
[hedgerow.problems]
broken_kind = broken_plugin:kind
[hedgerow.sets]
broken_set = broken_plugin:a_set
"""
CODE = {
    "broken_plugin": "raise RuntimeError('no licence\\nfound')\n",
    "silent_plugin": "raise SystemExit(3)\n",
    "stuck_plugin": "class P:\n    def ask(self):\n        return 1 / 0\n\n"
    "def method(X):\n    p = P()\n    p.decision_set = X\n    return p\n",
}


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Install three packages that fail: two at their import, one as it plays."""
    site = tmp_path / "site"
    about = site / "broken-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\n")
    (about / "entry_points.txt").write_text(BROKEN)
    for name, text in CODE.items():
        (site / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(site)
    yield
    imports.load_plugin.cache_clear()
    for name in CODE:
        sys.modules.pop(name, None)


WHY = "cannot be imported: broken_plugin raises RuntimeError (no licence found)"
LEFT_OUT = {
    "methods": {
        "broken": f"of hedgerow.methods is left out: 'broken_plugin:method' {WHY}",
        "silent": "'silent_plugin:method' cannot be imported: silent_plugin raises SystemExit (3)",
        "stuck": "of hedgerow.methods is left out: ",
    },
    "problems": {"broken_kind": f"of hedgerow.problems is left out: 'broken_plugin:kind' {WHY}"},
    "list": {
        "broken": WHY, "silent": "SystemExit", "stuck": "is left out: ", "broken_kind": WHY,
        "broken_set": f"of hedgerow.sets is left out: 'broken_plugin:a_set' {WHY}",
    },
}  # fmt: skip


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("command", LEFT_OUT)
def test_a_plug_in_that_fails_is_named_and_the_rest_is_listed(command):
    shown = invoked(command, "--json")
    assert shown.exit_code == 0, shown.output
    lines = shown.stderr.splitlines()
    assert len(lines) == len(LEFT_OUT[command])
    for line, (name, why) in zip(sorted(lines), sorted(LEFT_OUT[command].items()), strict=True):
        assert line.startswith(f"hedgerow: the plug-in {name!r} of hedgerow.")
        assert why in line
    found = json.loads(shown.stdout)
    methods = found["methods"] if command == "list" else found if command == "methods" else None
    assert methods is None or METHODS.keys() <= {row["method"] for row in methods}
    assert "broken" not in shown.stdout


def test_import_paths_are_played_in_worker_processes(own, tmp_path):
    assert own.is_file()
    folder = both_ways(small(tmp_path, BY_PATH), tmp_path)
    runs = Results(folder).runs
    assert {r.record["status"] for r in runs} == {"done"}
    assert {r.record["method"] for r in runs} == {
        "own_code:plain", "own_code:whole", "hedgerow.baselines:sun_safe", "unconstrained"
    }  # fmt: skip
    by_path = record(
        folder, method="hedgerow.baselines:sun_safe", problem="own_code:corner", seed=21
    )
    assert by_path.record["ccv"] >= 0.0
    sys.modules.pop("own_code")
    page = invoked("report", folder)
    assert page.exit_code == 0, page.stderr
    assert "own_code:plain" in (folder / "report" / "report.html").read_text()
    assert "own_code" not in sys.modules, "reading results imports nothing that they name"


def test_a_method_by_path_plays_as_it_does_by_name(tmp_path):
    text = BY_PATH.split("[[problems]]")[0] + "[[problems]]\nkind = 'iid_simplex'\nn = 4\n"
    listed = '["own_code:plain", "own_code:whole", "hedgerow.baselines:sun_safe", "unconstrained"]'
    text = text.replace(listed, '["sun_safe", "hedgerow.baselines:sun_safe"]')
    sweep(small(tmp_path, text), tmp_path / "out", serial)
    for seed in (20, 21):
        found = [
            record(tmp_path / "out", method=method, seed=seed).record["cost"]
            for method in ("sun_safe", "hedgerow.baselines:sun_safe")
        ]
        assert found[0] == found[1]


def test_what_was_changed_does_not_mix(own, tmp_path):
    experiment = small(tmp_path, BY_PATH)
    sweep(experiment, tmp_path / "out", serial)
    own.write_text(OWN.replace("sinha_vaze_2024(X, horizon)", "sun_safe(X, horizon)"))
    more = BY_PATH.replace("[20, 21]", "[20, 21, 22]")
    tally = sweep(experiment, tmp_path / "late", serial)
    assert tally.ran == 0
    assert all("the code of own_code" in error for error in tally.failed.values())
    with pytest.raises(ValueError, match="own_code:plain is another method: its file was edited"):
        sweep(small(tmp_path, more), tmp_path / "out", serial)


def test_a_worker_without_the_code_fails_and_refuses_nothing(own, tmp_path, monkeypatch):
    tasks = plan(small(tmp_path, BY_PATH))
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != os.fspath(own.parent)])
    del sys.modules["own_code"]
    for done in serial(tasks):
        assert done.outputs == ()
        assert "there is no module 'own_code'" in done.error
        assert len(done.error.splitlines()) == 1


SEVERAL = """
name = "several"
methods = ["own_code:each", "own_code:silent", "projection_free_coco"]
horizons = [60]
seeds = [3]

[[problems]]
kind = "own_code:two_caps"
"""


def test_a_policy_is_told_what_it_says_itself(own, tmp_path):
    """Constraints that count apart: each of them is told, though the registry says gradients."""
    assert own.is_file()
    assert sweep(small(tmp_path, SEVERAL), tmp_path / "out", serial).failed == {}
    runs = {r.record["method"]: r.record for r in Results(tmp_path / "out").runs}
    assert {run["status"] for run in runs.values()} == {"done"}
    code = sys.modules["own_code"]
    problem = code.two_caps(60, 3)
    trace = simulate(code.each(problem.decision_set), problem)
    assert runs["own_code:each"]["ccv_each"] == trace.ccv_each.tolist()
    with pytest.raises(ValueError, match="was built for 2 constraints per round"):
        simulate(code.each(problem.decision_set), problem, first_order)
    page = invoked("report", tmp_path / "out")
    assert page.exit_code == 0, page.stderr
    report = (tmp_path / "out" / "report" / "report.html").read_text()
    assert "Each constraint of own_code:two_caps, T = 60" in report


def test_runs_with_mixed_units_are_refused_in_a_sentence(own, tmp_path):
    """A report compares methods by one CCV."""
    assert own.is_file()
    mixed = SEVERAL.replace("two_caps", "two_units")
    assert sweep(small(tmp_path, mixed), tmp_path / "out", serial).failed == {}
    results = Results(tmp_path / "out")
    said = (
        "rounds have 2 constraints (share of A, heat in W), whose units may differ, so methods "
        "cannot be compared by one CCV; give the problem `limits` with one unit, or "
        "`constraint_units`, a size for each constraint"
    )
    records = [*(run.record for run in results.runs), *results.benchmarks.values()]
    assert {(record["status"], record["reason"]) for record in records} == {("refused", said)}


def test_runs_with_mixed_units_are_compared_in_declared_sizes(own, tmp_path):
    assert own.is_file()
    sized = SEVERAL.replace("two_caps", "two_sizes")
    assert sweep(small(tmp_path, sized), tmp_path / "out", serial).failed == {}
    results = Results(tmp_path / "out")
    run = next(r for r in results.runs if r.record["method"] == "own_code:each")
    code, record = sys.modules["own_code"], run.record
    problem = code.two_sizes(60, 3)
    trace = simulate(code.each(problem.decision_set), problem)
    relative = (trace.violations_each / np.array([[0.5], [30.0]])).max(axis=0)
    assert record["ccv"] == pytest.approx(np.maximum(relative, 0.0).sum())
    assert record["largest_violation"] == pytest.approx(relative.max())
    assert record["signed_ccv"] == pytest.approx(relative.sum())
    assert record["constraint_units"] == [0.5, 30.0]
    assert record["ccv_each"] == trace.ccv_each.tolist()
    assert results.curves(run)[2, -1] == pytest.approx(record["ccv"])
    assert [(s["constraint"], s["unit"]) for s in record["service"]] == [
        ("share of A", ""),
        ("heat", "W"),
    ]
    free = hindsight(problem, constrained=False).x
    over = [max(0.0, g.parts[0](free) / 0.5, g.parts[1](free) / 30.0) for _, g in problem.rounds()]
    assert run.benchmark["blind"]["ccv"] == pytest.approx(sum(over))
    assert sum(over) > 0.0
    frame = results.to_frame()
    assert frame.loc[record["id"], ["ccv_1", "ccv_2"]].tolist() == record["ccv_each"]
    page = invoked("report", tmp_path / "out")
    assert page.exit_code == 0, page.stderr
    report = (tmp_path / "out" / "report" / "report.html").read_text()
    section = report.split("Each constraint of own_code:two_sizes, T = 60")[1].split("</table>")[0]
    assert "in its own unit" in section
    assert re.findall(r"<th[^>]*>(.*?)</th>", section) == [
        *("method", "CCV %", "share of A", "heat in W")
    ]
    assert f">{Mean.of([record['ccv_each'][1]])}<" in section


MISTAKES = {
    "guo_reco": r"there is no method 'guo_reco' \(did you mean 'guo_recoo'\?\)",
    "own_code:": "an import path is 'package.module:factory', got 'own_code:'",
    "__main__:f": "put the function into a module of its own",
    "no_such_code:f": "there is no module 'no_such_code'; put its file beside",
    "own_code:plane": "own_code has no 'plane'",
    "own_code:NUMBER": "must name a function, got int",
    "own_code:greedy": "needs horizon, temperature; what can be given is horizon, preset, seed",
    "own_code:nothing": "must take the decision set as its first argument",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_method_that_cannot_be_had_is_one_sentence(own, name, tmp_path):
    assert own.is_file()
    with pytest.raises(ValueError, match=MISTAKES[name]):
        find_method(name)
    if name != "guo_reco":
        with pytest.raises(ValueError, match=rf"methods\[0\]: .*{MISTAKES[name]}"):
            small(tmp_path, BY_PATH.replace("own_code:plain", name))


BAD_KINDS = {
    "iid_simplx": r"must be one of .*; got 'iid_simplx' \(did you mean 'iid_simplex'\?\)",
    "own_code:untyped": "the type of n must be int, float, str, Path or a Literal",
    "own_code:no_seed": "must take a horizon and a seed",
    "own_code:forgot": r"reacts to the decisions; declare it with @problem_kind\(reacts=True\)",
    "own_code:no_problem": "must return a Problem, got int",
}


@pytest.mark.parametrize("name", BAD_KINDS)
def test_a_kind_that_cannot_be_had_is_one_sentence(own, name, tmp_path):
    assert own.is_file()
    with pytest.raises(ValueError, match=BAD_KINDS[name]):
        small(tmp_path, BY_PATH.replace("own_code:corner", name))


def test_a_kind_that_nobody_knows_is_one_sentence():
    with pytest.raises(ValueError, match=r"there is no kind .* \(did you mean 'ranking'\?\)"):
        find_kind("rankin")


def test_a_module_that_breaks_is_told_with_its_reason(own):
    own.write_text("1 / 0\n")
    with pytest.raises(ValueError, match=r"own_code raises ZeroDivisionError \(division by zero"):
        find_method("own_code:plain")


def test_what_is_not_stated_has_a_default_and_what_is_stated_counts(own):
    assert own.is_file()
    plain, whole = find_method("own_code:plain"), find_method("own_code:whole")
    assert (plain.name, plain.sees, plain.regret) == ("own_code:plain", "gradients", "not stated")
    assert (whole.name, whole.sees, whole.regret) == ("own_code:whole", "whole", "T")
    assert plain.policy(Simplex(3), 50, 0, "practical").decision_set.dim == 3


def test_two_packages_with_one_name_are_told_apart_by_path(installed, tmp_path, monkeypatch):
    assert installed.is_dir()
    other = tmp_path / "more" / "other-1.0.dist-info"
    other.mkdir(parents=True)
    monkeypatch.syspath_prepend(other.parent)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\n")
    (other / "entry_points.txt").write_text("[hedgerow.methods]\ncareful_start = other:f\n")
    with pytest.raises(ValueError, match=r"offered by several .* other:f; name the one"):
        find_method("careful_start")


def test_python_names_functions_and_classes_as_a_file_names_paths(own, tmp_path):
    """The same experiment from a dict, with the objects themselves, has the same bytes."""
    assert own.is_file()
    plain, two_coins = map(imports.load_path, ("own_code:plain", "own_code:two_coins"))

    def asked(method, kind, of):
        return {
            "name": "own",
            "methods": [method, "projection_free_coco"],
            "horizons": [40],
            "seeds": [3],
            "problems": [
                {"kind": kind, "limit": 0.4},
                {"kind": "iid_linear", "set": {"kind": of, "lower": [0.0, 0.0], "upper": [1, 2]}},
            ],
        }

    objects = load_experiment(asked(plain, two_coins, Box))
    named = asked("own_code:plain", "own_code:two_coins", "hedgerow.sets.balls.boxes:Box")
    assert objects == load_experiment(named)
    assert sweep(objects, tmp_path / "out", serial).failed == {}
    assert {run.record["status"] for run in Results(tmp_path / "out").runs} == {"done"}
    assert sweep(load_experiment(named), tmp_path / "out", serial).ran == 0


BAD_SETS = {
    "'Simplx'": r"set.kind: there is no set 'Simplx' \(did you mean 'Simplex'\?\)",
    "{ n = 3 }": "set lacks the key 'kind'",
    "{ kind = 'Simplex', size = 3 }": "Simplex does not take these keys .*; its keys are n",
    "{ kind = 'Simplex', n = { a = 1 } }": "set.n must be a number, a text or a list of them",
    "{ kind = 'Simplex', n = -3 }": "problems.0. .iid_linear.: .*-3",
    "'own_code:no_problem'": r"does not take these keys .*; its keys are horizon, seed",
    "'own_code:three'": "must return a DecisionSet, got int",
    "7": "give a name, an import path",
}


@pytest.mark.parametrize("given", BAD_SETS)
def test_a_set_that_cannot_be_had_is_one_sentence(own, given, tmp_path):
    own.write_text(OWN + "def three():\n    return 3\n")
    text = BY_PATH.split("[[problems]]")[0] + f"[[problems]]\nkind = 'iid_linear'\nset = {given}\n"
    with pytest.raises(ValueError, match=BAD_SETS[given]) as told:
        small(tmp_path, text)
    assert "\n" not in str(told.value)


def test_a_set_that_was_changed_does_not_mix(own, tmp_path):
    own.write_text(OWN + "def square():\n    return Simplex(3)\n")
    head = BY_PATH.split("[[problems]]")[0]
    text = head + "[[problems]]\nkind = 'iid_linear'\nset = 'own_code:square'\n"
    experiment = small(tmp_path, text)
    own.write_text(OWN + "def square():\n    return Simplex(4)\n")
    tally = sweep(experiment, tmp_path / "out", serial)
    assert tally.ran == 0
    assert all("the code of own_code" in error for error in tally.failed.values())


def test_a_lambda_is_no_method_that_others_can_import():
    with pytest.raises(ValueError, match=r"methods\[0\]: give a name, an import path"):
        load_experiment(
            {"name": "x", "methods": [lambda X: X], "horizons": [5], "seeds": [1],
             "problems": [{"kind": "iid_simplex"}]}
        )  # fmt: skip
