"""Decisions with the names of their coordinates and their routes, in Python and over HTTP."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from listening import listening

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.live.service import make_app

EDGES = [["s", "a"], ["a", "t"], ["s", "t"]]
PATHS = {"kind": "UnitFlow", "edges": EDGES, "source": "s", "target": "t"}
NAMES = ["rail", "road", "sea"]
GRADIENT = {"sea": 3.0, "rail": 1.0, "road": 2.0}  # in another order than the set


def opened(folder, name="cargo", labels=None):
    X = hr.sets.Simplex(3) if labels is not None else hr.sets.Simplex(3).named(NAMES)
    return hr.live.open_session(f"{folder}/s.db", name, hr.projection_free_coco(X), labels=labels)


@pytest.fixture
def client(folder):
    """A client of a service that needs no tokens, and its session not begun."""
    app = make_app(hr.live.Store(f"{folder}/s.db"), open_access=True)
    with listening(app) as http, hr.live.Client(str(http.base_url), "cargo") as made:
        made.http = http
        yield made


@pytest.mark.parametrize("labels", [None, NAMES], ids=["of the set", "given"])
def test_a_decision_has_the_names_of_its_coordinates(folder, labels):
    with opened(folder, labels=labels) as session:
        decision = session.ask()
        assert decision.labels == tuple(NAMES)
        assert decision.named == pytest.approx(dict.fromkeys(NAMES, 1 / 3))
        assert decision.series().to_dict() == decision.named
        assert decision.routes == {}
        again = session.ask(decision.id)
        assert (again.labels, again.named) == (decision.labels, decision.named)


def test_feedback_by_name_is_stored_in_the_order_of_the_coordinates(folder):
    plain = EvalGrad(1.0, np.array([1.0, 2.0, 3.0]))
    with opened(folder) as session:
        first = session.ask()
        done = session.tell(first.id, EvalGrad(1.0, GRADIENT), EvalGrad(1.0, pd.Series(GRADIENT)))
        assert session.tell(first.id, plain, plain) == done, "the same feedback, byte for byte"
        second = session.ask()
        f = hr.Linear(pd.Series(GRADIENT), 0.5)
        session.tell(second.id, f, [f, f])
        x = second.action
        assert session.history().cost[1] == pytest.approx(x @ [1.0, 2.0, 3.0] + 0.5)
        third = session.ask().id
        with pytest.raises(
            ValueError, match="the gradient of the cost has the label 'ship', which"
        ):
            session.tell(third, EvalGrad(1.0, {"ship": 1.0}), plain)
        with pytest.raises(ValueError, match="the constraint has no entry for 'rail', 'sea'"):
            session.tell(third, plain, hr.Linear({"road": 1.0}))
        assert session.status().answered == 2


def test_coordinates_without_names_take_no_labels(folder):
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    with hr.live.open_session(f"{folder}/s.db", "bare", policy) as session:
        decision = session.ask()
        assert decision.labels is None
        assert [*decision.named] == ["0", "1", "2"]
        with pytest.raises(TypeError, match="the coordinates here have none; name them"):
            session.tell(decision.id, EvalGrad(1.0, GRADIENT), EvalGrad(1.0, np.zeros(3)))


def test_routes_have_shares(folder):
    policy = hr.projection_free_coco(hr.sets.UnitFlow([tuple(e) for e in EDGES], "s", "t"))
    with hr.live.open_session(f"{folder}/s.db", "paths", policy) as session:
        for _ in range(3):
            session.tell(
                session.ask().id, hr.Linear([1.0, 1.0, 1.0]), hr.Linear([0.0, 0.0, 1.0], -0.5)
            )
        decision = session.ask()
        shares = [*decision.routes.values()]
        assert {*decision.routes} <= {"s > t", "s > a > t"}
        assert sum(shares) == pytest.approx(1.0)
        assert shares == sorted(shares, reverse=True)
        assert decision.routes.get("s > t", 0.0) == pytest.approx(decision.named.get("s - t", 0.0))


def test_the_service_answers_with_names_and_routes(client):
    client.begin(set=PATHS, method="projection_free_coco")
    address = "/sessions/cargo/decisions"
    found = client.http.post(address, json={}).json()
    assert found["routes"] == {"s > t": 1.0}
    assert found["named"] == {"s - t": 1.0}
    assert [*found] == ["id", "round", "action", "named", "routes", "time"]
    bare = client.http.post(address, json={"names": False}).json()
    assert [*bare] == ["id", "round", "action", "time"]
    (one,) = client.http.post(f"{address}/batch", json={}).json()
    assert one["named"] == found["named"]
    decision = client.ask()
    assert decision.routes == {"s > t": 1.0}
    assert decision.labels == ("s - a", "a - t", "s - t")
    assert decision.named == {"s - t": 1.0}


def test_the_service_takes_gradients_by_name(client):
    words = {"set": {"kind": "Simplex", "n": 3}, "method": "projection_free_coco"}
    client.begin(**words, labels=NAMES)
    decision, f = client.ask(), hr.Linear(pd.Series(GRADIENT), -1.0)
    seen = {"value": float(f(decision.series())), "gradient": GRADIENT}
    told = {"id": decision.id, "cost": seen, "constraint": seen}
    done = client.http.post("/sessions/cargo/feedback", json=told)
    assert done.status_code == 200, done.text
    assert client.tell(decision.id, f, f).order == done.json()["order"]
    plain = EvalGrad(f(decision.series()), np.array([1.0, 2.0, 3.0]))
    assert client.tell(decision.id, plain, plain).order == done.json()["order"]
    labelled = hr.first_order(f, decision.series())
    assert client.tell(decision.id, labelled, labelled).order == done.json()["order"]
    other = told | {"id": client.ask().id, "cost": {"value": 1.0, "gradient": {"rail": 1.0}}}
    refused = client.http.post("/sessions/cargo/feedback", json=other)
    assert refused.status_code == 422
    assert refused.json()["error"]["sentence"] == (
        "the gradient of the cost has no entry for 'road', 'sea'; give one for each of 3 "
        "coordinates"
    )
