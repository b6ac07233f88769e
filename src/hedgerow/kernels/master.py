"""The restricted master: a quadratic programme over the shares of columns, solved exactly.

With the columns u of each factor b, shares lam (a point of a simplex for each factor), rows A and
their levels, it is

    min  1/2 ||x - x_t||^2 + <slope, lam> + sum_j stiffness_j/2 max(0, residual_j)^2
         residual_j = <A_j, lam> + level_j,  x - x_t = the mixture of columns by lam - lam_t

An active-set method: find the least point on the affine hull of the columns that have shares, by
Newton's method on the rows with a positive residual, which is exact where these stay the same; then
add in each factor the column that lowers the objective most. The columns with shares stay affinely
independent, and the objective falls in each step, so the method ends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import (
    kernel,
    nothing,
    number,
    read,
    rows,
    whole,
    write,
    write_index,
    write_rows,
)
from hedgerow._engine.table import TableType
from hedgerow.kernels.columns import hull_table
from hedgerow.kernels.vectors import dot

Array = Any
MOST_STEPS = 1000
"""Newton steps of one solution at most; some ten are usual."""
MOST_TRIALS = 60
"""Trials of one line search at most; it ends after as many as rows change, mostly none."""
ROUNDING = 1e-14
"""A line search stops where the derivative is this small, relative to that at its beginning."""
SETTLED = 0.1
"""A Newton step that lowers the objective by less than this share of the tolerance is not taken."""
DEPENDENT = 1e-11
"""A column whose part outside the others' affine hull is smaller, squared and relative to its own
square, adds nothing to it but rounding."""

master_table = TableType(
    "MasterTable",
    {
        "hull": hull_table,
        "slope": read,  # of the cost, for each column
        "share_before": read,  # lam_t
        "A": rows,
        "level": read,
        "stiffness": read,  # 0 for a row that is left out
        "on": write_index,  # the rows that are not left out
        "residual": write,
        "numbers": write,  # the tolerance, then what was done
        "moved": write,  # lam - lam_t
        "grad": write,  # the objective's gradient, for each column
        "d": write,  # the direction of a step, for each column
        "ones": write,  # H^{-1} 1 of each factor, in the order of its support
        "packed": write,  # memory for a factor's entries, in the order of its support
        "chol": write,  # the Cholesky factor of H = G + sigma 1 1' of each factor
        "support": write_index,  # the columns with shares, in the order of the factor's rows
        "count": write,  # how many there are in each factor
        "gone": write,  # which of them a step takes away, in each factor; -1 for none
        "out": write_index,  # 1 for a column that cannot join: it depends on those with shares
        "solved": write_rows,  # M A_j of each row with a positive residual
        "schur": write_rows,
        "force": write,  # their forces along the step
        "slide": write,  # <A_j, d> for each row
    },
)
TOLERANCE, STEPS, GAP, ON, TOGETHER = range(5)
"""The numbers: the gap at which to stop; how many steps were taken, the gap that is left, and how
many rows are not left out, and 1 where all factors have one limit of their step."""


@kernel(types.boolean, master_table, whole, whole)
def append(master: Any, b: int, i: int) -> bool:
    """Add column i to the support of factor b; False if it depends on the others."""
    hull = master.hull
    first, s, sigma = hull.first[b], int(master.count[b]), hull.diameter2[b]
    capacity = hull.first[b + 1] - first
    if s == capacity:
        return False
    gram = hull.gram[hull.at_gram[b] + (i - first) * capacity :]
    chol, support = master.chol[hull.at_gram[b] :], master.support[first:]
    row = chol[s * capacity :]
    pivot = own = gram[i - first] + sigma
    for k in range(s):
        total, other = gram[support[k] - first] + sigma, chol[k * capacity :]
        for h in range(k):
            total -= row[h] * other[h]
        row[k] = total / other[k]
        pivot -= row[k] * row[k]
    if not pivot > DEPENDENT * own:
        return False
    row[s] = math.sqrt(pivot)
    support[s] = i
    master.count[b] = s + 1
    return True


@kernel(nothing, master_table, whole, whole)
def remove(master: Any, b: int, r: int) -> None:
    """Remove the r-th column from the support of factor b; rotations mend the Cholesky factor."""
    hull = master.hull
    first, s = hull.first[b], int(master.count[b])
    capacity = hull.first[b + 1] - first
    chol, support = master.chol[hull.at_gram[b] :], master.support[first:]
    for k in range(r, s - 1):
        support[k] = support[k + 1]
        for h in range(k + 2):
            chol[k * capacity + h] = chol[(k + 1) * capacity + h]
    for k in range(r, s - 1):
        a, e = chol[k * capacity + k], chol[k * capacity + k + 1]
        size = math.sqrt(a * a + e * e)
        cosine, sine = a / size, e / size
        for i in range(k, s - 1):
            row = chol[i * capacity :]
            left, right = row[k], row[k + 1]
            row[k] = cosine * left + sine * right
            row[k + 1] = cosine * right - sine * left
    master.count[b] = s - 1


@kernel(nothing, read, whole, whole, write)
def solve_cholesky(chol: Array, capacity: int, s: int, y: Array) -> None:
    """Replace y by the solution z of L L' z = y."""
    for k in range(s):
        row, total = chol[k * capacity :], y[k]
        for h in range(k):
            total -= row[h] * y[h]
        y[k] = total / row[k]
    for k in range(s - 1, -1, -1):
        row = chol[k * capacity :]
        y[k] = value = y[k] / row[k]
        for h in range(k):
            y[h] -= row[h] * value


@kernel(nothing, master_table)
def solve_ones(master: Any) -> None:
    """Write H^{-1} 1 of each factor, in the order of its support."""
    hull = master.hull
    for b in range(len(hull.used)):
        first, s = hull.first[b], int(master.count[b])
        ones, capacity = master.ones[first:], hull.first[b + 1] - first
        for k in range(s):
            ones[k] = 1.0
        solve_cholesky(master.chol[hull.at_gram[b] :], capacity, s, ones)


@kernel(nothing, master_table, read, write)
def solve_hull(master: Any, values: Array, y: Array) -> None:
    """Write y = M values: it minimises 1/2 ||y||^2 - <values, y> where each factor adds up to 0.

    y is 0 beside the supports, and ||y|| the length of the mixture of columns.
    """
    hull, support, own = master.hull, master.support, master.packed
    for i in range(len(y)):
        y[i] = 0.0
    for b in range(len(hull.used)):
        first, s = hull.first[b], int(master.count[b])
        if s > 1:
            base = values[support[first]]  # a constant adds nothing but rounding
            for k in range(s):
                own[k] = values[support[first + k]] - base
            capacity, ones = hull.first[b + 1] - first, master.ones[first:]
            solve_cholesky(master.chol[hull.at_gram[b] :], capacity, s, own)
            total = norm = 0.0
            for k in range(s):
                total += own[k]
                norm += ones[k]
            for k in range(s):
                y[support[first + k]] = own[k] - ones[k] * (total / norm)


@kernel(nothing, master_table)
def find_residuals(master: Any) -> None:
    """Write the residuals of the rows that are not left out."""
    A, level, residual, share = master.A, master.level, master.residual, master.hull.share
    for j in master.on[: int(master.numbers[ON])]:
        residual[j] = level[j] + dot(A[j], share)


@kernel(nothing, master_table)
def find_gradient(master: Any) -> None:
    """Write the gradient of the objective, for all columns."""
    hull, grad, moved, slope = master.hull, master.grad, master.moved, master.slope
    share, before = hull.share, master.share_before
    for i in range(len(moved)):
        moved[i] = share[i] - before[i]
    for b in range(len(hull.used)):
        first, used = np.int64(hull.first[b]), int(hull.used[b])
        capacity, gram = np.int64(hull.first[b + 1]) - first, hull.gram[hull.at_gram[b] :]
        change = moved[first : first + used]
        for i in range(used):
            begin = i * capacity
            grad[first + i] = dot(gram[begin : begin + used], change) + slope[first + i]
    residual, stiffness = master.residual, master.stiffness
    for j in master.on[: int(master.numbers[ON])]:
        if residual[j] > 0.0:
            force, A = stiffness[j] * residual[j], master.A[j]
            for i in range(len(grad)):
                grad[i] += force * A[i]


@kernel(nothing, write_rows, whole, write)
def solve_small(matrix: Array, m: int, y: Array) -> None:
    """Replace y by the solution z of matrix z = y; its lower half becomes the Cholesky factor."""
    for k in range(m):
        for h in range(k + 1):
            total = matrix[k, h]
            for i in range(h):
                total -= matrix[k, i] * matrix[h, i]
            matrix[k, h] = math.sqrt(total) if h == k else total / matrix[h, h]
    for k in range(m):
        for h in range(k):
            y[k] -= matrix[k, h] * y[h]
        y[k] /= matrix[k, k]
    for k in range(m - 1, -1, -1):
        y[k] /= matrix[k, k]
        for h in range(k):
            y[h] -= matrix[k, h] * y[k]


@kernel(number, master_table)
def settle_direction(master: Any) -> float:
    """Make d add up to 0 in each factor, beyond rounding; return -<gradient, d>."""
    hull, support, ones, grad, d = master.hull, master.support, master.ones, master.grad, master.d
    fall = 0.0
    for b in range(len(hull.used)):
        first, s = hull.first[b], int(master.count[b])
        base, total, norm = grad[support[first]], 0.0, 0.0
        for k in range(s):
            total += d[support[first + k]]
            norm += ones[first + k]
        for k in range(s):
            i = support[first + k]
            d[i] -= ones[first + k] * (total / norm)
            fall -= (grad[i] - base) * d[i]
    return fall


@kernel(number, master_table)
def find_direction(master: Any) -> float:
    """Write the Newton step d on the supports; return -<gradient, d>.

    With K the diagonal of stiffnesses and A the rows of positive residuals, (H + A' K A) d = -g is
    d = -M (g + A' y), (K^{-1} + A M A') y = -A M g.
    """
    d, y, schur, solved = master.d, master.force, master.schur, master.solved
    find_gradient(master)
    solve_hull(master, master.grad, d)
    residual, stiffness, m = master.residual, master.stiffness, 0
    for j in master.on[: int(master.numbers[ON])]:
        if residual[j] > 0.0:
            A = master.A[j]
            solve_hull(master, A, solved[m])
            y[m] = -dot(A, d)
            for h in range(m + 1):
                schur[m, h] = dot(A, solved[h])
            schur[m, m] += 1.0 / stiffness[j]
            m += 1
    solve_small(schur, m, y)
    for j in range(m):
        step, force = solved[j], y[j]
        for i in range(len(d)):
            d[i] += force * step[i]
    for i in range(len(d)):
        d[i] = -d[i]
    return settle_direction(master)


@kernel(number, master_table)
def find_curvature(master: Any) -> float:
    """Return ||d||^2, the second derivative of the objective along d without rows."""
    hull, total = master.hull, 0.0
    for b in range(len(hull.used)):
        first, used = np.int64(hull.first[b]), int(hull.used[b])
        capacity, gram = np.int64(hull.first[b + 1]) - first, hull.gram[hull.at_gram[b] :]
        d = master.d[first : first + used]
        for i in range(used):
            if d[i] != 0.0:
                total += d[i] * dot(gram[i * capacity : i * capacity + used], d)
    return total


@kernel(number, master_table, number)
def step_length(master: Any, fall: float) -> float:
    """Return where in [0, 1] the objective along d is least: its derivative is piecewise linear.

    `fall` is minus the derivative at 0.
    """
    residual, slide, stiffness = master.residual, master.slide, master.stiffness
    curvature, start, on = find_curvature(master), -fall, master.on[: int(master.numbers[ON])]
    for j in on:
        if residual[j] > 0.0:
            start -= stiffness[j] * residual[j] * slide[j]
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(MOST_TRIALS):
        slope, bend = start + t * curvature, curvature
        for j in on:
            value = residual[j] + t * slide[j]
            if value > 0.0:
                slope += stiffness[j] * value * slide[j]
                bend += stiffness[j] * slide[j] * slide[j]
        if abs(slope) <= ROUNDING * fall or (slope < 0.0 and t >= 1.0):
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        t -= slope / bend if bend > 0.0 else 0.0
        if not low < t < high:
            t = 0.5 * (low + high)
    return t


@kernel(number, master_table)
def limit_step(master: Any) -> float:
    """Shorten d to where no share is negative; return minus the objective's derivative along it.

    `gone` is the column of each factor's support that is 0 there, -1 for none. Each factor has a
    limit of its own, so that many columns can go at once, and a factor in which the objective rises
    stays; with numbers[TOGETHER] the least limit is that of all.
    """
    hull, support, share = master.hull, master.support, master.hull.share
    d, gone = master.d, master.gone
    fall, least, together = 0.0, 1.0, master.numbers[TOGETHER] > 0.0
    for b in range(len(hull.used)):
        first, top, rise, gone[b] = hull.first[b], 1.0, 0.0, -1.0
        for k in range(int(master.count[b])):
            i = support[first + k]
            rise += master.grad[i] * d[i]
            if d[i] < 0.0 and share[i] < -d[i] * top:
                top, gone[b] = share[i] / -d[i], k
        if not together:
            if rise > 0.0 and top > 0.0:
                top, gone[b] = 0.0, -1.0
            for i in range(first, first + int(hull.used[b])):
                d[i] *= top
            fall -= top * rise
        elif top < least:
            for c in range(b):
                gone[c] = -1.0
            least = top
        else:
            gone[b] = -1.0
    if together:
        for i in range(len(d)):
            d[i] *= least
        fall = -dot(master.grad, d)
    return fall


@kernel(types.boolean, master_table)
def take_step(master: Any) -> bool:
    """Move along d as far as the objective falls and no share is negative.

    Return whether that was the whole step, with no row's residual changing its sign.
    """
    A, d, slide, residual, on = master.A, master.d, master.slide, master.residual, master.on
    hull, support, share = master.hull, master.support, master.hull.share
    on = on[: int(master.numbers[ON])]
    fall = limit_step(master)
    for j in on:
        slide[j] = dot(A[j], d)
    t = step_length(master, fall) if fall > 0.0 else 0.0
    same = t == 1.0
    for j in on:
        before = residual[j]
        residual[j] += t * slide[j]
        same = same and (before > 0.0) == (residual[j] > 0.0)
    for i in range(len(share)):
        share[i] = max(0.0, share[i] + t * d[i])
    removed = False
    for b in range(len(hull.used)):
        gone = int(master.gone[b])
        if gone >= 0:
            i = support[hull.first[b] + gone]
            if t == 1.0 or share[i] == 0.0:
                share[i] = 0.0
                remove(master, b, gone)
                removed = True
    if removed:
        solve_ones(master)
    elif t < 1.0:  # a row is in the way: only the true direction leads to the solution
        master.numbers[TOGETHER] = 1.0
    return same and not removed


@kernel(nothing, master_table)
def normalise(master: Any) -> None:
    """Divide the shares of each factor by their sum, which is 1 but for rounding."""
    hull, share = master.hull, master.hull.share
    for b in range(len(hull.used)):
        end, total = hull.first[b] + int(hull.used[b]), 0.0
        for i in range(hull.first[b], end):
            total += share[i]
        for i in range(hull.first[b], end):
            share[i] /= total


@kernel(nothing, master_table)
def begin(master: Any) -> None:
    """Make the columns with shares the supports; one that depends on others gives its share up."""
    hull, share, count = master.hull, master.hull.share, 0
    stiffness, on, out = master.stiffness, master.on, master.out
    for j in range(len(stiffness)):
        if stiffness[j] > 0.0:
            on[count] = j
            count += 1
    master.numbers[ON] = count
    for b in range(len(hull.used)):
        master.count[b] = 0
        for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
            out[i] = 0
            if share[i] > 0.0 and not append(master, b, i):
                share[i] = 0.0
    normalise(master)
    solve_ones(master)


@kernel(types.boolean, master_table)
def add_columns(master: Any) -> bool:
    """Add in each factor the column that lowers the objective most; False if none does."""
    hull, grad, share, out = master.hull, master.grad, master.hull.share, master.out
    find_gradient(master)
    gap, added, blocks = 0.0, False, len(hull.used)
    least = master.numbers[TOLERANCE] / blocks
    for b in range(blocks):
        best, level = -1, 0.0
        for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
            level += share[i] * grad[i]
            if out[i] == 0 and (best < 0 or grad[i] < grad[best]):
                best = i
        gain = level - grad[best] if best >= 0 else 0.0
        gap += max(0.0, gain)
        if gain > least and share[best] == 0.0:
            added = True
            if not append(master, b, best):
                out[best] = 1
    master.numbers[GAP] = gap
    if added:
        solve_ones(master)
    return added and gap > master.numbers[TOLERANCE]


@kernel(nothing, master_table)
def solve_master(master: Any) -> None:
    """Solve the programme from the present shares on, up to a gap of `numbers[TOLERANCE]`."""
    begin(master)
    steps, out, tolerance = 0, master.out, master.numbers[TOLERANCE]
    while steps < MOST_STEPS:
        find_residuals(master)
        master.numbers[TOGETHER] = 0.0
        while steps < MOST_STEPS:
            steps += 1
            fall = find_direction(master)
            if not fall > SETTLED * tolerance:
                break
            for i in range(len(out)):
                out[i] = 0
            if take_step(master):
                break
        if not add_columns(master):
            break
    normalise(master)
    find_residuals(master)
    if master.numbers[GAP] > tolerance:  # stiff rows need the last digits of the shares
        fall = find_direction(master)
        if fall > 0.0:
            take_step(master)
            normalise(master)
    master.numbers[STEPS] = steps
