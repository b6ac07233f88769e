"""The parts of a constraint that is a maximum, such as 24 hours or the links of a network."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import index, kernel, whole, write, write_rows
from hedgerow._engine.table import TableType

Array = Any

parts_table = TableType(
    "PartsTable",
    {
        "gradients": write_rows,  # of the parts of a constraint, and their values
        "values": write,
        "count": index,  # how many parts the constraint of each round has; empty if all have one
        "levels": write,  # <gradients[k], .> + levels[k] is the tangent of part k
        "plain2": write,  # memory for the squared norms of the gradients
    },
)


def parts_of_memory(gradients: Array, values: Array, count: Array, levels: Array) -> Any:
    """Return the table of the parts whose gradients and values are written to this memory."""
    plain2 = np.empty(len(gradients))
    return parts_table.filled(
        gradients=gradients, values=values, count=count, levels=levels, plain2=plain2
    )


@kernel(whole, parts_table, whole)
def parts_in(parts: Any, k: int) -> int:
    """Return how many parts the constraint of round k has."""
    return int(parts.count[k]) if k < len(parts.count) else 1


NO_PARTS = parts_of_memory(np.empty((0, 0)), np.empty(0), np.zeros(0, np.uint32), np.empty(0))
"""Of rounds whose constraints have one part each."""
