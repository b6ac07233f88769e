"""What happened in a session, as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import sqlalchemy as sql
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.live.payloads import unpack_action
from hedgerow.live.schema import ASK, JOURNAL, TELL
from hedgerow.live.store import Store, check_name, session_row


@dataclass(frozen=True, eq=False)
class History:
    """The decisions of a session in order of rounds; NaN where one was not answered.

    Attributes:
        rounds: from 1 on.
        asked: when each was asked for, in seconds since 1970.
        answered: when each was told.
        order: how many feedbacks came before it; -1 where it was not answered.
        cost: f_t at its action.
        violation: g_t at its action; the largest, where there are several constraints.
        weight: the weight on the constraint after it was told.
        certificate: the proved bound of the regret after it was told, where it was computed.
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
    told = JOURNAL.alias("told")
    asked = JOURNAL.alias("asked")
    with store.reading() as connection:
        session = session_row(connection, check_name(name))
        columns = [
            asked.c.round, asked.c.time, told.c.time, told.c.seq, told.c.cost, told.c.violation,
            told.c.weight, told.c.certificate,
        ]  # fmt: skip
        if actions:
            columns += [asked.c.payload, asked.c.digest]
        matching = sql.and_(
            told.c.session == asked.c.session, told.c.round == asked.c.round, told.c.kind == TELL
        )
        wanted = [asked.c.session == session.id, asked.c.kind == ASK, asked.c.round >= first]
        if last is not None:
            wanted.append(asked.c.round <= last)
        if step > 1:
            wanted.append(asked.c.round % step == 0)
        rows = connection.execute(
            sql.select(*columns)
            .select_from(asked.outerjoin(told, matching))
            .where(*wanted)
            .order_by(asked.c.round)
        ).all()
    numbers = np.array(
        [[math.nan if v is None else v for v in row[1:8]] for row in rows], dtype=np.float64
    ).reshape(len(rows), 7)
    asked_at, answered_at, seqs, cost, violation, weight, certificate = numbers.T.copy()
    order = np.full(len(rows), -1, dtype=np.int64)
    order[np.argsort(seqs)[: np.isfinite(seqs).sum()]] = np.arange(np.isfinite(seqs).sum())
    points = np.full((len(rows) if actions else 0, session.dim), math.nan)
    for point, row in zip(points, rows, strict=False):
        if row[8] is not None:
            point[:] = unpack_action(row[8], row[9], session.dim)
    return History(
        np.array([row[0] for row in rows], dtype=np.int64),
        asked_at,
        answered_at,
        order,
        cost,
        violation,
        weight,
        certificate,
        points,
    )
