"""Several processes at one session: every state equals a replay of the journal."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import sqlalchemy as sql

import hedgerow as hr
from hedgerow.live.schema import HEADS, JOURNAL
from hedgerow.live.store import StoreError
from kill_live import Replay, functions, state_of

X = hr.sets.Simplex(4)


def policy():
    return hr.projection_free_coco(X)


def replay(store, last=None, name="a"):
    """Return checksum and totals after a row of the journal, from nothing."""
    return Replay(policy()).up_to(store, name, last)


def play(session, first, count):
    for k in range(first, first + count):
        session.tell(session.ask().id, *functions(k, 4))


def fork(work):
    """Run work in a child process and return its number; 0 is its exit code if all went well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_feedback_that_is_committed_while_a_journal_is_read_counts_once(place, monkeypatch):
    """Between reading which row is the last and reading the rows another process commits."""
    with (
        hr.live.open_session(place, "a", policy()) as writer,
        hr.live.open_session(place, "a", policy()) as observer,
    ):
        play(writer, 0, 3)
        run, store = observer.store.run, observer.store

        def interrupted(connection, statement, given):
            rows = run(connection, statement, given)
            monkeypatch.undo()
            play(writer, 3, 2)
            return rows

        monkeypatch.setattr(store, "run", interrupted)
        observer.certificate()
        seq, state = state_of(observer)
        assert seq == 6
        assert state == replay(store, seq)
        observer.certificate()
        seq, state = state_of(observer)
        assert seq == 10
        assert state == replay(store)


def test_a_session_that_is_opened_while_others_write_has_the_state_of_the_journal(place):
    with hr.live.open_session(place, "a", policy(), every=8) as session:
        play(session, 0, 1)

    def write():
        with hr.live.open_session(place, "a", policy()) as session:
            while True:
                play(session, 0, 1)

    writers = [fork(write) for _ in range(2)]
    try:
        for _ in range(12):
            with hr.live.open_session(place, "a", policy()) as observer:
                for _ in range(3):
                    seq, state = state_of(observer)
                    assert state == replay(observer.store, seq)
                    observer.certificate()
    finally:
        for writer in writers:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)


def test_a_reading_transaction_sees_one_moment(place):
    count = sql.select(sql.func.count()).select_from(JOURNAL)
    with hr.live.open_session(place, "a", policy()) as session, hr.live.Store(place) as other:
        with other.reading() as connection:
            assert connection.execute(count).scalar() == 0
            play(session, 0, 2)
            assert connection.execute(count).scalar() == 0
        with other.reading() as connection:
            assert connection.execute(count).scalar() == 4


def test_children_use_an_inherited_session(place, tmp_path):
    with hr.live.open_session(place, "a", policy(), every=8) as session:
        play(session, 0, 2)

        def work(number):
            acknowledged = []
            for k in range(10):
                done = session.tell(session.ask().id, *functions(100 * number + k, 4))
                acknowledged.append(f"{done.round} {done.order}")
            session.certificate()
            assert state_of(session)[1] == replay(session.store, state_of(session)[0])
            (tmp_path / str(number)).write_text("\n".join(acknowledged))

        children = [fork(lambda number=number: work(number)) for number in range(4)]
        play(session, 1000, 10)  # the parent goes on, on its own connection
        assert [ended(child) for child in children] == [0] * 4
        session.certificate()
        assert state_of(session)[1] == replay(session.store)
        with session.store.reading() as connection:
            rows = connection.execute(sql.select(JOURNAL).where(JOURNAL.c.kind == 1)).all()
        stored = {f"{row.round} {row.seq}" for row in rows}
        assert len(stored) == 52
        for number in range(4):
            assert set((tmp_path / str(number)).read_text().split("\n")) <= stored


def test_a_child_of_a_busy_thread_does_not_wait_for_its_lock(place):
    with hr.live.open_session(place, "a", policy()) as session:
        play(session, 0, 1)
        held, release = threading.Event(), threading.Event()

        def hold():
            with session._lock:
                held.set()
                release.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = fork(lambda: play(session, 1, 2))
        try:
            assert ended(child) == 0
        finally:
            release.set()
            thread.join()
        play(session, 3, 1)
        assert state_of(session)[1] == replay(session.store)
        assert session.status().answered == 4


def test_a_child_that_was_forked_within_a_transaction_commits_nothing(place):
    class UndoneError(Exception):
        pass

    with hr.live.open_session(place, "a", policy()) as session, hr.live.Store(place) as store:
        child, before = -1, session.status()
        try:
            with store.writing() as connection:
                connection.execute(sql.update(JOURNAL).values(cost=1.0))
                connection.execute(sql.delete(HEADS))
                child = os.fork()
                if child:
                    assert ended(child) == 0
                    raise UndoneError
        except StoreError as error:
            os._exit(0 if "forked within a transaction" in str(error) else 2)
        except UndoneError:
            pass
        finally:
            if child == 0:
                os._exit(3)
        assert session.status() == before


def test_after_a_lost_connection_the_next_call_works(server):
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    with hr.live.open_session(server, "lost", policy()) as session, hr.live.Store(server) as other:
        for call in (session.ask, session.status, session.certificate, session.history):
            play(session, 0, 2)
            with other.reading() as connection:
                connection.exec_driver_sql(end)
            with pytest.raises(StoreError, match="cannot be used"):
                call()
            call()
        session.certificate()
        assert state_of(session)[1] == replay(session.store, name="lost")


def test_after_a_crash_of_the_server_calls_work_again(server):
    with hr.live.open_session(server, "crash", policy()) as session:
        play(session, 0, 2)
        with session.store.reading() as connection:
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        os.kill(backend, signal.SIGKILL)  # the server ends all others, too, and recovers
        for _ in range(600):
            try:
                play(session, 2, 1)
            except StoreError:
                time.sleep(0.1)
            else:
                break
        play(session, 3, 2)
        assert state_of(session)[1] == replay(session.store, name="crash")
        assert session.status().answered == 5
