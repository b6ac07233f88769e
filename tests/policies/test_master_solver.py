"""The solver of the restricted master: against daqp, by its duality gap, and from any start.

The programme, with columns U, shares lam, rows A and forces f_j = stiffness_j (A lam + level)_j^+:

    min  1/2 ||U' (lam - lam_t)||^2 + <slope, lam> + sum_j stiffness_j/2 ((A lam + level)_j^+)^2

Its gradient is g = U U' (lam - lam_t) + slope + A' f. The objective at lam is above the least one
by at most the gap: <g, lam> minus the least entry of g, added up over the factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import daqp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.linalg import block_diag

from hedgerow.inputs import Vector
from hedgerow.kernels.columns import hull_table, mix_columns, write_column
from hedgerow.kernels.master import MOST_STEPS, STEPS, TOLERANCE, master_table, solve_master
from hedgerow.policies.master_round import ROUNDING, STIFFNESS

SMALL = 1e-9
"""What is left of a gap, relative to the sizes of its terms."""
COLUMN_KINDS = ("equal columns", "columns in the hull of others", "columns of few values")
ROW_KINDS = ("equal rows", "contradicting rows", "tiny rows", "huge rows")
SLOPE_KINDS = ("zero slope", "slope that jumps")
OFTEN = {"factors": 0.5, "factors of other sizes": 0.5}
KINDS = ("one column", "factors", "factors of other sizes", *COLUMN_KINDS, *SLOPE_KINDS, *ROW_KINDS)


@dataclass(frozen=True)
class Programme:
    """A programme, with the columns of each factor as the rows of a matrix."""

    columns: list[Vector]
    diameters: Vector
    before: Vector
    slope: Vector
    A: Vector
    level: Vector
    stiffness: Vector
    tolerance: float

    @cached_property
    def U(self) -> Vector:
        """All columns, in the coordinates of all factors."""
        return np.asarray(block_diag(*self.columns))

    @cached_property
    def parts(self) -> list[slice]:
        """The columns of each factor."""
        ends = np.cumsum([0, *map(len, self.columns)]).tolist()
        return [slice(*ends[b : b + 2]) for b in range(len(self.columns))]

    @property
    def D(self) -> float:
        """The diameter of the product."""
        return float(np.linalg.norm(self.diameters))

    def mixture(self, share: Vector) -> Vector:
        """Return the decision."""
        return np.asarray(share @ self.U)

    def apart(self, one: Vector, other: Vector) -> float:
        """Return the distance of the decisions of two lists of shares, in D."""
        return float(np.linalg.norm(self.mixture(one - other))) / self.D

    def forces(self, share: Vector) -> Vector:
        """Return the forces of the rows."""
        return self.stiffness * np.maximum(0.0, self.A @ share + self.level)

    def objective(self, share: Vector) -> float:
        """Return the value at these shares."""
        moved, force = (share - self.before) @ self.U, self.forces(share)
        held = self.stiffness > 0.0
        energy = force[held] @ (force[held] / self.stiffness[held])
        return float(0.5 * moved @ moved + self.slope @ share + 0.5 * energy)

    def gap(self, share: Vector) -> tuple[float, float]:
        """Return the gap, and the sum over the factors of the largest sizes of an entry's terms."""
        force, size = self.forces(share), np.abs(self.U)
        g = self.U @ ((share - self.before) @ self.U) + self.slope + force @ self.A
        terms = size @ ((share + self.before) @ size) + np.abs(self.slope) + force @ np.abs(self.A)
        gap = sum(share[own] @ (g[own] - g[own].min()) for own in self.parts)
        return float(gap), float(sum(terms[own].max() for own in self.parts))

    def faults(self, share: Vector) -> list[str]:
        """Return what is wrong with these shares as a solution."""
        gap, size = self.gap(share)
        found = {
            "negative": share.min() < 0.0,
            "sum": max(abs(share[own].sum() - 1.0) for own in self.parts) > 1e-12,
            "gap": not abs(gap) <= SMALL * size + self.tolerance,
        }
        return [name for name, is_so in found.items() if is_so]


class Solution(NamedTuple):
    """What the solver leaves: shares, the decision, and how many steps it took."""

    share: Vector
    x: Vector
    steps: int


def begins(sizes: Vector) -> Vector:
    """Return where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


def solve(p: Programme, start: Vector, spare: int = 1) -> Solution:
    """Solve a programme from these shares, in tables with spare places for columns."""
    counts, sizes = np.array([u.shape for u in p.columns]).T
    places, m = counts + spare, len(p.level)
    first, K = begins(places), int(places.sum())
    used = np.concatenate([begin + np.arange(n) for begin, n in zip(first, counts, strict=False)])

    def spread(values: Vector, stale: float = 1.0) -> Vector:
        found = np.full((*values.shape[:-1], K), stale)
        found[..., used] = values
        return found

    entries, grams = int((places * sizes).sum()), int((places**2).sum())
    hull = hull_table.filled(
        begin=begins(sizes),
        first=first,
        at=begins(places * sizes),
        at_gram=begins(places**2),
        diameter2=p.diameters**2,
        origin=np.zeros(sizes.sum()),
        x=np.zeros(sizes.sum()),
        used=np.zeros(len(counts)),
        share=spread(start, 0.0),
        entries=np.zeros(entries),
        places=np.zeros(entries, np.uint32),
        nonzeros=np.zeros(K, np.uint32),
        gram=np.zeros(grams),
    )
    for b, own in enumerate(p.parts):
        for k in range(own.stop - own.start):
            hull.used[b] = k + 1.0
            write_column(hull, b, int(first[b]) + k, p.U[own.start + k])
    numbers = np.zeros(5)
    numbers[TOLERANCE] = p.tolerance
    master = master_table.filled(
        hull=hull,
        slope=spread(p.slope),
        share_before=spread(p.before, 0.0),
        A=spread(p.A),
        level=p.level,
        stiffness=p.stiffness,
        numbers=numbers,
        on=np.zeros(m, np.uint32),
        **{name: np.zeros(K) for name in ("moved", "grad", "d", "ones", "packed")},
        **{name: np.zeros(m) for name in ("residual", "force", "slide")},
        chol=np.zeros(grams),
        support=np.zeros(K, np.uint32),
        count=np.zeros(len(counts)),
        gone=np.zeros(len(counts)),
        out=np.zeros(K, np.uint32),
        solved=np.zeros((m, K)),
        schur=np.zeros((m, m)),
    )
    solve_master(master)
    mix_columns(hull)
    return Solution(hull.share[used], hull.x, int(numbers[STEPS]))


def by_daqp(p: Programme) -> Vector:
    """Return the shares that daqp finds, with the rows' slacks as variables of their own.

    Its tolerances are absolute, so lengths are in D, and gradients in their spread at lam_t.
    """
    held, count = p.stiffness > 0.0, len(p.parts)
    root = np.sqrt(p.stiffness[held]) / p.D
    U, R, least = p.U / p.D, root[:, None] * p.A[held], root * p.level[held]
    g = (p.slope + p.forces(p.before) @ p.A) / p.D**2
    steep = max(1.0, float(np.ptp(g)))
    K, m = len(U), len(R)
    ones = np.zeros((count, K))
    for b, own in enumerate(p.parts):
        ones[b, own] = 1.0
    found, *_ = daqp.solve(
        block_diag(U @ U.T, np.eye(m)) / steep,
        np.concatenate([p.slope / p.D**2 - U @ (p.before @ U), np.zeros(m)]) / steep,
        np.block([[ones, np.zeros((count, m))], [-R, np.eye(m)]]),
        np.concatenate([np.full(K + m, 1e30), np.ones(count), np.full(m, 1e30)]),
        np.concatenate([np.zeros(K), np.full(m, -1e30), np.ones(count), least]),
        np.repeat(np.array([0, 5, 0], np.int32), [K + m, count, m]),
        primal_tol=1e-12,
        dual_tol=1e-12,
        eps_prox=1e-8,  # columns may depend on each other
        eta_prox=1e-14,
    )
    share = np.maximum(0.0, found[:K])
    return np.concatenate([share[own] / share[own].sum() for own in p.parts])


def shares(rng: np.random.Generator, U: list[Vector]) -> Vector:
    """Return shares of up to four columns in each factor."""
    found = []
    for u in U:
        share, some = np.zeros(len(u)), rng.permutation(len(u))[: rng.integers(1, 5)]
        share[some] = rng.dirichlet(np.ones(len(some)))
        found.append(share)
    return np.concatenate(found)


def columns(rng: np.random.Generator, kinds: set[str], K: int, n: int) -> Vector:
    """Return columns of one factor."""
    U = rng.standard_normal((K, n))
    if K > 1:
        if "columns of few values" in kinds:
            U = np.round(U)
        if "columns in the hull of others" in kinds:
            k = int(rng.integers(2, K))
            weights = rng.standard_normal((K - k, k)) * rng.integers(2)
            U[k:] = (weights + (1.0 - weights.sum(axis=1, keepdims=True)) / k) @ U[:k]
        if "equal columns" in kinds:
            i, j = rng.permutation(K)[:2]
            U[i] = U[j]
    if "factors of other sizes" in kinds:
        U *= 10.0 ** rng.uniform(-1.0, 1.0)
    return np.asarray(rng.permutation(U) - U[0] * rng.integers(2))


def diameter(U: Vector) -> float:
    """Return the diameter of a set with these columns, and with the origin."""
    points = np.vstack([U, np.zeros(U.shape[1])])
    return float(np.linalg.norm(points[:, None] - points, axis=2).max()) or 1.0


def drawn(rng: np.random.Generator, wanted: set[str] | None = None) -> tuple[Programme, set[str]]:
    """Return a programme as policies make them, and the kinds that it is of."""
    kinds = {kind for kind in KINDS if rng.random() < OFTEN.get(kind, 0.2)}
    kinds = kinds if wanted is None else set(wanted)
    if "factors" not in kinds:
        kinds -= {"factors of other sizes", *(COLUMN_KINDS if "one column" in kinds else ())}
    several = "factors" in kinds
    U = []
    for b in range(int(rng.integers(2, 6)) if several else 1):
        K = 1 if "one column" in kinds and b == 0 else int(rng.integers(3, 9 if several else 21))
        U.append(columns(rng, kinds, K, int(rng.integers(1, 11 if several else 31))))
    diameters = np.array([diameter(u) for u in U]) * rng.uniform(1.0, 2.0, len(U))
    D, all_columns = float(np.linalg.norm(diameters)), np.asarray(block_diag(*U))
    n = all_columns.shape[1]

    f = rng.standard_normal(n)
    f *= D * 10.0 ** rng.uniform(-3.0, 0.5) / np.linalg.norm(f)
    if "zero slope" in kinds:
        f[:], kinds = 0.0, kinds - {"slope that jumps"}
    if "slope that jumps" in kinds:
        f[: rng.integers(1, n + 1)] *= 1e6

    m = int(rng.integers(4, 21))
    C = rng.standard_normal((m, n))
    C[4:] *= rng.random((m - 4, n)) < rng.choice([0.4, 1.0])
    if "equal rows" in kinds:
        C[1] = C[0]
    if "contradicting rows" in kinds:
        C[3] = -C[2]
    norm, A = np.linalg.norm(C, axis=1), C @ all_columns.T
    own = np.cumsum([0, *map(len, U)])[:-1]
    varies = (np.maximum.reduceat(A, own, 1) - np.minimum.reduceat(A, own, 1)).sum(axis=1) / D
    unit = np.where(varies > 1e-12 * norm, varies, norm)  # less is rounding
    violation = rng.standard_normal(m) * D * 10.0 ** rng.uniform(-2.0, 0.3)
    level = unit * violation - A @ shares(rng, U)
    weight = np.where(rng.random(m) < 0.3, rng.uniform(0.1, 1.0, m), rng.random(m) < 0.85)
    if "equal rows" in kinds and rng.random() < 0.5:
        level[1] = level[0]
    if "contradicting rows" in kinds:  # wherever the decision is, one of them is violated
        level[3], weight[2:4] = abs(unit[2] * violation[3]) - level[2], 1.0
    size = np.ones(m)
    for kind, power in {"tiny rows": 1e-12, "huge rows": 1e12}.items():
        if kind in kinds:
            size[rng.permutation(m)[: rng.integers(1, m)]] = power
    there = unit > 0.0
    stiffness = np.where(there, STIFFNESS * weight / np.where(there, size * unit, 1.0) ** 2, 0.0)
    rows = size[:, None] * A, size * level, stiffness
    before, slope, tolerance = shares(rng, U), all_columns @ f, ROUNDING * D**2
    return Programme(U, diameters, before, slope, *rows, tolerance), kinds


def test_it_agrees_with_daqp_and_leaves_no_gap() -> None:
    rng, seen, compared = np.random.default_rng(1), Counter[str](), 0
    for _ in range(2400):
        p, kinds = drawn(rng)
        seen.update(kinds)
        found, expected = solve(p, shares(rng, p.columns), int(rng.integers(3))), by_daqp(p)
        assert p.faults(found.share) == []
        assert found.steps < MOST_STEPS
        assert np.linalg.norm(found.x - p.mixture(found.share)) <= 1e-14 * p.D
        excess, (gap, size) = p.objective(found.share) - p.objective(expected), p.gap(expected)
        assert excess <= SMALL * size + p.tolerance
        if gap <= 0.01 * SMALL * size + p.tolerance:  # daqp has come as far as it mostly does
            compared += 1
            assert -excess <= SMALL * size + p.tolerance
            assert p.apart(found.share, expected) <= 1e-7
    assert compared >= 2380
    assert min(seen[kind] for kind in KINDS) >= 150


def test_it_stays_at_the_solution_and_finds_it_from_anywhere() -> None:
    rng = np.random.default_rng(2)
    for _ in range(400):
        p, _ = drawn(rng)
        size = p.gap(solve(p, p.before).share)[1]
        p = replace(p, tolerance=max(p.tolerance, 1e-12 * size))  # more than rounding
        found = solve(p, p.before)
        again = solve(p, found.share)
        assert again.steps <= 5
        assert p.apart(again.share, found.share) <= 1e-9
        for _ in range(3):
            assert p.apart(solve(p, shares(rng, p.columns)).share, found.share) <= 1e-7


def small_numbers(*shape: int) -> st.SearchStrategy[Vector]:
    """Few values, so that much coincides."""
    return arrays.arrays(float, shape, elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]))


@st.composite
def small_programmes(draw: st.DrawFn) -> tuple[Programme, Vector]:
    """Programmes of at most two factors with four columns, and shares to start from."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=2))
    U = [draw(small_numbers(*size)) for size in sizes]
    all_columns, m = np.asarray(block_diag(*U)), draw(st.integers(1, 4))
    slope = all_columns @ draw(small_numbers(all_columns.shape[1]))
    A = draw(small_numbers(m, all_columns.shape[1])) @ all_columns.T
    weight = draw(arrays.arrays(float, m, elements=st.sampled_from([0.0, 0.01, 1.0])))
    before, start = (
        np.concatenate([np.abs(w) / np.abs(w).sum() if w.any() else np.eye(len(w))[0] for w in one])
        for one in ([draw(small_numbers(len(u))) for u in U] for _ in range(2))
    )
    diameters = np.array([diameter(u) for u in U])
    own, D2 = np.cumsum([0, *map(len, U)])[:-1], float(diameters @ diameters)
    varies = (np.maximum.reduceat(A, own, 1) - np.minimum.reduceat(A, own, 1)).sum(axis=1)
    stiffness = STIFFNESS * weight * D2 / np.where(varies > 0.0, varies, 1.0) ** 2
    tolerance, level = ROUNDING * float(diameters @ diameters), draw(small_numbers(m))
    return Programme(U, diameters, before, slope, A, level, stiffness, tolerance), start


@given(small_programmes())
@settings(max_examples=300, deadline=None)
def test_no_small_programme_keeps_a_gap(small: tuple[Programme, Vector]) -> None:
    p, start = small
    found = solve(p, start)
    assert p.faults(found.share) == []
    assert found.steps < MOST_STEPS


def unsolved(p: Programme, _share: Vector) -> Vector:
    """Stay at the start."""
    return p.before


def stopped_short(p: Programme, share: Vector) -> Vector:
    """Stop before the end."""
    return 0.999 * share + 0.001 * p.before


def without_a_row(p: Programme, share: Vector) -> Vector:
    """Leave the row out that pulls most."""
    pull = p.forces(share) * np.ptp(p.A, axis=1)
    stiffness = np.where(np.arange(len(pull)) == pull.argmax(), 0.0, p.stiffness)
    return solve(replace(p, stiffness=stiffness), p.before).share


def without_a_column(p: Programme, share: Vector) -> Vector:
    """Let the column with the largest share cost too much to have one."""
    i = int(share.argmax())
    barred = np.arange(len(share)) == i
    start = np.where(barred, 0.0, 1.0 / (len(share) - 1))
    return solve(replace(p, slope=p.slope + 1e6 * p.D**2 * barred), start).share


def too_much(_p: Programme, share: Vector) -> Vector:
    """Let the shares add up to more than 1."""
    return share * (1.0 + 1e-11)


def too_far(_p: Programme, share: Vector) -> Vector:
    """Move beyond a column."""
    i, j = share.argsort()[[0, -1]]
    away = np.zeros(len(share))
    away[j] = share[i] + 1e-11
    away[i] = -away[j]
    return share + away


@pytest.mark.parametrize(
    ("mutant", "fault", "least"),
    [
        (unsolved, "gap", 1e-4),
        (stopped_short, "gap", 1e-4),
        (without_a_row, "gap", 1e-4),
        (without_a_column, "gap", 1e-4),
        (too_much, "sum", 0.0),
        (too_far, "negative", 0.0),
    ],
)
def test_wrong_solutions_are_rejected(
    mutant: Callable[[Programme, Vector], Vector], fault: str, least: float
) -> None:
    """A wrong solution is one whose decision is elsewhere, by this much of D."""
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(200):
        p, _ = drawn(rng, set())
        share = solve(p, p.before).share
        other = mutant(p, share)
        if p.apart(other, share) > least:
            wrong += 1
            assert fault in p.faults(other)
    assert wrong >= 50
