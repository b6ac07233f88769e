from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import ArrayLike

from hedgerow.feedback import EvalGrad, bandit
from hedgerow.inputs import Vector
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.block_rules import BlockRule, PaperBlocks, PracticalBlocks
from hedgerow.learners.ftpl import FTPL, GaussianNoise
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule
from hedgerow.policies.paper import projection_free_coco, projection_free_long_term
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.simplices.simplex import KSubsets, Simplex
from hedgerow.testing import check_learner

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS: dict[str, Callable[[], DecisionSet]] = {
    "simplex": lambda: Simplex(5),
    "point": lambda: Simplex(1),
    "l2ball": lambda: L2Ball(4, radius=3.0),
    "box": lambda: Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: KSubsets(6, 2),
}
STEPS: dict[str, StepRule] = {
    "paper": PaperSteps(1000),
    "rms": RmsSteps(),
    "certificate": CertificateSteps(),
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_adaptive_ocg_conforms(name: str, steps: str) -> None:
    check_learner(lambda: AdaptiveOCG(SETS[name](), STEPS[steps]))


@pytest.mark.parametrize("seed", range(5))
def test_adaptive_ocg_conforms_from_another_start(seed: int) -> None:
    check_learner(lambda: AdaptiveOCG(Simplex(3), RmsSteps(), start=[0.0, 0.5, 0.5]), seed=seed)


@pytest.mark.parametrize("noise", [GaussianNoise(), GaussianNoise(offset=0.01)])
@pytest.mark.parametrize("name", SETS)
def test_ftpl_conforms(name: str, noise: GaussianNoise) -> None:
    check_learner(lambda: FTPL(SETS[name](), 3, noise))


BLOCKS: dict[str, BlockRule] = {"practical": PracticalBlocks(40), "paper": PaperBlocks(40)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("bound", [0.5, 200.0])
def test_block_bandit_conforms(blocks: str, bound: float, seed: int) -> None:
    check_learner(
        lambda: BlockBandit(L2Ball(4, radius=3.0), BLOCKS[blocks], 3),
        seed=seed,
        oracle_calls_per_round=None,
        feedback=partial(bandit, lipschitz=2.0 * bound, bound=bound),
    )


@pytest.mark.parametrize("name", [name for name in SETS if name != "point"])
def test_block_bandit_conforms_in_every_hull(name: str) -> None:
    check_learner(
        lambda: BlockBandit(SETS[name](), PracticalBlocks(40), 3),
        oracle_calls_per_round=None,
        feedback=partial(bandit, lipschitz=2.0, bound=1.0),
    )


class Counted(DecisionSet):
    """A simplex that counts how often its oracle is really asked."""

    calls = 0
    dim = 4
    diameter = Simplex(4).diameter

    def lmo(self, c: ArrayLike) -> Vector:
        self.calls += 1
        return Simplex(4).lmo(c)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        return Simplex(4).contains(x, tol)

    def start(self) -> Vector:
        return Simplex(4).start()


@pytest.mark.parametrize("steps", STEPS)
def test_the_declared_oracle_calls_are_the_real_ones(steps: str) -> None:
    X = Counted()
    learner = AdaptiveOCG(X, STEPS[steps])
    rng = np.random.default_rng(0)
    for t in range(20):
        assert learner.oracle_calls == X.calls == t
        learner.tell(EvalGrad(0.0, rng.standard_normal(4)))
        learner.ask()
        learner.state()


@pytest.mark.parametrize(
    "make",
    [
        projection_free_coco,
        partial(projection_free_coco, tracking=False),
        projection_free_long_term,
    ],
)
def test_a_policy_asks_once_a_round(make) -> None:
    X = Counted()
    policy = make(X)
    rng, before = np.random.default_rng(0), X.calls
    assert before <= 1  # the default asks for its first column
    for t in range(20):
        assert policy.oracle_calls == X.calls - before == t
        violation = -1.0 if t < 5 else 1.0
        grads = rng.standard_normal((2, 4))
        policy.tell(EvalGrad(0.0, grads[0]), EvalGrad(violation, 100.0 * grads[1]))


def test_a_set_that_does_not_contain_its_own_start_is_refused() -> None:
    class Outside(Simplex):
        def start(self) -> Vector:
            return np.full(self.dim, 2.0)

    X = Outside(3)
    for _ in range(2):
        with pytest.raises(ValueError, match="does not contain its own start"):
            AdaptiveOCG(X, CertificateSteps())
    assert AdaptiveOCG(X, CertificateSteps(), start=[1.0, 0.0, 0.0]).ask()[0] == 1.0
