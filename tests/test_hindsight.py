"""The best fixed action, against a plain LP over all rounds at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import hedgerow as hr


def sets(rng):
    yield hr.Simplex(5, total=2.0)
    yield hr.Box(-rng.uniform(0, 1, 4), rng.uniform(0, 1, 4))
    yield hr.L1Ball(4, radius=1.5)
    yield hr.ShortestPath.atlas_like(nodes=8, edges=14, horizon=8, seed=1).decision_set
    yield hr.Translated(hr.Scaled(hr.Simplex(4), 3.0), rng.standard_normal(4))
    yield hr.Scaled(hr.L1Ball(3), 0.5)


def vertices(X, rng):
    """All vertices, by brute force of directions."""
    return np.unique(np.round([X.lmo(rng.standard_normal(X.dim)) for _ in range(3000)], 12), axis=0)


def test_against_one_lp_over_the_vertices():
    rng = np.random.default_rng(0)
    infeasible = 0
    for trial in range(8):
        for X in sets(rng):
            V = vertices(X, rng)
            T = 30
            C, A = rng.standard_normal((T, X.dim)), rng.standard_normal((T, X.dim))
            z = rng.dirichlet(np.ones(len(V))) @ V
            d = -A @ z - rng.uniform(0, 0.5, T) + (2.0 if trial == 7 else 0.0)
            rounds = [(hr.Linear(c, 1.0), hr.Linear(a, b)) for c, a, b in zip(C, A, d, strict=True)]
            best = hr.hindsight(X, rounds)
            lp = linprog(
                V @ C.sum(axis=0), A_ub=A @ V.T, b_ub=-d, A_eq=np.ones((1, len(V))), b_eq=[1.0]
            )
            if lp.status == 2:
                infeasible += 1
                assert best.status == "infeasible"
                level = linprog(
                    np.append(np.zeros(len(V)), 1.0),
                    A_ub=np.column_stack([A @ V.T, -np.ones(T)]),
                    b_ub=-d,
                    A_eq=[np.append(np.ones(len(V)), 0.0)],
                    b_eq=[1.0],
                    bounds=[(0, None)] * len(V) + [(None, None)],
                )
                assert best.violation == pytest.approx(level.fun, abs=1e-7)
                continue
            assert best.status == "optimal"
            assert best.cost == pytest.approx(lp.fun + T, abs=1e-6)
            assert best.lower_bound <= lp.fun + T + 1e-7
            assert abs(best.gap) <= 1e-6
            assert best.violation <= 1e-7
            assert X.contains(best.x, 1e-7)
    assert infeasible > 0


def test_several_constraints_in_a_round():
    X = hr.Simplex(3)
    both = hr.Maximum([hr.Linear([1.0, 0.0, 0.0], -0.2), hr.Linear([0.0, 1.0, 0.0], -0.3)])
    best = hr.hindsight(X, [(hr.Linear([-2.0, -1.0, 0.0]), both)])
    np.testing.assert_allclose(best.x, [0.2, 0.3, 0.5], atol=1e-9)


def test_refusals():
    X = hr.Simplex(3)
    with pytest.raises(TypeError, match="needs the rounds"):
        hr.hindsight(X)
    with pytest.raises(NotImplementedError, match="round 1 has a Quadratic"):
        hr.hindsight(X, [(hr.Quadratic(1.0, np.zeros(3)), hr.Linear(np.zeros(3)))])
    with pytest.raises(NotImplementedError, match="L2Ball has none"):
        hr.hindsight(hr.SwitchingBall(horizon=5))
    with pytest.raises(TypeError, match="cannot be iterated alone"):
        hr.hindsight(hr.HalfspaceBox(horizon=5))
