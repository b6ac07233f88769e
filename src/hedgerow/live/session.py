"""A session: decisions that are durable before they are returned, feedback that counts once."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, cast

import sqlalchemy as sql

from hedgerow.feedback import EvalGrad, EvalLinear, first_order
from hedgerow.functions import Function, Linear, in_order
from hedgerow.games.comparators.hindsight import hindsight
from hedgerow.games.simulation import feedback_of
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.vectors import dot
from hedgerow.labels import Coordinates, Labels
from hedgerow.live.chain import COVERED, ROW, WHOLE, checked, link
from hedgerow.live.decision import Decision, Routes
from hedgerow.live.history import History, read_history
from hedgerow.live.payloads import (
    NO_ADVICE,
    Observation,
    Observations,
    RoundFeedback,
    as_feedback,
    ask_with,
    digest_of,
    pack_action,
    pack_feedback,
    unpack_action,
    unpack_advice,
    unpack_feedback,
)
from hedgerow.live.replica import Replica
from hedgerow.live.schema import ASK, HEADS, JOURNAL, TELL
from hedgerow.live.store import Status, Store, call_after_fork
from hedgerow.policies.advised import Advice, as_advice
from hedgerow.problems.problem import GivenRound, RecordedProblem
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import ResumablePolicy

LONGEST_KEY = 80
KEY = re.compile(rf"[^\0\ud800-\udfff]{{1,{LONGEST_KEY}}}")
REMEMBERED = 64, 100_000
"""A process remembers this many of its newest open decisions, or as many as have this many numbers;
others are read from the store."""
MOST = 1000
"""Decisions or feedbacks in one call."""

LAST = sql.select(sql.func.max(JOURNAL.c.round)).where(
    JOURNAL.c.session == sql.bindparam("session"),
    JOURNAL.c.kind == sql.literal_column(str(ASK)),
)
OWN = WHOLE.where(ROW.c.session == sql.bindparam("session"))
FIND = OWN.where(ROW.c.decision == sql.bindparam("decision"))
ANSWER = OWN.where(
    ROW.c.kind == sql.literal_column(str(TELL)), ROW.c.round == sql.bindparam("round")
)
ADD = sql.insert(JOURNAL)
ADVANCE = (
    sql.update(HEADS)
    .where(HEADS.c.session == sql.bindparam("own"))
    .values(seq=sql.bindparam("seq"), chain=sql.bindparam("chain"))
)
EMPTY: dict[str, Any] = dict.fromkeys(column.name for column in JOURNAL.c)


@dataclass(frozen=True)
class Acknowledgement:
    """Confirms feedback that was recorded, exactly once.

    Attributes:
        id: of the decision.
        round: of the decision.
        order: its row in the journal; rows are in the order of commits.
        time: when it was recorded, in seconds since 1970.

    """

    id: str
    round: int
    order: int
    time: float


class Session:
    """A named sequence of decisions in a store; `live.open_session` makes one.

    Several decisions may be open at a time, and several processes may serve one session.
    """

    def __init__(
        self,
        store: Store,
        row: sql.Row[Any],
        policy: ResumablePolicy[Any, Any],
        owns: bool,
        upgrade: bool = False,
    ):
        self.store, self.name, self.policy = store, str(row.name), policy
        self._id, self._dim, self._owns = int(row.id), int(row.dim), owns
        self.labels = _labels_of(row)
        self._routes: tuple[bytes, Routes] = b"", {}  # of the last action that was asked about
        self._lock = threading.RLock()
        self._replica = Replica(store, row, policy, upgrade)
        # round, action, digest and advice of decisions made here, without feedback up to its row
        self._open: dict[str, tuple[int, Vector, str, Vector]] = {}
        self._remembered = max(REMEMBERED[0], REMEMBERED[1] // self._dim)
        self._round: int | None = None  # the last one, up to its row
        self._added = 0, 0  # the shared commit in which it last added a row, and the row
        self._refresh()
        if self._replica.replays:
            self._store_snapshot()
        call_after_fork(self)

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

    def after_fork(self) -> None:
        """Reset the lock in a child process: a thread of the parent may have held it."""
        self._lock = threading.RLock()
        self.forget()

    def forget(self) -> None:
        """Build the policy from the store before its next use: what it has seen may be undone."""
        with self._lock:
            self._replica.seq = None

    def ask(self, key: str | None = None, advice: Advice | None = None) -> Decision:
        """Return a decision that is already durable.

        Args:
            key: an id of your own; asking again with it returns the same decision, whatever the
                advice.
            advice: for a policy with advisers, what they propose: points of the set by name.

        """
        if key is not None:
            check_key(key)
        with self._lock:
            with self.store.writing(self._id) as connection:
                head = self._catch_up(connection)
                if key is not None and (asked := self._asked(connection, key)) is not None:
                    return self._made(key, asked.round, self._action(asked), asked.time)
                if self._round is None:
                    self._round = self.store.run(connection, LAST, {"session": self._id})[0][0]
                proposed = self._advice(advice)
                action = ask_with(self.policy, proposed)
                payload = pack_action(action, proposed)
                decision = self._made(
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
                chain = self._add(connection, row, None)
            self._replica.seq, self._replica.chain = head + 1, chain
            self._round = decision.round
            if len(self._open) >= self._remembered:
                del self._open[next(iter(self._open))]
            self._open[decision.id] = decision.round, action.copy(), row["digest"], proposed
        return decision

    def tell(
        self,
        id: str,  # noqa: A002
        cost: Observation | Function,
        constraint: Observations | Sequence[Observation] | Function,
    ) -> Acknowledgement:
        """Record the feedback on a decision, once; repeating it changes nothing.

        Args:
            id: of the decision.
            cost: the observed cost at the decision's action, as `first_order` returns it; or
                the function itself, which is then evaluated as the policy needs.
            constraint: the same of the constraint, or a list of several. A `Maximum` counts by its
                largest part; a list of its parts shows all of them.

        """
        if not isinstance(id, str):
            raise TypeError(f"a decision's id must be a string, got {type(id).__name__}")
        action: Vector | None
        with self._lock:
            with self.store.writing(self._id) as connection:
                head = self._catch_up(connection)
                if id in self._open:
                    round_, action, digest, proposed = self._open[id]
                else:
                    asked, before = self._find_decision(connection, id)
                    round_, action, digest, proposed = asked
                    if before is not None:
                        return self._again(before, id, self._observe(cost, constraint, action))
                    assert action is not None
                feedback = self._observe(cost, constraint, action)
                payload = pack_feedback(*feedback)
                columns = self._replica.record(feedback, action, proposed)
                done = Acknowledgement(id, round_, head + 1, time.time())
                row = EMPTY | {
                    "session": self._id,
                    "seq": done.order,
                    "kind": TELL,
                    "round": done.round,
                    "time": done.time,
                    "digest": digest_of(payload),
                    "payload": payload,
                    **columns,
                }
                chain = self._add(connection, row, digest)
                self._replica.snapshot_if_due(connection, done.order, chain)
            self._replica.seq, self._replica.chain = done.order, chain
            self._open.pop(id, None)
        return done

    def ask_many(self, count: int = 1, keys: Sequence[str] | None = None) -> list[Decision]:
        """Return several decisions that are durable, all by one commit.

        No feedback comes between them, so they have the same action, unless the policy is random.

        Args:
            count: how many.
            keys: their ids, instead of a number.

        """
        wanted = [None] * as_count(count, "count") if keys is None else list(keys)
        _check_size(len(wanted), "decisions")
        with self._one_commit():
            return [self.ask(key) for key in wanted]

    def tell_many(
        self,
        feedback: Sequence[
            tuple[
                str,
                Observation | Function,
                Observations | Sequence[Observation] | Function,
            ]
        ],
    ) -> list[Acknowledgement]:
        """Record feedback on several decisions by one commit: all of it, or none if one is refused.

        Args:
            feedback: of each decision its id, cost and constraint, as for `tell`.

        """
        _check_size(len(feedback), "feedbacks")
        done: list[Acknowledgement] = []
        with self._one_commit():
            for one in feedback:
                try:
                    done.append(self.tell(*one))
                except (ValueError, TypeError, LookupError) as error:
                    place = f"feedback {len(done) + 1} of {len(feedback)}, and so all, is refused"
                    raise type(error)(f"{place}: {error}") from None
        return done

    @contextmanager
    def _one_commit(self) -> Iterator[None]:
        """Let all calls in the block share one commit."""
        with self._lock:
            try:
                with self.store.one_commit():
                    yield
            except BaseException:
                self.forget()
                raise

    def _made(self, id: str, round: int, action: Vector, time: float) -> Decision:  # noqa: A002
        """Return a decision with what is known of its coordinates."""
        has_routes = hasattr(self.policy.decision_set, "routes")
        find = self._find_routes if has_routes else None
        return Decision(id, round, action, time, self.labels, find)

    def _find_routes(self, action: Vector) -> Routes:
        """Return the share of each route; those of the last action are remembered."""
        key, decision_set = action.tobytes(), cast(Any, self.policy.decision_set)
        if key != self._routes[0]:
            self._routes = key, {part.name: part.share for part in decision_set.routes(action)}
        return self._routes[1]

    def _find_decision(
        self,
        connection: sql.Connection,
        id: str,  # noqa: A002
    ) -> tuple[tuple[int, Vector | None, str, Vector], sql.Row[Any] | None]:
        """Return round, action, digest and advice of a decision, and its feedback if it has any."""
        asked = self._asked(connection, id)
        if asked is None:
            raise LookupError(
                f"session {self.name!r} made no decision {str(id)[:80]!r}; tell the id that ask() "
                "returned"
            )
        given = {"session": self._id, "round": asked.round}
        found = self.store.run(connection, ANSWER, given)
        before = checked(found[0], self.name) if found else None
        if before is not None and asked.payload is None:  # compacted
            return (asked.round, None, asked.digest, NO_ADVICE), before
        action, advice = self._action(asked), unpack_advice(asked.payload, self._dim)
        return (asked.round, action, asked.digest, advice), before

    def _advice(self, given: Advice | None) -> Vector:
        """Return the advisers' points as they are stored, or refuse them."""
        names: tuple[str, ...] = getattr(self.policy, "advisers", ())
        if not names:
            if given is not None:
                raise TypeError(
                    f"the policy of session {self.name!r} has no advisers; begin a session whose "
                    "policy has some"
                )
            return NO_ADVICE
        return as_advice({} if given is None else given, names, self.policy.decision_set)

    def _again(
        self,
        before: sql.Row[Any],
        id: str,  # noqa: A002
        feedback: RoundFeedback,
    ) -> Acknowledgement:
        """Return the earlier acknowledgement, or refuse different feedback."""
        if before.digest != digest_of(pack_feedback(*feedback)):
            raise ConflictError(
                f"decision {id} was already told other feedback, which stays; feedback of a "
                "decision counts once"
            )
        return Acknowledgement(id, before.round, before.seq, before.time)

    def status(self) -> Status:
        """Return the session in numbers."""
        return self.store.status(self.name)

    def history(self, actions: bool = True) -> History:
        """Return the rounds so far as arrays; `columns()` is ready for a DataFrame.

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
            bound: float = certify(budget)  # it prints why if it is vacuous
            return bound

    def problem(self) -> RecordedProblem:
        """Return the answered rounds, in the order of feedback, to replay other policies on.

        A round is the linear function that was seen, value + <gradient, x - action>: the function
        itself where that was linear, else a lower bound of it.
        """
        rounds: list[GivenRound] = []
        tells = WHOLE.where(ROW.c.session == self._id, ROW.c.kind == TELL).order_by(ROW.c.seq)
        with (
            self._lock,
            self.store.reading() as connection,
            connection.execute(tells.execution_options(yield_per=64)) as rows,
        ):
            for row in rows:
                checked(row, self.name)
                if row.payload is None or row.action is None:
                    raise ValueError(
                        f"session {self.name!r} was compacted, so that its first rounds cannot be "
                        "played again; history() has their values"
                    )
                action = unpack_action(row.action, row.action_digest, self._dim)
                cost, constraint = unpack_feedback(row.payload, row.digest, self._dim)
                each = constraint if isinstance(constraint, tuple) else (constraint,)
                rounds.append((_linear(cost, action), [_linear(g, action) for g in each]))
        return RecordedProblem(self.policy.decision_set, rounds)

    def hindsight(
        self,
        *,
        budget: float = 0.0,
        time_limit: float | None = None,
        units: Sequence[float] | None = None,
    ) -> Benchmark:
        """Return the best fixed action of the answered rounds; see `hedgerow.hindsight`."""
        return hindsight(self.problem(), budget=budget, time_limit=time_limit, units=units)

    def _observe(self, cost: Any, constraint: Any, action: Vector | None) -> RoundFeedback:
        """Return feedback as it is stored; evaluate functions at the decision's action."""
        several = isinstance(constraint, list | tuple)
        parts = [cost, *constraint] if several else [cost, constraint]
        if any(map(callable, parts)):
            if action is None:
                raise ValueError("this decision was compacted; tell its feedback, not functions")
            whole = getattr(self.policy, "sees_parts", False)  # a Maximum is stored as one
            observe = first_order if whole else feedback_of(self.policy)
            names = "the cost", "the constraint"
            parts = [
                observe(in_order(part, self.labels, names[k > 0]), action)
                if callable(part)
                else part
                for k, part in enumerate(parts)
            ]
        cost, constraint = parts[0], parts[1:] if several else parts[1]
        return as_feedback(cost, constraint, Coordinates(self._dim, self.labels))

    def _refresh(self) -> None:
        """Bring the policy to the state of the journal."""
        with self._lock, self.store.reading() as connection:
            self._catch_up(connection)

    def _catch_up(self, connection: sql.Connection) -> int:
        """Bring the policy to the state of the journal and return its last row."""
        commit, added = self._added
        if 0 < commit == self.store.shared_commit and added == self._replica.seq:
            return added  # nobody else can have written since
        before, head = self._replica.seq, self._replica.catch_up(connection)
        if before != head:  # another process wrote
            self._open.clear()
            self._round = None
        return head

    def _asked(self, connection: sql.Connection, id: str) -> sql.Row[Any] | None:  # noqa: A002
        found = self.store.run(connection, FIND, {"session": self._id, "decision": id})
        return checked(found[0], self.name) if found else None

    def _add(
        self, connection: sql.Connection, row: dict[str, Any], action_digest: str | None
    ) -> str:
        """Add a row to the journal and return its digest."""
        covered = tuple(row[name] for name in COVERED)
        chain = row["chain"] = link(self._replica.chain, covered, action_digest)
        self.store.run(connection, ADD, row)
        self.store.run(connection, ADVANCE, {"own": self._id, "seq": row["seq"], "chain": chain})
        self._added = self.store.shared_commit, row["seq"]
        return chain

    def _store_snapshot(self) -> None:
        """Store the state, so that the journal is not replayed again by this release."""
        with self._lock, self.store.writing(self._id) as connection:
            self._catch_up(connection)
            self._replica.snapshot(connection, *self._replica.last_feedback)

    def _action(self, row: sql.Row[Any]) -> Vector:
        if row.payload is None:
            raise ValueError(f"the action of decision {row.decision} was compacted away")
        return unpack_action(row.payload, row.digest, self._dim)


class ConflictError(ValueError):
    """The decision already has different feedback."""


def check_key(key: object) -> str:
    """Return a decision's key, or refuse what a store cannot hold: NUL and lone surrogates."""
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise ValueError(
            f"a key has 1 to {LONGEST_KEY} characters, without NUL and lone surrogates, got "
            f"{str(key)[:80]!r}"
        )
    return key


def _labels_of(row: sql.Row[Any]) -> Labels | None:
    """Return the labels of a session, if they tell its coordinates apart."""
    labels = None if row.labels is None else tuple(map(str, json.loads(row.labels)))
    return labels if labels is None or len(set(labels)) == len(labels) else None


def _check_size(size: int, what: str) -> None:
    if not 1 <= size <= MOST:
        raise ValueError(f"one call takes 1 to {MOST} {what}, got {size}; make several calls")


def _linear(seen: Observation, action: Vector) -> Linear:
    """Return the linear function observed at an action."""
    if not isinstance(seen, EvalGrad | EvalLinear):
        raise TypeError(
            f"a session with {type(seen).__name__} feedback cannot be played again: only values "
            "and gradients say what another action would have cost"
        )
    return Linear(seen.grad, seen.value - dot(seen.grad, action))
