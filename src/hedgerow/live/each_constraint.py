"""Totals of each of several constraints, added up from the feedback in a journal.

The journal has one total for the largest violation of each round, which has no unit where the
constraints have different ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from hedgerow.live.chain import ROW, WHOLE, checked
from hedgerow.live.payloads import unpack_feedback, value_of
from hedgerow.live.schema import TELL


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


Totals = tuple[ConstraintTotals, ...]


class EachConstraint:
    """Totals of each constraint by session, continued from the last row that was read."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[int, Totals | None]] = {}

    def totals(self, connection: sql.Connection, session: Any, last: int) -> Totals | None:
        """Return the totals up to the row `last` of a session.

        Empty where rounds have one constraint. None where there is more than one, but rounds do not
        have equally many, or feedback was compacted.

        Args:
            connection: to read by.
            session: the row of the session.
            last: the last row of feedback.

        """
        of_session = WHOLE.where(ROW.c.session == session.id, ROW.c.kind == TELL)
        newest = connection.execute(of_session.where(ROW.c.seq == last)).one()
        if newest.payload is not None and len(_values(newest, session)) == 1:
            return ()
        seq, found = self._read.get(session.id, (0, ()))
        if seq > last:  # the store was repaired
            seq, found = 0, ()
        rows = of_session.where(ROW.c.seq > seq, ROW.c.seq <= last).order_by(ROW.c.seq)
        with connection.execute(rows.execution_options(yield_per=64)) as journal:
            found = _added(found, journal, session)
        self._read[session.id] = last, found
        return found


def _added(totals: Totals | None, rows: Iterable[Any], session: Any) -> Totals | None:
    """Add rows of feedback to the totals; None from a row on that cannot be added."""
    for row in rows:
        if totals is None or row.payload is None:
            return None
        values = _values(row, session)
        totals = totals or (ConstraintTotals(),) * len(values)
        if len(totals) != len(values):
            return None
        totals = tuple(one.after(value) for one, value in zip(totals, values, strict=True))
    return totals


def _values(row: Any, session: Any) -> list[float]:
    """Return the value of each constraint in a row of feedback."""
    checked(row, session.name)
    _, constraint = unpack_feedback(row.payload, row.digest, session.dim)
    parts = constraint if isinstance(constraint, tuple) else (constraint,)
    return [value_of(part) for part in parts]
