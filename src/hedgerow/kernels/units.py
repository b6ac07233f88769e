"""Rounds in the units of what was seen: the sizes of gradients of a `Normalised` policy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import LABEL, MEMBERS, SPACE
from hedgerow.kernels.tangents import measures
from hedgerow.kernels.vectors import four

Array = Any
GF, GG, TOLD, COST, CCV, VIOLATED = range(6)
"""The numbers of `Normalised`, in whose units a round is measured."""
NEGLIGIBLE = 1e-150
"""Gradients below this are taken for zero: their inverse would leave float64."""
NO_UNITS = np.zeros(0)
"""For a policy whose rounds are not rescaled."""


@kernel(number, number)
def inverse(G: float) -> float:
    """Return 1/G, or 0 while every gradient was zero."""
    return 1.0 / G if G > NEGLIGIBLE else 0.0


@kernel(four, measures, SPACE, read, read, number, read, number)
def in_units(
    measure: Any, space: Any, units: Array, a: Array, cost2: float, c: Array, force2: float
) -> tuple[float, float, float, float]:
    """Return Gf and Gg with this round's gradients a, c, then 1/Gf and 1/Gg; 1 without units."""
    if len(units) == 0:
        return 1.0, 1.0, 1.0, 1.0
    label, members = space[LABEL], space[MEMBERS]
    Gf = max(units[GF], math.sqrt(measure(label, members, a, cost2)))
    Gg = max(units[GG], math.sqrt(measure(label, members, c, force2)))
    return Gf, Gg, inverse(Gf), inverse(Gg)


@kernel(nothing, write, number, number, number, number)
def add_told(units: Array, Gf: float, Gg: float, cost: float, value: float) -> None:
    """Add a round with these values, after which the gradients' sizes are Gf and Gg."""
    if len(units) > 0:
        units[GF], units[GG] = Gf, Gg
        units[TOLD] += 1.0
        units[COST] += cost
        units[CCV] += max(0.0, value)
        units[VIOLATED] += value > 0.0
