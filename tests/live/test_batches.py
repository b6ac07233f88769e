"""Several decisions and several feedbacks at once: all of them or none, by one commit."""

from __future__ import annotations

import numpy as np
import pytest
import sqlalchemy as sql
from listening import listening

import hedgerow as hr
from hedgerow.live.admission import Limits
from hedgerow.live.schema import JOURNAL
from hedgerow.live.service import make_app
from hedgerow.live.tokens import make_token
from kill_live import Replay, functions, state_of

SETTINGS = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}


def policy():
    return hr.projection_free_coco(hr.sets.Simplex(4))


def rows(store):
    with store.reading() as connection:
        return connection.execute(sql.select(JOURNAL).order_by(JOURNAL.c.seq)).all()


def test_a_batch_is_recorded_as_single_calls_are(place):
    with (
        hr.live.open_session(place, "many", policy(), every=4) as many,
        hr.live.open_session(place, "single", policy(), every=4) as single,
    ):
        for block in range(4):
            keys = [f"{block}-{k}" for k in range(5)]
            told = [(key, *functions(k, 4)) for k, key in enumerate(keys)]
            made = many.ask_many(keys=keys)
            done = many.tell_many(told[::-1])
            assert many.ask_many(keys=keys[:2])[1].round == made[1].round  # again: the same
            assert many.tell_many(told[::-1]) == done
            for key in keys:
                single.ask(key)
            for one in told[::-1]:
                single.tell(*one)
        assert state_of(many) == state_of(single)
        assert state_of(many)[1] == Replay(policy()).up_to(many.store, "many")
        actions = [session.history().actions for session in (many, single)]
        assert np.array_equal(*actions)
        assert len({decision.id for decision in many.ask_many(3)}) == 3


@pytest.mark.parametrize(
    ("place_of_wrong", "wrong", "error", "said"),
    [
        (3, ("nobody", *functions(1, 4)), LookupError, "made no decision 'nobody'"),
        (2, ("k0", *functions(9, 4)), hr.live.ConflictError, "was already told other feedback"),
        (1, ("k1", *functions(1, 3)), ValueError, "the value of the cost|shape|dimension|length"),
        (4, ("k2", 1.0, 2.0), TypeError, "a session stores what was seen"),
    ],
)
def test_a_batch_with_one_refused_feedback_changes_nothing(
    place, place_of_wrong, wrong, error, said
):
    with hr.live.open_session(place, "a", policy(), every=2) as session:
        session.ask_many(keys=[f"k{k}" for k in range(4)])
        session.tell("k0", *functions(0, 4))
        before, state = rows(session.store), state_of(session)
        told = [(f"k{k}", *functions(k, 4)) for k in (1, 2, 3)]
        told.insert(place_of_wrong - 1, wrong)
        place_said = f"feedback {place_of_wrong} of 4, and so all, is refused: .*({said})"
        with pytest.raises(error, match=place_said):
            session.tell_many(told)
        assert rows(session.store) == before
        session.certificate()
        assert state_of(session) == state
        told.remove(wrong)
        session.tell_many(told)
        assert state_of(session)[1] == Replay(policy()).up_to(session.store, "a")


def test_the_size_of_a_batch_is_limited(place):
    with hr.live.open_session(place, "a", policy()) as session:
        for call in (
            lambda: session.ask_many(1001),
            lambda: session.ask_many(keys=[]),
            lambda: session.tell_many([]),
        ):
            with pytest.raises(ValueError, match="one call takes 1 to 1000"):
                call()
        with pytest.raises(ValueError, match="a key has 1 to 80"):
            session.ask_many(keys=["a", ""])
        assert rows(session.store) == []


@pytest.fixture
def served(folder):
    store = hr.live.Store(f"{folder}/s.db")
    token = make_token(store, "admin")
    with (
        listening(make_app(store, limits=Limits(body=8 * 4 * 60, rate=60.0))) as http,
        hr.live.Client(str(http.base_url), "a", token, tries=1) as client,
    ):
        client.begin(**SETTINGS)

        def send(path, body):
            headers = {"Authorization": f"Bearer {token}"}
            answer = http.post(f"/sessions/a/{path}", json=body, headers=headers)
            return answer.status_code, answer.json()

        yield store, client, send


def test_batches_over_http_are_those_of_python(served):
    store, client, send = served
    with hr.live.open_session(store, "b", policy()) as alone:
        made = client.ask_many(5)
        told = [(one.id, *functions(k, 4)) for k, one in enumerate(made)]
        done = client.tell_many(told)
        assert [ack.order for ack in done] == [6, 7, 8, 9, 10]
        assert client.tell_many([
            (one.id, *(hr.first_order(f, one.action) for f in functions(k, 4)))
            for k, one in enumerate(made)
        ]) == done  # fmt: skip
        alone.ask_many(keys=[one.id for one in made])
        alone.tell_many(told)
        histories = client.history(actions=True), alone.history()
        assert histories[0]["actions"] == histories[1].actions.tolist()
        assert histories[0]["cost"] == histories[1].cost.tolist()
    status, made = send("decisions/batch", {"count": 3})
    assert status == 200
    assert [one["round"] for one in made] == [6, 7, 8]


def test_batches_that_are_too_large_or_wrong_are_refused(served):
    store, client, send = served
    for path, body, status, said in (
        ("decisions/batch", {"count": 61}, 422, "may ask for 60 decisions of 4 numbers, got 61"),
        ("decisions/batch", {"count": 0}, 422, "greater than or equal to 1"),
        ("decisions/batch", {"count": 1001}, 422, "less than or equal to 1000"),
        ("decisions/batch", {"keys": []}, 422, "at least 1 item"),
        ("decisions/batch", {"keys": ["a", "\0"]}, 422, "a key has 1 to 80"),
        ("feedback/batch", {"feedback": []}, 422, "at least 1 item"),
        ("feedback/batch", {}, 422, "`feedback` is missing"),
    ):
        found, answer = send(path, body)
        assert found == status
        assert said in answer["error"]["sentence"]
    seen = hr.feedback.EvalGrad(0.0, np.zeros(4))
    with pytest.raises(LookupError, match=r"feedback 1 of 1, and so all, is refused: .*nobody"):
        client.tell_many([("nobody", seen, seen)])
    assert rows(store) == []


def test_each_decision_of_a_batch_counts_as_a_request(served):
    _, _, send = served
    statuses = [send("decisions/batch", {"count": 50})[0] for _ in range(14)]
    assert statuses[:11] == [200] * 11  # of 600 requests
    assert statuses[-1] == 429
