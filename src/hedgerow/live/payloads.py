"""Actions and feedback as bytes: a JSON line, then float64 numbers; no pickles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.feedback import Eval, EvalGrad, EvalLinear, SemiBanditFeedback
from hedgerow.inputs import Vector, as_number, as_vector
from hedgerow.labels import HasCoordinates
from hedgerow.live.chain import damaged

Observation = EvalGrad | EvalLinear | SemiBanditFeedback | Eval
Observations = Observation | tuple[Observation, ...]
RoundFeedback = tuple[Observation, Observations]
"""What was observed of the cost, and of the constraint or constraints."""
FORMAT = 1
NO_ADVICE = np.empty(0)
LITTLE = np.dtype("<f8")


def digest_of(payload: bytes) -> str:
    """Return the SHA-256 of a payload."""
    return hashlib.sha256(payload).hexdigest()


def pack_action(action: Vector, advice: Vector = NO_ADVICE) -> bytes:
    """Return an action as bytes, followed by the points that its advisers proposed."""
    return np.concatenate([action, advice]).astype(LITTLE).tobytes()


def unpack_action(payload: bytes, digest: str, dim: int) -> Vector:
    """Return the action of a payload, or refuse one that was changed."""
    _check(payload, digest)
    if not payload or len(payload) % (LITTLE.itemsize * dim):
        raise ValueError(f"an action of {dim} numbers was stored as {len(payload)} octets")
    return np.frombuffer(payload, dtype=LITTLE, count=dim).astype(np.float64)


def unpack_advice(payload: bytes, dim: int) -> Vector:
    """Return the advisers' points, one after the other, of a payload that was checked."""
    return np.frombuffer(payload, dtype=LITTLE, offset=LITTLE.itemsize * dim).astype(np.float64)


def ask_with(policy: Any, advice: Vector) -> Vector:
    """Return the decision of a policy with the advice that was stored, if it has advisers."""
    names: tuple[str, ...] = getattr(policy, "advisers", ())
    if not names:
        decision: Vector = policy.ask()
        return decision
    points = advice.reshape(-1, policy.decision_set.dim)
    stored = zip(names, points, strict=False)  # nothing at all, if nobody spoke
    spoken = {name: point for name, point in stored if not np.isnan(point[0])}
    advised: Vector = policy.ask(advice=spoken)
    return advised


def as_feedback(cost: Any, constraint: Any, of: int | HasCoordinates) -> RoundFeedback:
    """Return feedback in a canonical form, so that equal feedback has equal bytes."""
    if isinstance(constraint, list | tuple):
        if not constraint:
            raise ValueError("the constraint was told as an empty sequence; tell at least one")
        each = tuple(_observation(part, "constraint", of) for part in constraint)
        return _observation(cost, "cost", of), each
    return _observation(cost, "cost", of), _observation(constraint, "constraint", of)


def value_of(feedback: Observations) -> float:
    """Return the observed value; of several constraints the largest."""
    if isinstance(feedback, tuple):
        return max(value_of(part) for part in feedback)
    if isinstance(feedback, SemiBanditFeedback):
        return float(feedback.coefficients.sum()) + feedback.offset
    return feedback.value


def pack_feedback(cost: Observation, constraint: Observations) -> bytes:
    """Return the feedback of a round as bytes."""
    several = isinstance(constraint, tuple)
    parts = [cost, *constraint] if isinstance(constraint, tuple) else [cost, constraint]
    rows, arrays = [], []
    for part in parts:
        numbers, array = _numbers(part)
        rows.append([type(part).__name__, *numbers, len(array)])
        arrays.append(np.ascontiguousarray(array, dtype=LITTLE).tobytes())
    header = json.dumps([FORMAT, several, rows], allow_nan=False)
    return b"".join((header.encode(), b"\n", *arrays))


def unpack_feedback(payload: bytes, digest: str, dim: int) -> RoundFeedback:
    """Return the feedback of a payload, or refuse one that was changed."""
    _check(payload, digest)
    try:
        line, _, body = payload.partition(b"\n")
        version, several, rows = json.loads(line)
        if version != FORMAT:
            raise ValueError(f"format {version}")
        numbers, parts = np.frombuffer(body, dtype=LITTLE), []
        for kind, *values, size in rows:
            parts.append(_rebuild(kind, values, numbers[:size].astype(np.float64)))
            numbers = numbers[size:]
        cost, *constraints = parts
        return as_feedback(cost, constraints if several else constraints[0], dim)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"the store holds feedback that this release cannot read: {error}"
        ) from None


def _check(payload: object, digest: str) -> None:
    if not isinstance(payload, bytes) or digest_of(payload) != digest:
        raise damaged("a payload does not match its digest")


def _observation(seen: Any, name: str, of: int | HasCoordinates) -> Observation:
    """Return feedback of plain floats and float64 vectors, or refuse it."""
    if isinstance(seen, EvalGrad | EvalLinear):
        value = as_number(seen.value, f"the value of the {name}")
        grad = as_vector(seen.grad, f"the gradient of the {name}", of)
        if isinstance(seen, EvalLinear):
            return EvalLinear(value, grad)
        steep = seen.lipschitz
        known = None if steep is None else as_number(steep, f"the Lipschitz constant of the {name}")
        return EvalGrad(value, grad, known)
    if isinstance(seen, SemiBanditFeedback):
        used = as_vector(seen.coefficients, f"the coefficients of the {name}")
        return SemiBanditFeedback(used, as_number(seen.offset, f"the offset of the {name}"))
    if isinstance(seen, Eval):
        constants = (seen.value, seen.lipschitz, seen.bound)
        return Eval(*(as_number(number, f"the feedback of the {name}") for number in constants))
    raise TypeError(
        f"a session stores what was seen of the {name}: a value and a gradient "
        f"(first_order), values alone (bandit) or used coefficients (semi_bandit), got "
        f"{type(seen).__name__}"
    )


def _numbers(seen: Observation) -> tuple[Sequence[float | None], Vector]:
    if isinstance(seen, EvalGrad):
        return (seen.value, seen.lipschitz), seen.grad
    if isinstance(seen, EvalLinear):
        return (seen.value,), seen.grad
    if isinstance(seen, SemiBanditFeedback):
        return (seen.offset,), seen.coefficients
    return (seen.value, seen.lipschitz, seen.bound), np.zeros(0)


def _rebuild(kind: str, values: list[Any], array: Vector) -> Observation:
    if kind == "EvalGrad":
        return EvalGrad(values[0], array, values[1])
    if kind == "EvalLinear":
        return EvalLinear(values[0], array)
    if kind == "SemiBanditFeedback":
        return SemiBanditFeedback(array, values[0])
    if kind == "Eval":
        return Eval(*values)
    raise ValueError(f"feedback of kind {kind!r}")
