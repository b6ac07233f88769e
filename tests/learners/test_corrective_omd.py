"""Proximal steps over remembered vertices: pseudocode, invariants of the atoms, proof steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_learners_conform import SETS, Counted

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.learners import atoms
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.atoms import SAME, Atoms, part_size, scratch_size
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.learners.steps import CertificateSteps
from hedgerow.learners.tracking_ocg import TrackingOCG
from hedgerow.problems.shortest_path import ShortestPath
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices.simplex import KSubsets, Simplex
from hedgerow.testing import check_learner


@pytest.mark.parametrize("atoms", [2, 24])
@pytest.mark.parametrize("name", SETS)
def test_corrective_omd_conforms(name, atoms):
    check_learner(lambda: CorrectiveOMD(SETS[name](), atoms))


def test_the_declared_oracle_calls_are_the_real_ones():
    X = Counted()
    learner, rng = CorrectiveOMD(X), np.random.default_rng(0)
    for t in range(20):
        assert learner.oracle_calls == X.calls == (t + 1) // 2
        tell = learner.tell_without_oracle if t % 2 else learner.tell
        tell(EvalGrad(0.0, rng.standard_normal(4)))


# The pseudocode, dense and without a matrix of products: every gradient is taken afresh.


class Pseudocode:
    def __init__(self, X, capacity):
        self.X, self.D, self.capacity = X, X.diameter, capacity
        self.points, self.w, self.born = [X.start()], [1.0], [0]
        self.t, self.beta, self.Delta = 0, 0.0, 0.0
        self.merged = self.evicted = 0

    def x(self):
        return sum(w * a for w, a in zip(self.w, self.points, strict=True))

    def smo(self, s, x_t, tolerance):
        for _ in range(4):
            gradient = s + 2 * self.beta * (self.x() - x_t)
            g = [gradient @ a for a in self.points]
            j = 0
            while g[j] > min(g) + 1e-6 * tolerance:  # ties go to the first
                j += 1
            held = [k for k in range(len(g)) if self.w[k] > 0 and k != j]
            if not held or max(g[k] for k in held) - g[j] <= tolerance:
                return

            def move(k, g=g, j=j):
                curvature = self.beta * np.sum((self.points[k] - self.points[j]) ** 2)
                delta = min(self.w[k], (g[k] - g[j]) / (2 * curvature))
                return delta * (g[k] - g[j]) - curvature * delta**2, delta

            best = max(move(k)[0] for k in held)
            i = next(k for k in held if (1 + 1e-6) * move(k)[0] >= best)
            delta = move(i)[1]
            self.w[j] += delta
            self.w[i] = 0.0 if delta == self.w[i] else self.w[i] - delta

    def add(self, v):
        for k in range(1, len(self.points)):
            if np.linalg.norm(v - self.points[k]) <= SAME * self.D:
                self.born[k] = self.t
                return k
        if len(self.points) < self.capacity:
            self.points.append(v)
            self.w.append(0.0)
            self.born.append(self.t)
            return len(self.points) - 1
        empty = [k for k in range(1, self.capacity) if self.w[k] == 0.0]
        if empty:
            k = min(empty, key=lambda k: self.born[k])
            self.evicted += 1
        else:
            k = min(range(1, self.capacity), key=lambda k: self.w[k])
            both = self.w[0] + self.w[k]
            self.points[0] = (self.w[0] * self.points[0] + self.w[k] * self.points[k]) / both
            self.w[0], self.w[k] = both, 0.0
            self.merged += 1
        self.points[k], self.born[k] = v, self.t
        return k

    def tell(self, s, oracle):
        self.t += 1
        x_t, size = self.x(), np.linalg.norm(self.X.tangent(s))
        if self.beta == 0:
            self.beta = 1e-3 * size / self.D
        tolerance = 0.01 * min(size**2 / self.beta, size * self.D)
        self.smo(s, x_t, tolerance)
        if oracle:
            d = s + 2 * self.beta * (self.x() - x_t)
            v = self.X.lmo(d)
            gap, distance2 = d @ (self.x() - v), np.sum((self.x() - v) ** 2)
            if d @ v < min(d @ a for a in self.points) - 1e-6 * tolerance:  # no tie
                k = self.add(v)
                sigma = min(1.0, gap / (2 * self.beta * distance2))
                self.w = [(1 - sigma) * w for w in self.w]
                self.w[k] += sigma
                self.smo(s, x_t, tolerance)
        if self.t % 50 == 0:
            self.w = [w / sum(self.w) for w in self.w]
        step = x_t - self.x()
        kept = 1.0 - 1.0 / (50.0 + self.t / 16.0)
        self.Delta = kept * self.Delta + max(0.0, s @ step - self.beta * step @ step)
        self.beta = max(kept * self.beta, self.Delta / self.D**2)


class Coarse(DecisionSet):
    """A set whose oracle sees six decimals: pairwise steps leave ties, which rounding would break.

    `lmo` of the inner set breaks them by the order of coordinates.
    """

    def __init__(self, inner):
        self.inner, self.dim, self.diameter = inner, inner.dim, inner.diameter

    dim = diameter = 0

    def lmo(self, c):
        return self.inner.lmo(np.round(c, 6) + 0.0)

    def contains(self, x, tol=1e-9):
        return self.inner.contains(x, tol)

    def start(self):
        return self.inner.start()

    def tangent(self, c):
        return self.inner.tangent(c)


def drifting(n, rounds, seed=0):
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0.0, 2.0 * np.pi, n)
    for t in range(rounds):
        yield np.sin(t / 20.0 + phases) + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize(
    ("X", "capacity"),
    [(Simplex(12), 5), (Simplex(12), 32), (KSubsets(9, 3), 6), (Box(-np.ones(5), np.ones(5)), 7)],
)
def test_it_is_its_pseudocode(X, capacity):
    X = Coarse(X)
    ours, reference = CorrectiveOMD(X, capacity), Pseudocode(X, capacity)
    for t, s in enumerate(drifting(X.dim, 200)):
        (ours.tell_without_oracle if t % 3 == 1 else ours.tell)(EvalGrad(0.0, s))
        reference.tell(s, oracle=t % 3 != 1)
        np.testing.assert_allclose(ours.ask(), reference.x(), rtol=0, atol=1e-8)
    assert ours.beta == pytest.approx(reference.beta, rel=1e-8)
    if capacity < 8:
        assert reference.evicted > 0, "the pool must have been full, or this shows nothing"


# Invariants of the atoms.

sparse_vectors = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5, 0.3]), min_size=7, max_size=7),
    min_size=1,
    max_size=12,
)


class Hull:
    """Atoms and their scratch memory, without a learner around them."""

    def __init__(self, start, capacity, diameter):
        self.n = len(start)
        self.part = np.zeros(part_size(self.n, capacity))
        self.scratch = np.full(scratch_size(self.n, capacity), np.nan)  # nothing is read unwritten
        atoms.begin(self.part, start, capacity, diameter)
        self.read = Atoms(self.part, self.n)

    def x(self):
        x = np.full(self.n, np.nan)
        atoms.mix(x, self.part)
        return x

    def admit(self, v, t, d=None):
        """Admit v, and check that the gradient is that of the atoms as they are now."""
        d = np.arange(1.0, self.n + 1.0) if d is None else d
        atoms.multiply(self.part, self.scratch, d)
        k = atoms.admit(self.part, self.scratch, v, d, t)
        g = self.scratch[self.n :][: self.read.count]
        np.testing.assert_allclose(g, self.read.points() @ d, rtol=0, atol=1e-12)
        return k

    def descend(self, d, beta, tolerance):
        atoms.multiply(self.part, self.scratch, d)
        atoms.descend(self.part, self.scratch, self.n, beta, tolerance)

    def step_towards(self, k, sigma, d, beta):
        atoms.multiply(self.part, self.scratch, d)
        atoms.step_towards(self.part, self.scratch, self.n, k, beta, sigma)


def exact_distances2(points):
    return np.sum((points[:, None] - points[None]) ** 2, axis=2)


@given(vectors=sparse_vectors, capacity=st.integers(2, 10), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_atoms_keep_the_point_the_simplex_and_the_distances(vectors, capacity, seed):
    rng = np.random.default_rng(seed)
    hull = Hull(rng.uniform(size=7), capacity, 5.0)
    for t, v in enumerate(np.array(vectors), start=1):
        before = hull.x()
        k = hull.admit(v, t)
        np.testing.assert_allclose(hull.x(), before, rtol=0, atol=1e-14)  # eviction and merge
        np.testing.assert_array_equal(hull.read.points()[k], v)
        d = rng.standard_normal(7)
        if rng.uniform() < 0.5:
            x, sigma = hull.x(), rng.uniform()
            hull.step_towards(k, sigma, d, 0.3)
            moved = x + sigma * (v - x)
            np.testing.assert_allclose(hull.x(), moved, rtol=0, atol=1e-14)
            g = hull.scratch[7:][: hull.read.count]
            exact = hull.read.points() @ (d + 0.6 * (moved - x))
            np.testing.assert_allclose(g - g[0], exact - exact[0], rtol=0, atol=1e-12)
            atoms.level(hull.part, hull.scratch, d + 0.6 * (moved - x))
            np.testing.assert_allclose(g, exact, rtol=0, atol=1e-12)
        hull.descend(d, 0.3, 1e-9)
        x, points, w = hull.x(), hull.read.points(), hull.read.weights
        np.testing.assert_allclose(x, w @ points, rtol=0, atol=1e-14)
        np.testing.assert_allclose(hull.read.distances2, exact_distances2(points), atol=1e-13)
        assert w.min() >= 0.0
        assert w.sum() == pytest.approx(1.0, abs=1e-15)
        assert hull.read.count <= capacity


@given(
    n=st.integers(1, 100),
    filled=st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9]),
    seed=st.integers(0, 999),
)
@settings(max_examples=80, deadline=None)
def test_a_row_is_its_vector_sparse_if_at_most_half_of_it_is_filled(n, filled, seed):
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(n) * (rng.uniform(size=n) < filled)
    row, again, d = np.full(n, np.nan), np.zeros(n), rng.standard_normal(n)
    size, nonzero = kernels.atoms.encode(row, v), np.count_nonzero(v)
    assert size == (n if 2 * nonzero > n else nonzero)
    kernels.atoms.add(again, row, size, 1.0)
    np.testing.assert_array_equal(again, v)
    assert kernels.atoms.inner(row, size, d) == pytest.approx(d @ v, abs=1e-12)
    other, its_row = d * (rng.uniform(size=n) < filled), np.full(n, np.nan)
    norm2 = kernels.atoms.squares(its_row, kernels.atoms.encode(its_row, other))
    far2 = kernels.atoms.distance2(other, norm2, row, size)
    assert far2 == pytest.approx(np.sum((v - other) ** 2), rel=1e-12, abs=1e-12)
    assert kernels.atoms.distance2(v, kernels.atoms.squares(row, size), row, size) == 0.0


def test_a_vertex_that_is_known_takes_no_room():
    hull, v = Hull(np.zeros(4), 3, 2.0), np.array([1.0, 0.0, 0.0, 0.0])
    assert hull.admit(v, 1) == hull.admit(v, 2) == 1
    assert hull.admit(np.roll(v, 1), 3) == 2
    nearly = Hull(np.zeros(4), 3, 2.0)
    atoms.multiply(nearly.part, nearly.scratch, v)
    for t, near in enumerate((v, v + 1e-7, v - 1e-7)):  # within rounding of the known one
        assert atoms.admit(nearly.part, nearly.scratch, near, v, t) == 1
    assert (hull.read.count, nearly.read.count) == (3, 2)
    assert Hull(v, 3, 2.0).admit(v, 1) == 1  # the bulk is no vertex: merges move it


def test_the_oldest_vertex_without_weight_goes_first_then_the_lightest_is_merged():
    one = np.eye(6)
    hull = Hull(np.full(6, 1 / 6), 4, math.sqrt(2.0))
    for t in (1, 2, 3):
        hull.admit(one[t], t)
    hull.admit(one[1], 4)  # seen again: now vertex 2 is the oldest
    assert hull.admit(one[4], 5) == 2
    for k, sigma in ((1, 0.5), (2, 0.1), (3, 0.3)):
        hull.step_towards(k, sigma, np.zeros(6), 1.0)
    x, weights = hull.x(), hull.read.weights
    lightest = int(np.argmin(weights[1:])) + 1
    assert hull.admit(one[5], 6) == lightest
    np.testing.assert_allclose(hull.x(), x, rtol=0, atol=1e-15)
    assert hull.read.weights[0] == pytest.approx(weights[[0, lightest]].sum())
    assert hull.read.weights[lightest] == 0.0


def padded(array, fill):
    """Room for a multiple of eight."""
    room = np.full((*array.shape[:-1], -array.shape[-1] // 8 * -8), fill)
    room[..., : array.shape[-1]] = array
    return room


@given(seed=st.integers(0, 10**6), count=st.integers(2, 20), beta=st.floats(1e-3, 1e3))
@settings(max_examples=80, deadline=None)
def test_every_pairwise_step_lowers_the_objective_and_keeps_its_gradient(seed, count, beta):
    rng = np.random.default_rng(seed)
    points, d = rng.standard_normal((count, 5)), rng.standard_normal(5)
    weights = rng.dirichlet(np.ones(count))
    x, D = weights @ points, padded(exact_distances2(points), 0.0).ravel()
    w, g = padded(weights, 0.0), padded(points @ d, np.inf)
    gain = np.full(g.size, np.nan)

    def objective(w):
        step = w[:count] @ points - x
        return d @ step + beta * step @ step

    values = [0.0]
    while kernels.pairwise.descend(w, g, D, count, beta, 1e-9, 1, gain) and len(values) < 50:
        values.append(objective(w))
        exact = points @ (d + 2.0 * beta * (w[:count] @ points - x))
        np.testing.assert_allclose(g[:count] - g[0], exact - exact[0], atol=1e-9 * (1.0 + beta))
        assert values[-1] < values[-2] + 1e-13 * beta
    assert len(values) > 1


@given(seed=st.integers(0, 10**6), count=st.integers(2, 20), beta=st.floats(1e-2, 1e2))
@settings(max_examples=60, deadline=None)
def test_a_pairwise_step_is_the_best_one_to_the_least_gradient(seed, count, beta):
    """The plain formulas, one atom at a time, on every step of a descent."""
    rng = np.random.default_rng(seed)
    points = np.round(rng.standard_normal((count, 4)), 1)
    D = exact_distances2(points)
    flat, gain = padded(D, 0.0).ravel(), np.full(-count // 8 * -8, np.nan)
    w = padded(rng.dirichlet(np.ones(count)) * (rng.uniform(size=count) < 0.7), 0.0)
    g = padded(rng.standard_normal(count), np.inf)
    for _ in range(30):
        w0, g0 = w[:count].copy(), g[:count].copy()
        j = int(np.flatnonzero(g0 <= g0.min() + 1e-8)[0])  # the first of those that tie
        gaps = np.where(w0 > 0.0, g0 - g0[j], 0.0).clip(0.0)
        took = kernels.pairwise.descend(w, g, flat, count, beta, 0.01, 1, gain)
        assert took == (gaps.max() > 0.01)
        if not took:
            break
        h = beta * D[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = np.where(gaps >= 2.0 * h * w0, w0, gaps / (2.0 * h))
        gains = moves * (gaps - h * moves)
        moved = w0 - w[:count]
        i = int(np.argmax(moved))
        assert i == np.flatnonzero((1.0 + 1e-6) * gains >= gains.max())[0]
        assert int(np.argmin(moved)) == j
        assert moved[i] == pytest.approx(moves[i], rel=1e-12)
        assert np.count_nonzero(moved) == 2


def test_an_atom_below_the_least_gradient_by_a_tie_gains_nothing():
    """Its gain by the formula is above zero, and large where the two atoms are close."""
    w, g = padded(np.array([0.5, 0.2, 0.3]), 0.0), padded(np.array([1.0, 1.0 - 1e-9, 3.0]), np.inf)
    near, gain = padded(np.array([0.0, 1e-20, 2.0]), 0.0), np.full(8, np.nan)
    best, widest = kernels.pairwise.decreases(gain, w, g, near, 3, 1.0, 1.0)
    np.testing.assert_array_equal(gain[:3], [0.0, 0.0, 0.3 * (2.0 - 2.0 * 0.3)])
    assert (best, widest) == (gain[2], 2.0)


def test_the_weights_sum_to_one_after_many_rounds_without_an_oracle():
    learner = CorrectiveOMD(Simplex(12))
    for t, s in enumerate(drifting(12, 2000)):
        (learner.tell if t < 30 else learner.tell_without_oracle)(EvalGrad(0.0, s))
    assert learner.atoms.weights.sum() == pytest.approx(1.0, abs=3e-16)


def test_paths_stay_sparse():
    problem = ShortestPath.random_network(nodes=40, edges=200, horizon=60, seed=1)
    learner = CorrectiveOMD(problem.decision_set, atoms=8)
    for cost, _ in problem:
        learner.tell(EvalGrad(0.0, cost.grad(learner.ask())))
    sizes, points = learner.atoms.sizes, learner.atoms.points()
    np.testing.assert_array_equal(sizes[1:], np.count_nonzero(points[1:], axis=1))
    assert sizes[0] == 200
    assert sizes[1:].max() < 40


@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "k-subsets", "dag"])
def test_long_runs_neither_drift_nor_leave_the_set(name):
    X = SETS[name]()
    learner = CorrectiveOMD(X, atoms=3)
    for s in drifting(X.dim, 1500):
        learner.tell(EvalGrad(0.0, s))
    x, w, points = learner.ask(), learner.atoms.weights, learner.atoms.points()
    np.testing.assert_allclose(x, w @ points, rtol=0, atol=1e-14)
    np.testing.assert_allclose(learner.atoms.distances2, exact_distances2(points), atol=1e-13)
    assert all(X.contains(point, 1e-12) for point in (x, *points))


# What the steps are.


@pytest.mark.parametrize("oracle", [True, False])
def test_with_all_vertices_remembered_a_step_is_the_proximal_step(oracle):
    """F is strongly convex: beta ||x - x*||^2 <= F(x) - F(x*) <= gap, here at most 0.01 ||s|| D."""
    X = Simplex(5)
    learner, rng = CorrectiveOMD(X), np.random.default_rng(3)
    for t in range(1, 300):
        s = rng.standard_normal(5)
        x, beta = learner.ask(), learner.beta
        size2 = np.sum(X.tangent(s) ** 2)
        (learner.tell if oracle or t < 60 else learner.tell_without_oracle)(EvalGrad(0.0, s))
        if t >= 60:
            assert learner.atoms.count == 6
            nearest = X.project(x - s / (2.0 * beta))
            tolerance = 0.01 * min(size2 / beta, math.sqrt(size2) * X.diameter)
            assert np.sum((learner.ask() - nearest) ** 2) <= tolerance / beta * (1 + 1e-9)


def kept(t):
    """What is left of the regulariser after round t, unless more is learnt."""
    return 1.0 - 1.0 / (50.0 + t / 16.0)


@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "dag", "k-subsets"])
@pytest.mark.parametrize("c", [0.3, 1.0])
def test_the_regret_is_bounded_by_the_rises_of_the_regulariser(name, c):
    """The proof in theory.md, for measured gaps: beta falls, and only its rises cost D^2 each.

    Fails if a part of delta is missed, or if a fall is paid for.
    """
    X = SETS[name]()
    learner, D2 = CorrectiveOMD(X, atoms=4, c=c), X.diameter**2
    played, gaps, S, deltas, betas, learnt = 0.0, 0.0, np.zeros(X.dim), [], [], 0.0
    for t, s in enumerate(drifting(X.dim, 400, seed=5), start=1):
        s = 1000.0 * s if t == 150 else s
        x, beta = learner.ask(), learner.beta
        (learner.tell_without_oracle if t % 2 else learner.tell)(EvalGrad(0.0, s))
        beta = beta or 1e-3 * X.tangent_norm(s) / X.diameter
        step = learner.ask() - x
        deltas.append(-s @ step - beta * step @ step)
        betas.append(beta)
        d = s + 2.0 * beta * step
        gaps += d @ learner.ask() - X.minimum(d)
        played, S = played + s @ x, S + s
        learnt = kept(t) * learnt + max(0.0, deltas[-1])
        assert learner.beta == pytest.approx(max(kept(t) * beta, learnt / (c * D2)), rel=1e-9)
        rises = betas[0] + np.maximum(0.0, np.diff(betas)).sum()
        assert played - X.minimum(S) <= D2 * rises + sum(deltas) + gaps
    gained = np.maximum(0.0, deltas).sum()
    assert D2 * rises <= (D2 * betas[0] + gained / c) * (1.0 + 1e-9)
    assert min(np.diff(betas)) < 0.0 < rises - max(betas), "it rose again after a fall"


@pytest.mark.parametrize("name", ["simplex", "l2ball", "dag", "k-subsets"])
def test_the_regulariser_falls_back_after_an_outlier(name):
    """One loss is 1000 times as large; 800 rounds later the steps are as long as without it."""
    X = SETS[name]()
    plain, hit = CorrectiveOMD(X), CorrectiveOMD(X)
    for t, s in enumerate(drifting(X.dim, 1000, seed=5)):
        plain.tell(EvalGrad(0.0, s))
        away = s @ hit.ask() - X.minimum(s), -s @ hit.ask() - X.minimum(-s)
        factor = 1.0 if t != 150 else 1000.0 if away[0] > away[1] else -1000.0
        hit.tell(EvalGrad(0.0, factor * s))
        if t == 150:
            assert hit.beta > 100.0 * plain.beta
    assert 0.5 * plain.beta <= hit.beta <= 2.0 * plain.beta


def test_the_regulariser_fades_while_there_is_nothing_to_gain():
    """Also in rounds without an oracle call, alone and beside a leader."""
    start = [0.0, 1.0]  # the best point from the start
    learner, beta = CorrectiveOMD(Simplex(2), start=start), 0.0
    mixed = TrackingOCG(Simplex(2), start=start)
    for t, factor in enumerate((0.0, 4.0, 1.0, 1.0, 1.0, 0.0, 1.0), start=1):
        loss = EvalGrad(0.0, np.array([factor, -factor]))
        (learner.tell_without_oracle if t > 4 else learner.tell)(loss)
        mixed.tell(loss)
        beta = kept(t) * (beta or 1e-3 * factor)
        assert learner.beta == mixed._state["beta_B"][0] == pytest.approx(beta, rel=1e-12)
    np.testing.assert_array_equal(learner.ask(), start)


@pytest.mark.parametrize("beta", [1e-200, 1e-300, 1e-310, 5e-324, 0.0])
@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "k-subsets", "dag"])
def test_a_regulariser_that_has_faded_to_nothing_is_learnt_again(name, beta):
    """After a million rounds with nothing to gain; then it jumps once, and is as it was."""
    X = SETS[name]()
    learner = CorrectiveOMD(X, atoms=4)
    for s in drifting(X.dim, 50):
        learner.tell(EvalGrad(0.0, s))
    usual = learner.beta
    learner._state["beta"][0], learner._state["Delta"][0] = beta, 0.0
    for t, s in enumerate(drifting(X.dim, 50)):
        (learner.tell_without_oracle if t % 2 else learner.tell)(EvalGrad(0.0, s))
        assert X.contains(learner.ask(), 1e-12)
    assert 0.1 * usual <= learner.beta <= 10.0 * usual


@pytest.mark.parametrize("name", ["simplex", "l2ball", "dag", "k-subsets"])
@given(exponent=st.integers(-60, 60), seed=st.integers(0, 20))
@settings(max_examples=8, deadline=None)
def test_losses_have_no_unit(name, exponent, seed):
    X = SETS[name]()
    plain, scaled = CorrectiveOMD(X, atoms=4), CorrectiveOMD(X, atoms=4)
    for s in drifting(X.dim, 60, seed):
        plain.tell(EvalGrad(0.0, s))
        scaled.tell(EvalGrad(0.0, 2.0**exponent * s))
        np.testing.assert_array_equal(plain.ask(), scaled.ask())


def test_far_from_the_origin_it_plays_alike():
    """With inner products instead of distances, 1e6 squared would cost 12 digits."""
    near, far = (
        CorrectiveOMD(Coarse(Box(np.zeros(4) + origin, np.ones(4) + origin)), atoms=5)
        for origin in (0.0, 2.0**20)
    )
    for s in drifting(4, 150):
        near.tell(EvalGrad(0.0, s))
        far.tell(EvalGrad(0.0, s))
        np.testing.assert_allclose(far.ask() - 2.0**20, near.ask(), rtol=0, atol=1e-6)


def test_it_follows_where_the_best_point_moves():
    X = L2Ball(4)
    follower, leader = CorrectiveOMD(X), AdaptiveOCG(X, CertificateSteps())
    loss = {follower: 0.0, leader: 0.0}
    for s in drifting(4, 1500):
        for learner in loss:
            loss[learner] += s @ learner.ask()
            learner.tell(EvalGrad(0.0, s))
    assert loss[follower] < -500.0  # the moving best point: about -1500 times a norm near 1.4
    assert loss[leader] > -100.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"atoms": 1}, "atoms must be at least 2"),
        ({"c": 0.0}, "c must be above 0"),
        ({"start": [2.0, 0.0]}, "start must lie in the decision set"),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        CorrectiveOMD(Simplex(2), **arguments)
