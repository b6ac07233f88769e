"""A store of sessions: an SQLite file, or a PostgreSQL database by URL."""

from __future__ import annotations

import json
import os
import re
import threading
import weakref
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

try:
    import sqlalchemy as sql
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        'live sessions need SQLAlchemy; install it with: pip install ".[live]"',
        name="sqlalchemy",
    ) from None
from sqlalchemy.exc import DBAPIError

from hedgerow.files import unpack_snapshot
from hedgerow.live.binding import read_binding
from hedgerow.live.chain import (
    ASKED,
    FIRST,
    LINKED,
    ROW,
    checked,
    damaged,
    session_text,
    snapshot_digest,
    text_digest,
)
from hedgerow.live.each_constraint import ConstraintTotals, read_each
from hedgerow.live.migrations import is_current, migrate
from hedgerow.live.schema import ASK, HEADS, JOURNAL, SESSIONS, SNAPSHOTS, TELL
from hedgerow.policies.summary import Binding

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""Session names appear in addresses, pages and logs."""
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
PARAMETERS = ("application_name", "connect_timeout", "host", "port", "sslmode", "sslrootcert")
"""What may follow the question mark of a PostgreSQL URL."""
SCHEMA_LOCK = 7_240_311
"""The advisory lock of PostgreSQL under which tables are made."""
CERTIFIED = 8
"""Feedbacks between two certificates in the journal, each of one oracle call."""
HEAD = sql.select(HEADS.c.seq, HEADS.c.chain).where(HEADS.c.session == sql.bindparam("session"))
LOCK = HEAD.with_for_update()
WAIT = 60.0
"""Seconds to wait for another process that holds the lock."""


class StoreError(OSError):
    """The store cannot be reached or read."""


class SharedCommit(threading.local):
    """The transaction that a thread has open, if all that it writes now is to share one commit.

    Attributes:
        connection: of the transaction; None if there is none.
        number: of the transaction, in this thread.
        locked: the sessions that it has locked.
        changed: whether a statement has written since this was last set to False.

    """

    connection: sql.Connection | None = None
    number = 0
    locked: frozenset[int | None] = frozenset()
    changed = False


class _Forked(Protocol):
    def after_fork(self) -> None: ...


_OPEN: weakref.WeakSet[_Forked] = weakref.WeakSet()
"""Stores and sessions, which a child process must not use as its parent left them."""


def call_after_fork(opened: _Forked) -> None:
    """Call `opened.after_fork()` in each child process that is forked from this one."""
    _OPEN.add(opened)


def _after_fork() -> None:
    for opened in list(_OPEN):
        opened.after_fork()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class Status:
    """A session in numbers.

    Attributes:
        name: of the session.
        created: when it was begun, in seconds since 1970.
        policy: the repr of the policy.
        dim: the length of an action.
        decisions: how many were asked for.
        answered: how many of them have feedback.
        cost: the sum of their costs.
        ccv: the sum of their violations, max(0, g); None where there are several constraints,
            whose units may differ.
        violated: how many of them violated the constraint.
        weight: the last weight on the constraint, where the policy has one.
        certificate: the last proved bound of the regret, where the policy has one.
        last: when the journal last grew, in seconds since 1970.
        lateness: seconds from the decision that was answered last to its feedback.
        served: whether the service can decide for it, because it can build the policy.
        each: the totals of each constraint, in its own unit, where all rounds have several, equally
            many; else empty.
        binding: past feedback that holds the decision after the last one, the dearest first.

    """

    name: str
    created: float
    policy: str
    dim: int
    decisions: int
    answered: int
    cost: float
    ccv: float | None
    violated: int
    weight: float | None
    certificate: float | None
    last: float | None
    lateness: float | None
    served: bool
    each: tuple[ConstraintTotals, ...] = ()
    binding: tuple[Binding, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it as plain data; `each` and `binding` are there only where they say something."""
        found = asdict(self) | {"binding": [one._asdict() for one in self.binding]}
        return {key: found[key] for key in found if key not in ("each", "binding") or found[key]}

    @property
    def unanswered(self) -> int:
        """The number of decisions without feedback."""
        return self.decisions - self.answered


def check_name(name: object) -> str:
    """Return a session's name, or refuse it."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            f"a session's name has 1 to 60 letters, digits, '.', '-' or '_' and begins with a "
            f"letter or digit, got {str(name)[:80]!r}"
        )
    return name


class Store:
    """An open store; its tables are created or migrated when it opens.

    Several processes may use one store. In SQLite writers take turns by `BEGIN IMMEDIATE`, in
    PostgreSQL those of one session by a lock on a row; each transaction that reads sees the store
    at one moment. Every commit is durable: WAL with synchronous=FULL, and synchronous_commit. A
    connection belongs to the process that opened it: a child process opens its own.

    Args:
        place: the path of an SQLite file, or a postgresql:// URL.

    """

    def __init__(self, place: str | os.PathLike[str]):
        url = _url(place)
        self.is_file = url.get_backend_name() == "sqlite"
        self.place = str(url.database) if self.is_file else url.render_as_string()
        self.engine = sql.create_engine(url, poolclass=sql.NullPool)  # `_idle` is the pool
        self._error = self.engine.dialect.loaded_dbapi.Error
        self._prepared: dict[Any, tuple[str, list[str] | None, Any]] = {}
        self._connections: set[sql.Connection] = set()  # of this process
        self._idle: list[sql.Connection] = []  # those between two transactions
        self._inherited: list[sql.Connection] = []  # of the parent process, never used here
        self._shared = SharedCommit()
        prepare = _prepare_file if self.is_file else _prepare_server
        sql.event.listen(self.engine, "connect", prepare)
        call_after_fork(self)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Store({self.place!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections of this process."""
        while (connection := self._take_idle()) is not None:
            self._disconnect(connection)

    def after_fork(self) -> None:
        """Leave the connections of the parent process to it; closing them would end them there."""
        self._inherited += self._connections
        self._connections, self._idle, self._shared = set(), [], SharedCommit()

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Read the store as it is at one moment."""
        with self._errors(), self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self, session: int | None = None) -> Iterator[sql.Connection]:
        """Change the store, all or nothing; one writer of a session at a time.

        Within `one_commit` this is a part of its transaction, and is committed with it.
        """
        shared = self._shared
        if shared.connection is not None:
            with self._errors():
                if session not in shared.locked:
                    self._lock(shared.connection, session)
                    shared.locked |= {session}
                yield shared.connection
            return
        with self._errors(), self._transaction(writes=True) as connection:
            self._lock(connection, session)
            yield connection

    @property
    def shared_commit(self) -> int:
        """The number of the transaction that this thread shares now; 0 if there is none."""
        return 0 if self._shared.connection is None else self._shared.number

    @contextmanager
    def one_commit(self) -> Iterator[SharedCommit]:
        """Let all that this thread writes in the block share one commit, at its end.

        Whoever catches an error within the block must know that nothing was written before it:
        see `SharedCommit.changed`. In a server, a block is about one session, so that two processes
        do not wait for each other. Within another block this is a part of it.
        """
        shared = self._shared
        if shared.connection is not None:
            yield shared
            return
        with self._errors(), self._transaction(writes=True) as connection:
            shared.connection, shared.locked, shared.changed = connection, frozenset(), False
            shared.number += 1
            try:
                yield shared
            finally:
                shared.connection = None

    def run(self, connection: sql.Connection, statement: Any, given: dict[str, Any]) -> list[Any]:
        """Execute a statement that is written once, at the top of a file; return its rows.

        It is compiled once, and executed by the driver itself: a round runs four of them.
        """
        known = self._prepared.get(statement)
        if known is None:
            compiled = statement.compile(self.engine, column_keys=list(given))
            names = [column.name for column in getattr(statement, "selected_columns", ())]
            row: Any = namedtuple("Row", names, rename=True) if names else None
            known = self._prepared[statement] = compiled.string, compiled.positiontup, row
        text, order, row = known
        driver: Any = connection.connection.driver_connection
        found = driver.execute(text, given if order is None else [given[name] for name in order])
        if row is None:
            self._shared.changed = True
            return []
        return [row._make(values) for values in found.fetchall()]

    def sessions(self) -> list[Status]:
        """Return the status of every session, by name."""
        with self.reading() as connection:
            names = connection.execute(sql.select(SESSIONS.c.name).order_by(SESSIONS.c.name))
            return [_status(connection, name) for name in names.scalars().all()]

    def status(self, name: str) -> Status:
        """Return the status of one session."""
        with self.reading() as connection:
            return _status(connection, check_name(name))

    def labels(self, name: str) -> list[str] | None:
        """Return the names of a session's coordinates, where they are known."""
        with self.reading() as connection:
            text = session_row(connection, check_name(name)).labels
        return None if text is None else [str(label) for label in json.loads(text)]

    def compact(self, name: str) -> int:
        """Drop actions and feedback before the last snapshot; return how many rows lost theirs.

        Values, times and digests stay: totals, the exactly-once rule and the session itself are
        as before. What was dropped is gone from `history().actions`, `problem()` and `hindsight()`.
        """
        with self.reading() as connection:
            session = session_row(connection, check_name(name)).id
        with self.writing(session) as connection:
            own = SNAPSHOTS.c.session == session
            newest = sql.select(SNAPSHOTS).where(own).order_by(SNAPSHOTS.c.seq.desc()).limit(1)
            last = connection.execute(newest).one_or_none()
            wrong = "there is no snapshot" if last is None else snapshot_damage(connection, last)
            if last is None or wrong is not None:
                raise damaged(f"{wrong} of session {name!r}")
            connection.execute(sql.delete(SNAPSHOTS).where(own, SNAPSHOTS.c.seq < last.seq))
            answered = sql.select(JOURNAL.c.round).where(
                JOURNAL.c.session == session, JOURNAL.c.kind == TELL, JOURNAL.c.seq <= last.seq
            )
            dropped = connection.execute(
                sql.update(JOURNAL)
                .where(
                    JOURNAL.c.session == session,
                    JOURNAL.c.seq <= last.seq,
                    JOURNAL.c.payload.is_not(None),
                    JOURNAL.c.round.in_(answered),
                )
                .values(payload=None)
            ).rowcount
        if self.is_file:
            with self._errors(), self.engine.connect() as alone:
                driver: Any = alone.connection.driver_connection
                driver.execute("VACUUM")  # in no transaction
        return dropped

    def _lock(self, connection: sql.Connection, session: int | None) -> None:
        """Wait until no other process writes to a session; in SQLite that is so already."""
        if session is not None and not self.is_file:
            self.run(connection, LOCK, {"session": session})

    def _migrate(self) -> None:
        """Create the tables, or bring them to this release's version."""
        with self.reading() as connection:
            if is_current(connection):
                return
        with self.writing() as connection:
            if not self.is_file:
                connection.execute(sql.text(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"))
            migrate(connection, self.place)

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[sql.Connection]:
        """Run one transaction of the driver, on a connection that is reused."""
        process, connection = os.getpid(), self._take_idle() or self._connect()
        driver: Any = connection.connection.driver_connection
        try:
            if self.is_file:
                driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            else:  # this driver begins by itself
                driver.isolation_level = None if writes else _one_snapshot()
                driver.read_only = not writes
            yield connection
            if os.getpid() == process:
                driver.commit()
        except BaseException:
            if os.getpid() != process:
                raise
            try:
                driver.rollback()
            except self._error:  # the connection is gone, and those beside it perhaps, too
                connection.invalidate()
                self._disconnect(connection)
                self.close()
            else:
                self._idle.append(connection)
            raise
        if os.getpid() != process:
            raise StoreError("a process was forked within a transaction; fork between two calls")
        self._idle.append(connection)

    def _connect(self) -> sql.Connection:
        connection = self.engine.connect()
        self._connections.add(connection)
        return connection

    def _disconnect(self, connection: sql.Connection) -> None:
        self._connections.discard(connection)
        connection.close()

    def _take_idle(self) -> sql.Connection | None:
        """Return an idle connection, if any; other threads may take it first."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Report in a sentence that a store cannot be used, without any stored data."""
        try:
            yield
        except (DBAPIError, self._error) as error:
            why = " ".join(str(getattr(error, "orig", error)).split("\n")[0].split())
            if "not a database" in why:
                raise ValueError(f"{self.place} is not an SQLite file; give another path") from None
            if "malformed" in why or "no such table" in why:
                raise StoreError(
                    f"the store {self.place} is damaged ({why}); restore a backup, or see what "
                    "SQLite's command .recover can still read"
                ) from None
            raise StoreError(
                f"the store {self.place} cannot be used ({why}); check that it is there, that it "
                "may be written to, and that its disk is not full"
            ) from None


def session_row(connection: sql.Connection, name: str) -> sql.Row[Any]:
    """Return the row of a session; refuse one that is missing or was changed."""
    row = connection.execute(sql.select(SESSIONS).where(SESSIONS.c.name == name)).one_or_none()
    if row is None:
        raise LookupError(f"there is no session {name!r} in this store; begin it first")
    if text_digest(session_text(row)) != row.digest:
        raise damaged(f"the row of session {name!r} does not fit its digest")
    return row


def snapshot_damage(connection: sql.Connection, row: Any) -> str | None:
    """Return what is wrong with the row of a snapshot, or None."""
    at = sql.select(JOURNAL.c.chain)
    at = at.where(JOURNAL.c.session == row.session, JOURNAL.c.seq == row.seq)
    chain = FIRST if row.seq == 0 else connection.execute(at).scalar()
    if chain is None:
        return f"the snapshot after row {row.seq} is of a row that is not there"
    try:
        unpack_snapshot(row.payload, f"the snapshot after row {row.seq}")
    except (TypeError, ValueError) as error:
        return str(error).partition(";")[0]
    if row.digest is None and row.release is None:
        return None  # of a release that wrote no digests but that of the payload
    if row.digest != snapshot_digest(row.session, row.seq, row.release, chain, row.payload):
        return f"the snapshot after row {row.seq} does not fit its digest"
    return None


def _status(connection: sql.Connection, name: str) -> Status:
    session = session_row(connection, name)
    own, c = LINKED.where(ROW.c.session == session.id), ROW.c
    head = connection.execute(HEAD, {"session": session.id}).one_or_none()
    newest = connection.execute(own.order_by(c.seq.desc()).limit(1)).one_or_none()
    asks = own.where(c.kind == ASK).order_by(c.round.desc()).limit(1)
    asked = connection.execute(asks).one_or_none()
    tells = own.where(c.kind == TELL).order_by(c.seq.desc()).limit(2 * CERTIFIED)
    answers = connection.execute(tells.add_columns(ASKED.c.time.label("asked"))).all()
    for row in (*(row for row in (newest, asked) if row is not None), *answers):
        checked(row, name)
    end = (0, FIRST) if newest is None else (newest.seq, newest.chain)
    if head is None or tuple(head) != end:
        raise damaged(f"the last rows of the journal of session {name!r} are missing")
    last = answers[0] if answers else None
    several = None if last is None else last.total_each
    ccv = 0.0 if last is None else last.total_ccv
    return Status(
        name=session.name,
        created=session.created,
        policy=session.policy,
        dim=session.dim,
        decisions=0 if asked is None else asked.round,
        answered=0 if last is None else last.told,
        cost=0.0 if last is None else last.total_cost,
        ccv=ccv if several is None else None,
        violated=0 if last is None else last.total_violated,
        weight=None if last is None else last.weight,
        certificate=next((row.certificate for row in answers if row.certificate is not None), None),
        last=None if newest is None else newest.time,
        lateness=None if last is None or last.asked is None else last.time - last.asked,
        served=session.spec is not None,
        each=read_each(several),
        binding=() if last is None else read_binding(last.binding),
    )


def _url(place: str | os.PathLike[str]) -> sql.URL:
    """Return the URL of a store; only files and PostgreSQL are allowed."""
    text = os.fspath(place)
    if "://" not in text:
        if not text or "\0" in text or text.startswith(("file:", ":")):
            raise ValueError(f"a store is the path of a file or a postgresql:// URL, got {text!r}")
        path = Path(text).absolute()
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} for the store; make it first")
        if path.is_dir():
            raise ValueError(f"{path} is a folder; give the path of a file in it")
        return sql.URL.create("sqlite", database=str(path))
    scheme = text.partition("://")[0]
    if scheme not in POSTGRES:
        raise ValueError(
            f"a store is the path of a file or a postgresql:// URL, got one of {scheme[:40]!r}"
        )
    try:
        url = sql.make_url(text)
    except (ValueError, sql.exc.ArgumentError):
        raise ValueError("the PostgreSQL URL of the store cannot be read; write it as "
                         "postgresql://user@host:port/database") from None  # fmt: skip
    unknown = sorted(set(url.query) - set(PARAMETERS))
    if unknown:
        raise ValueError(
            f"the URL of a store may set {', '.join(PARAMETERS)}, got {unknown[0][:40]!r}"
        )
    return url.set(drivername="postgresql+psycopg")


def _one_snapshot() -> Any:
    """Return the isolation level in which a transaction reads the store at one moment."""
    from psycopg import IsolationLevel  # installed where a server is used

    return IsolationLevel.REPEATABLE_READ


def _prepare_file(connection: Any, _: object) -> None:
    connection.isolation_level = None  # `_transaction` begins
    for setting in (
        f"busy_timeout = {int(1000 * WAIT)}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")


def _prepare_server(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION synchronous_commit TO on")
        cursor.execute(f"SET SESSION lock_timeout TO '{int(1000 * WAIT)}ms'")
    connection.commit()
