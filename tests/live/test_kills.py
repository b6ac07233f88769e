"""Killed at random moments, and hammered by four processes at once."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

import numpy as np

import hedgerow as hr
from hedgerow.live.session import ConflictError
from kill_live import (
    Replay,
    broken_invariants,
    functions,
    journal,
    journal_in,
    new_policy,
    trial,
)


def test_kills_lose_nothing_and_count_nothing_twice(place):
    verdict = trial(place, kills=12, seed=1, longest=0.15)
    longest = 0.15
    while not verdict["acknowledged"]:  # a busy machine: nobody came to anything
        longest *= 2.0
        verdict = trial(place, kills=12, seed=1, longest=longest)
    assert verdict["acknowledged facts lost"] == 0
    assert verdict["counted twice"] == 0
    assert verdict["broken invariants"] == []
    assert verdict["states of observers"] > 0
    assert verdict["states unlike a replay"] == 0
    assert verdict["final state bit-identical"]
    assert verdict["journal bit-identical"]


def test_a_store_that_forgets_is_noticed(folder, monkeypatch):
    """The mutant: every third commit of a victim is lost, without a word."""
    count, writing, here = iter(range(10**9)), hr.live.Store.writing, os.getpid()

    @contextmanager
    def forgetful(store, session=None):
        with writing(store, session) as connection:
            yield connection
            if os.getpid() != here and session is not None and next(count) % 3 == 2:
                connection.connection.driver_connection.rollback()

    monkeypatch.setattr(hr.live.Store, "writing", forgetful)
    try:
        verdict = trial(f"{folder}/s.db", kills=12, seed=1, longest=0.3)
    except (AssertionError, LookupError, ValueError):
        return  # acknowledged in two ways, or told what was never asked for
    assert verdict["acknowledged facts lost"] > 0


def hammer(place: str, policy, seed: int) -> dict:
    """Ask and tell, again, against and beside what others told; return what came back."""
    rng, seen = np.random.default_rng(seed), {"acks": {}, "refused": 0, "conflicts": 0, "wrong": 0}
    with hr.live.open_session(place, "busy", policy, every=5) as session:
        for _ in range(8):
            mine = session.ask()
            asked = {r.decision: r.round for r in journal_in(session.store, "busy") if r.decision}
            other = list(asked)[int(rng.integers(len(asked)))]
            for id_, twist in ((mine.id, 0), (other, 0), (other, 1), ("nobody", 0)):
                cost, constraint = functions(asked.get(id_, 0) + 1000 * twist, 90)
                try:
                    ack = session.tell(id_, cost, constraint)
                except ConflictError:
                    seen["conflicts"] += 1
                except LookupError:
                    seen["refused"] += 1
                else:
                    seen["wrong"] += id_ == "nobody"
                    answer = [ack.round, ack.order, ack.time, twist]
                    seen["wrong"] += seen["acks"].setdefault(id_, answer) != answer
        session.certificate()
        seen["state"] = session.policy.state()["checksum"]
    return seen


def test_four_processes_hammer_one_session(place, tmp_path):
    policy = new_policy()
    with hr.live.open_session(place, "busy", new_policy()) as session:  # load all, then fork
        decision = session.ask()
        session.tell(decision.id, *functions(1, 90))
    children = []
    for seed in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                (tmp_path / f"{seed}.json").write_text(json.dumps(hammer(place, policy, seed)))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 4
    seen = [json.loads((tmp_path / f"{seed}.json").read_text()) for seed in range(4)]
    rows = journal(place, "busy")
    assert broken_invariants(rows) == []
    assert [one["wrong"] for one in seen] == [0] * 4
    assert all(one["refused"] == 8 for one in seen)
    assert sum(one["conflicts"] for one in seen) > 10
    tells = {row.round: row for row in rows if row.kind == 1}
    for one in seen:
        for round_, order, time, _ in one["acks"].values():
            assert (tells[round_].seq, tells[round_].time) == (order, time)
    with hr.live.open_session(place, "busy", new_policy()) as session:  # from the last snapshot
        end = session.policy.state()["checksum"]
        assert session.status().decisions == 33
    with hr.live.Store(place) as store:
        assert Replay(new_policy()).up_to(store, "busy")[0] == end
