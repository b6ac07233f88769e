"""Vertices of zeros and few ones as lists of their ones: the same vertices, gaps and steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.kernels import ocg
from hedgerow.learners.steps import CertificateSteps, PaperSteps

seeds = st.integers(0, 10**6)
LEARNERS = {
    "AdaptiveOCG": lambda X: hr.learners.AdaptiveOCG(X, CertificateSteps()),
    "AdaptiveOCG, the paper's steps": lambda X: hr.learners.AdaptiveOCG(X, PaperSteps(60)),
    "RestartedOCG": lambda X: hr.learners.RestartedOCG(X, CertificateSteps()),
}


def paths(rng: np.random.Generator, nodes: int = 8) -> hr.sets.DagPaths:
    """Paths through a random graph, its edges in random order, some of them dead ends."""
    pairs = np.array([(i, j) for i in range(nodes) for j in range(i + 1, nodes)])
    kept = pairs[(pairs[:, 1] == pairs[:, 0] + 1) | (rng.random(len(pairs)) < 0.5)]
    dead = [(nodes, nodes - 1), (0, nodes + 1)]
    return hr.sets.DagPaths(rng.permutation(np.vstack([kept, dead])), 0, nodes - 1)


def listed(X: hr.sets.DagPaths, c: np.ndarray) -> np.ndarray:
    """The ones that the set's kernel lists."""
    space = X.workspace().space
    index, numbers, links, scratch = space.arrays
    untouched = np.full(X.dim, np.nan)
    X.compiled.list_ones(index, numbers, c, links, scratch, untouched)
    assert np.isnan(untouched).all()
    return links[1 : 1 + links[0]]


@given(seeds, st.booleans())
def test_the_list_is_the_path_that_the_oracle_finds(seed, ties):
    rng = np.random.default_rng(seed)
    X = paths(rng)
    c = rng.integers(-2, 3, X.dim).astype(float) if ties else rng.standard_normal(X.dim)
    ones, v = listed(X, c), X.lmo(c)
    assert len(set(ones.tolist())) == len(ones)
    assert sorted(ones.tolist()) == np.flatnonzero(v).tolist()
    spread = np.full(X.dim, np.nan)
    ocg.write_vertex(ones, spread)
    np.testing.assert_array_equal(spread, v)


def test_the_longest_list_fits():
    X = hr.sets.DagPaths([(i, i + 1) for i in range(9)], 0, 9)
    np.testing.assert_array_equal(np.sort(listed(X, np.ones(9))), np.arange(9))


@given(seeds, st.floats(0.0, 1.0))
def test_gap_and_distance_of_a_list_are_those_of_its_vertex(seed, near):
    rng = np.random.default_rng(seed)
    X = paths(rng)
    d = rng.standard_normal(X.dim)
    ones, v = listed(X, d), X.lmo(d)
    x = near * v + (1.0 - near) * X.lmo(rng.standard_normal(X.dim))
    at_x = (d @ x, np.abs(d * x).sum(), x @ x)
    found = ocg.gap_and_distance_to(d, x, np.full(X.dim, np.nan), ones, at_x)
    expected = d @ (x - v), (x - v) @ (x - v)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-14)


@pytest.mark.parametrize("away", [0.0, 1e-12, 1e-6])
def test_differences_that_cancel_are_added_up_term_by_term(away):
    rng = np.random.default_rng(0)
    X = paths(rng)
    d = 1.0 + rng.random(X.dim)
    ones, v, other = listed(X, d), X.lmo(d), X.lmo(-d)
    x = (1.0 - away) * v + away * other
    at_x = (d @ x, np.abs(d * x).sum(), x @ x)
    exact = ocg.gap_and_distance(d, x, v)
    assert ocg.gap_and_distance_to(d, x, np.full(X.dim, np.nan), ones, at_x) == exact
    assert exact[0] == pytest.approx(away * (d @ (other - v)), rel=1e-3)


@given(seeds, st.sampled_from([0.0, 1e-9, 0.3, 1.0]))
def test_a_step_to_a_list_has_the_bits_of_one_to_its_vertex(seed, sigma):
    rng = np.random.default_rng(seed)
    X = paths(rng)
    d, x = rng.standard_normal(X.dim), rng.random(X.dim)
    mine, theirs = x.copy(), x.copy()
    ocg.move_to(mine, np.full(X.dim, np.nan), listed(X, d), sigma)
    ocg.move(theirs, X.lmo(d), sigma)
    assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
@given(seed=seeds)
def test_learners_play_alike_from_lists_and_from_vertices(name, seed):
    rng = np.random.default_rng(seed)
    X = paths(rng)
    lists, vertices = LEARNERS[name](X), LEARNERS[name](X)
    assert lists.takes_ones
    vertices.takes_ones = False
    for _ in range(15):  # rounding grows from round to round
        loss = EvalGrad(0.0, rng.standard_normal(X.dim))
        lists.tell(loss)
        vertices.tell(loss)
        np.testing.assert_allclose(lists.ask(), vertices.ask(), rtol=0.0, atol=1e-9)


def test_the_last_step_is_to_the_vertex_whatever_the_oracle_wrote():
    rng = np.random.default_rng(1)
    X = paths(rng)
    learner = hr.learners.AdaptiveOCG(X, CertificateSteps())
    for t in range(40):
        before, s = learner.ask(), EvalGrad(0.0, rng.standard_normal(X.dim))
        if t % 4 == 3:
            learner.tell_without_oracle(s)
            v, sigma = learner.last_step
            assert sigma == 0.0
            np.testing.assert_array_equal(v, before)
            continue
        learner.tell(s)
        v, sigma = learner.last_step
        np.testing.assert_array_equal(v, X.lmo(learner._work[: X.dim]))
        np.testing.assert_allclose(learner.ask(), before + sigma * (v - before), atol=1e-15)
    learner.restore(learner.state())
    np.testing.assert_array_equal(learner.last_step[0], learner.first_play)
