"""The totals of several constraints are kept apart, in the journal and on pages."""

from __future__ import annotations

import numpy as np
import pytest
import sqlalchemy as sql
from prometheus_client import generate_latest

import hedgerow as hr
from hedgerow.live.chain import DamageError
from hedgerow.live.checking import check_store
from hedgerow.live.page_content import observe, overview, session_summary
from hedgerow.live.request_log import Metrics
from hedgerow.live.schema import JOURNAL
from hedgerow.protocols.limits import MixedUnitsError

X = hr.sets.Simplex(3)
SHARE = hr.Linear([1.0, 0.0, 0.0], -0.2)
HEAT = hr.Linear([0.0, 300.0, 0.0], -90.0)


def game(count: int = 12) -> list:
    rng = np.random.default_rng(0)
    means = np.array([-2.0, -1.0, 0.0])
    return [(hr.Linear(means + 0.1 * rng.random(3)), [SHARE, HEAT]) for _ in range(count)]


def policy(constraints: int | None = 2) -> hr.policies.Fallback:
    return hr.projection_free_coco(X, constraints=constraints)


def tell(session, cost, constraints) -> None:
    asked = session.ask()
    seen = [hr.first_order(g, asked.action) for g in constraints]
    session.tell(asked.id, hr.first_order(cost, asked.action), seen)


def played(place, rounds, every: int = 4):
    """Play the rounds and return the session's status."""
    with hr.live.open_session(place, "two", policy(), every=every) as session:
        for cost, constraints in rounds:
            tell(session, cost, constraints)
        return session.status()


def assert_totals(status, rounds):
    """The totals are those of a game that was played in one piece."""
    trace = hr.simulate(policy(), hr.RecordedProblem(X, rounds))
    assert status.ccv is None, "a share is not added to watts"
    for one, ccv, level in zip(status.each, trace.ccv_each, trace.service_levels(), strict=True):
        assert one.ccv == pytest.approx(ccv, rel=1e-12)
        assert (one.violated, one.worst) == (level.violated, level.worst)
        assert one.violated > 0


def test_a_session_has_the_totals_of_each_constraint(place):
    status = played(place, game())
    assert_totals(status, game())
    assert status.plain()["each"][1] == {
        "ccv": status.each[1].ccv,
        "violated": status.each[1].violated,
        "worst": status.each[1].worst,
    }
    with hr.live.open_session(place, "two", policy()) as session:  # resumed
        for cost, constraints in game():
            tell(session, cost, constraints)
        assert_totals(session.status(), game() + game())
        with pytest.raises(MixedUnitsError, match="give units"):
            session.hindsight(budget=1.0)
        assert session.hindsight(budget=1.0, units=[0.2, 90.0]).status == "optimal"
    assert check_store(place) == []


def test_totals_outlive_compaction(place):
    """Twelve rounds and a snapshot every four: no feedback is left."""
    status = played(place, game())
    with hr.live.Store(place) as store:
        assert store.compact("two") == 24
        assert store.status("two") == status
    played(place, game())
    assert check_store(place) == []


def test_one_constraint_leaves_no_trace_of_it(place):
    with hr.live.open_session(place, "one", policy(None)) as session:
        for cost, constraints in game():
            tell(session, cost, constraints[:1])
        status = session.status()
        assert "each" not in status.plain()
        assert status.ccv == session.policy.summary().ccv > 0.0
        with session.store.reading() as connection:
            column = connection.execute(sql.select(JOURNAL.c.total_each)).scalars().all()
        assert set(column) == {None}
        session.store.compact("one")
        assert session.status() == status


def test_where_the_number_changes_nothing_is_added(place):
    with hr.live.open_session(place, "some", policy(None)) as session:
        for t, (cost, constraints) in enumerate(game()):
            tell(session, cost, constraints[: 1 + t % 2])
        status = session.status()
        assert (status.ccv, status.each) == (None, ())
        assert "of several constraints" in session_summary(status)


def test_a_changed_total_is_found_and_computed_again(place):
    status = played(place, game(), every=100)
    with hr.live.Store(place) as store, store.writing() as connection:
        wrong = sql.update(JOURNAL).where(JOURNAL.c.seq == 24)
        connection.execute(wrong.values(total_each="[[0.0, 0, 0.0], [0.0, 0, 0.0]]"))
    with hr.live.Store(place) as store, pytest.raises(DamageError, match="row 24 was changed"):
        store.status("two")
    (damage,) = check_store(place, repair=True)
    assert damage.remedy == "compute it again from the feedback"
    with hr.live.Store(place) as store:
        assert store.status("two") == status


def test_pages_and_metrics_add_no_units(place):
    status = played(place, game())
    first, second = status.each
    page = session_summary(status)
    for k, one in enumerate(status.each, start=1):
        said = f"CCV {one.ccv:.5g} in its unit, {one.violated} rounds violated, "
        assert f"<dt>constraint {k}</dt><dd>{said}worst {one.worst:.5g}</dd>" in page
    assert f"<td>{first.ccv:.5g}, {second.ccv:.5g}</td>" in overview([status])
    with hr.live.Store(place) as store:
        drawn = observe(store, status, 200).sources
        assert np.isnan(drawn["rounds"]["violation"]).all()
        assert np.isnan(drawn["told"]["ccv"]).all()
        assert np.isfinite(drawn["told"]["cost"]).all()
        text = generate_latest(Metrics(store).registry).decode()
    assert 'hedgerow_session_ccv_total{session="two"}' not in text
    assert f'hedgerow_session_ccv_each_total{{constraint="2",session="two"}} {second.ccv}' in text
