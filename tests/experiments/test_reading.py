"""Experiment files: every mistake is named by its key, with what was given and what is allowed."""

from __future__ import annotations

import hashlib

import pytest
from small_experiment import TEXT, small, written

from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.fingerprints import ChangedFileError
from hedgerow.experiments.problems import KINDS
from hedgerow.experiments.reading import load_experiment, shipped
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, plan
from hedgerow.experiments.validation import GRID
from hedgerow.networks.network import Network

MISTAKES = {
    "not TOML": ("name = [", "this is not TOML"),
    "unknown key": (
        TEXT.replace("horizons =", "horizon ="),
        r"unknown key 'horizon' \(did you mean 'horizons'\?\); allowed are name, problems",
    ),
    "missing key": (TEXT.replace("seeds = [20, 21]", ""), "lacks the key 'seeds'"),
    "no list": (TEXT.replace("[60]", "60"), "horizons must be a list of one or more .* got 60"),
    "empty list": (TEXT.replace("[60]", "[]"), r"horizons must be a list .* got \[\]"),
    "no count": (
        TEXT.replace("[60]", "[60, 2.5]"),
        r"horizons\[1\] must be a whole number of at least 1, got 2.5",
    ),
    "below": (TEXT.replace("[20, 21]", "[-1]"), r"seeds\[0\] must be .* at least 0, got -1"),
    "a truth value": (TEXT.replace("[20, 21]", "[true]"), r"seeds\[0\] must .* got True"),
    "twice": (TEXT.replace("[20, 21]", "[20, 20]"), r"seeds\[1\] is 20 again"),
    "seed table": (
        TEXT.replace("[20, 21]", "{first = 3, number = 2}"),
        "seeds has an unknown key 'number'; allowed are first, count",
    ),
    "unknown method": (
        TEXT.replace('"ftpl_coco"', '"ftpl_cocoa"'),
        r"methods\[1\] must be one of .*; got 'ftpl_cocoa' \(did you mean 'ftpl_coco'\?\)",
    ),
    "unknown preset": (TEXT.replace('"theory"', '"best"'), r"presets\[1\] must be one of"),
    "eagerness": ("eagerness = [0]\n" + TEXT, r"eagerness\[0\] must be above 0, got 0"),
    "infinite": ("eagerness = [inf]\n" + TEXT, r"eagerness\[0\] must be a finite number, got inf"),
    "name": (TEXT.replace('"small"', '"a/b"'), "name must be of letters, digits, - and _"),
    "no problems": (
        TEXT.split("[[problems]]")[0] + "problems = []",
        "problems must be one or more",
    ),
    "no kind": (TEXT.replace('kind = "iid_simplex"', ""), r"problems\[0\] lacks the key 'kind'"),
    "unknown kind": (
        TEXT.replace("iid_simplex", "iid_simplexes"),
        r"problems\[0\].kind must be one of .*did you mean 'iid_simplex'",
    ),
    "foreign parameter": (
        TEXT.replace("n = 4", "nodes = 4"),
        r"problems\[0\] has an unknown key 'nodes'; allowed are kind, label, horizons, n",
    ),
    "parameter's type": (TEXT.replace("n = 4", "n = '4'"), r"problems\[0\].n must be a whole"),
    "parameter's value": (TEXT.replace("n = 4", "n = -2"), r"problems\[0\].n must .* got -2"),
    "problem's own": (
        TEXT.replace("iid_simplex", "ranking"),
        r"problems\[0\] \(ranking\): protected",
    ),
    "too large": (
        TEXT.replace("n = 4", "n = 100000000000000"),
        r"problems\[0\] \(iid_simplex\) with 60 rounds does not fit in memory; choose smaller",
    ),
    "long label": (
        TEXT.replace("n = 4", f"label = '{'x' * 61}'"),
        r"problems\[0\].label must have at most 60 characters, got 61",
    ),
    "a word for methods": (
        TEXT.replace('["projection_free_coco", "ftpl_coco", "unconstrained"]', '"most"'),
        "methods must be a list of names or 'all', got 'most'",
    ),
    "without a list": (
        "without = ['sun_safe']\n" + TEXT,
        "without goes with methods = 'all'",
    ),
    "same label": (TEXT.replace("halfspace_box", "iid_simplex"), r"problems\[1\] .* again"),
    "file": (
        TEXT.replace("iid_simplex", "shortest_path").replace("n = 4", "network = 'no.json'"),
        r"problems\[0\].network: there is no file .*no.json",
    ),
    "required": (TEXT.replace("iid_simplex", "portfolio_csv"), "unknown key 'n'"),
    "tune without rule": (TEXT + "\n[tune]\nseeds = [0]", "tune lacks the key 'rule'"),
    "rule": (TEXT + "\n[tune]\nseeds = [0]\nrule = 'luck'", "tune.rule must be one of 'sum'"),
    "target": (
        TEXT + "\n[tune]\nseeds = [0]\nrule = 'target'",
        "tune.ccv_target goes with rule = 'target'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake, tmp_path):
    text, sentence = MISTAKES[mistake]
    with pytest.raises(ValueError, match=sentence) as caught:
        small(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "small.toml"))


def test_no_such_file_names_what_is_shipped(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment file .*shipped are .*paper"):
        load_experiment(tmp_path / "none.toml")


def test_defaults_are_written_out(tmp_path):
    resolved = small(tmp_path, TEXT + "\n[tune]\nseeds = {first = 0, count = 3}\nrule = 'sum'")
    found = resolved.resolved()
    assert found["problems"][1] == {
        "label": "halfspace_box",
        "kind": "halfspace_box",
        "parameters": {"n": 3, "halfspaces": 12},
        "sha256": {},
        "horizons": [60],
    }
    assert found["eagerness"] == [1.0]
    assert found["tune"]["seeds"] == [0, 1, 2]
    assert found["tune"]["eagerness"] == list(GRID) == [0.125, 0.25, 0.5, 1, 2, 4, 8]


def test_all_methods_without_some_are_written_out(tmp_path):
    listed = '["projection_free_coco", "ftpl_coco", "unconstrained"]'
    assert small(tmp_path, TEXT.replace(listed, '"all"')).methods == tuple(METHODS)
    text = "without = ['sun_safe']\n" + TEXT.replace(listed, '"all"')
    found = small(tmp_path, text).resolved()
    assert found["methods"] == [name for name in METHODS if name != "sun_safe"]
    assert "without" not in found


def test_the_plan_is_the_product(tmp_path):
    tasks = plan(small(tmp_path, "eagerness = [0.5, 1]\n" + TEXT))
    benchmarks = [task for task in tasks if isinstance(task, BenchmarkTask)]
    assert [(b.problem.label, b.seed) for b in benchmarks] == [
        ("iid_simplex", 20),
        ("iid_simplex", 21),
    ], "a game that reacts has no benchmark of its own"
    runs = [task for task in tasks if isinstance(task, RunTask)]
    assert len({task.id for task in tasks}) == len(tasks)
    for preset, allowed in (("practical", {0.5, 1.0}), ("theory", {1.0})):
        found = {run.eagerness for run in runs if run.preset == preset}
        assert found <= allowed
    per_seed = [run for run in runs if run.seed == 20 and run.preset == "theory"]
    assert len(per_seed) == 3 * 2


def test_recorded_data_are_played_once_by_methods_without_draws(tmp_path):
    rows = ["a,b,c", *(f"1.0{i % 7},0.9{i % 5},1.01" for i in range(60))]
    (tmp_path / "prices.csv").write_text("\n".join(rows))
    text = TEXT.split("[[problems]]")[0].replace("[60]", "[20]") + (
        "[[problems]]\nkind = 'portfolio_csv'\nfile = 'prices.csv'\nwindow = 30\ncap = 1.5"
    )
    tasks = plan(small(tmp_path, text))
    seeds = [(task.method, task.seed) for task in tasks if isinstance(task, RunTask)]
    assert seeds.count(("unconstrained", 20)) == 2, "both presets"
    assert ("unconstrained", 21) not in seeds
    assert ("ftpl_coco", 21) in seeds
    assert len([task for task in tasks if isinstance(task, BenchmarkTask)]) == 1


def test_where_a_file_lies_does_not_matter_but_what_it_says_does(tmp_path):
    text = TEXT.split("[[problems]]")[0].replace("[60]", "[20]") + (
        "[[problems]]\nkind = 'log_portfolio_csv'\nfile = 'prices.csv'\nlimit = 1.0"
    )
    ids = []
    for folder, price in (("a", "1.01"), ("b", "1.01"), ("c", "1.02")):
        (tmp_path / folder).mkdir()
        rows = ["a,b", *([f"{price},1.0"] * 30)]
        (tmp_path / folder / "prices.csv").write_text("\n".join(rows))
        experiment = load_experiment(written(tmp_path / folder, text))
        ids.append(([task.id for task in plan(experiment)], experiment.resolved()))
    assert ids[0] == ids[1]
    assert set(ids[0][0]).isdisjoint(ids[2][0])


@pytest.mark.parametrize("name", shipped())
def test_shipped_experiments_are_right(name):
    text = shipped()[name].read_text()
    if "--network" in text:
        with pytest.raises(ValueError, match=r"lacks the key 'network'"):
            load_experiment(name)
        return
    assert load_experiment(name).name == name


def triangle(direct):
    """Return three nodes with a detour of 10 ms and a direct link."""
    return Network(
        ("s", "a", "t"), [(0, 1), (1, 2), (0, 2)], [5.0, 5.0, direct], "measured",
        [9.0, 9.0, 4.0], "measured", source=0, target=2,
    )  # fmt: skip


def test_a_network_file_fills_the_gap(tmp_path):
    triangle(8.0).save(tmp_path / "net.json")
    experiment = load_experiment("paper_network", tmp_path / "net.json")
    (problem,) = experiment.problems
    digest = hashlib.sha256((tmp_path / "net.json").read_bytes()).hexdigest()
    assert problem.resolved()["sha256"] == {"network": digest}
    assert problem.resolved()["parameters"] == {"network": "net.json"}
    built = problem.build(50, 3)
    assert (built.horizon, built.seed, built.decision_set.dim) == (50, 3, 3)


def test_a_rewritten_file_is_never_played_under_the_old_hash(tmp_path):
    """Nor the old one, still in memory, under the new hash."""
    path = tmp_path / "net.json"
    triangle(8.0).save(path)
    (old,) = load_experiment("paper_network", path).problems
    assert 8.0 in old.build(50, 3).latency
    triangle(7.0).save(path)
    with pytest.raises(ChangedFileError, match=r"net.json is not the file .* SHA-256 is another"):
        old.build(50, 3)
    (new,) = load_experiment("paper_network", path).problems
    assert 7.0 in new.build(50, 3).latency
    path.unlink()
    with pytest.raises(ChangedFileError, match="there is no file"):
        new.build(50, 3)


def test_every_kind_is_documented():
    for kind in KINDS.values():
        assert kind.summary.endswith("."), kind.name
        assert all(parameter.type for parameter in kind.parameters.values())
