"""A session: decisions that are durable before they are returned, feedback that counts once.

The policy's state is a function of the journal: it is rebuilt from the last snapshot and the
feedback after it, bit for bit, by whichever process asks next.
"""

from __future__ import annotations

import inspect
import json
import os
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import sqlalchemy as sql

from hedgerow.benchmarks.best_action import hindsight
from hedgerow.feedback import EvalGrad, EvalLinear
from hedgerow.functions import Function, Linear
from hedgerow.games.turns import feedback_of
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.vectors import dot
from hedgerow.live.history import History, read_history
from hedgerow.live.payloads import (
    Seen,
    Told,
    as_told,
    digest_of,
    pack_action,
    pack_feedback,
    unpack_action,
    unpack_feedback,
    value_of,
)
from hedgerow.live.schema import ASK, JOURNAL, SESSIONS, SNAPSHOTS, TELL
from hedgerow.live.store import CERTIFIED, Status, Store, check_name, session_row
from hedgerow.problems.problem import GivenRound, Recorded
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import Policy
from hedgerow.snapshot import Snapshot
from hedgerow.snapshot_file import pack_snapshot, unpack_snapshot

EVERY = 256
"""Feedbacks between two snapshots."""
LONGEST_KEY = 80
REMEMBERED = 4096
"""Open decisions of its own that a process remembers; others are looked up."""

c = JOURNAL.c
HEAD = sql.select(sql.func.max(c.seq)).where(c.session == sql.bindparam("session"))
LAST = sql.select(sql.func.max(c.round)).where(
    c.session == sql.bindparam("session"), c.kind == sql.literal_column(str(ASK))
)
FIND = sql.select(JOURNAL).where(
    c.session == sql.bindparam("session"), c.decision == sql.bindparam("decision")
)
ANSWER = sql.select(JOURNAL).where(
    c.session == sql.bindparam("session"),
    c.kind == sql.literal_column(str(TELL)),
    c.round == sql.bindparam("round"),
)
ADD = sql.insert(JOURNAL)
TOTALS = ("told", "total_cost", "total_ccv", "total_violated")
Totals = tuple[int, float, float, int]
NOTHING: Totals = (0, 0.0, 0.0, 0)
EMPTY: dict[str, Any] = dict.fromkeys(column.name for column in c)


@dataclass(frozen=True, eq=False)
class Decision:
    """What to do now.

    Attributes:
        id: by which its feedback is told.
        round: its number in the session, from 1 on.
        action: the point to play.
        time: when it was made, in seconds since 1970.

    """

    id: str
    round: int
    action: Vector
    time: float


@dataclass(frozen=True)
class Acknowledgement:
    """Feedback that was taken in, once.

    Attributes:
        id: of the decision.
        round: of the decision.
        order: its row in the journal: smaller ones were taken in before it.
        time: when it was taken in, in seconds since 1970.

    """

    id: str
    round: int
    order: int
    time: float


def open(  # noqa: A001 - live.open, as in gzip.open
    store: str | os.PathLike[str] | Store,
    name: str,
    policy: Policy[Any, Any],
    *,
    every: int = EVERY,
    labels: Sequence[str] | None = None,
) -> Session:
    """Begin a session, or resume it where it was, whatever happened to the process before.

    Args:
        store: the path of an SQLite file, a postgresql:// URL, or a store that is open.
        name: of the session.
        policy: who decides. A new session goes on from its state; a resumed one sets it to the
            state of the session, and refuses a policy of other arguments.
        every: how many feedbacks lie between two snapshots, for a new session.
        labels: names of the coordinates, for a new session; pages show them.

    >>> import tempfile, hedgerow as hr
    >>> folder = tempfile.TemporaryDirectory()
    >>> policy = hr.projection_free_coco(hr.sets.Simplex(2))
    >>> with hr.live.open(f"{folder.name}/routes.db", "edge-eu", policy) as session:
    ...     decision = session.ask()
    ...     _ = session.tell(decision.id, hr.Linear([1.0, 2.0]), hr.Linear([1.0, 0.0], -0.75))
    >>> again = hr.projection_free_coco(hr.sets.Simplex(2))
    >>> with hr.live.open(f"{folder.name}/routes.db", "edge-eu", again) as session:
    ...     session.ask().round
    2
    >>> folder.cleanup()

    """
    return begin(store, name, policy, every=every, labels=labels, spec=None)


def begin(
    store: str | os.PathLike[str] | Store,
    name: str,
    policy: Policy[Any, Any],
    *,
    every: int = EVERY,
    labels: Sequence[str] | None = None,
    spec: str | None = None,
) -> Session:
    """Do what `open` does; `spec` is the JSON that the service built the policy from."""
    check_name(name)
    shown, dim = configuration(policy.state()), policy.decision_set.dim
    names = None if labels is None else _labels(labels, dim)
    every = as_count(every, "every")
    opened = store if isinstance(store, Store) else Store(store)
    try:
        with opened.writing() as connection:
            known = sql.select(SESSIONS).where(SESSIONS.c.name == name)
            if not opened.is_file:
                connection.execute(sql.text("LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE"))
            row = connection.execute(known).one_or_none()
            if row is None:
                connection.execute(
                    sql.insert(SESSIONS).values(
                        name=name,
                        created=time.time(),
                        policy=_in_short(policy),
                        configuration=shown,
                        dim=dim,
                        every=every,
                        labels=names,
                        spec=spec,
                    )
                )
                row = session_row(connection, name)
                snapshot = pack_snapshot(policy.state())
                connection.execute(
                    sql.insert(SNAPSHOTS).values(session=row.id, seq=0, payload=snapshot)
                )
        _check_configuration(name, row.configuration, shown)
        return Session(opened, row, policy, owns=not isinstance(store, Store))
    except BaseException:
        if not isinstance(store, Store):
            opened.close()
        raise


class Session:
    """A named sequence of decisions in a store; `live.open` makes one.

    Several decisions may be open at a time, and several processes may serve one session.
    """

    def __init__(self, store: Store, row: sql.Row[Any], policy: Policy[Any, Any], owns: bool):
        self.store, self.name, self.policy = store, str(row.name), policy
        self._id, self._dim, self._every = int(row.id), int(row.dim), int(row.every)
        self._owns = owns
        self._lock = threading.RLock()
        self._seq: int | None = None  # the journal's row that the policy has seen; None: rebuild it
        self._totals = NOTHING  # up to _seq
        self._open: dict[str, tuple[int, Vector]] = {}  # asked here, and not told up to _seq
        self._round: int | None = None  # the last one, up to _seq
        self._takes_at = "at" in inspect.signature(policy.tell).parameters
        self._refresh()

    def __repr__(self) -> str:
        return f"Session({self.name!r} in {self.store.place!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, unless it was given open."""
        if self._owns:
            self.store.close()

    def ask(self, key: str | None = None) -> Decision:
        """Return a decision that is already durable.

        Args:
            key: an id of your own; asking again with it returns the same decision.

        """
        if key is not None and not (isinstance(key, str) and 1 <= len(key) <= LONGEST_KEY):
            raise ValueError(f"a key has 1 to {LONGEST_KEY} characters, got {str(key)[:80]!r}")
        with self._lock:
            with self.store.writing(self._id) as connection:
                head = self._catch_up(connection)
                if key is not None and (asked := self._asked(connection, key)) is not None:
                    return Decision(key, asked.round, self._action(asked), asked.time)
                if self._round is None:
                    self._round = self.store.run(connection, LAST, {"session": self._id}).scalar()
                action = self.policy.ask()
                payload = pack_action(action)
                decision = Decision(
                    uuid.uuid4().hex if key is None else key,
                    (self._round or 0) + 1,
                    action,
                    time.time(),
                )
                row = EMPTY | {
                    "session": self._id,
                    "seq": head + 1,
                    "kind": ASK,
                    "round": decision.round,
                    "decision": decision.id,
                    "time": decision.time,
                    "digest": digest_of(payload),
                    "payload": payload,
                }
                self.store.run(connection, ADD, row)
            self._seq, self._round = head + 1, decision.round
            if len(self._open) < REMEMBERED:
                self._open[decision.id] = decision.round, action.copy()
        return decision

    def tell(
        self,
        id: str,  # noqa: A002
        cost: Seen | Function,
        constraint: Told | Sequence[Seen] | Function,
    ) -> Acknowledgement:
        """Take in what was seen of a decision, once; the same again changes nothing.

        Args:
            id: of the decision.
            cost: what was seen of the cost at the decision's action, as `first_order` has it; or
                the function itself, which is then looked at as the policy wants.
            constraint: the same of the constraint, or a list of several.

        """
        if not isinstance(id, str):
            raise TypeError(f"a decision's id is a text, got {type(id).__name__}")
        action: Vector | None
        with self._lock:
            with self.store.writing(self._id) as connection:
                head = self._catch_up(connection)
                if id in self._open:
                    round_, action = self._open[id]
                else:
                    round_, action, before = self._looked_up(connection, id)
                    if before is not None:
                        return self._again(before, id, self._looked(cost, constraint, action))
                    assert action is not None
                told = self._looked(cost, constraint, action)
                payload = pack_feedback(*told)
                self._seq = None  # until the commit nobody knows what it is
                self._tell_policy(told, action)
                cost_, violation = value_of(told[0]), value_of(told[1])
                self._totals = _with_round(self._totals, cost_, violation)
                done = Acknowledgement(id, round_, head + 1, time.time())
                row = EMPTY | {
                    "session": self._id,
                    "seq": done.order,
                    "kind": TELL,
                    "round": done.round,
                    "time": done.time,
                    "digest": digest_of(payload),
                    "payload": payload,
                    "cost": cost_,
                    "violation": violation,
                    **self._measures(),
                    **dict(zip(TOTALS, self._totals, strict=True)),
                }
                self.store.run(connection, ADD, row)
                if self._totals[0] % self._every == 0:
                    self._snapshot(connection, done.order)
            self._seq = done.order
            self._open.pop(id, None)
        return done

    def _looked_up(
        self,
        connection: sql.Connection,
        id: str,  # noqa: A002
    ) -> tuple[int, Vector | None, sql.Row[Any] | None]:
        """Return round and action of a decision in the journal, and its feedback if it has any."""
        asked = self._asked(connection, id)
        if asked is None:
            raise LookupError(
                f"session {self.name!r} made no decision {str(id)[:80]!r}; tell the id that ask() "
                "returned"
            )
        given = {"session": self._id, "round": asked.round}
        before = self.store.run(connection, ANSWER, given).one_or_none()
        compacted = before is not None and asked.payload is None
        return asked.round, None if compacted else self._action(asked), before

    def _again(
        self,
        before: sql.Row[Any],
        id: str,  # noqa: A002
        told: tuple[Seen, Told],
    ) -> Acknowledgement:
        """Return the acknowledgement of before, or refuse feedback that differs from that."""
        if before.digest != digest_of(pack_feedback(*told)):
            raise ConflictError(
                f"decision {id} was already told other feedback, which stays; feedback of a "
                "decision counts once"
            )
        return Acknowledgement(id, before.round, before.seq, before.time)

    def status(self) -> Status:
        """Return the session in numbers."""
        return self.store.status(self.name)

    def history(self, actions: bool = True) -> History:
        """Return what happened so far, as arrays; `columns()` of it makes a DataFrame.

        Args:
            actions: whether the actions are wanted, the largest part.

        """
        return read_history(self.store, self.name, actions=actions)

    def certificate(self, budget: float = 0.0) -> float:
        """Bound the regret of the answered decisions, as the policy's `certificate` does."""
        with self._lock:
            self._refresh()
            certify = getattr(self.policy, "certificate", None)
            if certify is None:
                raise TypeError(
                    f"a {type(self.policy).__name__} has no certificate; policies that see "
                    "gradients have one"
                )
            return float(certify(budget))

    def problem(self) -> Recorded:
        """Return the answered rounds, in the order of feedback, to replay other policies on.

        A round is the linear function that was seen, value + <gradient, x - action>: the function
        itself where that was linear, else a lower bound of it.
        """
        rounds: list[GivenRound] = []
        with (
            self._lock,
            self.store.reading() as connection,
            connection.execute(self._tells_after(0)) as rows,
        ):
            for row in rows:
                if row.payload is None or row.action is None:
                    raise ValueError(
                        f"session {self.name!r} was compacted, so that its first rounds cannot be "
                        "played again; history() has their values"
                    )
                action = unpack_action(row.action, row.action_digest, self._dim)
                cost, constraint = unpack_feedback(row.payload, row.digest, self._dim)
                each = constraint if isinstance(constraint, tuple) else (constraint,)
                rounds.append((_line(cost, action), [_line(g, action) for g in each]))
        return Recorded(self.policy.decision_set, rounds)

    def hindsight(self, *, budget: float = 0.0, time_limit: float | None = None) -> Benchmark:
        """Return the best fixed action of the answered rounds; see `hedgerow.hindsight`."""
        return hindsight(self.problem(), budget=budget, time_limit=time_limit)

    def _looked(self, cost: Any, constraint: Any, action: Vector | None) -> tuple[Seen, Told]:
        """Return feedback as it is stored; functions are looked at, at the decision's action."""
        if callable(cost) or callable(constraint):
            if action is None:
                raise ValueError("this decision was compacted; tell its feedback, not functions")
            look = feedback_of(self.policy)
            cost, constraint = (
                look(part, action) if callable(part) else part for part in (cost, constraint)
            )
        return as_told(cost, constraint, self._dim)

    def _tell_policy(self, told: tuple[Seen, Told], action: Vector) -> None:
        """Tell the policy about one of its decisions, at the action that was played then."""
        if np.array_equal(action, self.policy.ask()):
            self.policy.tell(*told)
        elif self._takes_at:
            self.policy.tell(*told, at=action)  # type: ignore[call-arg]
        else:
            raise ValueError(
                f"a {type(self.policy).__name__} learns from its present play alone, and has moved "
                "since this decision; tell each decision before the next feedback"
            )

    def _measures(self) -> dict[str, float | None]:
        """Return the weight on the constraint and, now and then, the certificate."""
        surrogate = getattr(self.policy, "surrogate", None)
        weight = getattr(surrogate, "weight", None)
        certify = getattr(self.policy, "certificate", None)
        due = self._totals[0] <= CERTIFIED or self._totals[0] % CERTIFIED == 0
        return {
            "weight": None if weight is None else float(weight),
            "certificate": float(certify()) if certify is not None and due else None,
        }

    def _snapshot(self, connection: sql.Connection, seq: int) -> None:
        """Store the policy's state; the first one and the last two are kept."""
        own = SNAPSHOTS.c.session == self._id
        earlier = sql.select(sql.func.max(SNAPSHOTS.c.seq)).where(own)
        last = connection.execute(earlier).scalar_one()
        connection.execute(sql.delete(SNAPSHOTS).where(own, SNAPSHOTS.c.seq < last))
        connection.execute(
            sql.insert(SNAPSHOTS).values(
                session=self._id,
                seq=seq,
                payload=pack_snapshot(self.policy.state()),
            )
        )

    def _refresh(self) -> None:
        """Bring the policy to the state of the journal."""
        with self._lock, self.store.reading() as connection:
            self._catch_up(connection)

    def _catch_up(self, connection: sql.Connection) -> int:
        """Bring the policy to the state of the journal and return its last row."""
        head = int(self.store.run(connection, HEAD, {"session": self._id}).scalar() or 0)
        if self._seq == head:
            return head
        self._open.clear()  # others were here
        self._round = None
        if self._seq is None:
            self._restore(connection)
        seq, self._seq = self._seq, None
        with connection.execute(self._tells_after(seq or 0)) as rows:
            for row in rows:
                if row.payload is None or row.action is None:
                    break
                action = unpack_action(row.action, row.action_digest, self._dim)
                self._tell_policy(unpack_feedback(row.payload, row.digest, self._dim), action)
                self._totals = tuple(row)[-len(TOTALS) :]
            else:
                self._seq = head
                return head
        self._restore(connection)  # what was missing was compacted, so that a snapshot has it
        return self._catch_up(connection)

    def _restore(self, connection: sql.Connection) -> None:
        """Set the policy to the last snapshot."""
        own = sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == self._id)
        row = connection.execute(own.order_by(SNAPSHOTS.c.seq.desc()).limit(1)).one()
        where = f"the snapshot of session {self.name!r}"
        self.policy.restore(unpack_snapshot(row.payload, where))
        self._seq = int(row.seq)
        at = sql.select(*(c[name] for name in TOTALS))
        at = at.where(c.session == self._id, c.seq == self._seq)
        totals = connection.execute(at).one_or_none()
        self._totals = NOTHING if totals is None else tuple(totals)

    def _tells_after(self, seq: int) -> sql.Select[Any]:
        """Select feedback with its actions, in the order of commits."""
        told, asked = JOURNAL.alias("told"), JOURNAL.alias("asked")
        return (
            sql.select(
                told.c.seq,
                told.c.payload,
                told.c.digest,
                asked.c.payload.label("action"),
                asked.c.digest.label("action_digest"),
                *(told.c[name] for name in TOTALS),
            )
            .join_from(
                told,
                asked,
                sql.and_(
                    asked.c.session == told.c.session,
                    asked.c.round == told.c.round,
                    asked.c.kind == ASK,
                ),
            )
            .where(told.c.session == self._id, told.c.kind == TELL, told.c.seq > seq)
            .order_by(told.c.seq)
            .execution_options(yield_per=64)
        )

    def _asked(self, connection: sql.Connection, id: str) -> sql.Row[Any] | None:  # noqa: A002
        given = {"session": self._id, "decision": id}
        return self.store.run(connection, FIND, given).one_or_none()

    def _action(self, row: sql.Row[Any]) -> Vector:
        if row.payload is None:
            raise ValueError(f"the action of decision {row.decision} was compacted away")
        return unpack_action(row.payload, row.digest, self._dim)


class ConflictError(ValueError):
    """A decision was told other feedback before."""


def configuration(snapshot: Snapshot) -> str:
    """Return what a policy is made of, as JSON: fingerprints of it and of its parts."""
    return json.dumps(_made_of(snapshot), sort_keys=True)


def _made_of(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "part": snapshot["part"],
        "fingerprint": snapshot["fingerprint"],
        "parts": {name: _made_of(part) for name, part in snapshot["parts"].items()},
    }


def _check_configuration(name: str, stored: str, given: str) -> None:
    """Refuse a policy that is not the one which the session was begun with."""
    if stored == given:
        return
    where = _difference(json.loads(stored), json.loads(given), "")
    raise ValueError(
        f"session {name!r} was begun with another policy or other arguments ({where}); open it "
        "with the policy it was begun with, or begin a session of another name"
    )


def _difference(stored: dict[str, Any], given: dict[str, Any], path: str) -> str:
    """Say which part differs first."""
    if stored["part"] != given["part"]:
        return f"{path or 'the policy'} was a {stored['part']}, now it is a {given['part']}"
    for name in sorted({*stored["parts"], *given["parts"]}):
        if name not in stored["parts"] or name not in given["parts"]:
            return f"{path or 'the policy'} has other parts: {name}"
        below = f"{path}.{name}" if path else name
        if stored["parts"][name] != given["parts"][name]:
            return _difference(stored["parts"][name], given["parts"][name], below)
    return f"{path or 'the policy'}, a {stored['part']}, has other arguments"


def _with_round(totals: Totals, cost: float, violation: float) -> Totals:
    told, total, ccv, violated = totals
    return told + 1, total + cost, ccv + max(0.0, violation), violated + (violation > 0.0)


def _line(seen: Seen, action: Vector) -> Linear:
    """Return the linear function that was seen at an action."""
    if not isinstance(seen, EvalGrad | EvalLinear):
        raise TypeError(
            f"a session with {type(seen).__name__} feedback cannot be played again: only values "
            "and gradients say what another action would have cost"
        )
    return Linear(seen.grad, seen.value - dot(seen.grad, action))


def _labels(labels: Sequence[str], dim: int) -> str:
    names = [str(label) for label in labels]
    if len(names) != dim:
        raise ValueError(f"there must be one label for each of {dim} coordinates, got {len(names)}")
    return json.dumps(names)


def _in_short(policy: object) -> str:
    return repr(policy)[:400]
