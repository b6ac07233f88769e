"""Advice in live sessions: durable with its decision, also late, after a restart, over HTTP."""

from __future__ import annotations

import numpy as np
import pytest
from listening import listening

import hedgerow as hr
from hedgerow.live.service import make_app
from hedgerow.live.tokens import make_token
from kill_live import functions

X = hr.sets.Simplex(4)
VERTICES = np.eye(4)


def policy():
    return hr.projection_free_coco(X, advisers=["plan", "lp"])


def advice_of(round_):
    """Each adviser speaks in some rounds."""
    given = {"plan": VERTICES[round_ % 4], "lp": VERTICES[(round_ // 2) % 4]}
    return {name: x for k, (name, x) in enumerate(given.items()) if (round_ + k) % 3}


def assert_same(one, other):
    """The states are equal, bit for bit."""
    assert one.state()["checksum"] == other.state()["checksum"]


def test_a_session_plays_as_the_policy_does_and_goes_on_after_a_restart(place):
    plain = policy()
    for part in range(3):  # opened three times, from a snapshot and from rows after it
        with hr.live.open_session(place, "advised", policy(), every=4) as session:
            for round_ in range(7 * part, 7 * part + 7):
                said = advice_of(round_)
                decision = session.ask(advice=said)
                np.testing.assert_array_equal(decision.action, plain.ask(advice=said))
                cost, constraint = functions(round_, 4)
                session.tell(decision.id, cost, constraint)
                x = decision.action
                plain.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
            session.policy.ask(advice={})
            assert_same(session.policy, plain)
    assert plain.summary().advisers[0].rounds > 5


def test_feedback_out_of_order_comes_with_the_advice_of_its_decision(place):
    """Decisions are open side by side; the policy is what the journal says, in any process."""
    with hr.live.open_session(place, "late", policy(), every=100) as session:
        made = [session.ask(advice=advice_of(k)) for k in range(4)]
        for k in (2, 0, 3, 1):
            session.tell(made[k].id, *functions(k, 4))
        session.policy.ask(advice={})
        spoke = sum("plan" in advice_of(k) for k in range(4))
        assert session.policy.summary().advisers[0].rounds == spoke
        with hr.live.open_session(place, "late", policy()) as again:
            again.policy.ask(advice={})
            assert_same(session.policy, again.policy)
        np.testing.assert_array_equal(session.history().actions[2], made[2].action)


def test_wrong_advice_leaves_no_trace(place):
    with hr.live.open_session(place, "wrong", policy()) as session:
        before = session.status().decisions
        with pytest.raises(ValueError, match="there is no adviser 'him'"):
            session.ask(advice={"him": VERTICES[0]})
        with pytest.raises(ValueError, match="outside of the decision set"):
            session.ask(advice={"lp": np.ones(4)})
        assert session.status().decisions == before
    with (
        hr.live.open_session(place, "none", hr.projection_free_coco(X)) as session,
        pytest.raises(TypeError, match="has no advisers"),
    ):
        session.ask(advice={"lp": VERTICES[0]})


def test_advice_over_http(tmp_path):
    settings = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}
    with hr.live.Store(f"{tmp_path}/store.sqlite") as store:
        token, plain = make_token(store, "admin"), policy()
        with (
            listening(make_app(store)) as http,
            hr.live.Client(str(http.base_url), "web", token, tries=1) as client,
            hr.live.Client(str(http.base_url), "other", token, tries=1) as other,
        ):
            client.begin(**settings, advisers=["plan", "lp"])
            for round_ in range(6):
                said = advice_of(round_)
                decision = client.ask(advice=said)
                np.testing.assert_array_equal(decision.action, plain.ask(advice=said))
                cost, constraint = functions(round_, 4)
                client.tell(decision.id, cost, constraint)
                x = decision.action
                plain.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
            with pytest.raises(ValueError, match="there is no adviser 'him'"):
                client.ask(advice={"him": VERTICES[0]})
            with pytest.raises(ValueError, match="takes no advice"):
                other.begin(**settings | {"method": "sinha_vaze_2024"}, advisers=["plan"])
