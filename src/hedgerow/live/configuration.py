"""What identifies a session: the call that made its policy, with the user's arguments."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.snapshot import Snapshot, Stateful

LONGEST = 200
"""Longer arguments are stored as their SHA-256."""


def configuration(policy: Any) -> str:
    """Return the call that made a policy, and its parts, as JSON."""
    name, arguments = _call(policy)
    state = policy.state()
    if not isinstance(policy, Stateful):  # a class of the user's own, which knows its arguments
        arguments["fingerprint"] = state["fingerprint"]
    call = {"name": name, "arguments": {key: _short(text) for key, text in arguments.items()}}
    return json.dumps({"call": call, "made of": _made_of(state)}, sort_keys=True)


def check_configuration(row: Any, policy: Any, given: str, *, upgrade: bool) -> bool:
    """Refuse a policy with other arguments; return whether the call is recorded already."""
    stored, now = json.loads(row.configuration), json.loads(given)
    if "call" not in stored:  # of a release that recorded only the parts
        same = stored == now["made of"] or row.policy == shown(policy) or row.spec is not None
        if not same and not upgrade:
            raise ValueError(
                f"session {row.name!r} was created with another policy or other arguments, or by "
                f"an earlier release, which did not record them "
                f"({_difference(stored, now['made of'], '')}); open it with the policy it was "
                "created with; if this is that policy, add upgrade=True"
            )
        return False
    if stored["call"] != now["call"] and stored["made of"] != now["made of"]:
        raise ValueError(
            f"session {row.name!r} was created with another policy or other arguments "
            f"({_change(stored['call'], now['call'])}); open it with the policy it was created "
            "with, or create a session with another name"
        )
    return True


def shown(policy: Any) -> str:
    """Return a policy as pages show it."""
    return repr(policy)[:400]


def _call(made: Any) -> tuple[str, dict[str, str]]:
    """Return the name and the arguments of the call that made an object, without defaults."""
    if isinstance(made, Stateful):
        name, arguments, defaults = made.made_by()
    elif dataclasses.is_dataclass(made) and not isinstance(made, type):
        fields = [field for field in dataclasses.fields(made) if field.init]
        name = type(made).__qualname__
        arguments = {field.name: getattr(made, field.name) for field in fields}
        defaults = {field.name: field.default for field in fields}
    else:
        return getattr(made, "__qualname__", type(made).__qualname__), {}
    texts = {key: _text(value) for key, value in arguments.items()}
    return name, {
        key: text
        for key, text in texts.items()
        if key not in defaults or _text(defaults[key]) != text
    }


def _text(value: Any) -> str:
    """Return an argument as text: equal numbers and equal arrays have equal texts."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float | type(None)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return _text(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        entries = (
            sorted(map(_text, value)) if isinstance(value, set | frozenset) else map(_text, value)
        )
        return f"[{', '.join(entries)}]"
    if isinstance(value, Mapping):
        entries = sorted(f"{_text(key)}: {_text(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    name, arguments = _call(value)
    return f"{name}({', '.join(f'{key}={text}' for key, text in arguments.items())})"


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:60]}... (SHA-256 {hashlib.sha256(text.encode()).hexdigest()})"


def _change(stored: dict[str, Any], given: dict[str, Any]) -> str:
    """Return which argument differs first."""
    if stored["name"] != given["name"]:
        return f"it was made by {stored['name']}, now by {given['name']}"
    before, now = stored["arguments"], given["arguments"]
    name = next(key for key in sorted({*before, *now}) if before.get(key) != now.get(key))
    left_out = "left out"
    return f"{name} was {before.get(name, left_out)}, now it is {now.get(name, left_out)}"


def _made_of(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "part": snapshot["part"],
        "fingerprint": snapshot["fingerprint"],
        "parts": {name: _made_of(part) for name, part in snapshot["parts"].items()},
    }


def _difference(stored: dict[str, Any], given: dict[str, Any], path: str) -> str:
    """Return which part differs first."""
    if stored["part"] != given["part"]:
        return f"{path or 'the policy'} was a {stored['part']}, now it is a {given['part']}"
    for name in sorted({*stored["parts"], *given["parts"]}):
        if name not in stored["parts"] or name not in given["parts"]:
            return f"{path or 'the policy'} has other parts: {name}"
        below = f"{path}.{name}" if path else name
        if stored["parts"][name] != given["parts"][name]:
            return _difference(stored["parts"][name], given["parts"][name], below)
    return f"{path or 'the policy'}, a {stored['part']}, has other arguments"
