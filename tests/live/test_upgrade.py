"""Sessions of other releases: known by the user's call, replayed, and continued or refused."""

from __future__ import annotations

import copy
import json
import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sql
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.live.checking import check_store
from hedgerow.live.configuration import configuration
from hedgerow.live.lease import Lease
from hedgerow.live.opening import begin
from hedgerow.live.replica import OtherDecisionError
from hedgerow.live.schema import SESSIONS, SNAPSHOTS, VERSIONS
from hedgerow.live.specs import Spec, policy_of
from kill_live import Replay, functions, state_of

X = hr.sets.Simplex(4)
SPEC = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}


def policy(**options):
    return hr.projection_free_coco(X, **options)


def newer(old=policy):
    """The same call in a release that builds it otherwise: more eager inside."""
    made = policy(eagerness=4.0)
    made._call = old().made_by()
    return made


def release(monkeypatch, name):
    for room in ("opening", "replica"):
        monkeypatch.setattr(f"hedgerow.live.{room}.this_release", lambda: name)


def played(session, first, count):
    for k in range(first, first + count):
        session.tell(session.ask().id, *functions(k, 4))


def test_the_snapshot_of_another_release_is_replaced_by_a_replay(place, monkeypatch):
    release(monkeypatch, "1.0")
    with hr.live.open_session(place, "a", policy(), every=4) as session:
        played(session, 0, 10)
        before = state_of(session)
    with hr.live.Store(place) as store, store.reading() as connection:
        assert connection.execute(sql.select(SNAPSHOTS.c.release)).scalars().all() == ["1.0"] * 3
    release(monkeypatch, "2.0")
    restored = []
    given = policy()
    restore = given.restore
    given.restore = lambda snapshot: (restored.append(snapshot), restore(snapshot))
    with hr.live.open_session(place, "a", given) as session:
        assert state_of(session) == before
        assert len(restored) == 1  # that of row 0
        played(session, 10, 2)
        state = state_of(session)
        assert state[1] == Replay(policy()).up_to(session.store, "a")
    with hr.live.Store(place) as store, store.reading() as connection:
        releases = sql.select(SNAPSHOTS.c.release).order_by(SNAPSHOTS.c.seq)
        assert connection.execute(releases).scalars().all() == ["1.0", "2.0", "2.0"]
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == state


def test_a_release_that_plays_otherwise_is_refused_or_continues(place, monkeypatch):
    release(monkeypatch, "1.0")
    with hr.live.open_session(place, "a", policy(), every=4) as session:
        played(session, 0, 10)
        late = session.ask()
        before = state_of(session)
    release(monkeypatch, "2.0")
    with pytest.raises(
        OtherDecisionError, match=r"by release 1\.0, .* otherwise from round \d+ on \(by"
    ):
        hr.live.open_session(place, "a", newer())
    release(monkeypatch, "1.0")  # stay
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == before
    release(monkeypatch, "2.0")
    with hr.live.open_session(place, "a", newer(), upgrade=True) as session:
        session.tell(late.id, *functions(99, 4))
        played(session, 20, 5)
        after = state_of(session)
        assert after[1] == Replay(newer()).up_to(session.store, "a")
        assert session.status().answered == 16
    with hr.live.open_session(place, "a", newer()) as session:  # once is enough
        assert state_of(session) == after
    assert check_store(place) == []


def test_a_compacted_session_goes_on_from_a_snapshot_that_fits_or_is_refused(place, monkeypatch):
    release(monkeypatch, "1.0")
    with hr.live.open_session(place, "a", policy(), every=4) as session:
        played(session, 0, 10)
        before = state_of(session)
        session.store.compact("a")
    release(monkeypatch, "2.0")
    with pytest.raises(ValueError, match="has no payload, and no snapshot after it can be used"):
        hr.live.open_session(place, "a", newer(), upgrade=True)
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == before


def test_a_rollback_replays_too(place, monkeypatch):
    for name, first in (("1.0", 0), ("2.0", 5), ("1.0", 10)):
        release(monkeypatch, name)
        with hr.live.open_session(place, "a", policy(), every=3) as session:
            played(session, first, 5)
            assert state_of(session)[1] == Replay(policy()).up_to(session.store, "a")


def as_version_2(place, change_configuration=lambda old: old):
    """Leave a store as the release before digests wrote it."""
    with hr.live.Store(place) as store, store.writing() as connection:
        for row in connection.execute(sql.select(SESSIONS)).all():
            old = change_configuration(json.loads(row.configuration)["made of"])
            text = json.dumps(old, sort_keys=True)
            own = sql.update(SESSIONS).where(SESSIONS.c.id == row.id)
            connection.execute(own.values(configuration=text))
        for table in ("heads", "copies"):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        columns = {"sessions": ["digest"], "journal": ["chain"], "snapshots": ["release", "digest"]}
        for table, names in columns.items():
            for name in names:
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {name}")
        connection.execute(sql.delete(SNAPSHOTS).where(SNAPSHOTS.c.seq == 0))
        connection.execute(sql.update(VERSIONS).values(version=2))


def test_a_store_without_digests_is_migrated(place):
    with hr.live.open_session(place, "a", policy(), every=4) as session:
        played(session, 0, 10)
        before, status, history = state_of(session), session.status(), session.history()
    hr.live.open_session(place, "empty", policy()).close()
    as_version_2(place)
    with pytest.raises(ValueError, match="has version 2 of the tables, which has no digests"):
        check_store(place)
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == before
        assert session.status() == status
        np.testing.assert_array_equal(session.history().actions, history.actions)
        played(session, 10, 6)
        assert state_of(session)[1] == Replay(policy()).up_to(session.store, "a")
    with hr.live.open_session(place, "empty", policy()) as session:
        played(session, 0, 1)
    assert check_store(place) == []
    with pytest.raises(ValueError, match="eagerness was left out, now it is 2"):
        hr.live.open_session(place, "a", policy(eagerness=2.0))  # the call was recorded


UNDONE = {
    3: "ALTER TABLE journal DROP COLUMN total_each",
    4: "DROP TABLE leases",
    5: "ALTER TABLE journal DROP COLUMN binding",
}
"""What leads back to each version from the next."""


@pytest.mark.parametrize("version", UNDONE)
def test_a_store_of_an_earlier_version_is_migrated(place, version):
    """Its digests stay as they are; what is new begins with new feedback."""
    with hr.live.open_session(place, "a", policy(tracking=False), every=4) as session:
        played(session, 0, 10)
        before, status = state_of(session), session.status()
    with hr.live.Store(place) as store, store.writing() as connection:
        for undo in range(version, 6):
            connection.exec_driver_sql(UNDONE[undo])
        connection.execute(sql.update(VERSIONS).values(version=version))
    with pytest.raises(ValueError, match=f"has version {version} of the tables, which this rele"):
        check_store(place)
    with hr.live.open_session(place, "a", policy(tracking=False)) as session:
        assert (state_of(session), session.status()) == (before, status)
        played(session, 10, 2)
        Lease(session, 1.0).renew()
    with hr.live.open_session(place, "both", policy(constraints=2)) as session:
        forbidden = hr.Linear([0.0, 0.0, 0.0, 1.0], -0.1)
        session.tell(session.ask().id, hr.Linear([1.0, 2.0, 3.0, -4.0]), [forbidden] * 2)
        assert len(session.status().each) == 2
        assert session.status().binding[0].round == 1
    assert check_store(place) == []


@pytest.mark.parametrize("name", ["alone", "advised"])
def test_a_store_that_an_earlier_release_wrote_goes_on(tmp_path, name):
    """A file of version 5, in which the default played otherwise. It was written by

    for name, options in (("alone", {}), ("advised", {"advisers": ["plan"]})):
        policy = hr.projection_free_coco(hr.sets.Simplex(4), **options)
        with hr.live.open_session("store.db", name, policy, every=4) as session:
            for k in range(6):
                said = {"plan": [1.0, 0.0, 0.0, 0.0]} if options else None
                session.tell(session.ask(advice=said).id, *functions(k, 4))
            session.ask()
    """
    path = tmp_path / "store.db"
    path.write_bytes(lzma.decompress((Path(__file__).parent / "store_5.db.xz").read_bytes()))
    options = {"advisers": ["plan"]} if name == "advised" else {}
    with pytest.raises(ValueError, match="has version 5 of the tables, which this release does"):
        check_store(path)
    with pytest.raises(OtherDecisionError, match=r"by release 0\.2\.0.*upgrade=True"):
        hr.live.open_session(path, name, policy(**options))
    with hr.live.open_session(path, name, policy(**options), upgrade=True) as session:
        status, history = session.status(), session.history()
        assert (status.decisions, status.answered, status.binding) == (7, 6, ())
        assert np.nansum(history.cost) == pytest.approx(status.cost)
        played(session, 6, 8)
        assert session.status().binding
        state = state_of(session)
        np.testing.assert_array_equal(session.history().actions[:7], history.actions)
    with hr.live.open_session(path, name, policy(**options)) as session:
        assert state_of(session) == state
    assert check_store(path) == []


def test_an_old_session_with_other_insides_is_known_by_how_it_is_shown(place):
    def other(tree):
        return {**tree, "fingerprint": "0" * 32}

    with hr.live.open_session(place, "a", policy()) as session:
        played(session, 0, 10)
        before = state_of(session)
    as_version_2(place, other)
    with pytest.raises(ValueError, match="by an earlier release, which did not record them"):
        hr.live.open_session(place, "a", policy(eagerness=2.0))
    with hr.live.open_session(place, "a", policy()) as session:
        assert state_of(session) == before


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (lambda: policy(), lambda: policy(eagerness=1)),
        (lambda: policy(eagerness=2), lambda: policy(eagerness=np.float64(2.0))),
        (lambda: policy(), lambda: copy.deepcopy(policy())),
        (lambda: policy(), lambda: pickle.loads(pickle.dumps(policy()))),
        (lambda: policy(), lambda: hr.projection_free_coco(decision_set=hr.sets.Simplex(n=4))),
        (lambda: policy(advisers=("plan",)), lambda: policy(advisers=["plan"])),
        (lambda: hr.Sampled(policy(), 0), lambda: hr.Sampled(policy(), seed=0)),
    ],
)
def test_the_same_call_is_the_same_configuration(one, two):
    assert json.loads(configuration(one()))["call"] == json.loads(configuration(two()))["call"]


def test_other_calls_are_other_configurations():
    def by_hand(power):
        surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(power, 1.0))
        return hr.ConstrainedPolicy(
            hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps()), surrogate
        )

    def box(last):
        return hr.projection_free_coco(hr.sets.Box(np.zeros(400), np.r_[np.ones(399), last]))

    made = [
        policy(),
        policy(eagerness=2.0),
        policy(constraints=2),
        policy(tracking=False),
        hr.projection_free_coco(hr.sets.Simplex(4, total=2.0)),
        hr.projection_free_coco(hr.sets.L1Ball(4)),
        hr.Sampled(policy(), 0),
        hr.Sampled(policy(), 1),
        hr.Sampled(policy(eagerness=2.0), 0),
        box(1.0),
        box(2.0),
        by_hand(2.0),
        by_hand(3.0),
    ]
    calls = {json.dumps(json.loads(configuration(one))["call"]) for one in made}
    assert len(calls) == len(made)


def test_a_session_of_the_service_is_upgraded_by_a_command(tmp_path, monkeypatch):
    path = str(tmp_path / "s.db")
    release(monkeypatch, "1.0")
    with begin(path, "a", policy_of(Spec(**SPEC)), spec=json.dumps(SPEC)) as session:
        played(session, 0, 10)
    with hr.live.open_session(path, "python", policy()) as session:
        played(session, 0, 10)
    release(monkeypatch, "2.0")
    monkeypatch.setattr(
        "hedgerow.live.opening.policy_of", lambda spec: newer(lambda: policy_of(spec))
    )
    with pytest.raises(OtherDecisionError, match="`hedgerow live upgrade STORE NAME`"):
        begin(path, "a", newer(lambda: policy_of(Spec(**SPEC))), spec=json.dumps(SPEC))
    shown = CliRunner().invoke(app, ["live", "upgrade", path, "a"])
    assert (shown.exit_code, shown.output) == (0, "session a continues with this release.\n")
    with begin(path, "a", newer(lambda: policy_of(Spec(**SPEC))), spec=json.dumps(SPEC)) as session:
        assert state_of(session)[1] == Replay(newer()).up_to(session.store, "a")
    shown = CliRunner().invoke(app, ["live", "upgrade", path, "python"])
    assert shown.exit_code == 2
    assert "open it there with live.open_session(..., upgrade=True)" in " ".join(
        shown.stderr.split()
    )
