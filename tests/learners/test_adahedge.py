"""AdaHedge: its pseudocode, its theorem, and weights without units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaHedge


def losses(T: int, K: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3.0, 3.0, (T, 1))
    return sizes * (rng.standard_normal((T, K)) + 0.3 * rng.standard_normal(K))


def played(rounds: np.ndarray) -> tuple[np.ndarray, AdaHedge]:
    learner, weights = AdaHedge(rounds.shape[1]), []
    for row in rounds:
        weights.append(learner.ask())
        learner.tell(EvalGrad(float(row @ weights[-1]), row))
    return np.array(weights), learner


@pytest.mark.parametrize("seed", range(4))
def test_it_plays_its_pseudocode(seed: int) -> None:
    """de Rooij et al. 2014, figure 1, with sums instead of logarithms relative to a leader."""
    rounds = losses(60, 4, seed)
    weights, _ = played(rounds)
    L, Delta = np.zeros(4), 0.0
    for row, found in zip(rounds, weights, strict=True):
        leaders = L.min() == L
        eta = np.log(4.0) / Delta if Delta > 0.0 else np.inf
        p = np.exp(-eta * (L - L.min())) if Delta > 0.0 else leaders.astype(float)
        p /= p.sum()
        np.testing.assert_allclose(found, p, atol=1e-9)
        mean = float(p @ row)
        if Delta > 0.0:
            mix = row.min() - np.log(p @ np.exp(-eta * (row - row.min()))) / eta
        else:
            mix = (L + row).min() - L.min()
        Delta += max(0.0, mean - mix)
        L = L + row


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_its_regret_is_at_most_its_theorem(seed: int, K: int) -> None:
    rounds = losses(80, K, seed)
    weights, learner = played(rounds)
    regret = float((weights * rounds).sum() - rounds.sum(axis=0).min())
    means = (weights * rounds).sum(axis=1, keepdims=True)
    variances = float((weights * (rounds - means) ** 2).sum())
    largest = float(np.ptp(rounds, axis=1).max())
    Delta = float(learner._state["Delta"][0])
    rounding = 1e-9 * np.abs(rounds).sum()
    assert regret <= 2.0 * Delta + rounding
    bound = 2.0 * np.sqrt(variances * np.log(K)) + largest * (4.0 / 3.0 * np.log(K) + 2.0)
    assert 2.0 * Delta <= bound + rounding


def test_neither_units_nor_offsets_matter() -> None:
    rounds = losses(50, 3, 1)
    weights, _ = played(rounds)
    np.testing.assert_array_equal(played(8.0 * rounds)[0], weights)
    np.testing.assert_allclose(played(rounds + 5.0)[0], weights, atol=1e-8)
