"""Versions of the tables; `MIGRATIONS[v]` leads from version v to v + 1."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sql

from hedgerow.live.chain import seal_journal, seal_session
from hedgerow.live.schema import (
    COPIES,
    HEADS,
    JOURNAL,
    LEASES,
    METADATA,
    SESSIONS,
    SNAPSHOTS,
    TOKENS,
    VERSIONS,
)


def _sessions(connection: sql.Connection) -> None:
    for table in (SESSIONS, JOURNAL, SNAPSHOTS):
        table.create(connection)


def _tokens(connection: sql.Connection) -> None:
    TOKENS.create(connection)


def _chained(connection: sql.Connection) -> None:
    """Add the digests, and compute them for what is there."""
    _add_columns(connection, SESSIONS, "digest")
    _add_columns(connection, JOURNAL, "chain", "total_each", "binding")  # digests cover them
    _add_columns(connection, SNAPSHOTS, "release", "digest")
    for made in (HEADS, COPIES):
        made.create(connection, checkfirst=True)
    for session in connection.execute(sql.select(SESSIONS.c.id)).scalars().all():
        seal_session(connection, session)
        seal_journal(connection, session)


def _each_constraint(connection: sql.Connection) -> None:
    """Add the totals of each of several constraints, which begin with new sessions."""
    _add_columns(connection, JOURNAL, "total_each")


def _leases(connection: sql.Connection) -> None:
    LEASES.create(connection, checkfirst=True)


def _binding(connection: sql.Connection) -> None:
    """Add what holds the decision, which begins with the next feedback."""
    _add_columns(connection, JOURNAL, "binding")


def _add_columns(connection: sql.Connection, table: sql.Table, *names: str) -> None:
    """Add columns of texts; a store that is made now has them."""
    known = {column["name"] for column in sql.inspect(connection).get_columns(table.name)}
    for name in names:
        if name not in known:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {name} TEXT")


MIGRATIONS: tuple[Callable[[sql.Connection], None], ...] = (
    _sessions,
    _tokens,
    _chained,
    _each_constraint,
    _leases,
    _binding,
)
VERSION = len(MIGRATIONS)


def is_current(connection: sql.Connection) -> bool:
    """Whether a store has this release's version of the tables."""
    if not sql.inspect(connection).has_table(VERSIONS.name):
        return False
    return list(connection.execute(sql.select(VERSIONS.c.version)).scalars()) == [VERSION]


def migrate(connection: sql.Connection, place: str) -> None:
    """Bring a store to this release's version, or refuse another database."""
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
    versions = connection.execute(sql.select(VERSIONS.c.version)).scalars().all()
    if len(versions) != 1 or not isinstance(versions[0], int):
        raise ValueError(
            f"{place} is damaged: its table {VERSIONS.name} must have one row with the version, "
            f"it has {len(versions)}; `hedgerow live check` can write it again"
        )
    version = versions[0]
    if not 0 <= version <= VERSION:
        raise ValueError(
            f"{place} has version {version} of the tables, this release reads up to {VERSION}; "
            "use the release that wrote it, or a newer one"
        )
    for step in MIGRATIONS[version:]:
        step(connection)
    if version < VERSION:
        connection.execute(sql.update(VERSIONS).values(version=VERSION))
