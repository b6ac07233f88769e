"""The learner for drifting worlds: what the practical preset plays where the best point moves."""

from __future__ import annotations

from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.learners.mixture import Mixture
from hedgerow.learners.steps import CertificateSteps
from hedgerow.sets.decision_set import DecisionSet


def tracking_learner(decision_set: DecisionSet) -> Mixture:
    """Return a leader and a follower, mixed: still one oracle call a round in all.

    `AdaptiveOCG` with `CertificateSteps` is the better one where rounds are alike, `CorrectiveOMD`
    where they drift; `Mixture` pays little for not knowing which.

    Args:
        decision_set: where to play.

    >>> from hedgerow.sets.simplices import Simplex
    >>> tracking_learner(Simplex(2)).ask()
    array([0.5, 0.5])

    """
    leader = AdaptiveOCG(decision_set, CertificateSteps())
    return Mixture([leader, CorrectiveOMD(decision_set)])
