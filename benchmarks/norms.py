"""Norm balls, sets of matrices and compositions against NumPy, SciPy and HiGHS.

One size each. Where no package has the oracle, the peer is what one would write with NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from instances import fresh, turning
from measure import REPETITIONS, Act, Contest
from oracles import LINPROG, cost
from peers import linprog

import hedgerow as hr
from hedgerow.inputs import Vector


def contests(k: int) -> Iterator[Contest]:
    """Yield all contests of the smallest size, nothing for larger ones."""
    if k == 0:
        for family in (lp_balls, ellipsoids, sorted_sizes, groups, spectra, compositions):
            yield from family()


def lifted(X: hr.DecisionSet) -> Act:
    """Return a cold HiGHS solve over a set's rows, in the variables that these have."""
    rows = X.rows()
    solve = linprog(rows)
    shift = np.zeros(X.dim) if rows.shift is None else rows.shift
    return lambda c: solve(c if rows.lift is None else rows.lift.T @ c) + float(c @ shift)


def lp_balls() -> Iterator[Contest]:
    """A power and a sum."""
    n, p = 12_000, 1.3  # 1.5 would be a square, which NumPy takes without a power
    q = p / (p - 1.0)

    def power(c: Vector) -> Vector:
        sizes = np.abs(c) ** (q - 1.0)
        return -np.sign(c) * sizes / np.linalg.norm(sizes, p)

    def solid(c: Vector) -> Vector:
        v, i = np.zeros(n), np.argmin(c)
        v[i] = 1.0 if c[i] < 0.0 else 0.0
        return v

    for X, peer in (
        (hr.sets.LpBall(n, p), power),
        (hr.sets.NonnegativeLpBall(n, 1.0), solid),
    ):
        name = f"{type(X).__name__}.lmo, p = {X.p:g}"
        yield Contest(name, f"n = {n}", fresh(n, 5), X.lmo, {"NumPy": peer}, cost)


def ellipsoids() -> Iterator[Contest]:
    """A product with the inverse, or a solution with Cholesky factors, as FrankWolfe.jl does it."""
    from scipy.linalg import cho_factor, cho_solve

    n = 500
    A = np.random.default_rng(n).standard_normal((n, n))
    M = A @ A.T / n + 0.1 * np.eye(n)
    inverse, factors = np.linalg.inv(M), cho_factor(M)

    def product(c: Vector) -> Vector:
        step = inverse @ c
        return -step / np.sqrt(c @ step)

    def solve(c: Vector) -> Vector:
        step = cho_solve(factors, c)
        return -step / np.sqrt(c @ step)

    X = hr.sets.Ellipsoid.from_matrix(M)
    peers = {"NumPy, inverse": product, "SciPy cho_solve": solve}
    yield Contest("Ellipsoid.lmo, slanted", f"n = {n}", fresh(n, 5), X.lmo, peers, cost)
    a = np.linspace(1.0, 2.0, 12_000)
    Y = hr.sets.Ellipsoid(a)

    def plain(c: Vector) -> Vector:
        return -(a**2) * c / np.linalg.norm(a * c)

    items = fresh(a.size, 5)
    yield Contest("Ellipsoid.lmo, plain", f"n = {a.size}", items, Y.lmo, {"NumPy": plain}, cost)


def sorted_sizes() -> Iterator[Contest]:
    """One sort each, and a linear programme at a size that it can do."""
    n = 12_000
    w = np.linspace(2.0, 1.0, n)
    sums = np.cumsum(w)

    def ordered(c: Vector) -> Vector:
        order = np.argsort(-np.abs(c))
        k = int(np.argmax(np.cumsum(np.abs(c)[order]) / sums)) + 1
        v = np.zeros(n)
        v[order[:k]] = -np.sign(c[order[:k]]) / sums[k - 1]
        return v

    def sparse(c: Vector) -> Vector:
        v, top = np.zeros(n), np.argpartition(-np.abs(c), n // 10)[: n // 10]
        v[top] = -np.sign(c[top])
        return v

    for X, peer in (
        (hr.sets.OrderedWeightedBall(w), ordered),
        (hr.sets.CappedL1Ball(n, 1.0, n // 10), sparse),
    ):
        name = f"{type(X).__name__}.lmo"
        yield Contest(name, f"n = {n}", fresh(n, 5), X.lmo, {"NumPy": peer}, cost)
    small = hr.sets.OrderedWeightedBall(np.linspace(2.0, 1.0, 40))
    peers = {LINPROG: lifted(small)}
    yield Contest("OrderedWeightedBall.lmo", "n = 40", fresh(40, 2), small.lmo, peers, cost)


def groups() -> Iterator[Contest]:
    """Sums of squares by group."""
    n, size = 12_000, 12
    parts = np.arange(n).reshape(-1, size)

    def disjoint(c: Vector) -> Vector:
        C, v = c.reshape(-1, size), np.zeros(n)
        g = int(np.argmax((C**2).sum(axis=1)))
        v[g * size : (g + 1) * size] = -C[g] / np.linalg.norm(C[g])
        return v

    X = hr.sets.GroupBall(parts.tolist())
    yield Contest("GroupBall.lmo", f"n = {n}", fresh(n, 5), X.lmo, {"NumPy": disjoint}, cost)
    shifted = np.minimum(parts[:, :1] + np.arange(2 * size), n - 1)  # each overlaps the next

    def latent(c: Vector) -> Vector:
        v = np.zeros(n)
        g = int(np.argmax(np.where(np.diff(shifted, prepend=-1) > 0, c[shifted] ** 2, 0.0).sum(1)))
        mine = np.unique(shifted[g])
        v[mine] = -c[mine] / np.linalg.norm(c[mine])
        return v

    Y = hr.sets.LatentGroupBall([np.unique(row).tolist() for row in shifted])
    yield Contest("LatentGroupBall.lmo", f"n = {n}", fresh(n, 5), Y.lmo, {"NumPy": latent}, cost)


def spectra() -> Iterator[Contest]:
    """LAPACK and ARPACK on matrices that change by 2 % per round."""
    from scipy.linalg import polar
    from scipy.sparse.linalg import eigsh

    n, m, k, p = 200, 160, 5, 1.5
    q = p / (p - 1.0)

    def least(c: Vector) -> Vector:
        V = np.linalg.eigh(c.reshape(n, n))[1][:, :k]
        return (V @ V.T).ravel()

    def some(c: Vector) -> Vector:
        V = eigsh(c.reshape(n, n), k, which="SA", tol=1e-11)[1]
        return (V @ V.T).ravel()

    def one(c: Vector) -> Vector:
        values, V = eigsh(c.reshape(n, n), 1, which="SA", tol=1e-11)
        return np.outer(V, V).ravel() if values[0] < 0.0 else np.zeros(n * n)

    def powers(c: Vector) -> Vector:
        left, s, right = np.linalg.svd(c.reshape(n, m), full_matrices=False)
        t = s ** (q - 1.0)
        return -((left * (t / np.linalg.norm(t, p))) @ right).ravel()

    def isometry(c: Vector) -> Vector:
        return -np.asarray(polar(c.reshape(n, m))[0]).ravel()

    symmetric = turning((n, n), 2 * REPETITIONS, True)
    plain = turning((n, m), 2 * REPETITIONS, False)
    rows: list[tuple[Any, Any, dict[str, Any]]] = [
        (hr.sets.Fantope(n, k), symmetric, {"NumPy eigh": least, "SciPy eigsh": some}),
        (hr.sets.SolidSpectrahedron(n), symmetric, {"SciPy eigsh": one}),
        (hr.sets.SchattenBall(n, m, p), plain, {"NumPy svd": powers}),
        (hr.sets.OperatorBall(n, m), plain, {"SciPy polar": isometry}),
    ]
    for X, items, peers in rows:
        size = " x ".join(str(s) for s in X.shape)
        ours = X.workspace().lmo
        yield Contest(f"{type(X).__name__}.lmo", size, items, ours, peers, cost, moving=True)


def compositions() -> Iterator[Contest]:
    """A cold linear programme over the same rows, or the bare parts."""
    n = 400
    rng = np.random.default_rng(n)
    simplex, cross = hr.sets.Simplex(n), hr.sets.L1Ball(n, 0.5)
    A = rng.standard_normal((50, n))
    sets: list[tuple[Any, dict[str, Any]]] = [
        (hr.sets.MinkowskiSum(simplex, cross), {}),
        (hr.sets.ConvexHullOfUnion(simplex, cross), {}),
        (hr.sets.AffineImage(simplex, A), {"NumPy": lambda c: A[:, np.argmin(c @ A)]}),
        (hr.sets.HalfspaceCut(simplex, rng.random(n), 0.3), {}),
    ]
    for X, more in sets:
        peers = {LINPROG: lifted(X), **more}
        yield Contest(f"{type(X).__name__}.lmo", f"n = {n}", fresh(X.dim, 2), X.lmo, peers, cost)
