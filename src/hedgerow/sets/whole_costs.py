"""Costs as whole numbers, for methods that must not round."""

from __future__ import annotations

import numpy as np

from hedgerow.inputs import Vector


def whole_costs(costs: Vector) -> list[int]:
    """Return costs times one power of two, such that all are whole and none changes.

    >>> whole_costs(np.array([0.75, -3.0, 0.0])) == [3 * 2**51, -12 * 2**51, 0]
    True

    """
    mantissa, exponent = np.frexp(costs)
    shifts = exponent - exponent.min(initial=1100)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    return [m << s for m, s in zip(whole.tolist(), shifts.tolist(), strict=True)]
