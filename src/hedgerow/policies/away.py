"""The default policy around away steps, whose proved rate on polytopes is that of projections."""

from __future__ import annotations

from hedgerow.learners.away_ocg import AwayOCG, capacity_of
from hedgerow.learners.growth import best_growth, growths_of_away_steps
from hedgerow.learners.steps import ScheduleSteps
from hedgerow.policies.fallback import Fallback, relative_radius2, with_weights
from hedgerow.policies.master import RestrictedMaster
from hedgerow.policies.presets import Lipschitz, check_preset, refuse_constants
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call


@records_call
def away_coco(
    decision_set: DecisionSet,
    *,
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
    vertices: int | None = None,
) -> Fallback:
    """`projection_free_coco` that falls back to away steps: one oracle call per round.

    On polytopes of known pyramidal width, such as simplices, boxes, l1 balls and products of
    simplices, with an active set of at least n + 2 vertices, Theorem R (theory.md) proves regret
    O(T^{1/2}) and CCV O(T^{1/2} (log T)^{1/2}) where that is the better bound after 10^5 rounds;
    elsewhere O(T^{3/4}) and O(T^{3/4} (log T)^{1/4}).
    Against every action that satisfies all rounds, without horizon or Lipschitz constant.
    `explain(policy)` prints rate, constant, and from which horizon it says something.

    Args:
        decision_set: where to play.
        lipschitz: no longer used.
        eagerness: as in `projection_free_coco`.
        vertices: the largest active set; the smaller of n + 2 and 64 if left out.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> away_coco(Simplex(3)).ask()
    array([0.33333333, 0.33333333, 0.33333333])

    """
    check_preset("practical", decision_set, None)
    refuse_constants(lipschitz=lipschitz)
    rho = relative_radius2(decision_set)
    places = capacity_of(decision_set, vertices)
    growth = best_growth(growths_of_away_steps(decision_set, places), rho)
    learner = AwayOCG(decision_set, ScheduleSteps(growth, rho), vertices=places)
    return Fallback(RestrictedMaster(decision_set, eagerness), with_weights(learner))
