"""The floor: play the cost and ignore the constraint."""

from __future__ import annotations

from hedgerow.feedback import Constraints
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Preset, check_preset, needed_horizon
from hedgerow.policies.theorem import AT_ONCE, CONVEX, EXACT, GRADIENTS, Theorem
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.cost_only import CostOnlySurrogate


@baseline(
    source="Sarkar et al. 2026, Algorithm 1",
    regret="T^{3/4}",
    ccv="none",
    per_round="1 linear minimisation",
    sees="gradients",
    needs="none: it ignores the constraint",
    confidence="high",
)
def unconstrained(
    decision_set: DecisionSet, horizon: int | None = None, *, preset: Preset = "practical"
) -> ConstrainedPolicy[Constraints]:
    """Plain online conditional gradient, which ignores the constraint.

    A reference: a constrained policy should have a smaller CCV, and usually has a higher cost.

    Args:
        decision_set: where to play.
        horizon: the number of rounds; `theory` needs it.
        preset: "practical" plays `CertificateSteps`, "theory" Algorithm 1 with `PaperSteps`.

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        T = needed_horizon(horizon)
        theorem = Theorem(
            "sharper Theorem 2.1", (("T", float(T)),), (CONVEX, GRADIENTS, EXACT, AT_ONCE)
        )
        learner = AdaptiveOCG(decision_set, PaperSteps(T))
        return ConstrainedPolicy(learner, CostOnlySurrogate(), (theorem,))
    return ConstrainedPolicy(AdaptiveOCG(decision_set, CertificateSteps()), CostOnlySurrogate())
