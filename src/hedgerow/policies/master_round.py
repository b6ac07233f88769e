"""One round of the restricted master, in one kernel.

After f_t and g_t were reported at x_t, with a = grad f_t along the set:

    eta = far / (eagerness sqrt(sum of the sizes of a, squared))     `choose_step`
    compare rows with the tangent of g_t, and remember it            `see_one`, `see_parts`
    y = the mixture of columns nearest to x_t - eta a, softly        `move`
        bound by the rows that resemble it, with a margin
    d = y - (x_t - eta a) + sum of the rows' forces                  `find_oracle_direction`
    v = the oracle's answer to d, a new column                       `minimise`, `admit`
    x_{t+1} = that mixture again, with the new column; rows that no  `move`
        mixture satisfies now count beyond their least value
    add a and the rows, by their multipliers, to the certificate     `record`
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, whole, write
from hedgerow._engine.table import TableType
from hedgerow.inputs import LARGEST_PART
from hedgerow.kernels.columns import (
    column_dots,
    hull_table,
    is_column,
    least_shared,
    merge_columns,
    mix_columns,
    place_for_column,
    write_column,
)
from hedgerow.kernels.master import TOLERANCE, master_table, solve_master
from hedgerow.kernels.parts import parts_in, parts_table
from hedgerow.kernels.policy_tables import minimise, set_table
from hedgerow.kernels.rounds import LARGEST_PART2, SEEN_ROUND, is_accepted
from hedgerow.kernels.rows import (
    SLIGHT,
    bind_rows,
    compare_rows,
    extend_rows,
    has_part,
    pay,
    range_of,
    remember_violated,
    rows_table,
    write_row,
)
from hedgerow.kernels.tangents import along_type
from hedgerow.kernels.vectors import copy, descent, dot

Array = Any
STIFFNESS = 100.0
"""rho: how much a violated row counts beside the distance to the step, in squares."""
MARGIN = 0.15
"""The margin of rows in round t is this many times D/sqrt(t), in their units."""
EXACT, ROUNDING = 1e-10, 1e-15
"""The programme is solved up to a gap of EXACT times the step's squared length, or times D^2 where
that is less, or up to rounding, relative to D^2."""

core_table = TableType(
    "MasterCore",
    {
        "hull": hull_table,
        "rows": rows_table,
        "master": master_table,
        "eagerness": read,
        "diameter": read,
        "margins": write,  # of each constraint, beside that of every row
        "x1": read,
        "slope": write,  # memory: of the programme, for each column
        "share_before": write,
        "before": write,  # memory: the decision of this round
        "target": write,
        "t": write,
        "grad2": write,  # sum of the squared sizes of cost gradients
        "far": write,  # the largest distance to x_1, at least D/10
        "norm": write,  # of the cost's gradient along the set
        "eta": write,  # the step size
        "loss": write,  # what this round's multipliers lose in the certificate, times eta
        "costs": write,  # sum of the costs' gradients along the set
        "pull": write,  # sum of nu_j c_j
        "inner": write,  # sum of <grad f, x_t - origin>
        "charge": write,  # sum of nu_j times row j's level at the origin
        "size": write,  # sums of ||grad f + sum nu_j c_j||, of nu_j times row j, and of ||grad f||
        "largest_price": write,  # of each constraint, the largest sum of multipliers in a round
        "heaviest": write,  # the largest sum of all rows' prices
        "each": write,  # sum of violations of each constraint, where there are several
        "totals": write,  # rounds, cost, violation, violated rounds
        "calls": write,
    },
)
play_table = TableType(
    "MasterPolicy",
    {
        "core": core_table,
        "parts": parts_table,  # of this round's constraint
        "at": read,  # where the round was seen
        "work": write,
        "set": set_table,
        "along": along_type,
    },
)


@kernel(nothing, play_table, read, write)
def write_tangent(policy: Any, c: Array, t: Array) -> None:
    """Write the part of c along the set, 0 where it is rounding beside c; t may be c."""
    _, _, _, _, label, members = policy.set.space
    moves = policy.set.measure(label, members, c, dot(c, c)) > 0.0
    policy.along(label, members, c, t)
    if not moves:
        t[:] = 0.0


@kernel(number, core_table, read, read)
def from_origin(core: Any, c: Array, point: Array) -> float:
    """Return <c, point - origin>."""
    return descent(c, point, core.hull.origin)[0]


@kernel(nothing, core_table, read)
def choose_step(core: Any, f: Array) -> None:
    """Choose the step size: distance over gradients.

    The size of a gradient is the geometric mean of its norm and of its range over the columns,
    divided by D: edges that no path in sight uses count less.
    """
    hull, D = core.hull, core.diameter[0]
    core.far[0] = max(core.far[0], math.sqrt(descent(f, hull.x, core.x1)[2]))
    column_dots(hull, f, core.slope)
    low, high = range_of(hull, core.slope)
    norm = core.norm[0] = math.sqrt(dot(f, f))
    reach = (high - low) / D
    core.grad2[0] += norm * (reach if reach > SLIGHT * norm else norm)
    core.eta[0] = 0.0
    if core.grad2[0] > 0.0:
        core.eta[0] = core.far[0] / (core.eagerness[0] * math.sqrt(core.grad2[0]))


@kernel(nothing, core_table, read, read, number)
def see_one(core: Any, at: Array, c: Array, value: float) -> None:
    """Take in the constraint's tangent: its gradient c along the set, and its value at `at`."""
    rows, level = core.rows, value - from_origin(core, c, at)
    column_dots(core.hull, c, rows.fresh)
    compare_rows(rows, 0, level)
    remember_violated(rows)
    j = len(rows.born) - int(rows.present[0])
    write_row(rows, j, 0, c, level)
    rows.born[j], rows.violated[j] = core.t[0], 1.0 if value > 0.0 else 0.0


@kernel(nothing, core_table, parts_table, whole, read)
def see_parts(core: Any, parts: Any, m: int, at: Array) -> None:
    """Take in the tangents of m parts, and write the largest one as a row.

    Parts that count apart have no common unit: there it is the largest one over its gradient.
    """
    rows, top, largest = core.rows, 0, -math.inf
    for part in range(m):
        parts.levels[part] = parts.values[part] - from_origin(core, parts.gradients[part], at)
        if has_part(rows, part):
            column_dots(core.hull, parts.gradients[part], rows.fresh)
            compare_rows(rows, part, parts.levels[part])
        size = 1.0
        if len(core.each) > 1:
            size = math.sqrt(dot(parts.gradients[part], parts.gradients[part]))
        value = parts.values[part] / size if size > 0.0 else -math.inf
        if value > largest:
            top, largest = part, value
    remember_violated(rows)
    write_part(core, parts, top, len(rows.born) - int(rows.present[0]))


@kernel(nothing, core_table, parts_table, whole, whole)
def write_part(core: Any, parts: Any, part: int, j: int) -> None:
    """Make a part of the present constraint row j."""
    column_dots(core.hull, parts.gradients[part], core.rows.fresh)
    write_row(core.rows, j, part, parts.gradients[part], parts.levels[part])
    core.rows.born[j] = core.t[0]
    core.rows.violated[j] = 1.0 if parts.values[part] > 0.0 else 0.0


@kernel(types.boolean, core_table, parts_table, whole)
def add_part(core: Any, parts: Any, m: int) -> bool:
    """Make the part that the decision violates most, by tangents, a row; False if there is none."""
    rows, worst, largest = core.rows, -1, 0.0
    last = len(rows.born) - int(rows.present[0])
    place = last
    while place < len(rows.born) and rows.born[place] > 0.0:
        place += 1
    if place == len(rows.born):
        return False
    for part in range(m):
        c, known = parts.gradients[part], False
        for j in range(last, place):
            known = known or rows.part[j] == part
        excess = parts.levels[part] + from_origin(core, c, core.hull.x)
        if not known and excess > 0.0:
            size = math.sqrt(dot(c, c))
            if size > 0.0 and excess / size > largest:
                worst, largest = part, excess / size
    if worst >= 0:
        write_part(core, parts, worst, place)
    return worst >= 0


@kernel(types.boolean, core_table, parts_table, whole, read, types.boolean)
def move(core: Any, parts: Any, m: int, f: Array, known: bool) -> bool:
    """Solve the programme around x_t - eta f, and write the decision.

    Return whether a row is infeasible; `known` is as `bind_rows` has it.
    """
    hull, rows, master, D = core.hull, core.rows, core.master, core.diameter[0]
    eta, target, margin = core.eta[0], core.target, MARGIN * D / math.sqrt(core.t[0])
    x, before = hull.x, core.before
    for i in range(len(f)):  # ||x - x_t||^2 / 2 about the present decision y: <y - x_t, x> is left
        target[i] = eta * f[i] + (x[i] - before[i])
    column_dots(hull, target, core.slope)
    copy(core.share_before, hull.share)
    step = min(eta * core.norm[0], D)
    master.numbers[TOLERANCE] = EXACT * step * step + ROUNDING * D * D
    infeasible, again = False, True
    while again:
        infeasible = bind_rows(rows, D, margin, STIFFNESS, core.margins, known)
        solve_master(master)
        mix_columns(hull)
        again = m > 1 and add_part(core, parts, m)
    return infeasible


@kernel(nothing, core_table, read, write)
def find_oracle_direction(core: Any, f: Array, d: Array) -> None:
    """Write d = x - (x_t - eta f) + sum of forces: what the oracle is to lower."""
    rows, residual, eta = core.rows, core.master.residual, core.eta[0]
    x, before = core.hull.x, core.before
    for i in range(len(d)):
        d[i] = x[i] - before[i] + eta * f[i]
    for j in range(len(residual)):
        if rows.stiffness[j] > 0.0 and residual[j] > 0.0:
            force, c = rows.stiffness[j] * residual[j], rows.c[j]
            for i in range(len(d)):
                d[i] += force * c[i]


@kernel(types.boolean, core_table, read)
def admit(core: Any, v: Array) -> bool:
    """Remember the oracle's answer; False if each of its parts is a column already.

    Where all columns of a factor have shares, the two smallest are merged: the decision stays.
    """
    hull, rows, u, new = core.hull, core.rows, core.target, False
    origin = hull.origin
    for i in range(len(u)):
        u[i] = v[i] - origin[i]
    for b in range(len(hull.used)):
        if not is_column(hull, b, u):
            i = place_for_column(hull, b, core.master.grad)
            if i < 0:
                i = least_shared(hull, b, -1)
                j = least_shared(hull, b, i)
                merge_columns(hull, b, i, j)
                extend_rows(rows, b, j)
            write_column(hull, b, i, u)
            extend_rows(rows, b, i)
            new = True
    return new


@kernel(nothing, core_table, write)
def find_prices(core: Any, prices: Array) -> None:
    """Write stiffness_j residual_j / eta of each row: what one unit of it costs."""
    rows, residual, eta = core.rows, core.master.residual, core.eta[0]
    for j in range(len(prices)):
        prices[j] = 0.0
        if eta > 0.0 and rows.stiffness[j] > 0.0 and residual[j] > 0.0:
            prices[j] = rows.stiffness[j] * residual[j] / eta


@kernel(nothing, core_table, number)
def find_multipliers(core: Any, gap: float) -> None:
    """Write the multipliers nu_j of the programme's rows, and what they lose in the certificate.

    At its solution y, which the oracle betters by `gap`, they lose gap/eta - sum nu_j value_j:
    value_j, of row j at y, is negative where its margin alone binds.
    """
    rows, residual, eta, loss = core.rows, core.master.residual, core.eta[0], gap
    find_prices(core, rows.multiplier)
    for j in range(len(residual)):
        if rows.multiplier[j] > 0.0:
            value = residual[j] - (rows.bound[j] - rows.level[j])
            loss -= eta * rows.multiplier[j] * value
    core.loss[0] = loss


@kernel(nothing, core_table, read, read, number, number)
def record(core: Any, at: Array, f: Array, cost: float, value: float) -> None:
    """Add a round to the sums of the certificate, and to the totals.

    The certificate may take any multipliers. It takes none of a round in which they would lose
    more than the round itself can cost: while the columns are too few, or rows contradict.
    """
    rows, eta, target, costs, pull = core.rows, core.eta[0], core.target, core.costs, core.pull
    taken = core.loss[0] <= eta * core.diameter[0] * core.norm[0]
    core.inner[0] += from_origin(core, f, at)
    copy(target, f)
    for i in range(len(f)):
        costs[i] += f[i]
    for j in range(len(rows.born)):
        if not taken:
            rows.multiplier[j] = 0.0
        nu = rows.multiplier[j]
        if nu > 0.0:
            c = rows.c[j]
            core.charge[0] += nu * rows.level[j]
            core.size[1] += nu * (abs(rows.level[j]) + rows.norm[j] * core.diameter[0])
            part = int(rows.part[j]) if len(core.largest_price) > 1 else 0
            paid = pay(rows, j, nu, len(core.largest_price) > 1)
            core.largest_price[part] = max(core.largest_price[part], paid)
            for i in range(len(f)):
                pull[i] += nu * c[i]
                target[i] += nu * c[i]
    find_prices(core, rows.price)
    total = 0.0
    for j in range(len(rows.price)):
        total += rows.price[j]
    core.heaviest[0] = max(core.heaviest[0], total)
    core.size[0] += math.sqrt(dot(target, target))
    core.size[2] += core.norm[0]
    core.totals[0] += 1.0
    core.totals[1] += cost
    core.totals[2] += max(0.0, value)
    core.totals[3] += value > 0.0


@kernel(types.boolean, play_table, *SEEN_ROUND)
def play_master(
    policy: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round, as `kernels/rounds.py` describes it."""
    n, core, parts, at, work = len(a), policy.core, policy.parts, policy.at, policy.work
    f, g, d, v = work[:n], work[n : 2 * n], work[2 * n : 3 * n], work[3 * n :]
    m, hull = parts_in(parts, k), core.hull
    accepted = is_accepted(cost, value, products)
    for part in range(m if m > 1 else 0):
        norm2 = parts.plain2[part] = dot(parts.gradients[part], parts.gradients[part])
        accepted = accepted and norm2 <= LARGEST_PART2 and abs(parts.values[part]) <= LARGEST_PART
    if not accepted:
        return False
    copy(g, at)  # where the round was seen, while the decision moves
    core.t[0] += 1.0
    copy(core.before, hull.x)
    write_tangent(policy, a, f)  # what is constant on the set is nothing to it
    choose_step(core, f)
    if m == 1:
        write_tangent(policy, c, d)
        see_one(core, g, d, value)
        for part in range(len(core.each)):
            core.each[part] += max(0.0, value)
    else:
        for part in range(m):
            write_tangent(policy, parts.gradients[part], parts.gradients[part])
        see_parts(core, parts, m, g)
        for part in range(len(core.each)):
            core.each[part] += max(0.0, parts.values[part])
    # project x_t - eta f, softly, onto what is remembered; ask the oracle once, where that prices
    infeasible = move(core, parts, m, f, False)
    find_oracle_direction(core, f, d)
    minimise(policy.set, d, v)
    gap, _, _ = descent(d, hull.x, v)
    find_multipliers(core, gap)
    core.calls[0] += 1.0
    if admit(core, v) or infeasible:
        move(core, parts, m, f, True)
    record(core, g, f, cost, value)
    return True
