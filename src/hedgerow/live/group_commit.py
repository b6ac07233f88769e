"""Group commit: requests that wait at the same time share one commit, and are answered after it.

A commit waits for the disk. Meanwhile requests gather, and the next transaction takes them all. If
there are several, others are probably on their way, and it waits a moment for them. A request that
is alone is committed at once.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from hedgerow.live.session import Session
from hedgerow.live.store import SharedCommit, Store, StoreError
from hedgerow.live.tokens import RevokedError, Token, is_valid

T = TypeVar("T")
MOST = 128
"""Calls after which none are added to a commit: other processes may wait for it."""
MOMENT = 0.0002
"""Seconds to wait for more calls where there are several: a commit takes as long on a good disk."""


class Call(NamedTuple):
    """A call that waits for its commit.

    Attributes:
        session: that it is about.
        token: that must still be valid; None if none is needed.
        function: does the work, and returns the answer.
        answer: receives what it returned or raised, in its event loop.

    """

    session: Session
    token: Token | None
    function: Callable[[], Any]
    answer: asyncio.Future[Any]


class GroupCommit:
    """Makes calls on sessions in threads of its own, those that wait together in one transaction.

    There is one thread for a file, which has one writer at a time, and one for each session of a
    server: a session that another process has locked does not let the others wait.

    Args:
        store: of the sessions.

    """

    def __init__(self, store: Store):
        self.store = store
        self._writers: dict[str, _Writer] = {}

    async def call(self, session: Session, function: Callable[[], T], token: Token | None) -> T:
        """Return what the function returns, once all that it wrote is durable."""
        name = "" if self.store.is_file else session.name
        if name not in self._writers:
            self._writers[name] = _Writer(self.store)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._writers[name].add(Call(session, token, function, answer))
        return await answer

    def close(self) -> None:
        """Make the calls that wait, and end the threads."""
        for writer in self._writers.values():
            writer.close()


class _Writer:
    """A thread that makes calls.

    Args:
        store: to write to.

    """

    def __init__(self, store: Store):
        self._store = store
        self._arrived: list[Call] = []  # in this turn of the event loop
        self._waiting: queue.SimpleQueue[list[Call]] = queue.SimpleQueue()
        self._is_open = True
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def add(self, call: Call) -> None:
        """Hand a call to the thread, with all others of this turn of the event loop."""
        if not self._arrived:
            call.answer.get_loop().call_soon(self._hand_over)
        self._arrived.append(call)

    def close(self) -> None:
        """Make the calls that wait, and end the thread."""
        self._waiting.put([])
        self._thread.join()

    def _hand_over(self) -> None:
        arrived, self._arrived = self._arrived, []
        self._waiting.put(arrived)

    def _work(self) -> None:
        while self._is_open:
            if group := self._take(self._waiting.get()):
                self._answer(group)

    def _take(self, calls: list[Call]) -> list[Call]:
        """Return calls that were taken from the queue; none are the last."""
        self._is_open = self._is_open and bool(calls)
        return calls

    def _answer(self, group: list[Call]) -> None:
        """Make calls and answer each, after the commit.

        Where one fails after it wrote something, all are undone and made again one by one, so that
        only the one that fails is refused.
        """
        try:
            outcomes = self._make(group)
        except Exception as error:  # it belongs to whoever waits for the answer
            if len(group) > 1 and not isinstance(error, StoreError):
                for call in group:
                    self._answer([call])
                return
            outcomes = [error] * len(group)
        with suppress(RuntimeError):  # the event loop has ended
            group[0].answer.get_loop().call_soon_threadsafe(_settle, group, outcomes)

    def _make(self, group: list[Call]) -> list[Any]:
        """Make calls in one transaction; return what each returned or raised, after the commit.

        Those that arrive meanwhile are added to the group.
        """
        outcomes: list[Any] = []
        valid: dict[Token | None, bool] = {None: True}
        try:
            with self._store.one_commit() as shared:
                for call in group:
                    shared.changed = False
                    try:
                        if not self._is_valid(call.token, valid, shared):
                            raise RevokedError
                        outcomes.append(call.function())
                    except Exception as error:
                        if shared.changed or isinstance(error, StoreError):
                            raise
                        outcomes.append(error)
                    if len(outcomes) == len(group) < MOST:
                        with suppress(queue.Empty):
                            wait = MOMENT if len(group) > 1 else 0.0
                            group += self._take(self._waiting.get(wait > 0.0, wait))
        except BaseException:
            for call in group:
                call.session.forget()
            raise
        return outcomes

    def _is_valid(
        self, token: Token | None, valid: dict[Token | None, bool], shared: SharedCommit
    ) -> bool:
        """Return whether a token is still valid; each is looked up once in a transaction."""
        if token not in valid:
            assert token is not None
            assert shared.connection is not None
            valid[token] = is_valid(self._store, shared.connection, token)
        return valid[token]


def _settle(group: list[Call], outcomes: list[Any]) -> None:
    for call, outcome in zip(group, outcomes, strict=True):
        if call.answer.done():  # its client has gone
            continue
        if isinstance(outcome, Exception):
            call.answer.set_exception(outcome)
        else:
            call.answer.set_result(outcome)
