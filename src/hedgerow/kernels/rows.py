"""Rows: remembered tangents of constraints, and which of them resemble the present rounds.

Row j says that <c_j, x> + b_j is at most the violation of a round at x. Rows of the same noise must
bind together, rows of another regime must not. What tells them apart: a row of the present regime
differs from the present one about as much as successive rows do, over the remembered columns.

The first places hold rows of earlier rounds that were violated. The last ones hold the present
round: its largest part, whether violated or not, and parts that the programme would violate. A row
is compared with the present row of its own part.

A row that no mixture of columns satisfies is infeasible, as far as is known. It counts beyond its
least value alone, and is not remembered; and while the present row is infeasible, rows that
resembled the round before bind as well. So rounds that no action satisfies do not keep those from
being satisfied that some action does.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import index, kernel, nothing, number, read, whole, write, write_rows
from hedgerow._engine.table import TableType
from hedgerow.kernels.columns import column_dot, hull_table
from hedgerow.kernels.vectors import copy, dot, two

Array = Any
ALIKE = 3.0
"""A row counts in full if it differs from the present one by at most this many times the median of
the last changes, in mean squares."""
FLAT = 1e-140
"""A row that varies by less is flat: the square of its unit would leave float64."""
SLIGHT = 1e-12
"""A gradient that varies less over the columns, in its norm times D, varies by rounding alone."""
UNLIKE = 0.1
"""A row whose weight is less than this does not count."""

rows_table = TableType(
    "RowsTable",
    {
        "hull": hull_table,
        "c": write_rows,  # gradients along the set
        "A": write_rows,  # <c, u> for each column u
        "level": write,  # the tangent's value at the hull's origin
        "norm": write,  # ||c||
        "weight": write,  # how much it binds, from 0 to 1
        "alike": write,  # how much it resembled the last round that it was compared with
        "born": write,  # its round; 0 for an empty place
        "violated": write,  # 1 if it was violated where it was seen
        "part": write,  # which part of the constraint it is
        "paid": write,  # multipliers so far, of all rows of its round and constraint
        "price": write,  # what one unit of it costs now
        "multiplier": write,  # memory: its multiplier in the certificate, in this round
        "bound": write,  # its level with the margin
        "stiffness": write,
        "changes": write_rows,  # of each constraint, how much its last rows differed, newest first
        "sorted": write,  # memory for them
        "present": index,  # how many rows a round has at most
        "fresh": write,  # <c, u> of the row that is being looked at
    },
)


@kernel(two, hull_table, read)
def range_of(hull: Any, values: Array) -> tuple[float, float]:
    """Return the least and the largest sum of values, one for a column of each factor."""
    low = high = 0.0
    for b in range(len(hull.used)):
        first = hull.first[b]
        least = most = values[first]
        for i in range(first + 1, first + int(hull.used[b])):
            least, most = min(least, values[i]), max(most, values[i])
        low, high = low + least, high + most
    return low, high


@kernel(number, hull_table, read, read, number)
def difference2(hull: Any, left: Array, right: Array, offset: float) -> float:
    """Return the mean square of left - right + offset over all choices of a column per factor."""
    mean, variance = offset, 0.0
    for b in range(len(hull.used)):
        first, used = hull.first[b], int(hull.used[b])
        total = squares = 0.0
        for i in range(first, first + used):
            total += left[i] - right[i]
        own = total / used
        for i in range(first, first + used):
            e = left[i] - right[i] - own
            squares += e * e
        mean += own
        variance += squares / used
    return mean * mean + variance


@kernel(nothing, write, number)
def add_change(changes: Array, change: float) -> None:
    """Put a number in front of others, and forget the last of them."""
    for k in range(len(changes) - 1, 0, -1):
        changes[k] = changes[k - 1]
    changes[0] = change


@kernel(number, write, write)
def usual_change(changes: Array, ordered: Array) -> float:
    """Return the median of the changes that are not 0, or 0 without any; `ordered` is memory."""
    m = 0
    for change in changes:
        if change > 0.0:
            k = m
            while k > 0 and ordered[k - 1] > change:
                ordered[k] = ordered[k - 1]
                k -= 1
            ordered[k] = change
            m += 1
    return ordered[m // 2] if m > 0 else 0.0


@kernel(number, number, number)
def resemblance(usual: float, far2: float) -> float:
    """Return the weight of a row that differs by this mean square from the present one."""
    if far2 <= ALIKE * usual:
        return 1.0
    weight = (ALIKE * usual / far2) * (ALIKE * usual / far2)
    return weight if weight >= UNLIKE else 0.0


@kernel(types.boolean, rows_table, whole)
def has_part(rows: Any, part: int) -> bool:
    """Whether a row of this part is remembered."""
    for j in range(len(rows.born)):  # noqa: SIM110 - numba compiles no generators
        if rows.born[j] > 0.0 and rows.part[j] == part:
            return True
    return False


@kernel(types.boolean, hull_table, read, number)
def is_infeasible(hull: Any, values: Array, level: float) -> bool:
    """Whether no mixture of columns satisfies a row of these values at the columns."""
    return range_of(hull, values)[0] + level > 0.0


@kernel(nothing, rows_table, whole, number)
def compare_rows(rows: Any, part: int, level: float) -> None:
    """Weigh the rows of a part by how much they resemble its present one: `fresh` and its level."""
    hull, fresh, last = rows.hull, rows.fresh, len(rows.born) - int(rows.present[0])
    changes = rows.changes[min(part, rows.changes.shape[0] - 1)]
    for j in range(last, len(rows.born)):
        if rows.born[j] > 0.0 and rows.part[j] == part:
            change = difference2(hull, fresh, rows.A[j], level - rows.level[j])
            if change > 0.0:
                add_change(changes, change)
    usual, infeasible = usual_change(changes, rows.sorted), is_infeasible(hull, fresh, level)
    for j in range(len(rows.born)):
        if rows.born[j] > 0.0 and rows.part[j] == part:
            far2 = difference2(hull, fresh, rows.A[j], level - rows.level[j])
            before = rows.alike[j]
            rows.weight[j] = rows.alike[j] = resemblance(usual, far2)
            if infeasible:
                rows.weight[j] = max(rows.weight[j], before)


@kernel(whole, rows_table)
def place_for_row(rows: Any) -> int:
    """Return where to remember a row: in place of none, of the unlikest, or of the slackest."""
    unlike, slackest, least = 0, 0, math.inf
    for j in range(len(rows.born) - int(rows.present[0])):
        if rows.born[j] == 0.0:
            return j
        if rows.weight[j] < rows.weight[unlike]:
            unlike = j
        slack = rows.level[j] + dot(rows.A[j], rows.hull.share)
        slack = slack / rows.norm[j] if rows.norm[j] > 0.0 else -math.inf
        if slack < least:
            slackest, least = j, slack
    return unlike if rows.weight[unlike] < UNLIKE else slackest


@kernel(nothing, rows_table)
def remember_violated(rows: Any) -> None:
    """Copy the rows of the last round that were violated to those of earlier rounds."""
    for j in range(len(rows.born) - int(rows.present[0]), len(rows.born)):
        lost = is_infeasible(rows.hull, rows.A[j], rows.level[j])
        if rows.born[j] > 0.0 and rows.violated[j] > 0.0 and not lost:
            k = place_for_row(rows)
            copy(rows.c[k], rows.c[j])
            copy(rows.A[k], rows.A[j])
            rows.level[k], rows.norm[k] = rows.level[j], rows.norm[j]
            rows.weight[k], rows.born[k], rows.violated[k] = rows.weight[j], rows.born[j], 1.0
            rows.part[k], rows.paid[k], rows.alike[k] = rows.part[j], rows.paid[j], rows.alike[j]
        rows.born[j] = 0.0


@kernel(nothing, rows_table, whole, whole, read, number)
def write_row(rows: Any, j: int, part: int, c: Array, level: float) -> None:
    """Make <c, .> + level, of a part, row j; `fresh` has its values at the columns."""
    copy(rows.c[j], c)
    copy(rows.A[j], rows.fresh)
    rows.level[j], rows.norm[j], rows.weight[j] = level, math.sqrt(dot(c, c)), 1.0
    rows.part[j], rows.paid[j], rows.alike[j] = part, 0.0, 1.0


@kernel(number, rows_table, whole, number, types.boolean)
def pay(rows: Any, j: int, multiplier: float, apart: bool) -> float:
    """Add a multiplier of row j to those of its round; return their sum.

    Parts are those of one constraint, unless they count apart.
    """
    born, part = rows.born[j], rows.part[j]
    for i in range(len(rows.born)):
        if rows.born[i] == born and not (apart and rows.part[i] != part):
            rows.paid[i] += multiplier
    paid: float = rows.paid[j]
    return paid


@kernel(nothing, rows_table, whole, whole)
def extend_rows(rows: Any, b: int, i: int) -> None:
    """Write <c, u> of all rows for a new column u: column i of factor b."""
    for j in range(len(rows.born)):
        if rows.born[j] > 0.0:
            rows.A[j, i] = column_dot(rows.hull, b, i, rows.c[j])


@kernel(types.boolean, rows_table, number, number, number, write, types.boolean)
def bind_rows(
    rows: Any, D: float, margin: float, stiffness: float, margins: Array, known: bool
) -> bool:
    """Write rows as the programme has them: in their units, with margins and stiffnesses.

    The unit is by how much a row varies over the columns, in D: links that no decision uses do not
    count. Where it does not vary, it is ||c||. Each constraint that counts apart has a margin of
    its own, in its unit. Return whether a row is infeasible; if that is `known`, after the oracle
    was asked, it counts beyond its least value alone.
    """
    infeasible = False
    for j in range(len(rows.born)):
        rows.stiffness[j] = 0.0
        if rows.born[j] > 0.0 and rows.weight[j] > 0.0:
            low, high = range_of(rows.hull, rows.A[j])
            unit, least = (high - low) / D, max(0.0, low + rows.level[j])
            if unit <= SLIGHT * rows.norm[j]:
                unit = rows.norm[j]
            if unit > FLAT:
                infeasible = infeasible or least > 0.0
                own = margins[min(int(rows.part[j]), len(margins) - 1)]
                rows.bound[j] = rows.level[j] + margin * unit + own - (least if known else 0.0)
                rows.stiffness[j] = stiffness * rows.weight[j] / (unit * unit)
    return infeasible
