"""The rounds of a session as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import sqlalchemy as sql
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.live.chain import LINKED, ROW, checked
from hedgerow.live.payloads import unpack_action
from hedgerow.live.schema import ASK, TELL
from hedgerow.live.store import Store, check_name, session_row


@dataclass(frozen=True, eq=False)
class History:
    """The decisions of a session in order of rounds; NaN where one was not answered.

    Attributes:
        rounds: from 1 on.
        asked: when each was asked for, in seconds since 1970.
        answered: when the feedback on each came.
        order: how many others were answered before it; -1 if it was not answered.
        cost: f_t at its action.
        violation: g_t at its action; the largest, where there are several constraints. Where
            their units differ only its sign means something; `Session.problem()` has them all.
        weight: the weight on the constraint after its feedback.
        certificate: the proved bound of the regret after its feedback, where it was computed.
        actions: one row each; NaN where it was compacted away; empty where it was not asked for.

    """

    rounds: NDArray[np.int64]
    asked: Vector
    answered: Vector
    order: NDArray[np.int64]
    cost: Vector
    violation: Vector
    weight: Vector
    certificate: Vector
    actions: Vector

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all but the actions, by name: `pandas.DataFrame(history.columns())`."""
        return {field.name: getattr(self, field.name) for field in fields(self)[:-1]}


def read_history(
    store: Store,
    name: str,
    *,
    first: int = 1,
    last: int | None = None,
    step: int = 1,
    actions: bool = True,
) -> History:
    """Return the rounds from `first` to `last` of a session, or those that `step` divides."""
    with store.reading() as connection:
        session = session_row(connection, check_name(name))
        wanted = [ROW.c.session == session.id, ROW.c.round >= first]
        if last is not None:
            wanted.append(ROW.c.round <= last)
        if step > 1:
            wanted.append(ROW.c.round % step == 0)
        if actions:
            payloads = sql.case((ROW.c.kind == ASK, ROW.c.payload)).label("action")
            rows = LINKED.add_columns(payloads).where(*wanted)
        else:
            rows = LINKED.where(*wanted)
        found = connection.execute(rows.order_by(ROW.c.round, ROW.c.kind)).all()
    asks = [row for row in found if checked(row, name).kind == ASK]
    tells = {row.round: row for row in found if row.kind == TELL}
    answers = [tells.get(ask.round) for ask in asks]
    asked_at = np.array([ask.time for ask in asks], dtype=np.float64)
    answered_at, seqs, cost, violation, weight, certificate = (
        np.array([_number(getattr(row, column, None)) for row in answers], dtype=np.float64)
        for column in ("time", "seq", "cost", "violation", "weight", "certificate")
    )
    order = np.full(len(asks), -1, dtype=np.int64)
    answered = int(np.isfinite(seqs).sum())
    order[np.argsort(seqs)[:answered]] = np.arange(answered)
    points = np.full((len(asks) if actions else 0, session.dim), math.nan)
    for point, ask in zip(points, asks, strict=False):
        if ask.action is not None:
            point[:] = unpack_action(ask.action, ask.digest, session.dim)
    return History(
        np.array([ask.round for ask in asks], dtype=np.int64),
        asked_at,
        answered_at,
        order,
        cost,
        violation,
        weight,
        certificate,
        points,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
