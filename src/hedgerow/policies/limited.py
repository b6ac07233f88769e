"""The practical policy for constraints of many parts, by name."""

from __future__ import annotations

from hedgerow.policies.limited_step import LimitedStep
from hedgerow.policies.paper import projection_free_coco
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import records_call


@records_call
def limited_coco(
    decision_set: DecisionSet, horizon: int | None = None, *, eagerness: float = 1.0
) -> LimitedStep:
    """`LimitedStep` around `projection_free_coco`, for constraints of many parts in one unit.

    For a `Maximum`: 24 hours, the links of a network. It sees value and gradient of every part, and
    steps towards the default's decision as far as all parts allow. Where a constraint has one part
    the default is the better choice.

    Args:
        decision_set: where to play.
        horizon: not used.
        eagerness: as in `projection_free_coco`.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> limited_coco(Simplex(3), eagerness=2.0)
    limited_coco(Simplex(n=3, total=1.0), eagerness=2.0)

    """
    del horizon
    return LimitedStep(projection_free_coco(decision_set, eagerness=eagerness))
