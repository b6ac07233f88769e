"""A step of descent whose point a separation oracle pulls back into the set, in one kernel."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, number, read, rows, write
from hedgerow._engine.signatures import REGULARISE
from hedgerow._engine.table import TableType
from hedgerow.kernels.hulls import coordinates, place
from hedgerow.kernels.policy_tables import STEP, UNDECLARED, set_table
from hedgerow.kernels.projected import descend, into_ball
from hedgerow.kernels.vectors import dot
from hedgerow.learners.hull_coordinates import UNFELT

Array = Any
ROUNDING = 4.0 * sys.float_info.epsilon
"""A gradient's part along the set that is below this, times the dimension, is rounding."""
INSIDE = 1e-9
"""A point this near to its projection is inside, in units of its size where that is above 1."""
RULE, T, SEPARATIONS = 0, 2, 3
"""The numbers of the state after y: the rule's two, the round, and how often it was asked."""
R, SMALL_R, RATIO, HORIZON, LARGEST = range(5)
"""The constants: R, r, 4 R / r, the horizon or 0, and the largest squeeze without one."""
pull_table = TableType(
    "PullTable",
    {
        "set": set_table,  # its oracle separates or, if the flag is set, projects
        "projects": types.boolean,
        "eta_of": function(*REGULARISE),
        "constants": read,
        "centre": read,  # of the hull
        "basis": rows,
        "state": write,
        "new": write,  # memory for a state
        "work": write,  # memory for a direction, a point and its answer
        "x": write,  # the decision
    },
)


@kernel(number, read, number)
def squeeze_of(constants: Array, t: float) -> float:
    """Return delta of round t."""
    if constants[HORIZON] > 0.0:
        return constants[RATIO] / math.sqrt(constants[HORIZON])
    return min(constants[LARGEST], constants[RATIO] / math.sqrt(t))


@kernel(number, read, number)
def most_pulls(constants: Array, delta: float) -> float:
    """Return how many separations a round with this squeeze can need at most."""
    ratio = constants[R] / constants[SMALL_R]
    return 2.0 + np.ceil(max(0.0, ratio * ratio - 1.0) / (delta * (2.0 - delta)))


@kernel(types.boolean, set_table, types.boolean, read, write)
def separates(table: Any, projects: bool, x: Array, a: Array) -> bool:
    """Write a direction that separates x from the set into a; False if x is inside."""
    index, numbers, links, scratch, _, _ = table.space
    table.oracle(index, numbers, x, links, scratch, a)
    far, size = 0.0, 1.0
    for i in range(len(x)):
        if projects:
            size = max(size, abs(a[i]))
            a[i] = x[i] - a[i]
        far = max(far, abs(a[i]))
    return far > INSIDE * size


@kernel(types.boolean, pull_table, *STEP)
def pull_step(
    table: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in the gradient s and move.

    Return False, with nothing changed, for a step that Python must take, as it says what is wrong.
    """
    constants, centre, basis = table.constants, table.centre, table.basis
    state, new, work = table.state, table.new, table.work
    n, d = basis.shape
    g, x, a = work[:d], work[d : d + n], work[d + n : d + 2 * n]
    for i in range(len(state)):
        new[i] = state[i]
    y, own = new[:d], new[d:]
    coordinates(basis, s, g)
    g2, asked = dot(g, g), 0
    felt = g2 > (ROUNDING * n) * (ROUNDING * n) * dot(s, s)
    norm2 = g2 if felt else 0.0
    own[T] += 1.0
    eta = table.eta_of(own[RULE:T], own[T], (norm2, norm2, UNDECLARED))
    if felt and eta > 0.0:
        descend(y, y, g, eta)
        into_ball(y, constants[R])
        delta = squeeze_of(constants, own[T])
        most, outside = most_pulls(constants, delta), True
        while outside and asked < most:
            place(centre, basis, y, x)
            asked += 1
            outside = separates(table.set, table.projects, x, a)
            if outside:
                coordinates(basis, a, g)
                size = math.sqrt(dot(g, g))
                if not size > UNFELT * math.sqrt(dot(a, a)):
                    return False
                descend(y, y, g, delta * constants[SMALL_R] / size)
        if outside:
            return False
    own[SEPARATIONS] += float(asked)
    for i in range(len(state)):
        state[i] = new[i]
    place(centre, basis, state[:d], table.x)
    return True
