"""Interval schedules and job sequences against all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.orders.interval_schedules import IntervalSchedules
from hedgerow.sets.orders.job_sequences import JobSequences, _strings
from hedgerow.sets.orders.permutahedron import Permutahedron


def directions(n: int, rng: np.random.Generator) -> list[Vector]:
    plain, whole = rng.standard_normal(n), rng.integers(-2, 3, n).astype(np.float64)
    return [plain, whole, np.zeros(n), -np.exp(10.0 * plain), 1e6 * plain - 1e6]


def schedules(X: IntervalSchedules) -> Vector:
    every = np.array(list(itertools.product([0.0, 1.0], repeat=X.dim)))
    at = X.intervals[:, 0]
    met = (X.intervals[:, 0] <= at[:, None]) & (at[:, None] < X.intervals[:, 1])
    return every[(every @ met.T <= X.machines).all(axis=1)]


def test_schedules_are_cheapest_of_all() -> None:
    rng = np.random.default_rng(0)
    flows = 0
    for trial in range(90):
        n = int(rng.integers(1, 8))
        begins = rng.integers(0, 8, n).astype(np.float64)
        X = IntervalSchedules(
            np.column_stack([begins, begins + rng.integers(1, 5, n)]), trial % 3 + 1
        )
        every = schedules(X)
        flows += 1 < X.machines < X._overlap
        for c in directions(n, rng):
            v = X.lmo(c)
            assert (every == v).all(axis=1).any()
            assert c @ v <= (every @ c).min() + 1e-13 * np.abs(c).max()
            np.testing.assert_array_equal(X.workspace().lmo(c), v)
        apart = np.abs(every[:, None] - every).sum(axis=2).max()
        assert X.diameter**2 == pytest.approx(apart)
        rows, c = X.rows(), rng.standard_normal(n)
        value = linprog(c, rows.A_ub, rows.b_ub, bounds=(0.0, 1.0)).fun
        assert value == pytest.approx((every @ c).min(), abs=1e-9)
        y = 2.0 * rng.standard_normal(n)
        a = X.separate(y)
        assert a is None or a @ y > (every @ a).max()
        centre, r = X.ball()
        for step in rng.standard_normal((10, n)):
            assert X.contains(centre + r * step / np.linalg.norm(step))
    assert flows > 10


def series_parallel(rng: np.random.Generator, jobs: list[int]) -> list[tuple[int, int]]:
    """Pairs of a random series-parallel order of the jobs."""
    if len(jobs) < 2:
        return []
    cut = int(rng.integers(1, len(jobs)))
    one, two = jobs[:cut], jobs[cut:]
    pairs = series_parallel(rng, one) + series_parallel(rng, two)
    return pairs + [(i, j) for i in one for j in two] if rng.random() < 0.5 else pairs


def sequences(X: JobSequences) -> Vector:
    found = []
    for order in itertools.permutations(range(X.dim)):
        place = {job: k for k, job in enumerate(order)}
        if all(place[i] < place[j] for i, j in X.precedence):
            done = np.empty(X.dim)
            done[list(order)] = np.cumsum(X.times[list(order)])
            found.append(done)
    return np.array(found)


def test_sequences_are_cheapest_of_all() -> None:
    rng = np.random.default_rng(1)
    bound = 0
    for _ in range(60):
        n = int(rng.integers(1, 7))
        pairs = series_parallel(rng, rng.permutation(n).tolist())
        X = JobSequences(rng.integers(1, 5, n).astype(np.float64), pairs)
        every = sequences(X)
        bound += 1 < len(every) < 100
        for c in directions(n, rng):
            v = X.lmo(c)
            assert (every == v).all(axis=1).any()
            assert c @ v <= (every @ c).min() + 1e-12 * np.abs(c).sum() * X.times.sum()
        widths = every.max(axis=0) - every.min(axis=0)
        assert X.diameter == pytest.approx(np.linalg.norm(widths))
        apart = ((every[:, None] - every) ** 2).sum(axis=2).max()
        assert X.diameter**2 >= apart - 1e-9
        assert X.contains(rng.dirichlet(np.ones(len(every))) @ every)
    assert bound > 15


def test_smiths_rule_is_what_strings_come_to_without_precedence() -> None:
    rng = np.random.default_rng(5)
    X = JobSequences(rng.integers(1, 4, 7).astype(np.float64))
    for c in [c for _ in range(10) for c in directions(7, rng)]:
        strings = _strings(X._module, c.tolist(), X.times.tolist())
        order = [job for string in strings for job in string.jobs]
        np.testing.assert_array_equal(X.lmo(c)[order], np.cumsum(X.times[order]))


@pytest.mark.parametrize("into", [False, True])
def test_trees_are_series_parallel(into: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        pairs = [(int(rng.integers(v)), v) for v in range(1, 6) if rng.random() < 0.8]
        pairs = [(v, u) for u, v in pairs] if into else pairs
        X = JobSequences(rng.uniform(0.5, 2.0, 6), pairs)
        every = sequences(X)
        c = rng.standard_normal(6)
        assert c @ X.lmo(c) == pytest.approx((every @ c).min(), abs=1e-12)


def test_jobs_of_one_length_without_precedence_make_a_permutahedron() -> None:
    rng = np.random.default_rng(3)
    X, Y = JobSequences(np.ones(5)), Permutahedron(np.arange(1.0, 6.0))
    for _ in range(10):
        y = 4.0 * rng.standard_normal(5)
        np.testing.assert_array_equal(X.lmo(y), Y.lmo(y))
        np.testing.assert_allclose(X.project(y), Y.project(y), atol=1e-8)


def test_membership_without_precedence_is_that_of_queyrannes_inequalities() -> None:
    rng = np.random.default_rng(4)
    verdicts = {True: 0, False: 0}
    for _ in range(60):
        p = rng.integers(1, 4, 4).astype(np.float64)
        X = JobSequences(p)
        x = X.start() + rng.choice([0.1, 5.0]) * X.tangent(rng.standard_normal(4))
        room = min(
            p[s] @ x[s] - 0.5 * (p[s].sum() ** 2 + (p[s] ** 2).sum())
            for k in range(1, 5)
            for s in map(list, itertools.combinations(range(4), k))
        )
        if abs(room) > 1e-6 or room > -1e-12:
            verdicts[bool(room > -1e-9)] += 1
            assert X.contains(x, 1e-8) == (room > -1e-9)
    assert min(verdicts.values()) > 15


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: IntervalSchedules([]), r"shape \(n, 2\)"),
        (lambda: IntervalSchedules([[1.0, 1.0]]), r"begins before it ends, got \[1.0, 1.0\]"),
        (lambda: IntervalSchedules([[0.0, 1.0]], 0), "at least 1, got 0"),
        (lambda: JobSequences([]), "above 0, one for each job"),
        (lambda: JobSequences([1.0, 0.0]), "above 0, one for each job, got 2 numbers from 0"),
        (lambda: JobSequences([1.0], [(0, 1)]), r"are 0 \.\. 0, got 0 \.\. 1"),
        (lambda: JobSequences([1.0, 1.0], [(0, 1, 1)]), "pairs"),
        (lambda: JobSequences([1.0, 1.0], [(0, 1), (1, 0)]), "job 0 comes before itself"),
        (
            lambda: JobSequences(np.ones(5), [(0, 2), (1, 2), (1, 3)]),
            "series-parallel.* NP-hard .*0 and 1 come before 2, and 1 before 3",
        ),
    ],
)
def test_wrong_schedules_are_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        make()
