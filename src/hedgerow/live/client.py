"""A client of the service that retries safely, because every request counts once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import httpx
import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.functions import Function, in_order, labels_in
from hedgerow.inputs import Vector, as_count
from hedgerow.labels import Labels, labels_of, without_labels
from hedgerow.live.decision import Decision, Routes
from hedgerow.live.session import Acknowledgement, ConflictError, check_key
from hedgerow.live.store import check_name

AGAIN = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""


class Client:
    """One session of a service, used as a `Session` is.

    A request that fails in transit, or is answered by "try again", is repeated: `ask` with the same
    key and `tell` with the same feedback change nothing the second time.

    Args:
        address: of the service, such as "http://127.0.0.1:8765".
        name: of the session.
        token: a token of role decide.
        tries: the largest number of times that a request is sent.
        timeout: seconds to wait for an answer.

    """

    def __init__(
        self,
        address: str,
        name: str,
        token: str | None = None,
        *,
        tries: int = 8,
        timeout: float = 30.0,
    ):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.name, self._tries = check_name(name), tries
        self._http = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        self._points: dict[str, Vector] = {}

    def __repr__(self) -> str:
        return f"Client({str(self._http.base_url)!r}, {self.name!r})"  # the token is not shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def begin(self, **settings: Any) -> dict[str, Any]:
        """Begin the session, with the keys of experiment files; the token needs role admin."""
        begun: dict[str, Any] = self._send("POST", "/sessions", {"name": self.name, **settings})
        return begun

    def ask(self, key: str | None = None, advice: Mapping[str, Any] | None = None) -> Decision:
        """Return a decision that is already durable; advice is that of `Session.ask`, by name."""
        asked: dict[str, Any] = {"key": uuid.uuid4().hex if key is None else check_key(key)}
        if advice is not None:
            asked["advice"] = {
                name: np.asarray(point, dtype=np.float64).tolist() for name, point in advice.items()
            }
        return self._made(self._send("POST", f"/sessions/{self.name}/decisions", asked))

    def ask_many(self, count: int = 1, keys: Sequence[str] | None = None) -> list[Decision]:
        """Return several decisions by one request and one commit; see `Session.ask_many`."""
        if keys is None:
            keys = [uuid.uuid4().hex for _ in range(as_count(count, "count"))]
        asked = {"keys": [check_key(key) for key in keys]}
        found = self._send("POST", f"/sessions/{self.name}/decisions/batch", asked)
        return [self._made(one) for one in found]

    def tell(
        self,
        id: str,  # noqa: A002
        cost: EvalGrad | Function,
        constraint: EvalGrad | Function | Sequence[EvalGrad],
    ) -> Acknowledgement:
        """Report feedback on a decision; functions are evaluated at its action."""
        told = self._told(id, cost, constraint)
        done = Acknowledgement(**self._send("POST", f"/sessions/{self.name}/feedback", told))
        self._points.pop(id, None)
        return done

    def tell_many(
        self,
        feedback: Sequence[
            tuple[str, EvalGrad | Function, EvalGrad | Function | Sequence[EvalGrad]]
        ],
    ) -> list[Acknowledgement]:
        """Report feedback on several decisions by one request; see `Session.tell_many`."""
        told = {"feedback": [self._told(*one) for one in feedback]}
        found = self._send("POST", f"/sessions/{self.name}/feedback/batch", told)
        for one in feedback:
            self._points.pop(one[0], None)
        return [Acknowledgement(**one) for one in found]

    def status(self) -> dict[str, Any]:
        """Return the session in numbers."""
        found: dict[str, Any] = self._send("GET", f"/sessions/{self.name}")
        return found

    def history(self, first: int = 1, actions: bool = False) -> dict[str, Any]:
        """Return rounds from `first` on, as many as the service gives at a time."""
        path = f"/sessions/{self.name}/history?first={first}&actions={int(actions)}"
        found: dict[str, Any] = self._send("GET", path)
        return found

    def _made(self, found: dict[str, Any]) -> Decision:
        action = np.array(found["action"], dtype=np.float64)
        self._points[found["id"]] = action
        routes: Routes | None = found.get("routes")
        return Decision(
            found["id"],
            found["round"],
            action,
            found["time"],
            self._labels if "named" in found else None,
            None if routes is None else lambda _: routes,
        )

    @cached_property
    def _labels(self) -> Labels | None:
        """The names of the coordinates, asked for once."""
        labels = self.status().get("labels")
        return None if labels is None else tuple(labels)

    def _told(self, id_: str, cost: Any, constraint: Any) -> dict[str, Any]:
        """Return feedback as it is sent."""
        several = isinstance(constraint, list | tuple)
        return {
            "id": check_key(id_),
            "cost": self._feedback(id_, cost),
            "constraint": [self._feedback(id_, part) for part in constraint]
            if several
            else self._feedback(id_, constraint),
        }

    def _feedback(self, id_: str, seen: Any) -> dict[str, Any]:
        if not isinstance(seen, EvalGrad):
            if id_ not in self._points:
                raise LookupError(
                    f"this client did not ask for decision {id_[:80]!r}; tell EvalGrad"
                )
            x = self._points[id_]
            f = in_order(seen, None if labels_in(seen) is None else self._labels, "the function")
            seen = EvalGrad(f(x), f.grad(x))
        labels, numbers = labels_of(seen.grad), np.asarray(without_labels(seen.grad)).tolist()
        gradient = numbers if labels is None else dict(zip(labels, numbers, strict=True))
        return {"value": float(seen.value), "gradient": gradient}

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        for trial in range(1, self._tries + 1):
            wait = min(5.0, 0.05 * 2.0**trial)
            try:
                answer = self._http.request(method, path, json=body)
            except httpx.TransportError:
                if trial == self._tries:
                    raise
            else:
                if answer.status_code not in AGAIN or trial == self._tries:
                    return _content(answer)
                wait = max(wait, float(answer.headers.get("Retry-After", 0.0)))
            time.sleep(wait)
        raise AssertionError("unreachable")


def _content(answer: httpx.Response) -> Any:
    """Return the content of an answer, or raise its error."""
    try:
        content: Any = answer.json()
    except ValueError:
        content = {}
    if answer.is_success:
        return content
    sentence = content.get("error", {}).get(
        "sentence", f"the service answered {answer.status_code}"
    )
    if answer.status_code == 409:
        raise ConflictError(sentence)
    if answer.status_code == 404:
        raise LookupError(sentence)
    if answer.status_code in (401, 403):
        raise PermissionError(sentence)
    if answer.status_code in (400, 413, 415, 422):
        raise ValueError(sentence)
    raise ConnectionError(sentence)
