from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule
from hedgerow.policies.paper import projection_free_coco, projection_free_long_term
from hedgerow.sets.balls import L2Ball
from hedgerow.sets.boxes import Box
from hedgerow.sets.dag_paths import DagPaths
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.simplices import Simplex
from hedgerow.testing import check_learner

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS: dict[str, Callable[[], DecisionSet]] = {
    "simplex": lambda: Simplex(5),
    "point": lambda: Simplex(1),
    "l2ball": lambda: L2Ball(4, radius=3.0),
    "box": lambda: Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: DagPaths(EDGES, 0, 4),
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


@pytest.mark.parametrize("make", [projection_free_coco, projection_free_long_term])
def test_a_policy_asks_once_a_round_and_once_more_at_the_first_violation(make) -> None:
    X = Counted()
    policy = make(X)
    rng = np.random.default_rng(0)
    for t in range(20):
        assert policy.oracle_calls == X.calls == t + (t > 5)
        violation = -1.0 if t < 5 else 1.0
        grads = rng.standard_normal((2, 4))
        policy.tell(EvalGrad(0.0, grads[0]), EvalGrad(violation, grads[1]))
