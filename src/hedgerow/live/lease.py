"""A lease on a session: of several processes, one at a time may act on its decisions."""

from __future__ import annotations

import contextlib
import os
import socket
import time
import uuid
from pathlib import Path
from typing import Self

import sqlalchemy as sql

from hedgerow.live.schema import LEASES
from hedgerow.live.session import Session
from hedgerow.live.store import session_row


class LeaseHeldError(ValueError):
    """Another process holds the lease."""


class Lease:
    """Held from `renew` to `renew`; it expires by itself if its holder stops.

    The lease of a process of this machine that has ended is taken over at once, any other when it
    expires. Machines must agree on the time to within a small part of `seconds`.

    Args:
        session: which may have one holder.
        seconds: how long a lease holds unless it is renewed.

    """

    def __init__(self, session: Session, seconds: float):
        self._store, self._name, self.seconds = session.store, session.name, seconds
        self._holder, self._place = uuid.uuid4().hex, _place()
        with self._store.reading() as connection:
            self._session = session_row(connection, session.name).id

    def __enter__(self) -> Self:
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def renew(self) -> None:
        """Take the lease, or hold it longer; refuse if another process holds it."""
        now, own = time.time(), LEASES.c.session == self._session
        held = {
            "place": self._place,
            "process": os.getpid(),
            "holder": self._holder,
            "until": now + self.seconds,
        }
        with self._store.writing(self._session) as connection:
            row = connection.execute(sql.select(LEASES).where(own)).one_or_none()
            if row is None:
                connection.execute(sql.insert(LEASES).values(session=self._session, **held))
                return
            if row.holder != self._holder and row.until > now and not self._has_ended(row):
                raise LeaseHeldError(
                    f"another process ({row.process} on {row.place.partition(' ')[0]}) acts on "
                    f"session {self._name!r}; stop it, or wait {row.until - now:.0f} s until its "
                    "lease expires"
                )
            connection.execute(sql.update(LEASES).where(own).values(**held))

    def release(self) -> None:
        """Give the lease back, if it is still held."""
        own = sql.and_(LEASES.c.session == self._session, LEASES.c.holder == self._holder)
        with self._store.writing(self._session) as connection:
            connection.execute(sql.delete(LEASES).where(own))

    def _has_ended(self, row: sql.Row[tuple[object, ...]]) -> bool:
        """Whether the holder was a process of this machine that is gone."""
        if row.place != self._place:
            return False
        if row.process == os.getpid():
            return False  # another lease of this process
        try:
            os.kill(row.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def _place() -> str:
    """Return what tells machines, their restarts and their containers apart."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
