"""Packings against all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import HasLinearDescription
from hedgerow.sets.simplices.knapsack import Knapsack
from hedgerow.sets.simplices.simplex import KSubsets


def packings(X: Knapsack) -> Vector:
    every = itertools.product(*(range(int(k) + 1) for k in X.most))
    return np.array([x for x in every if np.dot(x, X.sizes) <= X.capacity], dtype=np.float64)


def examples(seed: int, count: int, bounded: bool) -> list[Knapsack]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        n = int(rng.integers(1, 5 if bounded else 8))
        sizes = int(rng.integers(1, 4)) * rng.integers(1, 9, n)
        most = rng.integers(0, 6, n) if bounded else 1
        made.append(Knapsack(sizes, int(rng.integers(0, 2 * sizes.max())), most))
    return made


@pytest.mark.parametrize("bounded", [False, True])
def test_packings_are_cheapest_of_all(bounded: bool) -> None:
    rng = np.random.default_rng(0)
    for X in examples(1, 60, bounded):
        every = packings(X)
        for c in (
            rng.standard_normal(X.dim),
            -rng.integers(0, 4, X.dim).astype(np.float64),
            np.zeros(X.dim),
            -np.exp(10.0 * rng.standard_normal(X.dim)),
        ):
            v = X.lmo(c)
            assert (every == v).all(axis=1).any()
            assert c @ v <= (every @ c).min() + 1e-13 * np.abs(c).max()
            np.testing.assert_array_equal(X.workspace().lmo(c), v)
        apart = ((every[:, None] - every) ** 2).sum(axis=2).max()
        assert X.diameter**2 >= apart - 1e-9
        assert X.diameter**2 <= 4.0 * (X.most**2).sum() + 1e-9


def test_paths_through_the_programme_describe_the_hull() -> None:
    rng = np.random.default_rng(1)
    for X in [*examples(2, 10, False), *examples(3, 10, True)]:
        rows, every, c = X.rows(), packings(X), rng.standard_normal(X.dim)
        bounds = np.column_stack([rows.lower, rows.upper])
        found = linprog(rows.lift.T @ c, A_eq=rows.A_eq, b_eq=rows.b_eq, bounds=bounds)
        assert found.fun == pytest.approx((every @ c).min(), abs=1e-9)
        x = rng.dirichlet(np.ones(len(every))) @ every + rng.choice([0.0, 0.2]) * rng.random(X.dim)
        hull = np.vstack([every.T, np.ones(len(every))])
        inside = linprog(np.zeros(len(every)), A_eq=hull, b_eq=np.append(x, 1.0)).status == 0
        assert X.contains(x, 1e-7) == inside


def test_the_hull_is_smaller_than_the_fractional_packings() -> None:
    X = Knapsack([2, 2, 2], 3)
    assert not X.contains([0.5, 0.5, 0.5])  # fits in parts, but no two items do
    assert X.contains([0.5, 0.25, 0.25])


def test_a_cache_of_equal_objects_holds_subsets() -> None:
    rng = np.random.default_rng(2)
    X, Y = Knapsack([5] * 6, 17), KSubsets(6, 3)
    for _ in range(20):
        c = -rng.random(6)
        np.testing.assert_array_equal(X.lmo(c), Y.lmo(c))


def test_a_common_divisor_costs_nothing() -> None:
    X = Knapsack([7 * 10**9, 14 * 10**9], 15 * 10**9)
    assert X.compiled.index[0] == 2
    assert X.lmo([-1.0, -3.0]).tolist() == [0.0, 1.0]
    assert Knapsack([1, 3], 10**30).lmo([-1.0, -1.0]).tolist() == [1.0, 1.0]


def test_large_capacities_have_no_rows() -> None:
    X = Knapsack([1000, 1001, 1003], 2500, most=[2, 2, 2])
    assert not X.supports(HasLinearDescription)
    with pytest.raises(NotImplementedError, match="rows"):
        X.rows()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Knapsack([], 3), "whole numbers of at least 1"),
        (lambda: Knapsack([0, 1], 3), "whole numbers of at least 1"),
        (lambda: Knapsack([1.5], 3), "whole numbers of at least 1"),
        (lambda: Knapsack([1], -1), "at least 0, got -1"),
        (lambda: Knapsack([1, 2], 3, most=[1]), "or 2 of them"),
        (lambda: Knapsack([1, 2], 3, most=0.5), "one whole number"),
        (lambda: Knapsack([10**8, 10**8 + 1], 3 * 10**8), "coarser unit"),
    ],
)
def test_wrong_bags_are_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        make()
