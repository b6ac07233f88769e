"""Which past feedback holds a session's decision, in a column of the journal.

It is JSON, a list of [number of the feedback, part of the constraint, price, resemblance], the
dearest first; null where nothing holds it, or where the policy remembers no rounds.
"""

from __future__ import annotations

import json
from typing import Any

from hedgerow.policies.summary import SHOWN, Binding


def pack_binding(policy: Any) -> str | None:
    """Return the column for the policy's present decision."""
    held: tuple[Binding, ...] = getattr(policy, "binding", tuple)()[:SHOWN]
    rows = [[*one[:2], *(float(f"{number:.6g}") for number in one[2:])] for one in held]
    return json.dumps(rows) if rows else None


def read_binding(text: str | None) -> tuple[Binding, ...]:
    """Return what a column says."""
    return () if text is None else tuple(Binding(*row) for row in json.loads(text))
