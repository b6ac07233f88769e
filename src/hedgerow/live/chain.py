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

from hedgerow.live.schema import ASK, JOURNAL, TELL

FIRST = ""
"""What stands before the first row of a journal."""
COVERED = (
    "session", "seq", "kind", "round", "decision", "time", "digest", "cost", "violation", "weight",
    "certificate", "told", "total_cost", "total_ccv", "total_violated",
)  # fmt: skip
"""The columns of a row that its digest covers, besides the digest of the decision's action."""
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
    """Return an error that names the damage and the command that looks for more."""
    return DamageError(
        f"the store was changed after it was written: {what}; `hedgerow live check STORE` says "
        "what can be recovered"
    )


def session_text(row: Any) -> str:
    """Return the row of a session as JSON, of which a copy is kept."""
    return json.dumps([getattr(row, name) for name in ABOUT])


def text_digest(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def snapshot_digest(session: int, seq: int, release: str, chain: str, payload: bytes) -> str:
    """Return the digest of a snapshot; its payload ends with a digest of its own."""
    return text_digest(ascii((session, seq, release, chain, bytes(payload[-64:]))))
