"""A policy at the state of the journal: rebuilt from a snapshot and the feedback after it.

The policy's state is a function of the journal, bit for bit, whichever process computes it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import sqlalchemy as sql

from hedgerow.files import pack_snapshot, unpack_snapshot
from hedgerow.inputs import Vector
from hedgerow.live.binding import pack_binding
from hedgerow.live.chain import FIRST, ROW, WHOLE, add_snapshot, checked, damaged
from hedgerow.live.each_constraint import add_each
from hedgerow.live.payloads import (
    RoundFeedback,
    ask_with,
    unpack_action,
    unpack_advice,
    unpack_feedback,
    value_of,
)
from hedgerow.live.schema import SNAPSHOTS, TELL
from hedgerow.live.store import CERTIFIED, HEAD, Store, snapshot_damage
from hedgerow.protocols.late_feedback import refuse_late, takes_late
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.release import this_release

TOTALS = ("told", "total_cost", "total_ccv", "total_violated", "total_each")
Totals = tuple[int, float, float, int, str | None]
NO_TOTALS: Totals = (0, 0.0, 0.0, 0, None)
totals_of: Callable[[Any], Totals] = attrgetter(*TOTALS)
LOG = logging.getLogger("hedgerow.live")


class OtherDecisionError(ValueError):
    """Another release recorded the session, and decides differently."""


class Replica:
    """A policy that follows the journal of one session.

    Args:
        store: where the journal is.
        row: of the session.
        policy: is set to the state of the journal by `catch_up`.
        upgrade: whether to continue if this release would have decided differently.

    """

    def __init__(
        self,
        store: Store,
        row: sql.Row[Any],
        policy: ResumablePolicy[Any, Any],
        upgrade: bool = False,
    ):
        self.store, self.name, self.policy = store, str(row.name), policy
        self.session, self.dim, self.every = int(row.id), int(row.dim), int(row.every)
        self.seq: int | None = None  # the journal's row that the policy has seen; None: rebuild it
        self.chain = FIRST  # the digest of that row
        self.totals = NO_TOTALS  # up to seq
        self.last_feedback = 0, FIRST  # the last row of feedback up to seq, and its digest
        self.replays = False  # whether the state was rebuilt without a snapshot of this release
        self._start, self._upgrade = policy.state(), upgrade
        self._recorded = "an earlier release"
        self._takes_late = takes_late(policy)

    def catch_up(self, connection: sql.Connection) -> int:
        """Bring the policy to the state of the journal and return its last row."""
        found = self.store.run(connection, HEAD, {"session": self.session})
        if not found:
            raise damaged(f"the row that names the last row of session {self.name!r} is missing")
        head, chain = found[0]
        if self.seq is None or self.seq > head:
            self._restore(connection)
        lost = self._follow(connection, head)
        while lost:  # compacted, so that a snapshot has it
            self._restore(connection, least=lost)
            lost = self._follow(connection, head)
        if (self.seq, self.chain) != (head, chain):
            self.seq = None
            raise damaged(f"the last rows of the journal of session {self.name!r} are missing")
        return int(head)

    def record(
        self, feedback: RoundFeedback, action: Vector, advice: Vector
    ) -> dict[str, float | str | None]:
        """Report a round to the policy and return the columns for the journal.

        `seq` is unknown until the round is committed, and the caller sets it.
        """
        self.seq = None
        self._tell(feedback, action, advice)
        cost, violation = value_of(feedback[0]), value_of(feedback[1])
        count, total, ccv, violated, each = self.totals
        self.totals = (
            count + 1,
            total + cost,
            ccv + max(0.0, violation),
            violated + (violation > 0.0),
            add_each(each, count, feedback[1]),
        )
        return {
            "cost": cost,
            "violation": violation,
            **self._measures(),
            **dict(zip(TOTALS, self.totals, strict=True)),
        }

    def snapshot_if_due(self, connection: sql.Connection, seq: int, chain: str) -> None:
        """Store the policy's state once every `every` rounds; keep the first and the last two."""
        if self.totals[0] % self.every:
            return
        own = SNAPSHOTS.c.session == self.session
        last = connection.execute(sql.select(sql.func.max(SNAPSHOTS.c.seq)).where(own)).scalar()
        connection.execute(
            sql.delete(SNAPSHOTS).where(own, SNAPSHOTS.c.seq < (last or 0), SNAPSHOTS.c.seq > 0)
        )
        self.snapshot(connection, seq, chain)

    def snapshot(self, connection: sql.Connection, seq: int, chain: str) -> None:
        """Store the policy's state as that after row `seq`."""
        payload = pack_snapshot(self.policy.state())
        add_snapshot(connection, self.session, seq, chain, this_release(), payload)

    def _follow(self, connection: sql.Connection, head: int) -> int:
        """Report the feedback up to row `head`; return the first row that was compacted, or 0."""
        if self.seq == head:
            return 0
        seq, self.seq = self.seq or 0, None
        rows = WHOLE.where(ROW.c.session == self.session, ROW.c.seq > seq, ROW.c.seq <= head)
        rows = rows.order_by(ROW.c.seq).execution_options(yield_per=64)
        with connection.execute(rows) as found:
            for row in found:
                checked(row, self.name)
                if row.kind == TELL:
                    if row.payload is None or row.action is None:
                        return int(row.seq)
                    action = unpack_action(row.action, row.action_digest, self.dim)
                    advice = unpack_advice(row.action, self.dim)
                    self._tell(unpack_feedback(row.payload, row.digest, self.dim), action, advice)
                    self.totals = totals_of(row)
                    self.last_feedback = row.seq, row.chain
                elif self.replays and row.payload is not None:
                    self._compare(row)
                seq, self.chain = row.seq, row.chain
        self.seq = seq
        return 0

    def _compare(self, row: Any) -> None:
        """Refuse to continue if the policy now decides differently from the journal."""
        recorded = unpack_action(row.payload, row.digest, self.dim)
        action = ask_with(self.policy, unpack_advice(row.payload, self.dim))
        if not self._upgrade and not np.array_equal(recorded, action):
            far = float(np.abs(recorded - action).max())
            raise OtherDecisionError(
                f"session {self.name!r} was recorded by {self._recorded}, and this release would "
                f"have decided otherwise from round {row.round} on (by {far:.2g} in a "
                "coordinate); continue from its journal with this release by "
                "live.open_session(..., upgrade=True) or `hedgerow live upgrade STORE NAME`, or "
                "stay with the release that recorded it"
            )

    def _tell(self, feedback: RoundFeedback, action: Vector, advice: Vector) -> None:
        """Report feedback on one of its decisions, at the action and with the advice of then."""
        policy: Any = self.policy
        if np.array_equal(action, ask_with(policy, advice)):
            policy.tell(*feedback)
        elif self._takes_late:
            policy.tell(*feedback, at=action)
        else:
            refuse_late(policy, action)

    def _measures(self) -> dict[str, float | str | None]:
        """Return the weight on the constraint, what holds the decision, and now and then the proof.

        A vacuous certificate is left out, because a store has only the number.
        """
        weight = getattr(self.policy, "weight", None)
        certify = getattr(self.policy, "certificate", None)
        due = self.totals[0] <= CERTIFIED or self.totals[0] % CERTIFIED == 0
        return {
            "weight": None if weight is None else _number(weight),
            "certificate": _proved(certify()) if certify is not None and due else None,
            "binding": pack_binding(self.policy),
        }

    def _restore(self, connection: sql.Connection, least: int = 0) -> None:
        """Set the policy to the last snapshot of this release that is whole, or to the start.

        Args:
            connection: to read by.
            least: the state must include this row, whose payload is gone; then the snapshot of
                another release will do, if this one can read it.

        """
        own = sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == self.session)
        own = own.where(SNAPSHOTS.c.seq >= least).order_by(SNAPSHOTS.c.seq.desc())
        for row in connection.execute(own).all():
            same = row.release == this_release()
            if row.release and not same:
                self._recorded = f"release {row.release}"
            if not (same or least or row.seq == 0):
                continue
            wrong = snapshot_damage(connection, row)
            if wrong is None and (wrong := self._set_policy(row)) is None:
                self.replays = not same
                self._continue_after(connection, int(row.seq))
                return
            level = logging.WARNING if same else logging.DEBUG
            LOG.log(level, "session %s: %s; an earlier state is used", self.name, wrong)
        if least:
            raise damaged(
                f"row {least} in the journal of session {self.name!r} has no payload, and no "
                "snapshot after it can be used"
            )
        self.policy.restore(self._start)
        self.replays = True
        self.seq, self.chain, self.totals, self.last_feedback = 0, FIRST, NO_TOTALS, (0, FIRST)

    def _set_policy(self, row: Any) -> str | None:
        """Set the policy to a snapshot, or return why this is not possible."""
        try:
            self.policy.restore(unpack_snapshot(row.payload, f"the snapshot after row {row.seq}"))
        except (KeyError, TypeError, ValueError) as error:
            return f"the snapshot after row {row.seq} cannot be restored ({error})"
        return None

    def _continue_after(self, connection: sql.Connection, seq: int) -> None:
        """Continue from the state after a row of feedback, or from the first."""
        self.seq, self.chain, self.totals = seq, FIRST, NO_TOTALS
        if seq:
            rows = WHOLE.where(ROW.c.session == self.session, ROW.c.seq == seq)
            row = checked(connection.execute(rows).one(), self.name)
            self.totals = totals_of(row)
            self.chain = row.chain
        self.last_feedback = seq, self.chain


def _proved(bound: float) -> float | None:
    """Return a certificate as it is stored; None if it is vacuous."""
    return None if getattr(bound, "says_nothing", None) is not None else _number(bound)


def _number(value: float) -> float | None:
    """Return a number for the database: None for NaN."""
    return None if math.isnan(value) else float(value)
