"""AdaGrad with the weights of Theorem F: regret O(sqrt T), with one projection per round."""

from __future__ import annotations

from hedgerow.feedback import Constraints
from hedgerow.learners.projected_descent import AdaGrad
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.presets import check_preset
from hedgerow.policies.theorem import AT_ONCE, CONVEX, FEASIBLE, Theorem
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call
from hedgerow.surrogates.violation_weight import ViolationSurrogate


@records_call
def projected_coco(
    decision_set: DecisionSet, *, lam: float = 0.5
) -> ConstrainedPolicy[Constraints]:
    """AdaGrad with weights in proportion to the violation: regret O(sqrt T), CCV O(sqrt(T log T)).

    Theorem F of theory.md with projections: one projection per round, any horizon, and nothing
    known but the diameter. Costs may have any sizes; log T becomes their logarithm if they grow
    faster than a power of T. Sinha and Vaze (2024) prove CCV O(sqrt(T) log
    T). It is a guarantee, not a preset: its unit of violation, D ||grad g||, is far above what
    plays usually do.

    Args:
        decision_set: where to play; it must be able to project.
        lam: the share of the regret bound that pays for the weights.

    >>> from hedgerow.sets.balls.l1_l2_balls import L2Ball
    >>> projected_coco(L2Ball(2)).ask()
    array([0., 0.])

    """
    check_preset("practical", decision_set, None)
    learner = AdaGrad(decision_set)
    surrogate = ViolationSurrogate(learner, lam)
    constants = (("lam", surrogate.lam), ("D", decision_set.diameter))
    needs = (CONVEX, FEASIBLE, AT_ONCE)
    theorem = Theorem("Theorem F with projections", constants, needs)
    return ConstrainedPolicy(learner, surrogate, (theorem,))
