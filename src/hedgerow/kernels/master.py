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

Array = Any
MOST_STEPS = 1000
"""Newton steps of one solution at most; some ten are usual."""
MOST_TRIALS = 60
"""Trials of one line search at most; it ends after as many as rows change, mostly none."""
ROUNDING = 1e-14
"""A line search stops where the derivative is this small, relative to that at its beginning."""
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
        "residual": write,
        "numbers": write,  # the tolerance, then what was done
        "grad": write,  # the objective's gradient, for each column
        "d": write,  # the direction of a step, for each column
        "ones": write,  # H^{-1} 1, for each column
        "chol": write,  # the Cholesky factor of H = G + sigma 1 1' of each factor
        "support": write_index,  # the columns with shares, in the order of the factor's rows
        "count": write,  # how many there are in each factor
        "out": write_index,  # 1 for a column that is no longer tried
        "active": write_index,  # rows with a positive residual
        "solved": write_rows,  # M A_j for each of them
        "schur": write_rows,
        "force": write,  # of each of them
        "slide": write,  # <A_j, d> for each row
    },
)
TOLERANCE, STEPS, GAP = range(3)
"""The numbers: the gap at which to stop; how many steps were taken, and the gap that is left."""


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
        size = math.hypot(a, e)
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
    """Write y = M values: it minimises 1/2 ||y||^2 - <values, y>, where each y_b adds up to 0.

    y is in the order of the supports, and ||y|| the length of the mixture of columns.
    """
    hull, support = master.hull, master.support
    for b in range(len(hull.used)):
        first, s = hull.first[b], int(master.count[b])
        capacity, own, ones = hull.first[b + 1] - first, y[first:], master.ones[first:]
        for k in range(s):
            own[k] = values[support[first + k]]
        solve_cholesky(master.chol[hull.at_gram[b] :], capacity, s, own)
        total = norm = 0.0
        for k in range(s):
            total += own[k]
            norm += ones[k]
        for k in range(s):
            own[k] -= ones[k] * (total / norm)


@kernel(number, master_table, read, read)
def over_support(master: Any, values: Array, y: Array) -> float:
    """Return the sum over the supports of values times y, which is in their order."""
    total, first, support = 0.0, master.hull.first, master.support
    for b in range(len(master.count)):
        for k in range(np.int64(first[b]), np.int64(first[b]) + int(master.count[b])):
            total += values[support[k]] * y[k]
    return total


@kernel(nothing, master_table)
def find_residuals(master: Any) -> None:
    """Write the residuals of the rows that are not left out."""
    share, first, support = master.hull.share, master.hull.first, master.support
    for j in range(len(master.stiffness)):
        if master.stiffness[j] > 0.0:
            total, A = master.level[j], master.A[j]
            for b in range(len(master.count)):
                for k in range(np.int64(first[b]), np.int64(first[b]) + int(master.count[b])):
                    total += A[support[k]] * share[support[k]]
            master.residual[j] = total


@kernel(number, master_table, whole, whole)
def moved(master: Any, b: int, i: int) -> float:
    """Return <u_i, x - x_t> in factor b."""
    hull = master.hull
    first, used = hull.first[b], int(hull.used[b])
    at = hull.at_gram[b] + (i - first) * (hull.first[b + 1] - first)
    gram, share, before = hull.gram[at:], hull.share[first:], master.share_before[first:]
    total = 0.0
    for k in range(used):
        total += gram[k] * (share[k] - before[k])
    return total


@kernel(nothing, master_table)
def find_gradient(master: Any) -> None:
    """Write the gradient of the objective for the columns of the supports."""
    first, support, grad = master.hull.first, master.support, master.grad
    for b in range(len(master.count)):
        begin, end = first[b], first[b] + int(master.count[b])
        for k in range(begin, end):
            i = support[k]
            grad[i] = moved(master, b, i) + master.slope[i]
        for j in range(len(master.stiffness)):
            if master.stiffness[j] > 0.0 and master.residual[j] > 0.0:
                force, A = master.stiffness[j] * master.residual[j], master.A[j]
                for k in range(begin, end):
                    grad[support[k]] += force * A[support[k]]


@kernel(nothing, master_table)
def find_whole_gradient(master: Any) -> None:
    """Write the gradient of the objective for all columns."""
    hull, grad = master.hull, master.grad
    for b in range(len(master.count)):
        begin, end = hull.first[b], hull.first[b] + int(hull.used[b])
        for i in range(begin, end):
            grad[i] = moved(master, b, i) + master.slope[i]
        for j in range(len(master.stiffness)):
            if master.stiffness[j] > 0.0 and master.residual[j] > 0.0:
                force, A = master.stiffness[j] * master.residual[j], master.A[j]
                for i in range(begin, end):
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
def find_direction(master: Any) -> float:
    """Write the Newton step d on the supports; return -<gradient, d>.

    With K the diagonal of stiffnesses and A the rows of positive residuals, (H + A' K A) d = -g is
    d = -M (g + A' y), (K^{-1} + A M A') y = -A M g.
    """
    d, y, schur, first = master.d, master.force, master.schur, master.hull.first
    find_gradient(master)
    solve_hull(master, master.grad, d)
    m = 0
    for j in range(len(master.stiffness)):
        if master.stiffness[j] > 0.0 and master.residual[j] > 0.0:
            A = master.A[j]
            master.active[m] = j
            solve_hull(master, A, master.solved[m])
            y[m] = -over_support(master, A, d)
            for h in range(m + 1):
                schur[m, h] = over_support(master, A, master.solved[h])
            schur[m, m] += 1.0 / master.stiffness[j]
            m += 1
    solve_small(schur, m, y)
    for b in range(len(master.count)):
        for k in range(np.int64(first[b]), np.int64(first[b]) + int(master.count[b])):
            total = d[k]
            for j in range(m):
                total += y[j] * master.solved[j, k]
            d[k] = -total
    return -over_support(master, master.grad, d)


@kernel(number, master_table)
def find_curvature(master: Any) -> float:
    """Return ||d||^2, the second derivative of the objective along d without rows."""
    hull, support, d, total = master.hull, master.support, master.d, 0.0
    for b in range(len(master.count)):
        first, s = hull.first[b], int(master.count[b])
        capacity = hull.first[b + 1] - first
        for k in range(first, first + s):
            gram = hull.gram[hull.at_gram[b] + (support[k] - first) * capacity :]
            inner = 0.0
            for h in range(first, first + s):
                inner += gram[support[h] - first] * d[h]
            total += d[k] * inner
    return total


@kernel(number, master_table, number, number)
def step_length(master: Any, fall: float, top: float) -> float:
    """Return where in [0, top] the objective along d is least: its derivative is piecewise linear.

    `fall` is minus the derivative at 0.
    """
    residual, slide, stiffness = master.residual, master.slide, master.stiffness
    curvature, start = find_curvature(master), -fall
    for j in range(len(stiffness)):
        if stiffness[j] > 0.0 and residual[j] > 0.0:
            start -= stiffness[j] * residual[j] * slide[j]
    low, high, t = 0.0, top, top
    for _ in range(MOST_TRIALS):
        slope, bend = start + t * curvature, curvature
        for j in range(len(stiffness)):
            value = residual[j] + t * slide[j]
            if stiffness[j] > 0.0 and value > 0.0:
                slope += stiffness[j] * value * slide[j]
                bend += stiffness[j] * slide[j] * slide[j]
        if abs(slope) <= ROUNDING * fall or (slope < 0.0 and t >= top):
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        t -= slope / bend if bend > 0.0 else 0.0
        if not low < t < high:
            t = 0.5 * (low + high)
    return t


@kernel(types.boolean, master_table, number)
def take_step(master: Any, fall: float) -> bool:
    """Move along d as far as the objective falls and no share is negative.

    Return whether that was the whole step, with no row's residual changing its sign.
    """
    first, support, share, d = master.hull.first, master.support, master.hull.share, master.d
    top, factor, gone = 1.0, 0, -1
    for b in range(len(master.count)):
        begin = np.int64(first[b])
        for place in range(int(master.count[b])):
            value, slope = share[support[begin + place]], d[begin + place]
            if slope < 0.0 and value < -slope * top:
                top, factor, gone = value / -slope, b, place
    for j in range(len(master.stiffness)):
        if master.stiffness[j] > 0.0:
            master.slide[j] = over_support(master, master.A[j], d)
    t = step_length(master, fall, top)
    same = t == 1.0
    for j in range(len(master.stiffness)):
        if master.stiffness[j] > 0.0:
            before = master.residual[j]
            master.residual[j] += t * master.slide[j]
            same = same and (before > 0.0) == (master.residual[j] > 0.0)
    for b in range(len(master.count)):
        for k in range(np.int64(first[b]), np.int64(first[b]) + int(master.count[b])):
            share[support[k]] = max(0.0, share[support[k]] + t * d[k])
    if gone >= 0 and t >= top:
        share[support[np.int64(first[factor]) + gone]] = 0.0
        remove(master, factor, gone)
        solve_ones(master)
        return False
    return same


@kernel(nothing, master_table)
def begin(master: Any) -> None:
    """Make the columns with shares the supports; one that depends on others gives its share up."""
    hull, share = master.hull, master.hull.share
    for b in range(len(hull.used)):
        end, total = hull.first[b] + int(hull.used[b]), 0.0
        master.count[b] = 0
        for i in range(hull.first[b], end):
            master.out[i] = 0
            if share[i] > 0.0 and not append(master, b, i):
                share[i] = 0.0
            total += share[i]
        for i in range(hull.first[b], end):
            share[i] /= total
    solve_ones(master)


@kernel(types.boolean, master_table)
def add_columns(master: Any) -> bool:
    """Add in each factor the column that lowers the objective most; False if none does."""
    hull, grad = master.hull, master.grad
    find_whole_gradient(master)
    gap, added, blocks = 0.0, False, len(hull.used)
    least = master.numbers[TOLERANCE] / blocks
    for b in range(blocks):
        best, level = -1, 0.0
        for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
            level += hull.share[i] * grad[i]
            if master.out[i] == 0 and (best < 0 or grad[i] < grad[best]):
                best = i
        gain = level - grad[best] if best >= 0 else 0.0
        gap += max(0.0, gain)
        if gain > least and hull.share[best] == 0.0:
            added = True
            if not append(master, b, best):
                master.out[best] = 1
    master.numbers[GAP] = gap
    if added:
        solve_ones(master)
    return added and gap > master.numbers[TOLERANCE]


@kernel(nothing, master_table)
def solve_master(master: Any) -> None:
    """Solve the programme from the present shares on, up to a gap of `numbers[TOLERANCE]`."""
    begin(master)
    steps = 0
    while steps < MOST_STEPS:
        find_residuals(master)
        while steps < MOST_STEPS:
            steps += 1
            fall = find_direction(master)
            if not fall > 0.1 * master.numbers[TOLERANCE]:
                break
            for i in range(len(master.out)):
                master.out[i] = 0
            if take_step(master, fall):
                break
        if not add_columns(master):
            break
    master.numbers[STEPS] = steps
