"""The constraints of a block, as maxima of affine pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hedgerow.baselines.ball_prox import Affine
from hedgerow.functions import Function, Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.snapshot import Snapshot, State, Stateful


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
        self._groups: list[list[Linear]] = []
        self._curved: list[Function] = []
        self._cuts: list[Linear] = []
        self._played = np.zeros(dim)

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
        self._groups.append([Linear(part.coefficients, part.offset) for part in parts])  # copies

    def pieces(self, origin: Vector) -> Affine:
        """Return all pieces, with values at the origin."""
        if self._curved and not self._cuts:
            self._cuts.append(self._violation(self._played))
        groups = [*self._groups, self._cuts] if self._curved else self._groups
        rows = [part for group in groups for part in group]
        slopes = np.array([part.coefficients for part in rows]).reshape(len(rows), self._dim)
        begin = np.cumsum([0, *map(len, groups)]).astype(np.uint32)
        return Affine(slopes, np.array([part(origin) for part in rows]), begin)

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
        """Begin a new block."""
        self._groups, self._curved, self._cuts = [], [], []

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
        self._state = self._layout(pieces.values.size, len(self._groups))
        for name, part in pieces._asdict().items():
            self._state[name][:] = part.ravel()
        return super().state()

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        layout, size = snapshot["layout"], len(snapshot["array"])
        rows, ends = int(layout.get("values", 0)), int(layout.get("begin", 1))
        if rows >= 0 and ends >= 1 and size == rows * (self._dim + 1) + ends:
            self._state = self._layout(rows, ends - 1)
        super().restore(snapshot)

    def _restored(self) -> None:
        state = self._state
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
