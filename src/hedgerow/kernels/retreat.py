"""Retreat: do not go where the last constraint would be violated, as far as its tangent tells.

retreat = [y, the decision | z, where to retreat to | c | numbers], where <c, .> + level is the
tangent of the last constraint; empty for a policy that does not retreat.
refuge = [1 if it was found | the safest action of this round, which satisfies it].
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow.kernels.vectors import copy, dot

Array = Any
APART, LEVEL, SAME, MORE_COST, MORE_CCV, COST_ROOT, GRAD_ROOT, DIAMETER, ENDED, NUMBERS = range(10)
"""The numbers: 1 if y is not the learner's decision x; the level; by how much values of the tangent
must differ; what y has cost and violated more than x, by tangents; the roots of the sums of
||grad f||^2 and, over rounds that y violates, of ||grad g||^2; D; and 1 if the learner decides from
now on."""
TRUST = 1.0 / 64.0
"""y may have violated more than x by this many times D (sum ||grad g||^2)^{1/2}. Where it has, the
tangents mislead, as those of a maximum do. Of 1, 1/16 and 1/64 the last was the best one for many
hours of load; on other development games they hardly differ."""
ROUNDING = 1e-12
"""Values of a tangent that differ by less, in units of D ||grad g||, are the same."""


@kernel(nothing, write, number, number, number, number)
def count_more(retreat: Array, cost: float, violation: float, cost2: float, force2: float) -> None:
    """Add what a round at y cost and violated more than at x; force2 = 0 if y satisfies it."""
    own = retreat[len(retreat) - NUMBERS :]
    own[MORE_COST] += cost
    own[MORE_CCV] += violation
    own[COST_ROOT] = math.sqrt(own[COST_ROOT] * own[COST_ROOT] + cost2)
    own[GRAD_ROOT] = math.sqrt(own[GRAD_ROOT] * own[GRAD_ROOT] + force2)


@kernel(nothing, write, read)
def show_refuge(refuge: Array, safest: Array) -> None:
    """Write down the safest action of this round."""
    refuge[0] = 1.0
    copy(refuge[1:], safest)


@kernel(nothing, write, read, number, read, read)
def see_constraint(retreat: Array, c: Array, value: float, at: Array, refuge: Array) -> None:
    """Take in a constraint with this value and gradient c at the decision `at`.

    z is the last decision that satisfied its round, or the safest action of a round since that z
    would have violated.
    """
    n, level = len(c), value - dot(c, at)
    z, own = retreat[n : 2 * n], retreat[3 * n :]
    own[LEVEL], own[SAME] = level, ROUNDING * own[DIAMETER] * math.sqrt(dot(c, c))
    if value <= own[SAME]:
        copy(z, at)
    elif refuge[0] > 0.0 and level + dot(c, z) > own[SAME]:
        copy(z, refuge[1:])
    copy(retreat[2 * n : 3 * n], c)


@kernel(nothing, write, read)
def choose_decision(retreat: Array, x: Array) -> None:
    """Write the next decision y: the learner's x, or a point between x and z.

    y = x if x satisfies the tangent, if z violates it no less than x, or if y has lost too much to
    x so far. Otherwise y is the first point from x to z that satisfies the tangent, z if none does.
    """
    n = len(x)
    y, z, c, own = retreat[:n], retreat[n : 2 * n], retreat[2 * n : 3 * n], retreat[3 * n :]
    level, D = own[LEVEL], own[DIAMETER]
    there = level + dot(c, x)
    own[APART] = 0.0
    behind = own[MORE_COST] > D * own[COST_ROOT] or own[MORE_CCV] > TRUST * D * own[GRAD_ROOT]
    if there <= own[SAME] or behind or own[ENDED] > 0.0:
        copy(y, x)
        return
    safest = level + dot(c, z)
    if safest >= there - own[SAME]:
        copy(y, x)
        return
    own[APART] = 1.0
    share = 1.0 if safest >= 0.0 else there / (there - safest)
    for i in range(n):
        y[i] = x[i] + share * (z[i] - x[i])
