"""A policy at the state of the journal: rebuilt from the last snapshot and the feedback after it.

The policy's state is a function of the journal, bit for bit, whichever process computes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sql

from hedgerow.inputs import Vector
from hedgerow.live.payloads import Seen, Told, unpack_action, unpack_feedback, value_of
from hedgerow.live.schema import ASK, JOURNAL, SNAPSHOTS, TELL
from hedgerow.live.store import CERTIFIED, Store
from hedgerow.protocols.late import refuse_late, takes_late
from hedgerow.protocols.parts import Policy
from hedgerow.snapshot_file import pack_snapshot, unpack_snapshot

HEAD = sql.select(sql.func.max(JOURNAL.c.seq)).where(JOURNAL.c.session == sql.bindparam("session"))
TOTALS = ("told", "total_cost", "total_ccv", "total_violated")
Totals = tuple[int, float, float, int]
NOTHING: Totals = (0, 0.0, 0.0, 0)


class Replica:
    """A policy that follows the journal of one session.

    Args:
        store: where the journal is.
        row: of the session.
        policy: is set to the state of the journal by `catch_up`.

    """

    def __init__(self, store: Store, row: sql.Row[Any], policy: Policy[Any, Any]):
        self.store, self.name, self.policy = store, str(row.name), policy
        self.session, self.dim, self.every = int(row.id), int(row.dim), int(row.every)
        self.seq: int | None = None  # the journal's row that the policy has seen; None: rebuild it
        self.totals = NOTHING  # up to seq
        self._takes_late = takes_late(policy)

    def catch_up(self, connection: sql.Connection) -> int:
        """Bring the policy to the state of the journal and return its last row."""
        head = int(self.store.run(connection, HEAD, {"session": self.session})[0][0] or 0)
        if self.seq == head:
            return head
        if self.seq is None:
            self._restore(connection)
        seq, self.seq = self.seq, None
        with connection.execute(tells_after(self.session, seq or 0)) as rows:
            for row in rows:
                if row.payload is None or row.action is None:
                    break
                action = unpack_action(row.action, row.action_digest, self.dim)
                self._tell(unpack_feedback(row.payload, row.digest, self.dim), action)
                self.totals = tuple(row)[-len(TOTALS) :]
            else:
                self.seq = head
                return head
        self._restore(connection)  # what was missing was compacted, so that a snapshot has it
        return self.catch_up(connection)

    def take(self, told: tuple[Seen, Told], action: Vector) -> dict[str, float | None]:
        """Tell the policy a round and return what the journal keeps of it.

        `seq` is unknown until the round is committed, and the caller says so.
        """
        self.seq = None
        self._tell(told, action)
        cost, violation = value_of(told[0]), value_of(told[1])
        count, total, ccv, violated = self.totals
        self.totals = (
            count + 1,
            total + cost,
            ccv + max(0.0, violation),
            violated + (violation > 0.0),
        )
        return {
            "cost": cost,
            "violation": violation,
            **self._measures(),
            **dict(zip(TOTALS, self.totals, strict=True)),
        }

    def snapshot_if_due(self, connection: sql.Connection, seq: int) -> None:
        """Store the policy's state every so many rounds; the last two snapshots are kept."""
        if self.totals[0] % self.every:
            return
        own = SNAPSHOTS.c.session == self.session
        earlier = sql.select(sql.func.max(SNAPSHOTS.c.seq)).where(own)
        last = connection.execute(earlier).scalar_one()
        connection.execute(sql.delete(SNAPSHOTS).where(own, SNAPSHOTS.c.seq < last))
        payload = pack_snapshot(self.policy.state())
        connection.execute(
            sql.insert(SNAPSHOTS).values(session=self.session, seq=seq, payload=payload)
        )

    def _tell(self, told: tuple[Seen, Told], action: Vector) -> None:
        """Tell the policy about one of its decisions, at the action that was played then."""
        policy: Any = self.policy
        if np.array_equal(action, policy.ask()):
            policy.tell(*told)
        elif self._takes_late:
            policy.tell(*told, at=action)
        else:
            refuse_late(policy, action)

    def _measures(self) -> dict[str, float | None]:
        """Return the weight on the constraint and, now and then, the certificate."""
        surrogate = getattr(self.policy, "surrogate", None)
        weight = getattr(surrogate, "weight", None)
        certify = getattr(self.policy, "certificate", None)
        due = self.totals[0] <= CERTIFIED or self.totals[0] % CERTIFIED == 0
        return {
            "weight": None if weight is None else float(weight),
            "certificate": float(certify()) if certify is not None and due else None,
        }

    def _restore(self, connection: sql.Connection) -> None:
        """Set the policy to the last snapshot."""
        own = sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == self.session)
        row = connection.execute(own.order_by(SNAPSHOTS.c.seq.desc()).limit(1)).one()
        where = f"the snapshot of session {self.name!r}"
        self.policy.restore(unpack_snapshot(row.payload, where))
        self.seq = int(row.seq)
        at = sql.select(*(JOURNAL.c[name] for name in TOTALS))
        at = at.where(JOURNAL.c.session == self.session, JOURNAL.c.seq == self.seq)
        totals = connection.execute(at).one_or_none()
        self.totals = NOTHING if totals is None else tuple(totals)


def tells_after(session: int, seq: int) -> sql.Select[Any]:
    """Select feedback with its actions, in the order of commits."""
    told, asked = JOURNAL.alias("told"), JOURNAL.alias("asked")
    return (
        sql.select(
            told.c.seq,
            told.c.payload,
            told.c.digest,
            asked.c.payload.label("action"),
            asked.c.digest.label("action_digest"),
            *(told.c[name] for name in TOTALS),
        )
        .join_from(
            told,
            asked,
            sql.and_(
                asked.c.session == told.c.session,
                asked.c.round == told.c.round,
                asked.c.kind == ASK,
            ),
        )
        .where(told.c.session == session, told.c.kind == TELL, told.c.seq > seq)
        .order_by(told.c.seq)
        .execution_options(yield_per=64)
    )
