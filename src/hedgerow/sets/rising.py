"""The order of a direction's entries, which many oracles begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector

SMALL = 2000
"""Up to this many entries a stable sort costs nothing extra."""


def rising(c: Vector) -> NDArray[np.intp]:
    """Return the indices of c from its smallest entry to its largest, equal ones in order.

    A stable sort takes about twice the time of the fastest one on long vectors, and only ties need
    it: sort fast, and again stably if two neighbours are equal.
    """
    if c.size > SMALL:
        order = np.argsort(c)
        ordered = c[order]
        if (ordered[1:] > ordered[:-1]).all():
            return order
    return np.argsort(c, kind="stable")
