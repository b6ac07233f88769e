"""The tables of a store, in versions; `MIGRATIONS[v]` leads from version v to v + 1.

The journal only grows. Row `seq` of a session is an ask (kind 0: the action of a round) or a tell
(kind 1: what was seen of that round); the order of rows is the order of commits.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sql
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

ASK, TELL = 0, 1
"""The kinds of journal rows."""

METADATA = sql.MetaData()
VERSIONS = sql.Table("hedgerow_schema", METADATA, Column("version", Integer, nullable=False))
SESSIONS = sql.Table(
    "sessions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Float, nullable=False),
    Column("policy", Text, nullable=False),  # as repr shows it
    Column("configuration", Text, nullable=False),  # fingerprints of the policy and its parts
    Column("dim", Integer, nullable=False),
    Column("every", Integer, nullable=False),  # tells between snapshots
    Column("labels", Text),  # JSON list: names of the coordinates
    Column("spec", Text),  # JSON: how the service builds the policy
)
JOURNAL = sql.Table(
    "journal",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("decision", Text),  # the id, of an ask alone
    Column("time", Float, nullable=False),
    Column("digest", Text, nullable=False),  # SHA-256 of the payload
    Column("cost", Float),  # this and what follows, of a tell alone
    Column("violation", Float),
    Column("weight", Float),
    Column("certificate", Float),
    Column("told", Integer),  # totals up to this row
    Column("total_cost", Float),
    Column("total_ccv", Float),
    Column("total_violated", Integer),
    Column("payload", LargeBinary),  # the action or the feedback; none once it was compacted
    UniqueConstraint("session", "kind", "round", name="once"),
    UniqueConstraint("session", "decision", name="one_decision"),
)
SNAPSHOTS = sql.Table(
    "snapshots",
    METADATA,
    Column("session", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
)
TOKENS = sql.Table(
    "tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)


def _sessions(connection: sql.Connection) -> None:
    for table in (SESSIONS, JOURNAL, SNAPSHOTS):
        table.create(connection)


def _tokens(connection: sql.Connection) -> None:
    TOKENS.create(connection)


MIGRATIONS: tuple[Callable[[sql.Connection], None], ...] = (_sessions, _tokens)
VERSION = len(MIGRATIONS)


def migrate(connection: sql.Connection, place: str) -> None:
    """Bring a store to this release's version, or refuse what is no store of hedgerow."""
    found = set(sql.inspect(connection).get_table_names())
    if VERSIONS.name not in found:
        ours = found & {table.name for table in METADATA.sorted_tables}
        if ours or (found and connection.dialect.name == "sqlite"):
            raise ValueError(
                f"{place} is a database of another program (it has a table "
                f"{sorted(ours or found)[0]!r}); give the store a database of its own"
            )
        VERSIONS.create(connection)
        connection.execute(sql.insert(VERSIONS).values(version=0))
    version = connection.execute(sql.select(VERSIONS.c.version)).scalar_one()
    if not 0 <= version <= VERSION:
        raise ValueError(
            f"{place} has version {version} of the tables, this release reads up to {VERSION}; "
            "use the release that wrote it, or a newer one"
        )
    for step in MIGRATIONS[version:]:
        step(connection)
    if version < VERSION:
        connection.execute(sql.update(VERSIONS).values(version=VERSION))
