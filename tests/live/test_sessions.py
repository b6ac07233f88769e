"""Sessions: durable, exactly once, resumed bit for bit, on both kinds of store."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sqlalchemy as sql

import hedgerow as hr
from falling_back import falling_back
from hedgerow.live.migrations import MIGRATIONS, VERSION
from hedgerow.live.page_content import session_summary
from hedgerow.live.schema import VERSIONS
from hedgerow.live.session import ConflictError
from hedgerow.live.store import StoreError
from kill_live import broken_invariants, journal

X = hr.sets.Simplex(4)


def rounds(count: int, seed: int = 0, most: float = 0.35):
    rng = np.random.default_rng(seed)
    return [(hr.Linear(rng.random(4)), hr.Linear(rng.random(4) - 0.5, -most)) for _ in range(count)]


def policy(**options):
    return hr.projection_free_coco(X, **options)


def played(session, game):
    for cost, constraint in game:
        session.tell(session.ask().id, cost, constraint)


def test_a_session_plays_as_ask_and_tell_do(place):
    game, alone = rounds(30), policy()
    with hr.live.open_session(place, "a", policy(), every=7) as session:
        for t, (f, g) in enumerate(game, start=1):
            x, decision = alone.ask(), session.ask()
            assert decision.round == t
            np.testing.assert_array_equal(decision.action, x)
            alone.tell(hr.first_order(f, x), hr.first_order(g, x))
            assert session.tell(decision.id, f, g).round == t
        assert session.policy.state()["checksum"] == alone.state()["checksum"]
        assert session.certificate() == alone.certificate()
        total, status = alone.summary(), session.status()
        assert (status.decisions, status.answered, status.unanswered) == (30, 30, 0)
        assert (status.cost, status.ccv) == (total.cost, total.ccv)
        assert status.violated == total.violated


@pytest.mark.parametrize(("options", "holds"), [({}, True), ({"tracking": False}, False)])
def test_what_holds_the_decision_is_told_and_outlives_compaction(place, options, holds):
    forbidden = hr.Linear([0.0, 0.0, 0.0, 1.0], -0.1)
    with hr.live.open_session(place, "a", policy(**options), every=4) as session:
        played(session, [(hr.Linear([1.0, 2.0, 3.0, -4.0]), forbidden)] * 12)
        status = session.status()
        held = getattr(session.policy, "binding", tuple)()
        assert bool(held) == holds
        for one, own in zip(status.binding, held, strict=False):
            assert one == pytest.approx(own, rel=1e-5)
        assert len(status.binding) == min(3, len(held))
        shown = [binding._asdict() for binding in status.binding]
        assert status.plain().get("binding", []) == shown
        said = f"{held[0].round} at {held[0].price:.4g} per unit" if holds else "none"
        assert f"<dt>held by feedback</dt><dd>{said}" in session_summary(status)
        session.store.compact("a")
        assert session.status() == status


@pytest.mark.parametrize("build", [hr.projection_free_coco, falling_back])
@pytest.mark.parametrize("every", [1, 7, 1000])
def test_it_is_resumed_bit_for_bit(place, every, build):
    game, alone = rounds(20, 1, most=0.2), build(X)
    hr.simulate(alone, hr.RecordedProblem(X, game))
    assert (alone.switched is not None) == (build is falling_back)
    for part in (game[:9], game[9:10], game[10:]):
        with hr.live.open_session(place, "a", build(X), every=every) as session:
            played(session, part)
    with hr.live.open_session(place, "a", build(X), every=every) as session:
        assert session.policy.state()["checksum"] == alone.state()["checksum"]
        assert session.ask().round == 21


def test_feedback_counts_once(place):
    with hr.live.open_session(place, "a", policy()) as session:
        decision, (f, g) = session.ask(), rounds(1)[0]
        first = session.tell(decision.id, f, g)
        state = session.policy.state()["checksum"]
        assert session.tell(decision.id, f, g) == first
        x = decision.action
        assert session.tell(decision.id, hr.first_order(f, x), hr.first_order(g, x)) == first
        with pytest.raises(ConflictError, match="was already told other feedback, which stays"):
            session.tell(decision.id, g, f)
        with pytest.raises(LookupError, match="made no decision 'nobody'; tell the id that"):
            session.tell("nobody", f, g)
        assert session.policy.state()["checksum"] == state
        assert session.status().answered == 1
    with hr.live.open_session(place, "a", policy()) as session:
        assert session.tell(decision.id, f, g) == first


def test_a_store_that_fails_in_the_middle_costs_nothing(place, monkeypatch):
    game, alone = rounds(12), policy()
    hr.simulate(alone, hr.RecordedProblem(X, game))
    with hr.live.open_session(place, "a", policy(), every=5) as session:
        played(session, game[:7])
        decision, run = session.ask(), session.store.run

        def broken(connection, statement, given):
            if given.get("kind") == 1:
                raise StoreError("the disk is full")
            return run(connection, statement, given)

        monkeypatch.setattr(session.store, "run", broken)
        for _ in range(2):
            with pytest.raises(StoreError):
                session.tell(decision.id, *game[7])  # the policy has moved, the journal has not
        monkeypatch.undo()
        assert session.status().answered == 7
        session.tell(decision.id, *game[7])
        played(session, game[8:])
        assert session.policy.state()["checksum"] == alone.state()["checksum"]
        assert session.status().cost == alone.summary().cost


def test_a_lock_that_is_held_too_long_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.live.store.WAIT", 0.05)
    with hr.live.open_session(tmp_path / "s.db", "a", policy()) as session:
        other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"cannot be used \(database is locked\)"):
            session.ask()
        other.close()
        assert session.ask().round == 1


def test_a_key_asks_once(place):
    with hr.live.open_session(place, "a", policy()) as session:
        one = session.ask("monday")
        played(session, rounds(3))
        two = session.ask("monday")
        assert (one.id, one.round, one.time) == (two.id, two.round, two.time)
        np.testing.assert_array_equal(one.action, two.action)
        with pytest.raises(ValueError, match="a key has 1 to 80 characters"):
            session.ask("k" * 81)


def test_refused_feedback_changes_nothing(place):
    with hr.live.open_session(place, "a", policy()) as session:
        played(session, rounds(3))
        state, decision = session.policy.state()["checksum"], session.ask()
        good = hr.first_order(hr.Linear(np.ones(4)), decision.action)
        for wrong in (
            hr.feedback.EvalGrad(np.nan, np.ones(4)),
            hr.feedback.EvalGrad(1.0, np.array([1.0, np.inf, 0.0, 0.0])),
            hr.feedback.EvalGrad(1.0, np.ones(5)),
            hr.feedback.EvalGrad(1e200, np.ones(4)),
            hr.feedback.Eval(1.0, 1.0, 1.0),
            "free",
            [],
        ):
            with pytest.raises((ValueError, TypeError)):
                session.tell(decision.id, good, wrong)
        assert session.status().answered == 3
        assert session.certificate() is not None
        assert session.policy.state()["checksum"] == state
        session.tell(decision.id, good, good)


def test_another_policy_is_refused_in_a_sentence(place):
    with hr.live.open_session(place, "a", policy()) as session:
        played(session, rounds(2))
    with pytest.raises(ValueError, match=r"\(eagerness was left out, now it is 2\)"):
        hr.live.open_session(place, "a", policy(eagerness=2.0))
    with pytest.raises(ValueError, match=r"decision_set was Simplex\(n=4\), now it is S"):
        hr.live.open_session(place, "a", hr.projection_free_coco(hr.sets.Simplex(5)))
    with pytest.raises(ValueError, match=r"made by projection_free_coco, now by projection_free_l"):
        hr.live.open_session(place, "a", hr.projection_free_long_term(X))


@pytest.mark.parametrize(
    "name", ["", "a b", "'; DROP TABLE sessions; --", "<script>", "../a", ".a", "a" * 61, 3, "ä"]
)
def test_names_are_plain(tmp_path, name):
    with pytest.raises(ValueError, match="a session's name has 1 to 60 letters"):
        hr.live.open_session(tmp_path / "s.db", name, policy())
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize(
    "place",
    ["", ":memory:", "file:x?mode=memory", "sqlite:////etc/passwd", "mysql://h/d", "a\0b",
     "postgresql://h/d?service=x", "postgresql://h/d?passfile=/etc/shadow"],
)  # fmt: skip
def test_stores_are_files_or_postgresql(place):
    with pytest.raises(
        ValueError, match=r"a store is the path of a file or|the URL of a store may"
    ):
        hr.live.Store(place)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database " * 1000)
    with pytest.raises(ValueError, match="is not an SQLite file"):
        hr.live.Store(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE accounts (id INTEGER)")
    other.close()
    with pytest.raises(ValueError, match=r"a database of another program .*'accounts'"):
        hr.live.Store(tmp_path / "other.db")
    with pytest.raises(ValueError, match="there is no folder"):
        hr.live.Store(tmp_path / "nowhere" / "s.db")
    with pytest.raises(ValueError, match="is a folder"):
        hr.live.Store(tmp_path)


def test_a_password_is_never_shown():
    with pytest.raises(OSError, match="cannot be used") as caught:
        hr.live.Store("postgresql://me:sesame@127.0.0.1:1/d?connect_timeout=2")
    assert "sesame" not in str(caught.value)


def test_an_older_store_is_migrated_and_a_newer_one_refused(place):
    with hr.live.Store(place) as store, store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE tokens")
        connection.execute(sql.update(VERSIONS).values(version=1))
    with hr.live.Store(place) as store:
        with store.reading() as connection:
            assert connection.execute(sql.select(VERSIONS.c.version)).scalar() == VERSION
            assert "tokens" in sql.inspect(connection).get_table_names()
        with store.writing() as connection:
            connection.execute(sql.update(VERSIONS).values(version=len(MIGRATIONS) + 1))
    with pytest.raises(ValueError, match=f"this release reads up to {VERSION}"):
        hr.live.Store(place)


def test_history_problem_and_hindsight(place):
    game = rounds(25)
    with hr.live.open_session(place, "a", policy()) as session:
        played(session, game)
        session.ask()
        history = session.history()
        assert history.actions.shape == (26, 4)
        assert np.isnan(history.cost[-1])
        assert np.isnan(history.answered[-1])
        assert history.order.tolist() == [*range(25), -1]
        assert session.history(actions=False).actions.shape == (0, 4)
        for t, (f, g) in enumerate(game):
            assert history.cost[t] == f(history.actions[t])
            assert history.violation[t] == g(history.actions[t])
        assert np.isfinite(history.certificate[7::8][:3]).all()
        again = hr.simulate(policy(), session.problem())
        np.testing.assert_allclose(again.costs, history.cost[:25], rtol=1e-12)
        ours, theirs = session.hindsight(), hr.hindsight(hr.RecordedProblem(X, game))
        assert ours.cost == pytest.approx(theirs.cost, rel=1e-9)
        assert ours.status == theirs.status == "optimal"
        regret = np.nansum(history.cost) - ours.cost
        assert regret <= session.certificate() + 1e-9
        pandas = pytest.importorskip("pandas", reason="needs pandas")
        frame = pandas.DataFrame(session.history().columns())
        assert frame.loc[2, "cost"] == history.cost[2]
        assert frame.loc[2, "rounds"] == 3


def test_several_constraints_and_values_are_stored(place):
    caps = [hr.Linear([1.0, 0, 0, 0], -0.3), hr.Linear([0, 1.0, 0, 0], -0.2)]
    each = hr.projection_free_coco(X, constraints=2)
    with hr.live.open_session(place, "caps", each) as session:
        for f, _ in rounds(6):
            x = session.ask()
            session.tell(x.id, f, hr.Maximum(caps))
        alone = hr.projection_free_coco(X, constraints=2)
        hr.simulate(alone, hr.RecordedProblem(X, [(f, caps) for f, _ in rounds(6)]))
        assert session.policy.state()["checksum"] == alone.state()["checksum"]
        assert session.problem().horizon == 6
    blind = hr.projection_free_bandit(X, 64, 0, lipschitz=2.0, bound=2.0)
    with hr.live.open_session(place, "values", blind) as session:
        played(session, rounds(10))
        with pytest.raises(TypeError, match="has no certificate"):
            session.certificate()
        with pytest.raises(TypeError, match="cannot be played again"):
            session.problem()
        first, second = session.ask(), session.ask()
        f, g = rounds(1)[0]
        session.tell(first.id, f, g)
        if not np.array_equal(session.ask().action, second.action):
            with pytest.raises(ValueError, match="learns from its present play alone"):
                session.tell(second.id, f, g)


def test_compaction_keeps_the_session(place):
    game = rounds(40)
    with (
        hr.live.open_session(place, "a", policy(), every=8) as session,
        hr.live.open_session(place, "a", policy()) as behind,
    ):
        played(session, game[:20])
        first = journal(place, "a")[0].decision
        ack = session.tell(first, *game[0])
        before = session.status()
        assert session.store.compact("a") == 32  # 16 asks and 16 tells before the snapshot
        assert session.store.compact("a") == 0
        assert session.status() == before
        assert session.history().cost[0] == game[0][0](np.full(4, 0.25))
        assert np.isnan(session.history().actions[0]).all()
        with pytest.raises(ValueError, match="was compacted, so that its first rounds"):
            session.problem()
        with pytest.raises(ValueError, match="this decision was compacted"):
            session.tell(first, *game[0])
        x = np.full(4, 0.25)
        seen = [hr.first_order(f, x) for f in game[0]]
        assert session.tell(first, *seen) == ack
        played(behind, game[20:])  # it was behind the snapshot
        alone = policy()
        hr.simulate(alone, hr.RecordedProblem(X, game))
        assert behind.policy.state()["checksum"] == alone.state()["checksum"]
    assert broken_invariants(journal(place, "a")) == []


def test_labels_are_kept(place):
    with hr.live.open_session(
        place, "a", policy(), labels=["north", "east", "south", "<west>"]
    ) as session:
        assert session.store.labels("a") == ["north", "east", "south", "<west>"]
    with pytest.raises(ValueError, match="one label for each of 4 coordinates, got 1"):
        hr.live.open_session(place, "b", policy(), labels=["north"])


def test_edges_are_named_by_their_ends(tmp_path):
    edges = hr.sets.DagPaths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    with hr.live.open_session(tmp_path / "s.db", "net", hr.projection_free_coco(edges)) as session:
        assert session.store.labels("net") == ["a - b", "b - c", "a - c"]
        hr.live.open_session(session.store, "arms", policy())
        assert session.store.labels("arms") is None


def test_decisions_that_nobody_answers_are_not_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.live.session.REMEMBERED", (3, 0))
    with hr.live.open_session(tmp_path / "s.db", "a", policy()) as session:
        asked = [session.ask() for _ in range(8)]
        assert list(session._open) == [decision.id for decision in asked[-3:]]
        for decision, (f, g) in zip(asked, rounds(8), strict=True):  # all can still be told
            session.tell(decision.id, f, g)
        assert session.status().unanswered == 0
        assert not session._open


def test_a_connection_that_breaks_is_replaced(server):
    with (
        hr.live.open_session(server, "breaks", policy()) as session,
        hr.live.Store(server) as other,
    ):
        played(session, rounds(3))
        with other.reading() as connection:
            mine = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
            end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}"
            connection.exec_driver_sql(end)
        with pytest.raises(StoreError, match="cannot be used"):
            session.ask()
        assert session.ask().round == 4


def test_threads_share_a_store(place):
    """More threads than connections are kept, each on its own transaction."""
    with hr.live.open_session(place, "a", policy()) as session:
        with ThreadPoolExecutor(8) as pool:
            asked = list(pool.map(lambda _: session.ask().round, range(24)))
            told = list(pool.map(lambda _: session.store.status("a").decisions, range(24)))
        assert sorted(asked) == list(range(1, 25))
        assert told == [24] * 24
