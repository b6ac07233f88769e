"""The constraints of a block's rounds, as pieces that a proximal step can use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._engine.kernel import (
    kernel,
    nothing,
    number,
    read,
    rows,
    write,
    write_index,
    write_rows,
)
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.kernels.vectors import dot
from hedgerow.snapshot import Snapshot, State, Stateful

Array = Any
ROWS, GROUPS = range(2)
"""The numbers of `filled`: how many rows are kept, and how many groups are closed."""
KEPT = (write_rows, write, write_index, write_index)
"""slopes, offsets, where groups begin, `filled`."""


@kernel(nothing, *KEPT, number, read, number)
def keep_row(
    slopes: Array,
    offsets: Array,
    begin: Array,
    filled: Array,
    factor: float,
    c: Array,
    offset: float,
) -> None:
    """Add factor (<c, y> + offset) to the group that is open."""
    row = filled[ROWS]
    for i in range(len(c)):
        slopes[row, i] = factor * c[i]
    offsets[row] = factor * offset
    filled[ROWS] = np.uint32(row + 1)
    begin[filled[GROUPS] + 1] = filled[ROWS]


@kernel(nothing, write_index)
def close_group(filled: Array) -> None:
    """End a group: the next row belongs to another constraint."""
    filled[GROUPS] = np.uint32(filled[GROUPS] + 1)


@kernel(nothing, rows, read, read, write)
def values_at(slopes: Array, offsets: Array, y: Array, values: Array) -> None:
    """Write the value of each row at y."""
    for i in range(len(values)):
        values[i] = dot(slopes[i], y) + offsets[i]


class Affine(NamedTuple):
    """Maxima of affine pieces: the pieces of group t are rows begin[t] to begin[t + 1] - 1."""

    slopes: NDArray[np.float64]  # (rows, dim)
    values: Vector  # (rows,), at the origin
    begin: NDArray[np.uint32]  # (groups + 1,)

    def __call__(self, z: Vector) -> Vector:
        """Return each group's largest piece at z."""
        return np.maximum.reduceat(self.slopes @ z + self.values, self.begin[:-1])


class BlockConstraints(Stateful):
    """The constraints of a block's rounds, each as the largest of affine pieces.

    A linear function, or a maximum of such, is kept whole. Of all other convex functions the sum of
    positive parts is kept as one function: it begins as its linearisation at the played point and
    gains one more wherever `cut` finds that to be too low.

    Args:
        dim: the number of coordinates.

    """

    def __init__(self, dim: int):
        self._dim = dim
        self._curved: list[Function] = []
        self._cuts: list[Linear] = []
        self._played = np.zeros(dim)
        self._slopes, self._offsets = np.empty((0, dim)), np.empty(0)
        self._begin, self._filled = np.zeros(1, np.uint32), np.zeros(2, np.uint32)

    @property
    def curved(self) -> bool:
        """Whether some constraint is approached by cuts."""
        return bool(self._curved)

    def add(self, g: Function, x: Vector) -> None:
        """Take in the constraint of a round in which x was played."""
        parts = _affine_parts(g)
        if parts is None:
            self._curved.append(g)
            self._played = x.copy()
            return
        for part in parts:
            if part.coefficients.size != self._dim:
                raise ValueError(
                    f"a constraint on this set takes {self._dim} coordinates, got a linear one of "
                    f"{part.coefficients.size}; flatten matrices row-major"
                )
        kept = self.with_room(len(parts))
        for part in parts:
            keep_row(*kept, 1.0, part.coefficients, part.offset)
        close_group(self._filled)

    def with_room(self, more: int) -> tuple[Array, Array, Array, Array]:
        """Return the memory of `keep_row`, with room for so many more rows."""
        used, have = int(self._filled[ROWS]), self._offsets.size
        if used + more > have:
            room = max(used + more, 2 * have)
            slopes, offsets, begin = self._slopes, self._offsets, self._begin
            self._slopes, self._offsets = np.empty((room, self._dim)), np.empty(room)
            self._begin = np.zeros(room + 1, np.uint32)
            self._slopes[:used], self._offsets[:used] = slopes[:used], offsets[:used]
            self._begin[: begin.size] = begin
        return self._slopes, self._offsets, self._begin, self._filled

    def pieces(self, origin: Vector) -> Affine:
        """Return all pieces, with values at the origin."""
        kept, groups = map(int, self._filled)
        slopes, offsets, begin = (
            self._slopes[:kept],
            self._offsets[:kept],
            self._begin[: groups + 1],
        )
        if self._curved:
            if not self._cuts:
                self._cuts.append(self._violation(self._played))
            slopes = np.vstack([slopes, [part.coefficients for part in self._cuts]])
            offsets = np.append(offsets, [part.offset for part in self._cuts])
            begin = np.append(begin, np.uint32(offsets.size))
        values = np.empty(offsets.size)
        values_at(slopes, offsets, origin, values)
        return Affine(slopes, values, begin)

    def cut(self, y: Vector, enough: float) -> bool:
        """Add a linearisation at y where the pieces are too low; False if by `enough` at most."""
        if not self._curved:
            return False
        truth = self._violation(y)
        if truth(y) - max(0.0, *(part(y) for part in self._cuts)) <= enough:
            return False
        self._cuts.append(truth)
        return True

    def _violation(self, y: Vector) -> Linear:
        """Linearise the curved constraints' sum of positive parts at y."""
        slope, value = np.zeros(self._dim), 0.0
        for g in self._curved:
            if (violation := g(y)) > 0.0:
                slope += g.grad(y)
                value += violation
        return Linear(slope, value - float(slope @ y))

    def clear(self) -> None:
        """Forget the constraints: a new block begins."""
        self._filled[:] = 0
        self._curved, self._cuts = [], []

    @property
    def _configuration(self) -> object:
        return self._dim

    def state(self) -> Snapshot:
        """Return a snapshot; in the middle of a block only linear constraints fit into one."""
        if self._curved:
            raise ValueError(
                "a snapshot within a block can hold linear constraints and maxima of them, this "
                f"block has a {type(self._curved[0]).__name__}; take the "
                "snapshot after the block's last round"
            )
        pieces = self.pieces(np.zeros(self._dim))
        self._state = self._layout(pieces.values.size, pieces.begin.size - 1)
        for name, part in pieces._asdict().items():
            self._state[name][:] = part.ravel()
        return super().state()

    def restore(self, snapshot: Snapshot) -> None:
        """Take the constraints of the block from a snapshot."""
        layout, size = snapshot["layout"], len(snapshot["array"])
        rows, ends = int(layout.get("values", 0)), int(layout.get("begin", 1))
        if rows >= 0 and ends >= 1 and size == rows * (self._dim + 1) + ends:
            self._state = self._layout(rows, ends - 1)
        super().restore(snapshot)

    def _restored(self) -> None:
        state = self._state
        self.clear()
        kept, groups = state["values"].size, state["begin"].size - 1
        slopes, offsets, begin, filled = self.with_room(max(kept, groups))
        slopes[:kept] = state["slopes"].reshape(-1, self._dim)
        offsets[:kept], begin[: groups + 1] = state["values"], state["begin"]
        filled[:] = kept, groups

    def _layout(self, rows: int, groups: int) -> State:
        return State(slopes=rows * self._dim, values=rows, begin=groups + 1)


def _affine_parts(g: Function) -> list[Linear] | None:
    """Return the linear functions of which g is the maximum, None where it is no such."""
    if isinstance(g, Linear):
        return [g]
    if not isinstance(g, Maximum):
        return None
    parts = [_affine_parts(part) for part in g.parts]
    return None if None in parts else [one for part in parts for one in part or ()]
