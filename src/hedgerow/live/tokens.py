"""Bearer tokens: random, shown once, stored as a hash, compared in constant time, revocable."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from hedgerow.live.schema import TOKENS
from hedgerow.live.store import Store

ROLES = ("observe", "decide", "admin")
"""Each may do what those before it may."""
TOKEN = re.compile(r"hedgerow_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
FIND = sql.select(TOKENS).where(TOKENS.c.id == sql.bindparam("id"))
NO_TOKEN = hashlib.sha256(b"nobody").hexdigest()


class RevokedError(Exception):
    """A token was revoked after its request was admitted."""


@dataclass(frozen=True)
class Token:
    """What is known of a token; the token itself is not.

    Attributes:
        id: by which it is revoked.
        role: "observe", "decide" or "admin".
        label: what it is for.
        created: in seconds since 1970.
        revoked: the same, or None.

    """

    id: str
    role: str
    label: str
    created: float
    revoked: float | None


def make_token(store: Store, role: str, label: str = "") -> str:
    """Add a token to a store and return it; it is not shown again."""
    if role not in ROLES:
        raise ValueError(f"a role is one of {', '.join(ROLES)}, got {role!r}")
    if len(label) > 100 or not label.isprintable():
        raise ValueError("a label has at most 100 characters that can be printed")
    id_ = secrets.token_hex(6)
    token = f"hedgerow_{id_}_{secrets.token_urlsafe(32)}"
    with store.writing() as connection:
        connection.execute(
            sql.insert(TOKENS).values(
                id=id_, role=role, label=label, digest=_digest(token), created=time.time()
            )
        )
    return token


def tokens(store: Store) -> list[Token]:
    """Return all tokens of a store, the oldest first."""
    c = TOKENS.c
    wanted = sql.select(c.id, c.role, c.label, c.created, c.revoked).order_by(c.created)
    with store.reading() as connection:
        return [Token(*row) for row in connection.execute(wanted)]


def revoke_token(store: Store, id_: str) -> None:
    """Revoke a token, at once and permanently."""
    with store.writing() as connection:
        changed = connection.execute(
            sql.update(TOKENS)
            .where(TOKENS.c.id == id_, TOKENS.c.revoked.is_(None))
            .values(revoked=time.time())
        ).rowcount
    if not changed:
        raise LookupError(f"there is no valid token {id_[:40]!r}; list them first")


def find_token(store: Store, given: str) -> Token | None:
    """Return the valid token that was given, or None."""
    shape = TOKEN.fullmatch(given)
    with store.reading() as connection:
        found = store.run(connection, FIND, {"id": shape[1] if shape else ""})
    row = found[0] if found else None
    same = hmac.compare_digest(_digest(given), NO_TOKEN if row is None else row.digest)
    if row is None or not same or row.revoked is not None or row.role not in ROLES:
        return None
    return _token(row)


def is_valid(store: Store, connection: sql.Connection, token: Token) -> bool:
    """Return whether a token that was valid still is, within a transaction."""
    found = store.run(connection, FIND, {"id": token.id})
    return bool(found) and _token(found[0]) == token


def _token(row: Any) -> Token:
    return Token(row.id, row.role, row.label, row.created, row.revoked)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
