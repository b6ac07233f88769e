"""The constraints of a block, as maxima of affine pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.policies.ball_prox import Affine
from hedgerow.snapshot import Snapshot, State


class BlockConstraints:
    """The constraints of a block's rounds, each as the largest of affine pieces.

    A linear function, or a maximum of such, is kept whole. Any other convex function begins as its
    linearisation at the played point and gains one more wherever `cut` finds that to be too low.

    Args:
        dim: the number of coordinates.

    """

    def __init__(self, dim: int):
        self._dim = dim
        self._groups: list[list[Linear]] = []
        self._curved: dict[int, Function] = {}

    def add(self, g: Function, x: Vector) -> None:
        """Take in the constraint of a round in which x was played."""
        parts = _affine_parts(g)
        if parts is None:
            self._curved[len(self._groups)] = g
            parts = [_linearised(g, x)]
        for part in parts:
            if part.coefficients.size != self._dim:
                raise ValueError(
                    f"a constraint on this set takes {self._dim} coordinates, got a linear one of "
                    f"{part.coefficients.size}; flatten matrices row-major"
                )
        self._groups.append([Linear(part.coefficients, part.offset) for part in parts])  # copies

    def pieces(self, origin: Vector) -> Affine:
        """Return all pieces, with values at the origin."""
        rows = [part for group in self._groups for part in group]
        slopes = np.array([part.coefficients for part in rows]).reshape(len(rows), self._dim)
        begin = np.cumsum([0, *map(len, self._groups)]).astype(np.uint32)
        return Affine(slopes, np.array([part(origin) for part in rows]), begin)

    def cut(self, y: Vector, enough: float) -> bool:
        """Add linearisations at y where the pieces are too low; False if by `enough` at most."""
        lacking = {}
        for t, g in self._curved.items():
            model = max(part(y) for part in self._groups[t])
            lacking[t] = max(0.0, g(y)) - max(0.0, model)
        if sum(lacking.values()) <= enough:
            return False
        for t, lack in lacking.items():
            if lack > 0.0:
                self._groups[t].append(_linearised(self._curved[t], y))
        return True

    def clear(self) -> None:
        """Begin a new block."""
        self._groups, self._curved = [], {}

    def state(self) -> Snapshot:
        """Return a snapshot; in the middle of a block only linear constraints fit into one."""
        if self._curved:
            raise ValueError(
                "a snapshot within a block can hold linear constraints and maxima of them, this "
                f"block has a {type(next(iter(self._curved.values()))).__name__}; take the "
                "snapshot after the block's last round"
            )
        pieces = self.pieces(np.zeros(self._dim))
        state = self._layout(pieces.values.size, len(self._groups))
        for name, part in pieces._asdict().items():
            state[name][:] = part.ravel()
        return state.snapshot(self, (self._dim,))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        layout = snapshot["layout"]
        state = self._layout(int(layout.get("values", 0)), int(layout.get("begin", 1)) - 1)
        state.restore(self, snapshot, (self._dim,))
        rows = zip(state["slopes"].reshape(-1, self._dim), state["values"], strict=True)
        parts = [Linear(slope, float(value)) for slope, value in rows]
        begin = state["begin"].astype(int).tolist()
        self.clear()
        self._groups = [parts[i:j] for i, j in pairwise(begin)]

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


def _linearised(g: Function, y: Vector) -> Linear:
    slope = np.array(g.grad(y))
    return Linear(slope, g(y) - float(slope @ y))
