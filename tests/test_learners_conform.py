from __future__ import annotations

from collections.abc import Callable

import pytest

from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule
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
