"""Write the digests of sessions, journals and snapshots."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from hedgerow.live.chain import (
    FIRST,
    LINKED,
    ROW,
    covered,
    link,
    session_text,
    snapshot_digest,
    text_digest,
)
from hedgerow.live.schema import COPIES, HEADS, JOURNAL, SESSIONS, SNAPSHOTS

BLOCK = 1000


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
