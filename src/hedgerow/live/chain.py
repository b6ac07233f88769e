"""Digests over everything that a store holds, so that damage is noticed when it is read.

Each row of the journal has a digest of its columns and of the digest of the row before it: a hash
chain. A payload is covered by its own digest, so that compaction leaves the chain as it is. The row
of a session, and each snapshot, has a digest, too.
"""

from __future__ import annotations

import hashlib
import json
from operator import attrgetter
from typing import Any

import sqlalchemy as sql

from hedgerow.live.schema import ASK, COPIES, HEADS, JOURNAL, SESSIONS, SNAPSHOTS, TELL

FIRST = ""
"""The digest before the first row of a journal."""
COVERED = (
    "session", "seq", "kind", "round", "decision", "time", "digest", "cost", "violation", "weight",
    "certificate", "told", "total_cost", "total_ccv", "total_violated", "total_each", "binding",
)  # fmt: skip
"""The columns of a row that its digest covers, besides the digest of the decision's action."""
ADDED_LATER = 2
"""The last columns, which earlier releases had not: their digests leave them out where empty."""
ABOUT = ("id", "name", "created", "policy", "configuration", "dim", "every", "labels", "spec")
"""The columns of a session that its digest covers."""
covered = attrgetter(*COVERED)

ROW, BEFORE, ASKED = (JOURNAL.alias(name) for name in ("row", "before", "asked"))
LINKED = sql.select(
    *(column for column in ROW.c if column.name != "payload"),
    BEFORE.c.chain.label("before"),
    ASKED.c.digest.label("action_digest"),
).select_from(
    ROW.outerjoin(
        BEFORE,
        sql.and_(
            BEFORE.c.session == ROW.c.session, BEFORE.c.seq == ROW.c.seq - sql.literal_column("1")
        ),
    ).outerjoin(
        ASKED,
        sql.and_(
            ROW.c.kind == sql.literal_column(str(TELL)),
            ASKED.c.session == ROW.c.session,
            ASKED.c.kind == sql.literal_column(str(ASK)),
            ASKED.c.round == ROW.c.round,
        ),
    )
)
"""Rows of journals with what their digests cover; select from `ROW`."""
WHOLE = LINKED.add_columns(ROW.c.payload, ASKED.c.payload.label("action"))
"""The same with their payloads, and of feedback with the action that it is about."""


class DamageError(ValueError):
    """Something in the store is not as it was written."""


def link(before: str, values: tuple[Any, ...], action_digest: str | None) -> str:
    """Return the digest of a row, given its `COVERED` columns and the digest of the row before."""
    for _ in range(ADDED_LATER):
        values = values[:-1] if values[-1] is None else values
    plain = [value + 0.0 if isinstance(value, float) else value for value in values]  # no -0.0
    return hashlib.sha256(ascii((before, action_digest, *plain)).encode()).hexdigest()


def link_of(row: Any) -> str | None:
    """Return the digest that a row of `LINKED` should have; None if the row before is missing."""
    before = FIRST if row.seq == 1 else row.before
    return None if before is None else link(before, covered(row), row.action_digest)


def checked(row: Any, session: str) -> Any:
    """Return a row of `LINKED`, or refuse one that was changed."""
    if row.chain is None or link_of(row) != row.chain:
        lost = row.seq != 1 and row.before is None
        what = f"row {row.seq - 1} is missing" if lost else f"row {row.seq} was changed"
        raise damaged(f"{what} in the journal of session {session!r}")
    return row


def damaged(what: str) -> DamageError:
    """Return an error that names the damage and the command that finds more."""
    return DamageError(
        f"the store was changed after it was written: {what}; `hedgerow live check STORE` says "
        "what can be recovered"
    )


def session_text(row: Any) -> str:
    """Return the row of a session as JSON, which is also stored as a copy."""
    return json.dumps([getattr(row, name) for name in ABOUT])


def text_digest(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def snapshot_digest(session: int, seq: int, release: str, chain: str, payload: bytes) -> str:
    """Return the digest of a snapshot; its payload ends with a digest of its own."""
    return text_digest(ascii((session, seq, release, chain, bytes(payload[-64:]))))


BLOCK = 1000
"""Rows sealed at a time."""


def seal_session(connection: sql.Connection, session: int) -> None:
    """Write the digest of a session's row and a copy of the row."""
    row = connection.execute(sql.select(SESSIONS).where(SESSIONS.c.id == session)).one()
    text = session_text(row)
    digest = text_digest(text)
    connection.execute(sql.update(SESSIONS).where(SESSIONS.c.id == session).values(digest=digest))
    connection.execute(sql.delete(COPIES).where(COPIES.c.session == session))
    connection.execute(sql.insert(COPIES).values(session=session, text=text, digest=digest))


def seal_journal(connection: sql.Connection, session: int, first: int = 1) -> None:
    """Write the digests of a journal's rows from one of them on, and which row is the last."""
    c, own = JOURNAL.c, JOURNAL.c.session == session
    before = sql.select(c.seq, c.chain).where(own, c.seq < first).order_by(c.seq.desc()).limit(1)
    last = connection.execute(before).one_or_none()
    seq, chain = (0, FIRST) if last is None else (last.seq, last.chain)
    change = sql.update(JOURNAL).where(own, c.seq == sql.bindparam("row"))
    change = change.values(chain=sql.bindparam("sealed"))
    rows = LINKED.where(ROW.c.session == session, ROW.c.seq > sql.bindparam("after"))
    rows = rows.order_by(ROW.c.seq).limit(BLOCK)
    while found := connection.execute(rows, {"after": max(seq, first - 1)}).all():
        sealed = []
        for row in found:
            seq, chain = row.seq, link(chain, covered(row), row.action_digest)
            sealed.append({"row": seq, "sealed": chain})
        connection.execute(change, sealed)
    connection.execute(sql.delete(HEADS).where(HEADS.c.session == session))
    connection.execute(sql.insert(HEADS).values(session=session, seq=seq, chain=chain))


def add_snapshot(
    connection: sql.Connection, session: int, seq: int, chain: str, release: str, payload: bytes
) -> None:
    """Store a snapshot of the state after row `seq`, in place of one that is there."""
    own: Any = SNAPSHOTS.c.session == session
    connection.execute(sql.delete(SNAPSHOTS).where(own, SNAPSHOTS.c.seq == seq))
    connection.execute(
        sql.insert(SNAPSHOTS).values(
            session=session,
            seq=seq,
            payload=payload,
            release=release,
            digest=snapshot_digest(session, seq, release, chain, payload),
        )
    )
