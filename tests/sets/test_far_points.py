"""Points far away: projecting them takes no more work than near ones, and small entries count."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from table import EXAMPLES

import hedgerow as hr
from hedgerow.sets.decision_set import DecisionSet, Projectable

SIZES = (1e8, 1e60, 1e140, 1e299)
PROJECTABLE = [name for name, make in EXAMPLES.items() if make().supports(Projectable)]


def work(act: Callable[[], object]) -> int:
    """The number of calls of functions, Python's and C's, that an act makes."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls


def far_points(dim: int, size: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    z = rng.uniform(-1.0, 1.0, dim)
    one, every = np.zeros(dim), np.sign(z) * size ** rng.uniform(-1.0, 1.0, dim)
    one[dim // 2], every[0] = size, size
    return {
        "all": size * z,
        "some": np.where(rng.random(dim) < 0.5, z, size * z),
        "one": one,
        "equal": np.full(dim, size),
        "two values": np.where(z > 0.0, size, -size),
        "every size": every,
    }


@pytest.mark.parametrize("name", PROJECTABLE)
def test_how_far_a_point_is_costs_nothing(name: str) -> None:
    """Each kind of point at all sizes against the same kind near the set."""
    X, rng = EXAMPLES[name](), np.random.default_rng(0)
    near = max(
        work(lambda y=y: X.project(y))
        for size in (1.0, 1.0, 30.0)
        for y in far_points(X.dim, size, rng).values()
    )
    for size in SIZES:
        for kind, y in far_points(X.dim, size, rng).items():
            x = X.project(y)  # before its work is counted: the first time imports solvers
            assert work(lambda y=y: X.project(y)) <= 4 * near + 10_000, (kind, size)
            assert X.contains(x, 1e-8), (kind, size)
            # <y - x, v - x> <= 0 for the nearest x, so <y, v - x> <= <x, v - x>
            largest, v = np.abs(y).max(), X.lmo(-y)
            slack = np.linalg.norm(x) * X.diameter / largest
            assert (y / largest) @ (v - x) <= slack + 1e-9 * (1.0 + np.abs(v).max()), (kind, size)


@pytest.mark.parametrize("name", PROJECTABLE)
def test_points_of_which_no_sum_can_be_taken_are_refused(name: str) -> None:
    X = EXAMPLES[name]()
    if isinstance(X, hr.sets.Scaled | hr.sets.Translated):
        return  # seen from inside, they are nearer
    with pytest.raises(ValueError, match=r"at most 1e\+300 in size to be projected, got 1.1e\+300"):
        X.project(np.full(X.dim, 1.1e300))


@pytest.mark.parametrize("name", EXAMPLES)
def test_membership_and_separation_answer_from_anywhere(name: str) -> None:
    X, rng = EXAMPLES[name](), np.random.default_rng(1)
    assert not X.contains(np.full(X.dim, 1e305))
    for size in SIZES:
        for y in (size * rng.uniform(-1.0, 1.0, X.dim), np.full(X.dim, size)):
            assert not X.contains(y)
            a = X.separate(y)
            if a is None:
                raise AssertionError(f"a point of size {size:g} must be separated")
            unit = a / np.abs(a).max()
            assert unit @ (y / size) > -X.minimum(-unit) / size - 1e-9 / size


def blocks(small: list[float], size: float) -> dict[str, tuple[DecisionSet, np.ndarray]]:
    """Sets in which a decision of this size and one between small numbers are independent."""
    a, b = small
    assignment = np.zeros((4, 4))
    assignment[:2, :2] = size * np.eye(2)
    assignment[2:, 2:] = [[a, b], [b, a]]
    twice = [(0, 1), (0, 1), (1, 2), (1, 2)]
    pairs = [(0, 9), (0, 8), (1, 9), (1, 8), (2, 7), (2, 6)]
    return {
        "birkhoff": (hr.sets.Birkhoff(4), assignment.ravel()),
        "dag": (hr.sets.DagPaths(twice, 0, 2), np.array([size, -size, a, b])),
        "flow": (hr.sets.UnitFlow([*twice, (2, 0)], 0, 2), np.array([size, -size, a, b, 0.0])),
        "matchings": (hr.sets.Matchings(pairs), np.array([size, 0.0, 0.0, 0.2, a, b])),
    }


@pytest.mark.parametrize("size", [50.0, *SIZES])
@pytest.mark.parametrize("small", [(0.3, -0.3), (-0.3, -0.9), (5.0, 4.8)])
@pytest.mark.parametrize("name", ["birkhoff", "dag", "flow", "matchings"])
def test_small_numbers_count_beside_large_ones(
    name: str, small: tuple[float, float], size: float
) -> None:
    X, y = blocks(list(small), size)[name]
    x = X.project(y)
    if name == "matchings":  # at most one in all, none below zero
        share = np.maximum(small, 0.0)
        expected = share + min(0.0, 1.0 - share.sum()) / 2.0
        np.testing.assert_allclose(x, [1.0, 0.0, 0.0, 0.2, *expected], rtol=0.0, atol=1e-9)
        return
    share = 0.5 + (small[0] - small[1]) / 2.0
    got = x[2] if name != "birkhoff" else x[10]
    assert got == pytest.approx(share, abs=1e-9)


def test_sums_that_nothing_feels_change_nothing() -> None:
    """All numbers are whole multiples of 2^-10 below 2^42, so that the sums are exact."""
    rng = np.random.default_rng(2)
    for n in (2, 3, 5, 9):
        X = hr.sets.Birkhoff(n)
        y = rng.integers(-(2**11), 2**11, (n, n)) / 2.0**10
        rows, columns = rng.integers(-(2**11), 2**11, (2, n)) * 2.0**30
        moved = (y + rows[:, None] + columns).ravel()
        np.testing.assert_allclose(X.project(moved), X.project(y.ravel()), rtol=0.0, atol=1e-9)


def test_nearby_point_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against Wolfe's method, at distances that it can see."""
    rng, seen = np.random.default_rng(3), 0
    monkeypatch.setattr("hedgerow.sets.matchings.bipartite.FAR", 0.0)
    monkeypatch.setattr("hedgerow.kernels.flow_newton.FAR", 0.0)
    for trial in range(40):
        n = 2 + trial % 4
        ends = rng.integers(0, n, (3 * n, 2))
        forward = np.sort(rng.integers(0, n + 1, (4 * n, 2)), axis=1)
        forward = forward[forward[:, 0] < forward[:, 1]]
        for X in (
            hr.sets.Birkhoff(n),
            hr.sets.Matchings(sorted({(int(u), 100 + int(v)) for u, v in ends})),
            hr.sets.DagPaths(np.vstack([forward, [[0, n]]]), 0, n),
            hr.sets.UnitFlow(np.vstack([ends, [[0, n - 1]]]), 0, n - 1),
        ):
            y = 10.0 ** rng.uniform(-1.0, 3.0) * rng.standard_normal(X.dim)
            y = np.where(rng.random(X.dim) < 0.3, rng.standard_normal(X.dim), y)
            expected = DecisionSet.project(hr.sets.OracleSet(X.lmo, X.dim), y)
            np.testing.assert_allclose(X.project(y), expected, rtol=0.0, atol=1e-7)
            seen += np.abs(expected - X.lmo(-y)).max() > 0.01
    assert seen > 40, "most projections must not be vertices, or this test shows little"
