"""The practical policy with away steps, whose proved rate on polytopes is that of projections."""

from __future__ import annotations

from hedgerow.feedback import Constraints
from hedgerow.learners.away_ocg import AwayOCG
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.paper import theorem_g
from hedgerow.policies.presets import Lipschitz, check_preset, given_ratio
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call
from hedgerow.surrogates.adaptive import AdaptiveSurrogate
from hedgerow.surrogates.guard import Guard
from hedgerow.surrogates.ranges import ObservedRanges


@records_call
def away_coco(
    decision_set: DecisionSet,
    *,
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
    vertices: int | None = None,
) -> ConstrainedPolicy[Constraints]:
    """`projection_free_coco(tracking=False)` with away steps: one oracle call per round.

    On polytopes of known pyramidal width, such as simplices, boxes, l1 balls and products of
    simplices, a `Guard` proves regret O(T^{1/2}) and CCV O(T^{1/2} (log T)^{1/2}) where that is the
    better bound after 10^5 rounds; elsewhere O(T^{3/4}) and O(T^{3/4} (log T)^{1/4}) (Theorem G of
    theory.md). Against every action that satisfies all rounds, without horizon or Lipschitz
    constant. `explain(policy)` prints rate, constant, and from which horizon it says something.

    Args:
        decision_set: where to play.
        lipschitz: as in `projection_free_coco`.
        eagerness: as in `projection_free_coco`.
        vertices: the largest active set, as in `AwayOCG`.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> away_coco(Simplex(3)).ask()
    array([1., 0., 0.])

    """
    check_preset("practical", decision_set, None)
    learner = AwayOCG(decision_set, vertices=vertices)
    guard = Guard(learner)
    ranges = ObservedRanges(learner, ratio=given_ratio(lipschitz))
    surrogate = AdaptiveSurrogate(ranges, eagerness, guard=guard)
    return ConstrainedPolicy(learner, surrogate, (theorem_g(guard),))
