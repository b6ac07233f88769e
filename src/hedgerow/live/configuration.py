"""What a policy is made of: a session goes on with the policy it was begun with, or not at all."""

from __future__ import annotations

import json
from typing import Any

from hedgerow.snapshot import Snapshot


def configuration(snapshot: Snapshot) -> str:
    """Return what a policy is made of, as JSON: fingerprints of it and of its parts."""
    return json.dumps(_made_of(snapshot), sort_keys=True)


def check_configuration(name: str, stored: str, given: str) -> None:
    """Refuse a policy that is not the one which the session was begun with."""
    if stored == given:
        return
    where = _difference(json.loads(stored), json.loads(given), "")
    raise ValueError(
        f"session {name!r} was created with another policy or other arguments ({where}); open it "
        "with the policy it was created with, or create a session with another name"
    )


def _made_of(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "part": snapshot["part"],
        "fingerprint": snapshot["fingerprint"],
        "parts": {name: _made_of(part) for name, part in snapshot["parts"].items()},
    }


def _difference(stored: dict[str, Any], given: dict[str, Any], path: str) -> str:
    """Say which part differs first."""
    if stored["part"] != given["part"]:
        return f"{path or 'the policy'} was a {stored['part']}, now it is a {given['part']}"
    for name in sorted({*stored["parts"], *given["parts"]}):
        if name not in stored["parts"] or name not in given["parts"]:
            return f"{path or 'the policy'} has other parts: {name}"
        below = f"{path}.{name}" if path else name
        if stored["parts"][name] != given["parts"][name]:
            return _difference(stored["parts"][name], given["parts"][name], below)
    return f"{path or 'the policy'}, a {stored['part']}, has other arguments"
