"""Group commit: requests that wait at the same time share one commit, and are answered after it.

A commit waits for the disk. Meanwhile requests gather, and the next transaction takes them all. A
request never waits for others to come: if it is alone, it is committed alone.
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
"""Calls in one commit; more would let other processes wait for long."""


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


Waiting = queue.SimpleQueue[Call | None]


class GroupCommit:
    """Makes calls on sessions in threads of its own, those that wait together in one transaction.

    There is one thread for a file, which has one writer at a time, and one for each session of a
    server: a session that another process has locked does not let the others wait.

    Args:
        store: of the sessions.

    """

    def __init__(self, store: Store):
        self.store = store
        self._threads: dict[str, tuple[threading.Thread, Waiting]] = {}

    async def call(self, session: Session, function: Callable[[], T], token: Token | None) -> T:
        """Return what the function returns, once all that it wrote is durable."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue(session).put(Call(session, token, function, answer))
        return await answer

    def close(self) -> None:
        """Make the calls that wait, and end the threads."""
        for _, waiting in self._threads.values():
            waiting.put(None)
        for thread, _ in self._threads.values():
            thread.join()

    def _queue(self, session: Session) -> Waiting:
        """Return where calls on a session wait."""
        name = "" if self.store.is_file else session.name
        if name not in self._threads:
            waiting: Waiting = queue.SimpleQueue()
            thread = threading.Thread(target=self._work, args=[waiting], daemon=True)
            self._threads[name] = thread, waiting
            thread.start()
        return self._threads[name][1]

    def _work(self, waiting: Waiting) -> None:
        """Make calls until None comes."""
        open_ = True
        while open_:
            found = [waiting.get()]
            with suppress(queue.Empty):
                while len(found) < MOST and found[-1] is not None:
                    found.append(waiting.get_nowait())
            group = [call for call in found if call is not None]
            open_ = len(group) == len(found)
            if group:
                self._answer(group)

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
        """Make calls in one transaction; return what each returned or raised, after the commit."""
        outcomes = []
        try:
            with self.store.one_commit() as shared:
                refused = self._invalid(shared, {call.token for call in group})
                for call in group:
                    shared.changed = False
                    try:
                        if call.token in refused:
                            raise RevokedError
                        outcomes.append(call.function())
                    except Exception as error:
                        if shared.changed or isinstance(error, StoreError):
                            raise
                        outcomes.append(error)
        except BaseException:
            for call in group:
                call.session.forget()
            raise
        return outcomes

    def _invalid(self, shared: SharedCommit, tokens: set[Token | None]) -> set[Token | None]:
        """Return which tokens were revoked since their requests were admitted."""
        known = [token for token in tokens if token is not None]
        assert shared.connection is not None
        return {token for token in known if not is_valid(self.store, shared.connection, token)}


def _settle(group: list[Call], outcomes: list[Any]) -> None:
    for call, outcome in zip(group, outcomes, strict=True):
        if call.answer.done():  # its client has gone
            continue
        if isinstance(outcome, Exception):
            call.answer.set_exception(outcome)
        else:
            call.answer.set_result(outcome)
