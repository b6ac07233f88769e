"""Find damage in a store, and recover what can be recovered.

A missing or unusable row of the journal is replaced by one of the kind `LOST`, so that all others
keep their numbers. Its decision, if it is still known, can receive its feedback again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sql

from hedgerow.live.chain import (
    ABOUT,
    COVERED,
    FIRST,
    ROW,
    WHOLE,
    covered,
    link,
    seal_journal,
    seal_session,
    session_text,
    snapshot_digest,
    text_digest,
)
from hedgerow.live.each_constraint import add_each
from hedgerow.live.migrations import VERSION
from hedgerow.live.payloads import digest_of, unpack_feedback, value_of
from hedgerow.live.replica import NO_TOTALS, TOTALS, totals_of
from hedgerow.live.schema import (
    ASK,
    COPIES,
    HEADS,
    JOURNAL,
    LEASES,
    LOST,
    SESSIONS,
    SNAPSHOTS,
    TELL,
    TOKENS,
    VERSIONS,
)
from hedgerow.live.store import Store, snapshot_damage

MOST = 10_000
"""Rows at the end of a journal that are believed to be missing; more mean a damaged number."""
NUMBERS = ("cost", "violation", *TOTALS)
"""What can be computed again from feedback and the row before."""


@dataclass(frozen=True)
class Damage:
    """Something that is not as it was written.

    Attributes:
        where: the table, or the session.
        what: is wrong.
        remedy: what a repair does about it; empty if nothing can be done.

    """

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; " + (
            f"repair: {self.remedy}" if self.remedy else "restore it from a backup"
        )


class _Unmigrated(Store):
    """A store that is not migrated when it opens."""

    def _migrate(self) -> None:
        pass


def check_store(place: str, *, repair: bool = False) -> list[Damage]:
    """Return all damage of a store; nothing is written unless it is to be repaired."""
    with (
        _Unmigrated(place) as store,
        store.writing() if repair else store.reading() as connection,
    ):
        if not sql.inspect(connection).has_table(VERSIONS.name):
            raise ValueError(f"{place} is not a store of hedgerow; give another path")
        found = list(_check_version(connection, repair))
        for session in _session_ids(connection):
            found += _Session(connection, session).check(repair)
        return found


def _check_version(connection: sql.Connection, repair: bool) -> Iterator[Damage]:
    versions = list(connection.execute(sql.select(VERSIONS.c.version)).scalars())
    version = _version_of(connection)
    if versions == [version]:
        if version < VERSION:
            raise ValueError(
                f"this store has version {version} of the tables, which "
                f"{'this release does not check' if version > 2 else 'has no digests to check'}; "
                "back it up and open it with this release, which adds what is missing"
            )
        return
    if len(versions) == 1 and isinstance(versions[0], int) and versions[0] > VERSION:
        raise ValueError(
            f"this store has version {versions[0]} of the tables, this release reads up to "
            f"{VERSION}; check it with the release that wrote it"
        )
    yield Damage(
        f"table {VERSIONS.name}",
        f"it must have one row, {version}, and has {versions}",
        f"write version {version}",
    )
    if repair:
        connection.execute(sql.delete(VERSIONS))
        connection.execute(sql.insert(VERSIONS).values(version=version))


def _version_of(connection: sql.Connection) -> int:
    """Return the version that the tables have."""
    inspector = sql.inspect(connection)
    if inspector.has_table(HEADS.name):
        columns = {column["name"] for column in inspector.get_columns(JOURNAL.name)}
        if "binding" in columns:
            return VERSION
        if "total_each" in columns:
            return 5 if inspector.has_table(LEASES.name) else 4
        return 3
    return 2 if inspector.has_table(TOKENS.name) else 1


def _session_ids(connection: sql.Connection) -> list[int]:
    if _version_of(connection) < VERSION:
        return []  # a store without digests; opening it adds them
    known = [sql.select(column) for column in (SESSIONS.c.id, HEADS.c.session, COPIES.c.session)]
    return sorted(connection.execute(sql.union(*known)).scalars().all())


class _Change(NamedTuple):
    """What a repair writes into a row of the journal."""

    seq: int
    values: dict[str, Any]
    is_new: bool = False


class _Session:
    """One session, its journal and its snapshots."""

    def __init__(self, connection: sql.Connection, session: int):
        self.connection, self.id = connection, session
        self.where = f"session {session}"

    def check(self, repair: bool) -> list[Damage]:
        """Return the damage of this session, and repair it if asked to."""
        found, about = self._check_row(repair)
        if about is None:
            return found
        self.where = f"session {about['name']!r}"
        whole: list[int] = []
        bad: list[int] = []
        own = sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == self.id)
        for row in self.connection.execute(own.order_by(SNAPSHOTS.c.seq)).all():
            wrong = snapshot_damage(self.connection, row)
            (whole if wrong is None else bad).append(row.seq)
            if wrong is not None:
                found.append(Damage(self.where, wrong, "delete it; an earlier state is used"))
        if not whole and not bad:
            found.append(Damage(self.where, "it has no snapshot", "replay its journal"))
        damages, changes = self._check_journal(about["dim"], max(whole, default=0))
        if repair and bad:
            snapshots = SNAPSHOTS.c.session == self.id, SNAPSHOTS.c.seq.in_(bad)
            self.connection.execute(sql.delete(SNAPSHOTS).where(*snapshots))
        if repair and damages:
            self._write(changes, whole)
        return found + damages

    def _check_row(self, repair: bool) -> tuple[list[Damage], dict[str, Any] | None]:
        """Check the session's row against its copy; return the right one."""
        rows = sql.select(SESSIONS).where(SESSIONS.c.id == self.id)
        row = self.connection.execute(rows).one_or_none()
        copies = sql.select(COPIES).where(COPIES.c.session == self.id)
        copy = self.connection.execute(copies).one_or_none()
        is_whole = row is not None and text_digest(session_text(row)) == row.digest
        has_copy = copy is not None and text_digest(copy.text) == copy.digest
        if is_whole:
            about = {name: getattr(row, name) for name in ABOUT}
            if has_copy and copy is not None and copy.text == session_text(row):
                return [], about
            if repair:
                seal_session(self.connection, self.id)
            return [Damage(self.where, "the copy of its row was changed", "write it again")], about
        what = "its row is missing" if row is None else "its row does not fit its digest"
        if not has_copy or copy is None:
            return [Damage(self.where, what, "")], None
        about = dict(zip(ABOUT, json.loads(copy.text), strict=True))
        if repair:
            change: Any = sql.insert(SESSIONS) if row is None else sql.update(SESSIONS)
            if row is not None:
                change = change.where(SESSIONS.c.id == self.id)
            self.connection.execute(change.values(**about))
            seal_session(self.connection, self.id)
        return [Damage(self.where, what, "write it again from its copy")], about

    def _check_journal(self, dim: int, known: int) -> tuple[list[Damage], list[_Change]]:
        """Check all rows; the state after row `known` is in a snapshot."""
        found: list[Damage] = []
        changes: list[_Change] = []
        last, chain, before = 0, FIRST, None
        rows = WHOLE.where(ROW.c.session == self.id).order_by(ROW.c.seq)
        with self.connection.execute(rows.execution_options(yield_per=64)) as journal:
            for row in journal:
                if row.seq > last + 1:
                    found.append(self._lost(last + 1, row.seq - 1))
                    changes += [self._filler(seq) for seq in range(last + 1, row.seq)]
                elif link(chain, covered(row), row.action_digest) != row.chain:
                    numbers = _numbers(row, before, dim)
                    if link(chain, _with(row, numbers), row.action_digest) == row.chain:
                        remedy = "compute it again from the feedback"
                    else:
                        numbers, remedy = {}, "accept it as it is now, although it may be wrong"
                    found.append(Damage(self.where, f"row {row.seq} was changed", remedy))
                    changes.append(_Change(row.seq, numbers))
                if (change := self._check_payload(row, known)) is not None:
                    found.append(change[0])
                    changes.append(change[1])
                last, chain = row.seq, row.chain
                before = row if row.kind == TELL else before
        heads = sql.select(HEADS).where(HEADS.c.session == self.id)
        head = self.connection.execute(heads).one_or_none()
        if head is not None and last < head.seq <= last + MOST:
            found.append(self._lost(last + 1, head.seq))
            changes += [self._filler(seq) for seq in range(last + 1, head.seq + 1)]
        elif head is None or (head.seq, head.chain) != (last, chain):
            what = "the record of its last row was changed"
            found.append(Damage(self.where, what, f"write that it is row {last}"))
        return found, changes

    def _check_payload(self, row: Any, known: int) -> tuple[Damage, _Change] | None:
        """Return what to do about a row whose action or feedback is not there as it was."""
        is_whole = _fits(row.payload, row.digest)
        what = f"the {'action' if row.kind == ASK else 'feedback'} of row {row.seq} "
        what += "is missing" if row.payload is None else "was changed"
        if row.kind == TELL and row.seq > known:  # it is needed
            has_action = _fits(row.action, row.action_digest)
            if is_whole and has_action:
                return None
            if is_whole:
                what = f"the feedback of row {row.seq} is about an action that is missing"
            remedy = "leave it out" + ("; it can be reported again" if has_action else "")
            return Damage(self.where, what, remedy), _Change(row.seq, {"kind": LOST})
        if row.payload is not None and not is_whole:
            damage = Damage(self.where, what, "drop it, as compaction does")
            return damage, _Change(row.seq, {"payload": None})
        return None

    def _lost(self, first: int, last: int) -> Damage:
        rows = f"row {first} is" if first == last else f"rows {first} to {last} are"
        return Damage(self.where, f"{rows} missing", "go on without them")

    def _filler(self, seq: int) -> _Change:
        values = {"session": self.id, "seq": seq, "kind": LOST, "round": -seq, "time": 0.0}
        return _Change(seq, {**values, "digest": ""}, is_new=True)

    def _write(self, changes: list[_Change], snapshots: list[int]) -> None:
        """Change rows, and write the digests from the first of them on."""
        for change in changes:
            at = JOURNAL.c.session == self.id, JOURNAL.c.seq == change.seq
            if change.is_new:
                self.connection.execute(sql.insert(JOURNAL).values(**change.values))
            elif change.values:
                self.connection.execute(sql.update(JOURNAL).where(*at).values(**change.values))
        seal_journal(self.connection, self.id)
        for seq in snapshots:
            at = SNAPSHOTS.c.session == self.id, SNAPSHOTS.c.seq == seq
            row = self.connection.execute(sql.select(SNAPSHOTS).where(*at)).one()
            own = sql.select(JOURNAL.c.chain).where(
                JOURNAL.c.session == self.id, JOURNAL.c.seq == seq
            )
            chain = self.connection.execute(own).scalar() or FIRST
            if row.digest is not None:
                digest = snapshot_digest(self.id, seq, row.release, chain, row.payload)
                self.connection.execute(sql.update(SNAPSHOTS).where(*at).values(digest=digest))


def _fits(payload: Any, digest: str) -> bool:
    return isinstance(payload, bytes) and digest_of(payload) == digest


def _numbers(row: Any, before: Any, dim: int) -> dict[str, Any]:
    """Return the numbers of a row of feedback, computed from its payload and the row before."""
    if row.kind != TELL or row.payload is None:
        return {}
    try:
        cost, constraint = unpack_feedback(row.payload, row.digest, dim)
    except ValueError:
        return {}
    paid, violation = value_of(cost), value_of(constraint)
    count, total, ccv, violated, each = NO_TOTALS if before is None else totals_of(before)
    totals = count + 1, total + paid, ccv + max(0.0, violation), violated + (violation > 0.0)
    of_each = add_each(each, count, constraint)
    return dict(zip(NUMBERS, (paid, violation, *totals, of_each), strict=True))


def _with(row: Any, numbers: dict[str, Any]) -> tuple[Any, ...]:
    """Return the covered columns of a row with some of them replaced."""
    return tuple(numbers.get(name, getattr(row, name)) for name in COVERED)
