"""A damaged store: named in one sentence, checked, and repaired."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import sqlalchemy as sql
from sqlalchemy.schema import DropTable
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.live.chain import DamageError
from hedgerow.live.checking import check_store
from hedgerow.live.schema import COPIES, HEADS, JOURNAL, SESSIONS, SNAPSHOTS, VERSIONS
from kill_live import Replay, functions, state_of

X = hr.sets.Simplex(4)
LAST = 40
"""The last row: twenty rounds, with snapshots after rows 16 and 32."""


def policy():
    return hr.projection_free_coco(X)


def played(place, count=20):
    with hr.live.open_session(place, "a", policy(), every=8) as session:
        for k in range(count):
            session.tell(session.ask(f"k{k}").id, *functions(k, 4))
        return state_of(session)[1]


def change(place, *statements):
    with hr.live.Store(place) as store, store.writing() as connection:
        for statement in statements:
            connection.execute(statement)


def at(seq):
    return sql.update(JOURNAL).where(JOURNAL.c.seq == seq)


def look(place):
    """Use everything that reads a session."""
    with hr.live.open_session(place, "a", policy()) as session:
        session.status()
        session.history()
        session.problem()
        session.store.labels("a")
        for k in range(20):  # what was reported is reported again
            session.tell(f"k{k}", *functions(k, 4))


DAMAGE = {
    "a payload": at(39).values(payload=b"[1, false, []]\n"),
    "no payload": at(40).values(payload=None),
    "no action": at(39).values(payload=None),
    "a cost": at(38).values(cost=0.0),
    "an early cost": at(8).values(cost=0.0),
    "an early violation": at(8).values(violation=-9.0),
    "a weight": at(40).values(weight=1.0),
    "what holds the decision": at(40).values(binding="[[7, 0, 9.0, 1.0]]"),
    "a total": at(40).values(total_cost=0.0),
    "all totals": at(40).values(told=3, total_cost=1.0, total_ccv=2.0, total_violated=1),
    "a total at the last snapshot": at(32).values(total_ccv=9.0),
    "a time": at(5).values(time=1.0),
    "a round": at(39).values(round=77),
    "a decision": at(39).values(decision="another"),
    "an id of before": at(3).values(decision="another"),
    "a kind": at(40).values(kind=3),
    "a chain": at(36).values(chain="0" * 64),
    "the last row": sql.delete(JOURNAL).where(JOURNAL.c.seq == 40),
    "the last rows": sql.delete(JOURNAL).where(JOURNAL.c.seq > 37),
    "a row": sql.delete(JOURNAL).where(JOURNAL.c.seq == 36),
    "an early row": sql.delete(JOURNAL).where(JOURNAL.c.seq == 6),
    "all rows": sql.delete(JOURNAL),
    "the head": sql.delete(HEADS),
    "another head": sql.update(HEADS).values(seq=38),
    "a far head": sql.update(HEADS).values(seq=10**9),
    "every": sql.update(SESSIONS).values(every=0),
    "dim": sql.update(SESSIONS).values(dim=5),
    "labels": sql.update(SESSIONS).values(labels="[broken"),
    "the configuration": sql.update(SESSIONS).values(configuration="{broken"),
    "the spec": sql.update(SESSIONS).values(spec="{broken"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_named_in_a_sentence_and_repaired(place, what):
    played(place)
    assert check_store(place) == []
    change(place, DAMAGE[what])
    with pytest.raises(DamageError, match="store was changed after it was written: ") as caught:
        look(place)
    assert str(caught.value).count(";") == 1
    found = check_store(place)
    assert found
    assert all(damage.remedy for damage in found)
    assert check_store(place) == found  # it wrote nothing
    assert check_store(place, repair=True) == found
    assert check_store(place) == []
    with hr.live.open_session(place, "a", policy(), upgrade=True) as session:
        session.tell(session.ask().id, *functions(99, 4))
        assert session.status().answered > 0
        session.history()
    with hr.live.open_session(place, "a", policy()) as session:
        session.tell(session.ask().id, *functions(100, 4))


EXACT = (
    "a cost", "a total", "all totals", "a total at the last snapshot", "every", "dim", "labels",
    "the configuration", "the spec", "the head", "another head", "a far head",
)  # fmt: skip


@pytest.mark.parametrize("what", EXACT)
def test_what_is_known_twice_is_recovered_exactly(place, what):
    before = played(place)
    with hr.live.Store(place) as store:
        status, labels = store.status("a"), store.labels("a")
    change(place, DAMAGE[what])
    check_store(place, repair=True)
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == (LAST, before)
        assert session.status() == status
        assert session.store.labels("a") == labels


@pytest.mark.parametrize("seqs", [[32], [16, 32], [0, 16, 32]])
def test_a_damaged_snapshot_falls_back_to_the_one_before_or_to_the_journal(place, seqs, caplog):
    before = played(place)
    for broken in (b"\x80\x04N.", b""):
        change(place, sql.update(SNAPSHOTS).where(SNAPSHOTS.c.seq.in_(seqs)).values(payload=broken))
        with (
            caplog.at_level(logging.WARNING),
            hr.live.open_session(place, "a", policy()) as session,
        ):
            assert state_of(session) == (LAST, before)
        change(place, sql.delete(SNAPSHOTS).where(SNAPSHOTS.c.seq == LAST))
    assert "an earlier state is used" in caplog.text
    assert len(check_store(place)) == len(seqs)
    check_store(place, repair=True)
    assert [damage.what for damage in check_store(place)] == ["it has no snapshot"] * (
        len(seqs) == 3
    )
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == (LAST, before)


def test_a_session_without_any_snapshot_is_replayed(place):
    before = played(place)
    change(place, sql.delete(SNAPSHOTS))
    assert [damage.what for damage in check_store(place)] == ["it has no snapshot"]
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == (LAST, before)
    assert check_store(place) == []


def test_a_snapshot_of_another_row_or_session_is_not_used(place):
    before = played(place)
    with hr.live.open_session(place, "b", policy(), every=8) as other:
        for k in range(8):
            other.tell(other.ask().id, *functions(50 + k, 4))
        with other.store.reading() as connection:
            foreign = connection.execute(
                sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == 2, SNAPSHOTS.c.seq == 16)
            ).one()
            early = connection.execute(
                sql.select(SNAPSHOTS).where(SNAPSHOTS.c.session == 1, SNAPSHOTS.c.seq == 16)
            ).one()
    for taken in (foreign, early):
        values = {"payload": taken.payload, "digest": taken.digest}
        last = SNAPSHOTS.c.session == 1, SNAPSHOTS.c.seq == 32
        change(place, sql.update(SNAPSHOTS).where(*last).values(**values))
        with hr.live.open_session(place, "a", policy()) as session:
            assert state_of(session) == (LAST, before)


def test_compacted_rows_are_no_damage_and_a_damaged_snapshot_after_them_is_named(place):
    before = played(place)
    with hr.live.Store(place) as store:
        assert store.compact("a") == 32
    assert check_store(place) == []
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == (LAST, before)
    change(place, sql.update(SNAPSHOTS).values(payload=b"broken"))
    with pytest.raises(DamageError, match="row 2 in the journal of session 'a' has no payload"):
        hr.live.open_session(place, "a", policy())
    with hr.live.Store(place) as store, pytest.raises(DamageError, match="is no snapshot"):
        store.compact("a")


@pytest.mark.parametrize("rows", [[], [1, 3], [3, 3]])
def test_a_doubled_or_missing_version_is_named_and_written_again(place, rows):
    before = played(place)
    change(place, sql.delete(VERSIONS), *(sql.insert(VERSIONS).values(version=v) for v in rows))
    with pytest.raises(ValueError, match=f"must have one row with the version, it has {len(rows)}"):
        hr.live.Store(place)
    assert [damage.where for damage in check_store(place, repair=True)] == ["table hedgerow_schema"]
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == (LAST, before)


def test_a_row_that_cannot_be_recovered_is_said_to_be_lost(place):
    played(place)
    change(place, sql.update(SESSIONS).values(dim=5), sql.delete(COPIES))
    found = check_store(place, repair=True)
    assert "does not fit its digest; restore it from a backup" in str(found[0])
    assert check_store(place) == found


def test_lost_feedback_can_be_reported_again(place):
    """The feedback of the last round is gone; its decision is open again."""
    before = played(place)
    change(place, at(40).values(payload=None))
    check_store(place, repair=True)
    with hr.live.open_session(place, "a", policy()) as session:
        assert session.status().unanswered == 1
        assert session.tell("k19", *functions(19, 4)).order == LAST + 1
        assert state_of(session)[1] == before
        assert state_of(session)[1] == Replay(policy()).up_to(session.store, "a")


def test_the_digest_does_not_depend_on_how_a_database_keeps_zero(place):
    """SQLite keeps -0.0 as 0."""
    with hr.live.open_session(place, "a", policy()) as session:
        seen = hr.feedback.EvalGrad(-0.0, np.ones(4))
        session.tell(session.ask().id, seen, seen)
    with hr.live.open_session(place, "a", policy()) as session:
        assert session.status().answered == 1
    assert check_store(place) == []


def test_the_command_reports_and_repairs(tmp_path):
    path = str(tmp_path / "s.db")
    played(path)
    run = CliRunner().invoke
    shown = run(app, ["live", "check", path])
    assert (shown.exit_code, shown.output) == (0, "Nothing is damaged.\n")
    change(path, DAMAGE["a total"], DAMAGE["every"])
    shown = run(app, ["live", "check", path])
    assert shown.exit_code == 1
    assert "row 40 was changed; repair: compute it again from the feedback" in shown.output
    assert "its row does not fit its digest; repair: write it again" in shown.output
    assert "Nothing was written" in shown.output
    shown = run(app, ["live", "check", "--repair", path])
    assert shown.exit_code == 0
    assert "Each of these repairs was made, and the store can be used." in shown.output
    assert run(app, ["live", "check", path]).exit_code == 0
    assert run(app, ["live", "check", str(tmp_path / "none.db")]).exit_code == 2
    assert not (tmp_path / "none.db").exists()


def test_a_row_that_is_accepted_is_not_called_right(tmp_path):
    path = str(tmp_path / "s.db")
    played(path)
    change(path, DAMAGE["a round"])
    shown = CliRunner().invoke(app, ["live", "check", path])
    assert "row 39 was changed; repair: accept it as it is now, although it may be" in shown.output


@pytest.mark.parametrize("how", ["cut", "no table"])
def test_a_file_that_sqlite_cannot_read_needs_a_backup(tmp_path, how):
    path = tmp_path / "s.db"
    played(str(path))
    if how == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        change(str(path), DropTable(SNAPSHOTS))
    shown = CliRunner().invoke(app, ["live", "check", str(path)])
    assert shown.exit_code == 2
    assert "is damaged (" in shown.output
    assert "restore a backup" in " ".join(shown.output.split())
