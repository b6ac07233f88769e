"""Polytopes of submodular functions against all of their inequalities."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.matroids.matroid_bases import Matroid
from hedgerow.sets.matroids.submodular import (
    BasePolytope,
    ConcaveOfSum,
    Coverage,
    Cut,
    Polymatroid,
    SetFunction,
    values_along,
)
from hedgerow.sets.orders.permutahedron import Permutahedron


def subsets(n: int) -> list[list[int]]:
    return [list(s) for k in range(1, n + 1) for s in itertools.combinations(range(n), k)]


def masks(n: int) -> Vector:
    return np.array([np.isin(np.arange(n), s) for s in subsets(n)], dtype=np.float64)


def functions(seed: int, count: int) -> Iterator[SetFunction]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, 6))
        covers = [np.flatnonzero(rng.random(7) < 0.4).tolist() for _ in range(n)]
        yield Coverage(covers, rng.exponential(1.0, 7))
        pairs = list(itertools.combinations(range(n + 1), 2))
        chosen = rng.permutation(len(pairs))[: int(rng.integers(1, 9))]
        yield Cut([pairs[k] for k in chosen], rng.exponential(1.0, chosen.size))
        yield ConcaveOfSum(rng.exponential(1.0, n))


def test_the_example_functions_are_what_they_say_and_submodular() -> None:
    rng = np.random.default_rng(0)
    for f in functions(0, 6):
        n = f.n
        order = rng.permutation(n)
        by_hand = [f(order[: k + 1].tolist()) for k in range(n)]
        np.testing.assert_allclose(values_along(f, order), by_hand, atol=1e-12)
        np.testing.assert_allclose(values_along(f.__call__, order), by_hand, atol=1e-12)
        if isinstance(f, Coverage):
            seen = {p for i in order[:2] for p in f.covers[i]}
            assert f(order[:2].tolist()) == pytest.approx(sum(f.weights[list(seen)]))
        if isinstance(f, Cut):
            some = set(order[: n // 2].tolist())
            number = {v: k for k, v in enumerate(dict.fromkeys(v for e in f.edges for v in e))}
            cut = [
                w
                for (a, b), w in zip(f.edges, f.weights, strict=True)
                if (number[a] in some) != (number[b] in some)
            ]
            assert f(sorted(some)) == pytest.approx(sum(cut), abs=1e-12)
        for s, t in itertools.product([[], *subsets(n)], repeat=2):
            both, either = sorted({*s} & {*t}), sorted({*s} | {*t})
            assert f(s) + f(t) >= f(both) + f(either) - 1e-12


@pytest.mark.parametrize("kind", [BasePolytope, Polymatroid])
def test_greedy_vertices_are_cheapest_by_a_linear_programme(kind) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    for f in functions(1, 12):
        if kind is Polymatroid and isinstance(f, Cut):
            continue
        X, A = kind(f.n, f), masks(f.n)
        b = np.array([f(s) for s in subsets(f.n)])
        bounds = (0.0, None) if kind is Polymatroid else (None, None)
        total = {} if kind is Polymatroid else {"A_eq": A[-1:], "b_eq": b[-1:]}
        for c in (
            rng.standard_normal(f.n),
            rng.integers(-1, 2, f.n).astype(np.float64),
            np.zeros(f.n),
        ):
            v = X.lmo(c)
            assert (A @ v <= b + 1e-12).all()
            assert c @ v == pytest.approx(linprog(c, A, b, bounds=bounds, **total).fun, abs=1e-9)
        low, high = np.array([X.lmo(e) for e in np.eye(f.n)]), [X.lmo(-e) for e in np.eye(f.n)]
        widths = np.diag(np.array(high)) - np.diag(low)
        assert X.diameter == pytest.approx(np.linalg.norm(widths), abs=1e-12)


def test_membership_is_that_of_every_inequality() -> None:
    rng = np.random.default_rng(2)
    verdicts = {True: 0, False: 0}
    for f in functions(2, 40):
        X, A = BasePolytope(f.n, f), masks(f.n)
        b = np.array([f(s) for s in subsets(f.n)])
        x = X.start() + rng.choice([0.05, 0.5]) * X.tangent(rng.standard_normal(f.n))
        x += (b[-1] - x.sum()) / f.n
        inside = bool((A @ x <= b + 1e-9).all())
        verdicts[inside] += 1
        assert X.contains(x) == inside
        cut = X.separate(x)
        assert (cut is None) == inside
        assert inside or cut @ x > cut @ X.lmo(-cut)
    assert min(verdicts.values()) > 15


def test_the_minimum_norm_point_minimises_the_function() -> None:
    rng = np.random.default_rng(3)
    nonempty = 0
    for f in functions(3, 15):
        tilt = rng.standard_normal(f.n)

        def tilted(chosen: list[int], f: SetFunction = f, tilt: Vector = tilt) -> float:
            return f(chosen) + float(tilt[chosen].sum())

        chosen, value = BasePolytope(f.n, tilted).least_set()
        nonempty += bool(chosen)
        assert value == pytest.approx(tilted(chosen), abs=1e-12)
        assert value == pytest.approx(min(0.0, *(tilted(s) for s in subsets(f.n))), abs=1e-9)
    assert nonempty > 15


def test_the_rank_of_a_matroid_and_a_permutahedron_are_special_cases() -> None:
    rng = np.random.default_rng(4)
    uniform = Matroid(5, lambda chosen: len(chosen) <= 2)
    bases = BasePolytope(5, lambda chosen: min(len(chosen), 2))
    weights = np.array([5.0, 3.0, 2.0, -1.0])
    orders = Permutahedron(weights)
    sums = BasePolytope(4, lambda chosen: weights[: len(chosen)].sum())
    for X, Y in ((uniform, bases), (orders, sums)):
        for _ in range(20):
            y = 3.0 * rng.standard_normal(X.dim)
            np.testing.assert_allclose(X.lmo(y), Y.lmo(y), atol=1e-12)
            np.testing.assert_allclose(X.project(y), Y.project(y), atol=1e-8)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BasePolytope(2, lambda chosen: len(chosen) + 1.0), "0 on the empty set, got 1"),
        (lambda: BasePolytope(3, lambda chosen: len(chosen) ** 2), "must be submodular"),
        (lambda: BasePolytope(2, lambda chosen: np.inf if chosen else 0.0), "must be finite"),
        (lambda: Polymatroid(2, Cut([(0, 1)])), "never falls, but element 0 gains -1"),
        (lambda: Coverage([]), "at least one element"),
        (lambda: Coverage([[0.5]]), "whole numbers"),
        (lambda: Coverage([[0, 3]], [1.0]), "weights must be 4 numbers"),
        (lambda: Cut([(0, 1)], [-1.0]), "at least 0, got -1"),
        (lambda: ConcaveOfSum([]), "at least one of them"),
        (lambda: ConcaveOfSum([1.0], np.cos), "0 at 0"),
    ],
)
def test_wrong_functions_are_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        make()
