"""The default of version 0.1, for comparison: units of what is possible, no cap, no guard."""

from __future__ import annotations

from typing import Any

import hedgerow as hr

P = 8.0
"""Exponent, and start of the queue."""
SCALE = hr.surrogates.GrowingScale(floor=12.0, factor=0.5, power=0.5)
"""k_t = max(12, sqrt(t)/2), in units of the largest violation that a round seems able to cause."""
UNCAPPED = 1e9
"""A cap of the regulariser that never binds."""


def power(learner: Any, eagerness: float = 1.0) -> hr.ConstrainedPolicy[hr.feedback.EvalGrad]:
    """Its weights around any learner."""
    scale = hr.surrogates.GrowingScale(SCALE.floor / eagerness, SCALE.factor / eagerness)
    ranges = hr.surrogates.WorstCaseRanges(learner)
    potential = hr.surrogates.PowerPotential(P, scale)
    return hr.ConstrainedPolicy(
        learner, hr.surrogates.CurrentSurrogate(potential, P / eagerness, ranges)
    )


def first_default(X: hr.DecisionSet, eagerness: float = 1.0) -> Any:
    """Its weights around its learner."""
    steps = hr.learners.steps.CertificateSteps(cap=UNCAPPED)
    return power(hr.learners.AdaptiveOCG(X, steps), eagerness)
