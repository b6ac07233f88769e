"""Keys of decisions: whatever `ask` accepts, feedback can be reported on, in every way."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from listening import listening
from raw_http import exchange, request

import hedgerow as hr
from hedgerow.live.service import make_app
from hedgerow.live.tokens import make_token

ACCEPTED = [
    "a", "a/b", "/", "a?b", "a#b", "a%2Fb", "%", "%00", ".", "..", "../../x", "a b", " ", "a\nb",
    "\t", "a\\b", "a;b=c", "a+b", "'; --", '"', "<b>", "feedback", "ä", "日本", "😀", "\u202e",
    "k" * 80, "😀" * 80,
]  # fmt: skip
REFUSED = ["", "\0", "a\0b", "\ud800", "k" * 81, 7, True, ["a"], {"a": 1}]
COST, LIMIT = hr.Linear([1.0, 0.5, 0.0, 0.2]), hr.Linear([0.0, 0.0, 1.0, 0.0], -0.3)


@pytest.fixture
def served(place):
    """A session over HTTP: its store, a client, and a function that posts by hand."""
    store = hr.live.Store(place)
    token = make_token(store, "admin")
    with listening(make_app(store)) as http:

        def post(path, body):
            text = request("POST", path, body, Authorization=f"Bearer {token}")
            return exchange(http.base_url.port, text)

        with hr.live.Client(str(http.base_url), "s", token, tries=1) as client:
            client.begin(set={"kind": "Simplex", "n": 4}, method="projection_free_coco")
            yield store, client, post


def test_feedback_on_every_key_that_is_accepted(served):
    store, client, post = served
    seen = {"value": 0.25, "gradient": [1.0, 0.5, 0.0, 0.2]}
    for t, key in enumerate(ACCEPTED, 1):
        decision = client.ask(key)
        assert (decision.id, decision.round) == (key, 2 * t - 1)
        assert client.ask(key).action.tolist() == decision.action.tolist()
        done = client.tell(key, COST, LIMIT)
        assert (done.id, done.round) == (key, 2 * t - 1)
        by_hand = key[:78] + "!!"  # and without our client
        status, text = post("/sessions/s/decisions", json.dumps({"key": by_hand}).encode())
        assert status == 200
        told = {"id": json.loads(text)["id"], "cost": seen, "constraint": seen}
        status, text = post("/sessions/s/feedback", json.dumps(told).encode())
        assert (status, json.loads(text)["id"]) == (200, by_hand)
    status = store.status("s")
    assert status.decisions == status.answered == 2 * len(ACCEPTED)


def test_other_keys_are_refused_before_anything_changes(served):
    store, client, post = served
    for key in REFUSED:
        with pytest.raises(ValueError, match="a key has 1 to 80 characters"):
            client.ask(key)
        status, text = post("/sessions/s/decisions", json.dumps({"key": key}).encode())
        assert status in (400, 422)
        assert len(json.loads(text)["error"]["sentence"]) > 10
        seen = {"value": 0.25, "gradient": [1.0] * 4}
        told = json.dumps({"id": key, "cost": seen, "constraint": seen}).encode()
        status, _ = post("/sessions/s/feedback", told)
        assert status in (400, 422)
    assert post("/sessions/s/decisions/%00/feedback", told)[0] == 422
    assert store.status("s").decisions == 0


def test_python_refuses_the_same_keys(place):
    policy = hr.projection_free_coco(hr.sets.Simplex(4))
    with hr.live.open_session(place, "s", policy) as session:
        for key in REFUSED:
            with pytest.raises(ValueError, match="a key has 1 to 80 characters"):
                session.ask(key)
        for key in ACCEPTED:
            session.tell(session.ask(key).id, COST, LIMIT)
        assert session.status().answered == len(ACCEPTED)


def test_the_address_with_an_id_still_takes_feedback(served):
    store, _, post = served
    seen = {"value": 0.25, "gradient": [1.0, 0.5, 0.0, 0.2]}
    for key in ("a", "a b", "ä", "a?b", "0f3c"):
        assert post("/sessions/s/decisions", json.dumps({"key": key}).encode())[0] == 200
        path = f"/sessions/s/decisions/{quote(key)}/feedback"
        assert post(path, json.dumps({"cost": seen, "constraint": [seen]}).encode())[0] == 200
    assert store.status("s").answered == 5
