"""Laminar matroids and common independent sets against all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.matchings.graph_matchings import Matchings
from hedgerow.sets.matroids.laminar import LaminarMatroid
from hedgerow.sets.matroids.matroid_bases import Matroid, PartitionMatroid
from hedgerow.sets.matroids.matroid_intersection import MatroidIntersection
from hedgerow.sets.matroids.spanning_trees import SpanningTrees

Test = Callable[[list[int]], bool]


def all_sets(n: int, *tests: Test) -> Vector:
    every = (list(s) for k in range(n + 1) for s in itertools.combinations(range(n), k))
    chosen = [s for s in every if all(test(s) for test in tests)]
    return np.array([np.isin(np.arange(n), s) for s in chosen], dtype=np.float64)


def largest(sets: Vector) -> Vector:
    size = sets.sum(axis=1)
    return sets[size == size.max()]


def laminar(rng: np.random.Generator, least: int = 1) -> tuple[int, list[list[int]], list[int]]:
    """Groups made by splitting groups."""
    n = int(rng.integers(least, 8))
    open_ones, groups = [rng.permutation(n).tolist()], []
    while open_ones:
        group = open_ones.pop()
        if rng.random() < 0.8:
            groups.append(group)
        if len(group) > 1 and rng.random() < 0.8:
            cut = int(rng.integers(1, len(group)))
            open_ones += [group[:cut], group[cut:]]
    order = rng.permutation(len(groups))
    return n, [groups[k] for k in order], [int(rng.integers(0, len(groups[k]) + 1)) for k in order]


def test_laminar_bases_are_those_of_a_matroid() -> None:
    rng = np.random.default_rng(0)
    for _ in range(80):
        n, groups, capacities = laminar(rng)
        X = LaminarMatroid(n, groups, capacities)

        def allowed(s: list[int], groups=groups, capacities=capacities) -> bool:  # type: ignore[no-untyped-def]
            return all(len({*g} & {*s}) <= k for g, k in zip(groups, capacities, strict=True))

        every = all_sets(n, allowed)
        bases = largest(every)
        assert X.rank == bases[0].sum()
        assert len(all_sets(n, X.independent)) == len(every)
        same = Matroid(n, allowed)
        assert len(set(zip(X.component, same.component, strict=True))) == X.component.max() + 1
        assert X.component.max() == same.component.max()
        rows = X.rows()
        for c in (rng.standard_normal(n), rng.integers(-1, 2, n).astype(np.float64), np.zeros(n)):
            v = X.lmo(c)
            assert (bases == v).all(axis=1).any()
            assert c @ v == pytest.approx((bases @ c).min(), abs=1e-12)
            np.testing.assert_array_equal(X.workspace().lmo(c), v)
            found = linprog(c, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, (0.0, 1.0))
            assert c @ v == pytest.approx(found.fun, abs=1e-9)
        x = rng.dirichlet(np.ones(len(bases))) @ bases
        assert X.contains(x)
        y = x + rng.standard_normal(n)
        a = X.separate(y)
        assert a is None or a @ y > (bases @ a).max()


def examples(seed: int, count: int) -> Iterator[tuple[int, Test, Test]]:
    """Two matroids of different kinds on one ground set."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, groups, capacities = laminar(rng, least=4)
        capacities = [k + 1 for k in capacities]
        label = rng.integers(0, 5, n)
        parts = [np.flatnonzero(label == k).tolist() for k in range(5) if (label == k).any()]
        ends = [(int(u), int(u) + int(rng.integers(1, 3))) for u in rng.integers(0, 3, n)]
        ends = [*ends, (0, 1), (1, 2), (2, 3), (3, 4)]  # connected
        trees, vectors = SpanningTrees(ends), rng.integers(-1, 2, (n, 4))

        def linear(s: list[int], vectors: Vector = vectors) -> bool:
            return not s or np.linalg.matrix_rank(vectors[s]) == len(s)

        kinds = [
            LaminarMatroid(n, groups, capacities).independent,
            PartitionMatroid(parts, [1] * len(parts)).independent,
            trees.independent,
            linear,
        ]
        one, two = rng.permutation(4)[:2]
        yield n, kinds[one], kinds[two]


def test_common_sets_are_cheapest_of_all() -> None:
    rng = np.random.default_rng(1)
    large = 0
    for n, first, second in examples(1, 80):
        every = all_sets(n, first, second)
        sizes = every.sum(axis=1)
        for size in (None, *range(int(sizes.max()) + 1)):
            X = MatroidIntersection(n, first, second, size)
            mine = every if size is None else every[sizes == size]
            large += size is not None and size >= 3
            for c in (rng.standard_normal(n), rng.integers(-1, 2, n).astype(np.float64)):
                v = X.lmo(c)
                assert (mine == v).all(axis=1).any()
                assert c @ v <= (mine @ c).min() + 1e-12
            apart = np.abs(mine[:, None] - mine).sum(axis=2).max()
            assert X.diameter**2 >= apart - 1e-9
        with pytest.raises(ValueError, match="largest common independent set has"):
            MatroidIntersection(n, first, second, int(sizes.max()) + 1)
    assert large > 20


def test_membership_is_that_of_the_hull() -> None:
    rng = np.random.default_rng(2)
    verdicts = {True: 0, False: 0}
    for n, first, second in examples(2, 30):
        X = MatroidIntersection(n, first, second)
        every = all_sets(n, first, second)
        x = rng.dirichlet(np.ones(len(every))) @ every + rng.choice([0.0, 0.3]) * rng.random(n)
        hull = np.vstack([every.T, np.ones(len(every))])
        inside = linprog(np.zeros(len(every)), A_eq=hull, b_eq=np.append(x, 1.0)).status == 0
        verdicts[inside] += 1
        assert X.contains(x, 1e-7) == inside
    assert min(verdicts.values()) > 5


def test_two_partition_matroids_are_matchings() -> None:
    rng = np.random.default_rng(3)
    edges = [(u, 10 + v) for u in range(4) for v in range(4) if rng.random() < 0.7]

    def once(end: int) -> Test:
        return lambda chosen: len({edges[e][end] for e in chosen}) == len(chosen)

    X, Y = MatroidIntersection(len(edges), once(0), once(1)), Matchings(edges)
    for _ in range(20):
        c = rng.standard_normal(len(edges))
        np.testing.assert_array_equal(X.lmo(c), Y.lmo(c))


def test_costs_decide_where_rounding_would_not() -> None:
    edges = [(0, 0), (0, 1), (1, 0), (1, 1)]

    def once(end: int) -> Test:
        return lambda chosen: len({edges[e][end] for e in chosen}) == len(chosen)

    X = MatroidIntersection(4, once(0), once(1), 2)
    tiny = 2.0**-52
    assert X.lmo([-1.0, -1e16, -1e16, -1.0 - tiny]).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert X.lmo([1.0, 1.0, 1.0 + tiny, 1.0]).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert X.lmo([1.0 + tiny, 1.0, 1.0, 1.0]).tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LaminarMatroid(3, [[0, 1], [1, 2]], [1, 1]), "nested or disjoint, but group 1"),
        (lambda: LaminarMatroid(3, [[0, 3]], [1]), r"elements 0 \.\. 2"),
        (lambda: LaminarMatroid(3, [[]], [1]), "at least one of the elements"),
        (lambda: LaminarMatroid(3, [[0]], []), "1 groups and 0 capacities"),
        (lambda: LaminarMatroid(3, [[0]], [-1]), "at least 0, got -1"),
        (lambda: MatroidIntersection(2, lambda s: bool(s), lambda _: True), "function `first`"),
    ],
)
def test_what_is_no_matroid_is_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        make()
