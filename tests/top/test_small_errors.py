"""Small mistakes that everybody makes once: each gets a sentence, or simply works."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments import Results, load_experiment, sweep, tune
from hedgerow.experiments.executors import dask, find_joblib, serial
from hedgerow.feedback import first_order
from hedgerow.gone import GONE
from hedgerow.networks import Network
from hedgerow.policies.presets import NO_CONSTANTS
from hedgerow.problems import LatencyCap
from hedgerow.report import Summary, write_report
from made_results import Made, make_results

X = hr.sets.Simplex(3)
F = hr.Linear([1.0, 2.0, 3.0])
TINY = """
name = "tiny"
methods = ["projection_free_coco"]
horizons = [8]
seeds = [20]
[[problems]]
kind = "iid_simplex"
n = 3
[tune]
seeds = [0]
rule = "sum"
eagerness = [1.0]
"""


def refused(words, kind=TypeError):
    return pytest.raises(kind, match=f"^{re.escape(words)}")


def test_strings_are_paths(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    experiment = load_experiment(str(tmp_path / "tiny.toml"))
    folder = str(tmp_path / "out")
    assert sweep(experiment, folder, serial).failed == {}
    results = Results(folder)
    assert results.folder == tmp_path / "out"
    assert len(results.runs) == 1
    page = write_report(Summary(results), str(tmp_path / "report"))
    assert page == tmp_path / "report" / "report.html"
    assert page.is_file()
    selection, _ = tune(experiment, str(tmp_path / "tuned"), serial)
    assert selection["rows"]
    with refused(f"{tmp_path} holds no results", ValueError):
        Results(str(tmp_path))


def test_recorded_rounds_are_pairs_of_functions():
    with refused("there are no rounds; give at least one pair (cost, constraint)", ValueError):
        hr.RecordedProblem(X, [])
    with refused(
        "the cost of round 2 must be a function with a value f(x) and a subgradient f.grad(x), "
        "such as Linear(coefficients), got array([1., 1., 1.])"
    ):
        hr.RecordedProblem(X, [(F, F), (np.ones(3), F)])
    with refused("the constraint of round 1 must be a function"):
        hr.RecordedProblem(X, [(F, abs)])
    with refused("the constraint of round 1 must be a function"):
        hr.RecordedProblem(X, [(F, [F, 2.0])])
    with refused(
        "round 1 must be a pair (cost, constraint), got 3 entries; several constraints are one "
        "sequence: (cost, [first, second])"
    ):
        hr.RecordedProblem(X, [(F, F, F)])
    with refused("round 1 must be a pair (cost, constraint), got Linear"):
        hr.RecordedProblem(X, [F])


def test_a_tuple_of_constraints_is_their_maximum_for_a_policy():
    caps = (hr.Linear([1.0, 0.0, 0.0], -0.5), hr.Linear([0.0, 1.0, 0.0], -0.5))
    problem = hr.RecordedProblem(X, [(F, caps)])
    ((_, constraint),) = problem.rounds()
    assert constraint.parts == caps
    ((_, given),) = problem
    assert given is caps
    trace = hr.simulate(hr.projection_free_coco(X), hr.RecordedProblem(X, [(F, caps)] * 5))
    assert trace.violations_each.shape == (2, 5)


@pytest.mark.parametrize("game", [hr.simulate, hr.play])
def test_a_factory_is_no_policy(game):
    problem = hr.problems.IidSimplex(3, 5)
    with refused(
        "a game needs a policy, with ask and tell, got projection_free_coco itself; build one with "
        "projection_free_coco(problem.decision_set)"
    ):
        game(hr.projection_free_coco, problem)
    with refused("a game needs a policy, with ask and tell, got 'projection_free_coco'"):
        game("projection_free_coco", problem)


@pytest.mark.parametrize("given", [None, 3, b"x", {}, {"a": 1}, [1], np.ones(2), "state.npz"])
def test_restore_names_invalid_snapshots(given):
    policy = hr.projection_free_coco(X)
    before = policy.ask()
    with refused(
        f"Fallback is restored from a snapshot, as its state() returns it, got {given!r}; "
        "a file is read by load(path)",
        ValueError,
    ):
        policy.restore(given)
    np.testing.assert_array_equal(policy.ask(), before)
    cut = policy.state()
    del cut["checksum"]
    with pytest.raises(ValueError, match="this one lacks checksum; take one with state"):
        policy.restore(cut)


def test_names_that_are_not_there_get_a_suggestion():
    with pytest.raises(KeyError) as caught:
        METHODS["projection_free_cooc"]
    assert caught.value.args == (
        "there is no method 'projection_free_cooc'; did you mean 'projection_free_coco'?",
    )
    with pytest.raises(KeyError, match="no method 'xyz'; `hedgerow methods` lists them"):
        METHODS["xyz"]
    assert "projection_free_cooc" not in METHODS
    assert METHODS.get("projection_free_cooc") is None
    with refused("hedgerow has no 'similate'; did you mean 'simulate'?", AttributeError):
        hr.similate  # noqa: B018
    with refused("hedgerow.sets has no 'Simplx'; did you mean 'Simplex'?", AttributeError):
        hr.sets.Simplx  # noqa: B018
    with refused("hedgerow has no 'xyz'; dir(hedgerow) lists its names", AttributeError):
        hr.xyz  # noqa: B018
    assert not hasattr(hr, "similate")


SEEDED = {
    "random_network": lambda seed: hr.ShortestPath.random_network(30, 90, 9, seed),
    "ftpl_coco": lambda seed: hr.ftpl_coco(X, 9, seed),
    "Sampled": lambda seed: hr.Sampled(hr.projection_free_coco(X), seed),
    "semi_bandit_coco": lambda seed: hr.semi_bandit_coco(X, 9, seed),
} | {
    name: (lambda seed, name=name: getattr(hr.problems, name)(seed=seed))
    for name in ("AdSlots", "Caching", "DriftingSubsets", "HalfspaceBox", "HardBox", "IidSimplex",
                 "OrthogonalBall", "QuadraticBox", "Ranking", "SwitchingBall")
}  # fmt: skip


@pytest.mark.parametrize("what", SEEDED)
def test_no_seed_is_no_seed(what):
    words = "seed must be a whole number, got None; choose one, such as 0: games are repeatable"
    with refused(words):
        SEEDED[what](None)
    SEEDED[what](0)


def test_regret_needs_a_benchmark():
    problem = hr.problems.IidSimplex(3, 9)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    with refused(
        "regret compares with a Benchmark, as hindsight(problem) returns it, got 3.0; a cost of "
        "your own is subtracted: trace.cost - cost"
    ):
        trace.regret(3.0)
    best = hr.hindsight(problem)
    assert trace.regret(best) == trace.cost - best.cost


def test_extras_are_named_as_they_can_be_installed(monkeypatch):
    """The package is on no index yet: it is installed from its folder."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    with refused(
        'several workers need joblib; install it with: pip install ".[cli]", or use workers=1',
        ValueError,
    ):
        find_joblib()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with refused(
        'a cluster needs dask.distributed; install it with: pip install ".[cluster]"', ValueError
    ):
        list(dask([], "tcp://127.0.0.1:9"))


def test_no_advice_names_the_package_as_if_it_were_on_an_index():
    library = Path(hr.__file__).parent
    advice = re.compile(r"""(pip|uv|pipx)( pip)? install "?'?hedgerow\b|hedgerow\[""")
    assert [path for path in library.rglob("*.py") if advice.search(path.read_text("utf-8"))] == []


def test_who_ties_in_regret_and_has_more_ccv_is_dominated(tmp_path):
    four = [5.0] * 4
    folder = make_results(tmp_path / "made", {
        "projection_free_coco": Made(four, [10.0] * 4), "sinha_vaze": Made(four, [20.0] * 4),
        "cold": Made(four, [10.0] * 4), "unconstrained": Made([1.0] * 4, [90.0] * 4),
    })  # fmt: skip
    stars = {row.config.method: row.undominated for row in Summary(Results(folder)).rows}
    assert stars == {
        "projection_free_coco": True, "sinha_vaze": False, "cold": True, "unconstrained": True
    }  # fmt: skip


def test_a_network_with_cycles_is_refused_with_advice_on_orientation():
    links = Network(("a", "b", "c"), [(0, 1), (1, 0), (1, 2), (2, 1)], [1.0] * 4, "measured")
    with pytest.raises(ValueError, match=r"form no cycle.*orientation='distance' takes that by"):
        LatencyCap.from_network(links, "a", "c", 9, 0)
    assert LatencyCap.from_network(links, "a", "c", 9, 0, orientation="distance").horizon == 9


@pytest.mark.parametrize("game", [hr.play, hr.simulate])
def test_a_policy_on_another_set_is_refused(game):
    policy = hr.projection_free_coco(hr.sets.Box(np.zeros(3), np.ones(3)))
    with refused(
        "the policy's first decision lies outside the problem's Simplex, as it plays", ValueError
    ):
        game(policy, hr.RecordedProblem(X, [(F, F)]))
    same = hr.projection_free_coco(hr.sets.Simplex(3))  # an equal set is as good
    assert len(list(hr.play(same, hr.RecordedProblem(X, [(F, F)])))) == 1


def test_a_learner_is_no_policy():
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.RmsSteps())
    with refused("a game needs a policy, whose tell takes cost and constraint, got the learner"):
        hr.simulate(learner, hr.RecordedProblem(X, [(F, F)]))


SWAPPED = {
    "steps": (
        lambda: hr.learners.AdaptiveOCG(X, 1000),
        "steps must be a step rule, such as CertificateSteps() or PaperSteps(horizon), got 1000",
    ),
    "potential": (
        lambda: hr.surrogates.CurrentSurrogate(2.0),
        "potential must have weight(q, t), as PowerPotential(p, scale) has, got 2.0",
    ),
    "learner": (
        lambda: hr.ConstrainedPolicy(X, SURROGATE),
        "learner must be a learner, with ask and tell, got a Simplex; the learner comes first",
    ),
    "swapped": (
        lambda: hr.ConstrainedPolicy(SURROGATE, LEARNER),
        "learner must be a learner, with ask and tell, got a CurrentSurrogate",
    ),
    "surrogate": (
        lambda: hr.ConstrainedPolicy(LEARNER, SURROGATE.potential),
        "surrogate must be a surrogate, such as CurrentSurrogate(potential), got a PowerPotential",
    ),
    "sampled": (
        lambda: hr.Sampled(X, 0),
        "sampled play draws the vertices of a fractional policy, such as projection_free_coco(X)",
    ),
    "lazily sampled": (lambda: hr.LazySampled(X, 0), "sampled play draws the vertices of a"),
    "hindsight of a policy": (
        lambda: hr.hindsight(hr.projection_free_coco(X)),
        "hindsight needs a problem, or a decision set and its rounds, got a Fallback",
    ),
    "hindsight of rounds": (
        lambda: hr.hindsight([(F, F)]),
        "hindsight needs a problem, or a decision set and its rounds, got a list",
    ),
}
LEARNER = hr.learners.AdaptiveOCG(X, hr.learners.steps.RmsSteps())
SURROGATE = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(2.0, 1.0))


@pytest.mark.parametrize("mistake", SWAPPED)
def test_what_a_part_is_made_of_is_checked(mistake):
    build, words = SWAPPED[mistake]
    with refused(words):
        build()


def test_a_budget_is_named_as_it_was_given():
    policy = hr.projection_free_coco(X)
    with refused("budget must be one real number, got 'x'"):
        policy.certificate("x")
    with refused("budget must be at least 0, got -1", ValueError):
        policy.certificate(-1.0)
    with refused("benchmark_budget must be at least 0, got -1", ValueError):
        hr.projection_free_coco(X, 100, preset="theory", lipschitz=1.0, benchmark_budget=-1.0)


@pytest.mark.parametrize(("name", "advice"), NO_CONSTANTS.items())
def test_constants_that_are_learnt_are_refused(name, advice):
    with refused(f"{name}=2.0 has no effect any more: {advice}", ValueError):
        hr.projection_free_coco(X, **{name: 2.0})


@pytest.mark.parametrize(("package", "name"), [(p, name) for p in GONE for name in GONE[p]])
def test_a_name_that_is_gone_says_what_replaces_it(package, name):
    words = f"{package} has no {name!r} any more: {GONE[package][name]}"
    with refused(words, AttributeError):
        getattr(importlib.import_module(package), name)
    for path in re.findall(r"hedgerow(?:\.\w+)+", words.partition(":")[2]):
        assert pkgutil.resolve_name(path) is not None


@pytest.mark.parametrize("told", ["cost", "constraint"])
def test_an_array_as_feedback_is_refused_by_name(told):
    policy, seen = hr.projection_free_coco(X), first_order(F, X.start())
    given = {"cost": seen, "constraint": seen} | {told: np.ones(3)}
    words = f"this policy learns from EvalGrad feedback, the {told} was given as ndarray; "
    with refused(words + "observe it with first_order(f, x), or EvalGrad(value, grad)"):
        policy.tell(**given)


def test_tracking_is_yes_or_no():
    with refused("tracking must be True or False, got 0.5"):
        hr.projection_free_coco(X, tracking=0.5)


@pytest.mark.parametrize(
    "given", [{"eagerness": 2.0}, {"constraints": 2}, {"violation_unit": 3.0}], ids=str
)
def test_the_theory_preset_names_what_it_does_not_take(given):
    ((name, value),) = given.items()
    words = f"the theory preset is the theorem's letter and takes no {name}, got {value!r}"
    with refused(words, ValueError):
        hr.projection_free_coco(X, 100, preset="theory", lipschitz=1.0, **given)


def test_a_warning_shows_the_line_of_the_user():
    with pytest.warns(hr.VacuousConstantsWarning) as seen:
        policy = hr.projection_free_coco(X, 8, preset="theory", lipschitz=1.0)
    assert seen[0].filename == __file__
    rounds = hr.RecordedProblem(X, [(F, F)] * 9)
    with pytest.warns(UserWarning, match="beyond the horizon") as seen:
        hr.simulate(policy, rounds)
    assert seen[0].filename == __file__


WRONG = {
    "sweep": (lambda _: sweep("smoke", "out", serial),
              "sweep needs an experiment, as load_experiment(path) returns it, got 'smoke'"),
    "report": (lambda at: write_report(str(at), at),
               "write_report needs a summary, Summary(Results(folder)), got '"),
    "backtest": (lambda _: hr.experiments.backtest(hr.problems.IidSimplex(3, 9)),
                 "a backtest plays measured rounds, hr.problems.MeasuredRoutes, got IidSimplex("),
    "page": (lambda at: hr.report.write_backtest("test", at / "out"),
             "write_backtest needs a Backtest, as backtest(problem) returns it, got 'test'"),
    "no set": (lambda _: hr.RecordedProblem(3, [(F, F)]),
               "decision_set must be a set, such as Simplex(3), got 3"),
    "no rounds": (lambda _: hr.RecordedProblem(X, None),
                  "rounds must be pairs (cost, constraint), got None"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_the_wrong_kind_of_thing_is_named_before_anything_is_written(what, tmp_path):
    use, words = WRONG[what]
    with refused(words):
        use(tmp_path)
    assert not list(tmp_path.iterdir())
