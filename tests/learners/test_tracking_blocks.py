"""A leader and a follower in each simplex of a product, against a literal transcription."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, BlockOCG, TrackingBlocks
from hedgerow.learners.steps import CertificateSteps
from hedgerow.sets import Box, Product, Simplex
from hedgerow.testing import check_learner

SIZES = (3, 1, 4, 2, 12)


def product(total: float = 1.0) -> Product:
    return Product(*(Simplex(n, total=total) for n in SIZES))


class Mixture:
    """One simplex: the leader is an `AdaptiveOCG`, follower and weights are written out."""

    def __init__(self, X: Simplex):
        self.X, self.leader = X, AdaptiveOCG(X, CertificateSteps())
        self.leader.takes_ones = False
        self.x_B, self.beta, self.delta = X.start(), 0.0, 0.0
        self.lost, self.gap, self.p, self.t = np.zeros(2), 0.0, np.full(2, 0.5), 0.0
        self.x, self.cut = X.start(), 0.0

    def tell(self, s: np.ndarray, worth: float = 0.0) -> None:
        self.t += 1.0
        losses = np.array([s @ self.leader.ask(), s @ self.x_B])
        self.hedge(losses - losses[1])
        D2 = 2.0 * self.X.total**2
        if self.beta == 0.0:
            self.beta = 1e-3 * math.sqrt(((s - s.mean()) ** 2).sum() / D2)
        if self.beta > 0.0 and s.size > 1:
            x = self.X.project(self.x_B - s / (2.0 * self.beta))
            if 0.0 < worth < (gain := s @ (self.x_B - x)):
                x = self.x_B + worth / gain * (x - self.x_B)
            gain = s @ (self.x_B - x) - self.beta * ((self.x_B - x) ** 2).sum()
            self.delta += max(0.0, gain)
            self.x_B, self.beta = x, max(self.beta, self.delta / D2)
        self.leader.tell(EvalGrad(0.0, s.copy()))
        self.approach(self.p[0] * self.leader.ask() + self.p[1] * self.x_B, s, worth)

    def approach(self, target: np.ndarray, s: np.ndarray, worth: float) -> None:
        """Go to the mixture; after a violation and until it is reached, part of the way."""
        gain, far, share = s @ (self.x - target), float(np.linalg.norm(self.x - target)), 1.0
        if worth > 0.0 and gain > 4.0 * worth:
            share = max(0.125, 4.0 * worth / gain)
        elif worth == 0.0 and self.cut > 0.0 and far > 2.0 * self.cut:
            share = 2.0 * self.cut / far
        self.x = self.x + share * (target - self.x)
        self.cut = 0.0 if share == 1.0 else share * far

    def hedge(self, losses: np.ndarray) -> None:
        """AdaHedge of de Rooij et al., Figure 1, where no weight sinks below 1/(2 + t)."""
        eta = math.log(2.0) / self.gap if self.gap > 0.0 else math.inf
        mean = float(self.p @ losses)
        if eta < math.inf:
            mix = -math.log(float(self.p @ np.exp(-eta * (losses - mean)))) / eta + mean
        else:
            mix = min(loss for loss, p in zip(losses, self.p, strict=True) if p > 0.0)
        self.gap += max(0.0, mean - mix)
        self.lost += losses
        self.lost -= self.lost.min()
        if self.gap > 0.0:
            self.lost = np.minimum(self.lost, self.gap * math.log2(1.0 + self.t))
        eta = math.log(2.0) / self.gap if self.gap > 0.0 else math.inf
        weights = np.where(self.lost == 0.0, 1.0, np.exp(-min(eta, 1e300) * self.lost))
        self.p = weights / weights.sum()


def losses_of(X: Product, seed: int, rounds: int) -> list[np.ndarray]:
    """Losses that turn slowly, of sizes that differ by factors of 10."""
    rng = np.random.default_rng(seed)
    size = np.repeat(10.0 ** (np.arange(len(SIZES)) % 3), SIZES)
    base, phase = rng.standard_normal(X.dim), rng.uniform(0.0, 6.0, X.dim)
    return [
        size * (base * np.sin(phase + 0.05 * t) + 0.3 * rng.standard_normal(X.dim))
        for t in range(rounds)
    ]


@pytest.mark.parametrize("violated", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("total", [1.0, 2.5])
def test_it_plays_as_a_literal_mixture_in_each_simplex(total: float, violated: float) -> None:
    X, rng, cuts = product(total), np.random.default_rng(7), 0
    whole, each = TrackingBlocks(X), [Mixture(F) for F in X.factors if isinstance(F, Simplex)]
    for s in losses_of(X, 1, 120):
        worth = rng.lognormal(0.0, 2.0, len(SIZES)) * (rng.random(len(SIZES)) < violated)
        whole.worth[:] = worth
        whole.tell(EvalGrad(0.0, s))
        for mixture, part, own in zip(each, X.parts(s), worth, strict=True):
            mixture.tell(part, float(own))
            cuts += mixture.cut > 0.0
        literal = np.concatenate([mixture.x for mixture in each])
        assert np.abs(whole.ask() - literal).max() < 1e-8 * total
    assert np.abs(whole.weights - np.array([mixture.p for mixture in each])).max() < 1e-8
    assert (cuts > 0) == (violated > 0.0)  # where nothing was violated no step is cut


def test_a_leader_alone_would_be_noticed() -> None:
    X = product()
    whole, alone = TrackingBlocks(X), BlockOCG(X)
    for s in losses_of(X, 1, 40):
        whole.tell(EvalGrad(0.0, s))
        alone.tell(EvalGrad(0.0, s))
    assert np.abs(whole.ask() - alone.ask()).max() > 1e-2
    assert (whole.loss_sum == alone._state["S"]).all()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_it_is_hardly_worse_than_the_better_of_the_two_in_each_simplex(seed: int) -> None:
    X, T = product(), 80
    whole, leader = TrackingBlocks(X), BlockOCG(X)
    lost, ranges = np.zeros((3, len(SIZES))), np.zeros(len(SIZES))
    variance = np.zeros(len(SIZES))
    for s in losses_of(X, seed, T):
        plays = whole.ask(), leader.ask(), whole._state["x_B"].copy()
        seen = np.array(
            [[a @ b for a, b in zip(X.parts(s), X.parts(x), strict=True)] for x in plays]
        )
        p = whole.weights
        apart = np.abs(seen[1] - seen[2])
        lost, ranges = lost + seen, np.maximum(ranges, apart)
        variance += p[:, 0] * p[:, 1] * apart**2
        whole.tell(EvalGrad(0.0, s))
        leader.tell(EvalGrad(0.0, s))
    excess = lost[0] - lost[1:].min(axis=0)
    ln2 = math.log(2.0)
    bound = (2.0 + math.log2(1.0 + T)) * (
        np.sqrt(variance * ln2) + ranges * (2.0 / 3.0 * ln2 + 1.0)
    )
    assert (excess <= bound + 1e-9).all()


def test_it_follows_a_world_that_turns() -> None:
    X = Product(Simplex(4), Simplex(4))
    whole, leader = TrackingBlocks(X), BlockOCG(X)
    lost = np.zeros(2)
    for t in range(400):
        s = np.tile(np.cos(2.0 * np.pi * (t / 200.0 + np.arange(4) / 4.0)), 2)
        lost += s @ whole.ask(), s @ leader.ask()
        whole.tell(EvalGrad(0.0, s))
        leader.tell(EvalGrad(0.0, s))
    assert lost[0] < lost[1] - 100.0


def test_it_conforms() -> None:
    check_learner(lambda: TrackingBlocks(product()))


def test_memory_per_simplex_is_what_the_docstring_says() -> None:
    few, many = (TrackingBlocks(Product(*[Simplex(4)] * n)) for n in (10, 1010))
    numbers = [one._state.array.size + one._work.size for one in (few, many)]
    assert (numbers[1] - numbers[0]) / 1000 == 8 * 4 + 32


def test_other_sets_are_refused() -> None:
    with pytest.raises(TypeError, match="TrackingOCG"):
        TrackingBlocks(Product(Simplex(2), Box([0.0], [1.0])))
