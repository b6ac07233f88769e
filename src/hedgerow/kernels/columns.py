"""Columns: remembered answers of the oracle, and the decision as a mixture of them.

The columns of a product's factor are parts of answers in that factor. Any mixture of columns in
each factor is a point of the set. Columns are stored as differences to one point, the origin, so
that moving a set changes no rounding. Products with a column take only its entries that are not
zero: a path has few.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow._engine.kernel import (
    index,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
    write_index,
)
from hedgerow._engine.table import TableType
from hedgerow.kernels.vectors import copy, dot

Array = Any
SAME = 1e-10
"""A column this near to another one, as a squared distance relative to D^2, is the same: nearer
ones depend on each other as far as the master can tell (`DEPENDENT`)."""

hull_table = TableType(
    "HullTable",
    {
        "begin": index,  # where the coordinates of each factor begin, and the end
        "first": index,  # where the columns of each factor begin, and the end
        "at": index,  # where the entries of each factor's columns begin
        "at_gram": index,  # where the inner products of each factor's columns begin
        "diameter2": read,  # of each factor
        "origin": read,
        "x": write,  # the decision
        "used": write,  # how many columns each factor has
        "share": write,  # of each column in the decision
        "entries": write,  # of the columns, those of one after those of the other
        "places": write_index,  # likewise: which entries of each are not zero
        "nonzeros": write_index,  # how many of each
        "gram": write,
    },
)


@kernel(number, hull_table, whole, whole, read)
def column_dot(hull: Any, b: int, i: int, c: Array) -> float:
    """Return <c, u>, where u is column i, of factor b."""
    begin, size = hull.begin[b], hull.begin[b + 1] - hull.begin[b]
    at, count = hull.at[b] + (i - hull.first[b]) * size, hull.nonzeros[i]
    u, part, total = hull.entries[at : at + size], c[begin : begin + size], 0.0
    if count == size:
        return dot(u, part)
    for place in hull.places[at : at + count]:
        total += u[place] * part[place]
    return total


@kernel(nothing, hull_table, read, write)
def column_dots(hull: Any, c: Array, values: Array) -> None:
    """Write <c, u> for each column u."""
    for b in range(len(hull.used)):
        for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
            values[i] = column_dot(hull, b, i, c)


@kernel(nothing, hull_table)
def mix_columns(hull: Any) -> None:
    """Write the decision: the mixture of the columns by their shares."""
    copy(hull.x, hull.origin)
    for b in range(len(hull.used)):
        size, x = hull.begin[b + 1] - hull.begin[b], hull.x[hull.begin[b] :]
        for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
            if hull.share[i] > 0.0:
                at = hull.at[b] + (i - hull.first[b]) * size
                u, share = hull.entries[at : at + size], hull.share[i]
                for place in hull.places[at : at + hull.nonzeros[i]]:
                    x[place] += share * u[place]


@kernel(nothing, hull_table, whole, whole)
def take_column(hull: Any, b: int, i: int) -> None:
    """Note where column i, of factor b, is not zero, and its inner products with the others.

    A product runs over the entries of the column that has fewer, so that it is the same whichever
    of the two came last.
    """
    size, first = hull.begin[b + 1] - hull.begin[b], hull.first[b]
    at, count = hull.at[b] + (i - first) * size, 0
    column, own = hull.entries[at : at + size], hull.places[at : at + size]
    for k in range(size):
        if column[k] != 0.0:
            own[count] = k
            count += 1
    hull.nonzeros[i] = count
    capacity, gram = hull.first[b + 1] - first, hull.gram[hull.at_gram[b] :]
    for j in range(first, first + int(hull.used[b])):
        fewer, other = (i, j) if count < hull.nonzeros[j] else (j, i)
        begin, u = hull.at[b] + (fewer - first) * size, hull.at[b] + (other - first) * size
        left, right, total = hull.entries[begin : begin + size], hull.entries[u : u + size], 0.0
        if hull.nonzeros[fewer] == size:
            total = dot(left, right)
        else:
            for place in hull.places[begin : begin + hull.nonzeros[fewer]]:
                total += left[place] * right[place]
        gram[(i - first) * capacity + j - first] = total
        gram[(j - first) * capacity + i - first] = total


@kernel(nothing, hull_table, whole, whole, read)
def write_column(hull: Any, b: int, i: int, u: Array) -> None:
    """Make u column i, of factor b."""
    begin, end = hull.begin[b], hull.begin[b + 1]
    at = hull.at[b] + (i - hull.first[b]) * (end - begin)
    copy(hull.entries[at:], u[begin:end])
    take_column(hull, b, i)


@kernel(types.boolean, hull_table, whole, read)
def is_column(hull: Any, b: int, u: Array) -> bool:
    """Whether u, in factor b, is one of the columns, up to rounding."""
    begin, end, first = hull.begin[b], hull.begin[b + 1], hull.first[b]
    own, least = dot(u[begin:end], u[begin:end]), SAME * hull.diameter2[b]
    step, gram = hull.first[b + 1] - first + 1, hull.gram[hull.at_gram[b] :]
    for i in range(first, first + int(hull.used[b])):
        if own + gram[(i - first) * step] - 2.0 * column_dot(hull, b, i, u) <= least:
            return True
    return False


@kernel(whole, hull_table, whole, read)
def place_for_column(hull: Any, b: int, slope: Array) -> int:
    """Return where a new column of factor b goes; -1 if all places have shares.

    Without an empty place it replaces the column without a share that the slope likes least.
    """
    first, used = hull.first[b], int(hull.used[b])
    if first + used < hull.first[b + 1]:
        hull.used[b] += 1.0
        return first + used
    worst = -1
    for i in range(first, first + used):
        if hull.share[i] == 0.0 and (worst < 0 or slope[i] > slope[worst]):
            worst = i
    return worst


@kernel(whole, hull_table, whole, whole)
def least_shared(hull: Any, b: int, other: int) -> int:
    """Return the column of factor b, other than `other`, with the least share."""
    least = -1
    for i in range(hull.first[b], hull.first[b] + int(hull.used[b])):
        if i != other and (least < 0 or hull.share[i] < hull.share[least]):
            least = i
    return least


@kernel(nothing, hull_table, whole, whole, whole)
def merge_columns(hull: Any, b: int, i: int, j: int) -> None:
    """Replace column j of factor b by its mixture with column i, which has no share afterwards."""
    size = hull.begin[b + 1] - hull.begin[b]
    left = hull.at[b] + (i - hull.first[b]) * size
    right = hull.at[b] + (j - hull.first[b]) * size
    total = hull.share[i] + hull.share[j]
    part = hull.share[i] / total
    column, other = hull.entries[left : left + size], hull.entries[right : right + size]
    for k in range(size):
        other[k] = part * column[k] + (1.0 - part) * other[k]
    hull.share[i], hull.share[j] = 0.0, total
    take_column(hull, b, j)
