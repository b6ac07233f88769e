"""Begin a session in a store, or resume it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sql

from hedgerow.files import pack_snapshot
from hedgerow.inputs import as_count
from hedgerow.live.chain import FIRST, add_snapshot, seal_journal, seal_session
from hedgerow.live.configuration import check_configuration, configuration, shown
from hedgerow.live.schema import EVERY, SESSIONS
from hedgerow.live.session import Session
from hedgerow.live.specs import policy_of, stored_spec
from hedgerow.live.store import Store, check_name, session_row
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.release import this_release
from hedgerow.sets.decision_set import DecisionSet


def open_session(
    store: str | os.PathLike[str] | Store,
    name: str,
    policy: ResumablePolicy[Any, Any],
    *,
    every: int = EVERY,
    labels: Sequence[str] | None = None,
    upgrade: bool = False,
) -> Session:
    """Create a session, or resume it where it stopped, even after a crash of the process.

    Args:
        store: the path of an SQLite file, a postgresql:// URL, or a store that is open.
        name: of the session.
        policy: the policy. A new session starts from its state; a resumed one sets it to the
            state of the session, and refuses a policy with other arguments. Give a new one: if
            this release cannot use a snapshot, it replays the journal from there.
        every: the number of feedbacks between two snapshots, for a new session.
        labels: names of the coordinates, for a new session; pages show them. Left out, edges
            of a set that has some are named by their ends.
        upgrade: whether to continue from the journal where another release recorded the session
            and this one would have decided differently. Without it such a session is refused.

    >>> import tempfile, hedgerow as hr
    >>> folder = tempfile.TemporaryDirectory()
    >>> policy = hr.projection_free_coco(hr.sets.Simplex(2))
    >>> with hr.live.open_session(f"{folder.name}/routes.db", "edge-eu", policy) as session:
    ...     decision = session.ask()
    ...     _ = session.tell(decision.id, hr.Linear([1.0, 2.0]), hr.Linear([1.0, 0.0], -0.75))
    >>> again = hr.projection_free_coco(hr.sets.Simplex(2))
    >>> with hr.live.open_session(f"{folder.name}/routes.db", "edge-eu", again) as session:
    ...     session.ask().round
    2
    >>> folder.cleanup()

    """
    return begin(store, name, policy, every=every, labels=labels, spec=None, upgrade=upgrade)


def begin(
    store: str | os.PathLike[str] | Store,
    name: str,
    policy: ResumablePolicy[Any, Any],
    *,
    every: int = EVERY,
    labels: Sequence[str] | None = None,
    spec: str | None = None,
    upgrade: bool = False,
) -> Session:
    """Do what `open` does; `spec` is the JSON that the service built the policy from."""
    check_name(name)
    given, dim = configuration(policy), policy.decision_set.dim
    names = _edge_names(policy.decision_set) if labels is None else _labels(labels, dim)
    every = as_count(every, "every")
    known = sql.select(SESSIONS.c.id).where(SESSIONS.c.name == name)
    opened = store if isinstance(store, Store) else Store(store)
    try:
        with opened.reading() as connection:
            is_new = connection.execute(known).one_or_none() is None
        if is_new:
            with opened.writing() as connection:
                if not opened.is_file:
                    connection.execute(sql.text("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE"))
                if connection.execute(known).one_or_none() is None:  # still
                    connection.execute(
                        sql.insert(SESSIONS).values(
                            name=name,
                            created=time.time(),
                            policy=shown(policy),
                            configuration=given,
                            dim=dim,
                            every=every,
                            labels=names,
                            spec=spec,
                        )
                    )
                    session = connection.execute(known).scalar_one()
                    seal_session(connection, session)
                    seal_journal(connection, session)
                    payload = pack_snapshot(policy.state())
                    add_snapshot(connection, session, 0, FIRST, this_release(), payload)
        with opened.reading() as connection:
            row = session_row(connection, name)
        if not check_configuration(row, policy, given, upgrade=upgrade):
            with opened.writing(row.id) as connection:
                change = sql.update(SESSIONS).where(SESSIONS.c.id == row.id)
                connection.execute(change.values(configuration=given))
                seal_session(connection, row.id)
        return Session(opened, row, policy, not isinstance(store, Store), upgrade)
    except BaseException:
        if not isinstance(store, Store):
            opened.close()
        raise


def upgrade_session(store: Store, name: str) -> None:
    """Continue a session of the service with this release, though it decides differently."""
    with store.reading() as connection:
        spec = session_row(connection, check_name(name)).spec
    if spec is None:
        raise ValueError(
            f"session {name!r} was created in Python, so only Python has its policy; open it there "
            "with live.open_session(..., upgrade=True)"
        )
    begin(store, name, policy_of(stored_spec(spec, name)), spec=spec, upgrade=True)


def _labels(labels: Sequence[str], dim: int) -> str:
    names = [str(label) for label in labels]
    if len(names) != dim:
        raise ValueError(f"there must be one label for each of {dim} coordinates, got {len(names)}")
    return json.dumps(names)


def _edge_names(decision_set: DecisionSet) -> str | None:
    """Return the ends of each edge, where coordinates are edges."""
    edges = getattr(decision_set, "edges", None)
    if edges is None or len(edges) != decision_set.dim:
        return None
    return json.dumps([f"{a} - {b}" for a, b in edges])
