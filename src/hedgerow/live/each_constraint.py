"""Totals of each of several constraints, in a column of the journal.

`total_ccv` adds the largest violation of each round, which has no unit where the constraints have
different ones. `total_each` is null where rounds have one constraint, so that nothing changes for
them. For several it is JSON, a list of [CCV, violated rounds, worst round] of each, up to its row;
an empty list where they cannot be known, because rounds do not have equally many.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass

from hedgerow.live.payloads import Observations, value_of

UNKNOWN = "[]"


@dataclass(frozen=True)
class ConstraintTotals:
    """What a session has violated of one constraint, in its own unit.

    Attributes:
        ccv: the sum of its violations.
        violated: in how many rounds it was violated.
        worst: its largest violation, 0 where there was none.

    """

    ccv: float = 0.0
    violated: int = 0
    worst: float = 0.0

    def after(self, value: float) -> ConstraintTotals:
        """Return the totals with another round."""
        over = max(0.0, value)
        return ConstraintTotals(
            self.ccv + over, self.violated + (over > 0.0), max(self.worst, over)
        )


def add_each(before: str | None, told: int, constraint: Observations) -> str | None:
    """Return `total_each` of a row of feedback.

    Args:
        before: that of the feedback before it.
        told: how many rounds of feedback there were before.
        constraint: what was seen of the constraint or constraints.

    >>> from hedgerow.feedback import Eval
    >>> two = Eval(3.0, 1.0, 9.0), Eval(-1.0, 1.0, 9.0)
    >>> first = add_each(None, 0, two)
    >>> first
    '[[3.0, 1, 3.0], [0.0, 0, 0.0]]'
    >>> add_each(first, 1, two[::-1])
    '[[3.0, 1, 3.0], [3.0, 1, 3.0]]'
    >>> add_each(first, 1, two[0])
    '[]'

    """
    seen = constraint if isinstance(constraint, tuple) else (constraint,)
    if len(seen) == 1 and before is None:
        return None
    totals = (ConstraintTotals(),) * len(seen) if told == 0 else read_each(before)
    if len(totals) != len(seen):
        return UNKNOWN
    pairs = zip(totals, seen, strict=True)
    return json.dumps([astuple(total.after(value_of(part))) for total, part in pairs])


def read_each(text: str | None) -> tuple[ConstraintTotals, ...]:
    """Return the totals of each constraint; empty for one, or where they are not known."""
    return () if text is None else tuple(ConstraintTotals(*entry) for entry in json.loads(text))
