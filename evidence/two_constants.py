"""The strongest rivals with a second constant, the length of their steps: a quarter, or four times.

`evidence/fair.py` tunes it beside eagerness, so these rivals get three times the budget of others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from hedgerow._engine.kernel import kernel
from hedgerow.baselines.methods import baseline
from hedgerow.baselines.normalised import Scale, stand_alone
from hedgerow.baselines.projected_step import RATES, STEP_WEIGHTS
from hedgerow.baselines.rectified_penalty import Recoo, RecooRates, recoo_step_weights
from hedgerow.baselines.sinha_vaze import learnt, practical_potential
from hedgerow.baselines.wang import PRACTICAL_RATE
from hedgerow.inputs import Vector
from hedgerow.learners import AdaGrad, RestartAtStart, RestartedOCG
from hedgerow.learners.projected_descent import BEST_FACTOR
from hedgerow.learners.steps import CertificateSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.sets import DecisionSet
from hedgerow.surrogates.potentials import ExponentialPotential

SHORT, LONG = 0.25, 4.0
FAMILIES = {
    name: (name, f"two_constants:{name}_short", f"two_constants:{name}_long")
    for name in ("sinha_vaze_2024", "guo_recoo", "wang_2025")
}
"""A rival, and the names under which it plays with other steps."""


def _sinha_vaze(X: DecisionSet, horizon: int, eagerness: float, steps: float) -> Any:
    learner = AdaGrad(X, steps * BEST_FACTOR)
    return ConstrainedPolicy(
        learner, learnt(learner, practical_potential(horizon, eagerness), None)
    )


def sinha_vaze_2024_short(X: DecisionSet, horizon: int, *, eagerness: float = 1.0) -> Any:
    """`sinha_vaze_2024` with a quarter of AdaGrad's step."""
    return _sinha_vaze(X, horizon, eagerness, SHORT)


def sinha_vaze_2024_long(X: DecisionSet, horizon: int, *, eagerness: float = 1.0) -> Any:
    """`sinha_vaze_2024` with four times AdaGrad's step."""
    return _sinha_vaze(X, horizon, eagerness, LONG)


@dataclass(frozen=True)
class Paced(RecooRates):
    """RECOO's schedules, and the factor `steps` on the length of its step."""

    steps: float = 1.0


STEPS = RATES + [part.name for part in fields(Paced)].index("steps")
"""Where the kernel finds it."""


@kernel(*STEP_WEIGHTS)
def paced_step_weights(own: Vector, rates: Vector, value: float) -> tuple[float, float]:
    """Return Q_t gamma_t and alpha_t / steps."""
    weight, alpha = recoo_step_weights(own, rates, value)
    return weight, alpha / rates[STEPS]


class PacedRecoo(Recoo):
    """RECOO with another weight on the squared distance."""

    step_weights = paced_step_weights


def _recoo(X: DecisionSet, eagerness: float, steps: float) -> Any:
    def build(scale: Scale) -> Any:
        return PacedRecoo(X, Paced(unit=scale.unit, steps=steps), scale.eagerness)

    return stand_alone("guo_recoo", build, X, None, "practical", "not needed", eagerness)


@baseline(sees="whole")
def guo_recoo_short(X: DecisionSet, *, eagerness: float = 1.0) -> Any:
    """`guo_recoo` with a quarter of its step."""
    return _recoo(X, eagerness, SHORT)


@baseline(sees="whole")
def guo_recoo_long(X: DecisionSet, *, eagerness: float = 1.0) -> Any:
    """`guo_recoo` with four times its step."""
    return _recoo(X, eagerness, LONG)


def _wang(X: DecisionSet, horizon: int, eagerness: float, c: float) -> Any:
    learner = RestartedOCG(X, CertificateSteps(c), restart=RestartAtStart())
    potential = ExponentialPotential(PRACTICAL_RATE * eagerness * horizon**-0.75)
    return ConstrainedPolicy(learner, learnt(learner, potential, None))


def wang_2025_short(X: DecisionSet, horizon: int, *, eagerness: float = 1.0) -> Any:
    """`wang_2025` with a quarter of c in `CertificateSteps`: a stronger regulariser."""
    return _wang(X, horizon, eagerness, SHORT * CertificateSteps().c)


def wang_2025_long(X: DecisionSet, horizon: int, *, eagerness: float = 1.0) -> Any:
    """`wang_2025` with four times c in `CertificateSteps`: a weaker regulariser."""
    return _wang(X, horizon, eagerness, LONG * CertificateSteps().c)
