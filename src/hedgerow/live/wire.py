"""The JSON of the service: what requests must look like, and how answers are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad

NUMBERS = {"type": "array", "items": {"type": "number"}}
SEEN = {"type": "object", "required": ["value", "gradient"],
        "properties": {"value": {"type": "number"}, "gradient": NUMBERS}}  # fmt: skip
BEGIN = {
    "type": "object",
    "required": ["name", "method"],
    "properties": {
        "name": {"type": "string"},
        "set": {"type": "object"},
        "problem": {"type": "object"},
        "method": {"type": "string"},
        "eagerness": {"type": "number"},
        "horizon": {"type": "integer"},
        "seed": {"type": "integer"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "every": {"type": "integer"},
    },
}
ASK = {"type": "object", "properties": {"key": {"type": "string"}}}
TELL = {
    "type": "object",
    "required": ["cost", "constraint"],
    "properties": {"cost": SEEN, "constraint": {"oneOf": [SEEN, {"type": "array", "items": SEEN}]}},
}


def body_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what OpenAPI says of a body."""
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": True}}


def plain(array: Any) -> Any:
    """Return an array as lists; null where a number is not known."""
    if array.dtype.kind == "f":
        known: Any = np.where(np.isfinite(array), array, None)
        return known.tolist()
    return array.tolist()


def check_object(given: Any, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
    """Refuse what is no object of these keys."""
    allowed = (*required, *optional)
    if not isinstance(given, dict) or not set(required) <= set(given) <= set(allowed):
        raise ValueError(f"send a JSON object with the keys {', '.join(allowed)} and no others")


def seen_of(given: Any, name: str) -> EvalGrad:
    """Return the value and gradient in an object of JSON."""
    if not isinstance(given, dict) or set(given) != {"value", "gradient"}:
        raise ValueError(f"the {name} must be an object of `value` and `gradient`")
    gradient = given["gradient"]
    if not isinstance(gradient, list):
        raise ValueError(f"the gradient of the {name} must be a list of numbers")
    if not all(type(entry) in (float, int) for entry in gradient):
        raise ValueError(f"the gradient of the {name} must hold numbers alone")
    try:
        return EvalGrad(given["value"], np.array(gradient, dtype=np.float64))
    except OverflowError:
        raise ValueError(f"the gradient of the {name} holds numbers beyond float64") from None


def no_constant(word: str) -> float:
    """Refuse NaN and infinities, which Python's parser would let through."""
    raise ValueError(f"{word} is no number of JSON")
