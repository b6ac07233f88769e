"""An honest run file holds, on its own; none of 200 tampered ones does."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from falling_back import falling_back
from hedgerow.release import this_release
from hedgerow.testing import TamperedRunError, record_run, verify_run
from hedgerow.testing import verification as checker
from hedgerow.testing.run_files import pack_run

T = 60


def infeasible_rounds():
    """Rounds of which every third cannot be satisfied by any action."""
    rng = np.random.default_rng(3)
    for t in range(T):
        limit = 0.4 if t % 3 else 1.5
        yield hr.Linear(rng.random(4)), hr.Linear(-np.ones(4) - rng.random(4) * 0.1, limit)


def two_limits(first, second):
    rng = np.random.default_rng(4)
    for _ in range(T):
        caps = [hr.Linear(rng.random(4), -first), hr.Linear(rng.random(4), -second)]
        yield hr.Linear(rng.random(4)), caps


def problems():
    X = hr.sets.Simplex(4)
    box = hr.sets.Polytope([[1.0, 1.0, 1.0, 1.0]], [2.0], upper=np.ones(4))
    return {
        "simplex": hr.problems.IidSimplex(n=4, horizon=T, seed=0),
        "paths": hr.ShortestPath.random_network(nodes=10, edges=24, horizon=T, seed=1),
        "infeasible": hr.RecordedProblem(X, infeasible_rounds()),
        "two limits": hr.RecordedProblem(X, two_limits(0.85, 0.9), limits={"a": "ms", "b": "ms"}),
        "two tight limits": hr.RecordedProblem(X, two_limits(0.82, 0.85)),
        "inequalities": hr.RecordedProblem(
            box, list(hr.problems.IidSimplex(n=4, horizon=T, seed=2))
        ),
    }


def record(name, path, policy=hr.projection_free_coco, **arguments):
    problem = problems()[name]
    best = hr.hindsight(problem)
    compared = best if best.status == "optimal" else None
    made = policy(problem.decision_set, **arguments)
    return record_run(made, problem, path, benchmark=compared), compared, made


TWO = {"constraints": 2}


@pytest.mark.parametrize(
    ("name", "build", "options"),
    [
        *((name, hr.projection_free_coco, {}) for name in problems()),
        ("two limits", hr.projection_free_coco, TWO),
        ("simplex", falling_back, {}),
        ("two tight limits", falling_back, {}),
        ("two tight limits", falling_back, TWO),
        ("paths", hr.projection_free_coco, {"tracking": False}),
        ("two limits", hr.projection_free_coco, {"tracking": False, **TWO}),
        ("paths", hr.projection_free_long_term, {}),
    ],
)
def test_the_checker_finds_the_numbers_of_the_library(name, build, options, tmp_path):
    trace, best, policy = record(name, tmp_path / "game.run", build, **options)
    assert (getattr(policy, "switched", None) is not None) == (build is falling_back)
    found = verify_run(tmp_path / "game.run")
    assert math.isclose(found["cost"], trace.cost, rel_tol=1e-12)
    each = [trace.ccv] if trace.ccv_each is None else trace.ccv_each
    np.testing.assert_allclose(found["ccv"], each, rtol=1e-9, atol=1e-12)
    assert found["violated_rounds"] == (trace.violations > 0.0).sum()
    assert math.isclose(found["certificate"], policy.certificate(), rel_tol=1e-9, abs_tol=1e-9)
    assert (best is None) == ("regret" not in found) == (name == "infeasible")
    if best is not None:
        assert math.isclose(found["regret"], trace.regret(best), rel_tol=1e-6, abs_tol=1e-9)
        assert abs(found["comparator_gap"]) < 1e-7 * abs(best.cost)
    assert found["stated"]["release"] == this_release()
    _, arrays = checker.read_run((tmp_path / "game.run").read_bytes())
    assert (arrays["weights"] > 0.0).any()
    assert not arrays["unavoidable"].any()
    assert np.array_equal(arrays["costs"], [c.coefficients for c, _ in problems()[name]])


def test_each_of_several_constraints_has_its_weights(tmp_path):
    problem = hr.RecordedProblem(hr.sets.Simplex(4), two_limits(0.6, 0.7))
    policy = hr.projection_free_coco(problem.decision_set, constraints=2)
    record_run(policy, problem, tmp_path / "game.run")
    verify_run(tmp_path / "game.run")
    header, arrays = checker.read_run((tmp_path / "game.run").read_bytes())
    assert (arrays["weights"] > 0.0).any(axis=0).all()
    assert "certificate" in header["results"]


OLD = Path(__file__).parent / "unavoidable.run"
"""What release 0.2.0 recorded of `infeasible`: its certificate leaves out what no action avoids."""


def test_a_file_of_an_earlier_release_holds():
    found = verify_run(OLD)
    assert found["stated"]["release"].startswith("0.2.0 ")
    assert found["certificate"] == pytest.approx(-9.627375529742855)


def test_a_policy_without_a_certificate_is_recorded_without_one(tmp_path):
    record("simplex", tmp_path / "game.run", hr.baselines.last_round)
    assert "certificate" not in verify_run(tmp_path / "game.run")


def test_the_same_run_makes_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        record("paths", tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


class Forger:
    """Changes what a run file holds and writes a right digest, as someone who can program does."""

    def __init__(self, path):
        self.content = path.read_bytes()
        self.header, arrays = checker.read_run(self.content)
        self.arrays = {name: array.copy() for name, array in arrays.items()}

    def forged(self, change):
        header = json.loads(json.dumps(self.header))
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        change(header, arrays)
        return pack_run(header, arrays)


def entries(arrays):
    """Entries that some result depends on, by the name of their array."""
    seen = arrays["decisions"] > 1e-3
    used = {
        "costs": seen,
        "constraints": seen[:, None, :] & np.ones(arrays["constraints"].shape, bool),
        "multipliers": arrays["multipliers"] > 0.0,
        "weights": arrays["weights"] > 0.0,
        "comparator": arrays["comparator"] != 0.0,
    }
    names = ("decisions", "cost_offsets", "cost_values", "constraint_offsets", "constraint_values")
    used |= {name: np.ones(arrays[name].shape, bool) for name in (*names, "limit")}
    return {name: np.argwhere(where) for name, where in used.items() if where.any()}


def tampered(path, count, rng):
    """Yield (what, bytes): damaged bytes, and forgeries whose digest is right."""
    forger = Forger(path)
    content, T = forger.content, len(forger.arrays["costs"])
    for _ in range(count // 4):  # bytes anywhere, the digest as it was
        at = rng.randrange(len(content))
        yield (
            f"byte {at}",
            content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :],
        )
    yield "cut", content[: rng.randrange(len(content))]
    yield "longer", content + b"0"
    for name in forger.header["results"]:
        for factor in (1.0 + 2e-16, 0.5):

            def state(header, _, name=name, factor=factor):
                value = header["results"][name]
                if isinstance(value, list):
                    header["results"][name] = [one * factor for one in value]
                elif isinstance(value, int):
                    header["results"][name] = value - 1
                else:
                    header["results"][name] = value * factor if value else 1e-300

            yield f"{name} stated", forger.forged(state)
    order = rng.sample(range(T), T)
    for name in ("decisions", "costs", "constraints", "constraint_values", "weights"):
        yield f"{name} shuffled", forger.forged(lambda _, a, n=name: a.update({n: a[n][order]}))
    names = [n for n, array in forger.arrays.items() if array.shape[:1] == (T,)]
    cheapest = np.argsort(forger.arrays["cost_values"])[:-5]
    for keep in ([*range(T - 1)], [*range(T), 0], cheapest):
        yield (
            "rounds dropped or repeated",
            forger.forged(lambda _, a, keep=keep: a.update({n: a[n][keep] for n in names})),
        )
    found, left = entries(forger.arrays), count
    while left:
        for name, places in found.items():
            place = tuple(places[rng.randrange(len(places))])
            size = 10.0 ** -rng.uniform(0, 6 if name == "limit" else 9)  # a set has a tolerance

            def move(_, arrays, name=name, place=place, size=size):
                old = arrays[name][place]
                arrays[name][place] = old + size * max(abs(old), 1.0)

            yield f"{name}{place} by {size:.0e}", forger.forged(move)
            left -= 1
            if not left:
                return


@pytest.mark.parametrize("name", ["simplex", "paths"])
def test_tampered_files_are_refused(name, tmp_path):
    record(name, tmp_path / "game.run")
    accepted, count = [], 0
    for what, content in tampered(tmp_path / "game.run", 100, random.Random(7)):
        count += 1
        (tmp_path / "tampered.run").write_bytes(content)
        try:
            verify_run(tmp_path / "tampered.run")
            accepted.append(what)
        except TamperedRunError:
            continue
    assert accepted == []
    assert count >= 100


def swap_comparator(_, arrays):
    worst = arrays["costs"].sum(axis=0)
    candidates = np.eye(4) * 0.1 + 0.9 * arrays["comparator"]
    arrays["comparator"] = max(candidates, key=lambda x: worst @ x)


def worse_comparator(_, arrays):
    """Another action that satisfies every round, and costs more."""
    best, costs = arrays["comparator"], arrays["costs"].sum(axis=0)
    mixed = [0.99 * best + 0.01 * corner for corner in np.eye(4)]
    allowed = [x for x in mixed if checker.values_of(arrays, x)["constraint_values"].max() <= 0.0]
    arrays["comparator"] = max(allowed, key=lambda x: costs @ x)
    assert costs @ (arrays["comparator"] - best) > 0.0


def another_decision(_, arrays):
    arrays["decisions"][3] = [2.0, -1.0, 0.0, 0.0]


def negative_weight(_, arrays):
    arrays["weights"][:] = -arrays["weights"]


def too_much_unavoidable(_, arrays):
    t, k = np.argwhere(arrays["unavoidable"] > 0.0)[0]
    arrays["unavoidable"][t, k] *= 1.01


def negative_multiplier(_, arrays):
    arrays["multipliers"][0, 0] = -1.0


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("simplex", swap_comparator, "does not satisfy every round"),
        ("two limits", worse_comparator, "not proved that the comparator is the best"),
        ("simplex", another_decision, "decision of round 4 is outside"),
        ("simplex", negative_weight, "at least 0"),
        ("simplex", negative_multiplier, "at least 0"),
        (None, too_much_unavoidable, "more violation than no action avoids"),
    ],
)
def test_careful_forgeries_that_recompute_all_results_are_refused(name, change, why, tmp_path):
    if name is not None:
        record(name, tmp_path / "game.run")
    forger = Forger(OLD if name is None else tmp_path / "game.run")
    header, arrays = json.loads(json.dumps(forger.header)), forger.arrays
    change(header, arrays)
    arrays |= checker.values_of(arrays, arrays["decisions"])
    with contextlib.suppress(TamperedRunError):  # it refuses to compute some of them
        header["results"] = checker.results_of(arrays)
    (tmp_path / "forged.run").write_bytes(pack_run(header, arrays))
    with pytest.raises(TamperedRunError, match=why):
        verify_run(tmp_path / "forged.run")


def test_a_file_of_another_kind_is_refused(tmp_path):
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    policy.save(tmp_path / "policy.snapshot")
    with pytest.raises(TamperedRunError, match="no run file"):
        verify_run(tmp_path / "policy.snapshot")
    body = b"no zip at all"
    (tmp_path / "text").write_bytes(body + hashlib.sha256(body).hexdigest().encode())
    with pytest.raises(TamperedRunError, match="no run file"):
        verify_run(tmp_path / "text")


@pytest.mark.parametrize("name", ["limit", "weights", "comparator", "costs"])
def test_missing_and_reshaped_arrays_are_refused(name, tmp_path):
    record("simplex", tmp_path / "game.run")
    forger = Forger(tmp_path / "game.run")
    for change in (lambda _, a: a.pop(name), lambda _, a: a.update({name: a[name][None]})):
        (tmp_path / "forged.run").write_bytes(forger.forged(change))
        with pytest.raises(TamperedRunError):
            verify_run(tmp_path / "forged.run")


def test_what_cannot_be_recorded_is_refused_before_anything_is_played(tmp_path):
    problem = problems()["simplex"]
    policy = hr.projection_free_coco(problem.decision_set)
    least = hr.hindsight(problem, budget=1.0)
    with pytest.raises(ValueError, match="satisfies every round"):
        record_run(policy, problem, tmp_path / "game.run", benchmark=least)
    X = hr.sets.L2Ball(2)
    rounds = [(hr.Linear([1.0, 0.0]), hr.Linear([0.0, 1.0], -0.5))]
    with pytest.raises(ValueError, match="linear description"):
        record_run(hr.projection_free_coco(X), hr.RecordedProblem(X, rounds), tmp_path / "game.run")
    Y = hr.sets.Simplex(2)
    curved = [(hr.Quadratic.distance([1.0, 0.0]), hr.Linear([0.0, 1.0], -0.5))]
    with pytest.raises(ValueError, match="linear rounds"):
        record_run(hr.projection_free_coco(Y), hr.RecordedProblem(Y, curved), tmp_path / "game.run")
    hr.simulate(policy, problem)
    with pytest.raises(ValueError, match="fresh policy"):
        record_run(policy, problem, tmp_path / "game.run")
    assert list(tmp_path.iterdir()) == []


def test_the_checker_is_one_short_file_that_needs_numpy_alone(tmp_path):
    source = Path(checker.__file__).read_text("utf-8")
    assert len(source.splitlines()) <= 300
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names == {"numpy"}
    record("paths", tmp_path / "game.run")
    (tmp_path / "alone.py").write_text(source)
    hidden = "import sys; sys.modules['hedgerow'] = sys.modules['scipy'] = None; import runpy; "
    code = hidden + "sys.argv = sys.argv[1:]; runpy.run_path('alone.py', run_name='__main__')"
    (tmp_path / "bad.run").write_bytes((tmp_path / "game.run").read_bytes()[:-1])
    done = subprocess.run(
        [sys.executable, "-c", code, "alone.py", "game.run", "bad.run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("game.run: holds: cost ")
    assert (
        second == "bad.run: refused: it was cut or changed after it was written, or is no run file"
    )
