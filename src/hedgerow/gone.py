"""Names of earlier releases that are gone, and what to use in their place."""

from __future__ import annotations

MASTER = "the default is a restricted master now: hedgerow.policies.RestrictedMaster"
FALLBACK = "hedgerow.policies.Fallback gives the default its theorem now"

GONE = {
    "hedgerow.learners": {
        "AdvisedOCG": "hedgerow.policies.AdvisedMaster mixes the default with advice now",
        "CorrectiveOMD": MASTER,
        "TrackingBlocks": "ShardedTraffic plays hedgerow.learners.BlockOCG now",
        "TrackingOCG": MASTER,
    },
    "hedgerow.surrogates": {
        "AdaptiveSurrogate": "take CurrentSurrogate(PowerPotential(2.0, 1.0), 0.0, ObservedRanges("
        "learner)), as projection_free_coco(tracking=False) does",
        "BlockGuard": FALLBACK,
        "BudgetedScale": "ask certificate(budget=...) of a policy",
        "EachGuard": FALLBACK,
        "Guard": FALLBACK,
        "Guarded": FALLBACK,
    },
    "hedgerow.policies": {
        "IgnoredConstraintWarning": "no policy gives this warning any more",
        "Retreat": MASTER,
    },
    "hedgerow.bounds": {
        "guard_constant": "use hedgerow.learners.Growth(q, a).constant(rho)",
        "guarded_ccv": "use fallback_ccv or theorem_f_ccv",
        "guarded_regret": "use fallback_regret or theorem_f_regret",
    },
}
"""What replaces a name, by package and name."""
