"""From decisions to actions: a point as shares of named routes, trees or pairs, or as weights."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_vector

if TYPE_CHECKING:
    from hedgerow.sets.decision_set import DecisionSet

ARROW = " > "
NOTHING = 1e-12
"""A smaller share is rounding."""


@dataclass(frozen=True, eq=False)
class Action:
    """A vertex with its share of the decision.

    Attributes:
        share: between 0 and 1.
        name: a route "a > b > c", a tree or a matching "a-b, c-d", or its coordinates.
        x: the vertex.

    """

    share: float
    name: str
    x: Vector

    def __repr__(self) -> str:
        return f"Action({self.share:.4g}, {self.name!r})"


@dataclass(frozen=True, eq=False)
class Actions(Sequence[Action]):
    """A decision as a mixture of actions, largest share first; the shares sum to 1.

    Attributes:
        parts: the actions.
        moved: the share that was moved from others to these, where it was rounded.

    >>> from hedgerow.sets.paths.dag_paths import DagPaths
    >>> X = DagPaths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> actions = X.routes([0.25, 0.25, 0.75])
    >>> print(actions)
    75.0 %  a > c
    25.0 %  a > b > c
    >>> actions.weights(), actions.rounded(1).moved
    ({'a > c': 75, 'a > b > c': 25}, 0.25)

    """

    parts: tuple[Action, ...]
    moved: float = 0.0

    @property
    def x(self) -> Vector:
        """The point that they make up."""
        total: Vector = sum((a.share * a.x for a in self.parts), np.zeros(self.parts[0].x.size))
        return total

    def rounded(self, most: int) -> Actions:
        """Keep the largest few and raise their shares alike; `moved` is the share of the rest.

        Args:
            most: how many are kept at most.

        """
        kept = self.parts[: as_count(most, "most")]
        total = sum(action.share for action in kept)
        return Actions(
            tuple(Action(a.share / total, a.name, a.x) for a in kept), max(0.0, 1.0 - total)
        )

    def weights(self, total: int = 100) -> dict[str, int]:
        """Return whole numbers by name that sum to `total`, as routers take them.

        Each is the share rounded down; those that lose most are raised by one (largest remainder).
        Actions with weight 0 are left out.
        """
        wanted = as_count(total, "total") * np.array([action.share for action in self.parts])
        whole = np.floor(wanted * (1.0 + 1e-15)).astype(np.int64)
        short = total - int(whole.sum())
        for i in np.argsort(whole - wanted, kind="stable")[:short]:
            whole[i] += 1
        pairs = zip(self.parts, whole.tolist(), strict=True)
        return {action.name: weight for action, weight in pairs if weight}

    def weighted(self, total: int = 100) -> Actions:
        """Return the decision of a router with `weights(total)`; `moved` is the difference."""
        found = self.weights(total)
        parts = (Action(found.get(a.name, 0) / total, a.name, a.x) for a in self.parts)
        moved = sum(abs(a.share - found.get(a.name, 0) / total) for a in self.parts) / 2.0
        return Actions(tuple(a for a in parts if a.share > 0.0), moved)

    def change(self, f: Callable[[Vector], float], x: ArrayLike) -> float:
        """Return f here minus f at x, such as the decision before it was rounded."""
        here = self.x
        return f(here) - f(as_vector(x, "x", here.size))

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Action]: ...
    def __getitem__(self, index: int | slice) -> Action | Sequence[Action]:
        return self.parts[index]

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return "\n".join(f"{_percent(a.share)}  {a.name}" for a in self.parts)


def _percent(share: float) -> str:
    return f"{100.0 * share:4.1f} %" if share >= 0.0005 else "<0.1 %"


def actions_of(X: DecisionSet, x: ArrayLike) -> Actions:
    """Decompose a point of a set into named vertices."""
    weights, vertices = X.decompose(x)
    order = np.argsort(-weights, kind="stable")
    kept = [i for i in order if weights[i] > NOTHING]
    total = float(weights[kept].sum())
    return Actions(
        tuple(
            Action(float(weights[i]) / total, vertex_name(X, vertices[i]), vertices[i])
            for i in kept
        )
    )


def vertex_name(X: DecisionSet, v: Vector) -> str:
    """Return the name of a vertex: its route, its edges, its pairs, or its coordinates."""
    used = np.flatnonzero(np.abs(v) > 0.5 if X.zero_one else v != 0.0)
    edges = getattr(X, "edges", None)
    if edges is not None:
        pairs = [(edges[e][0], edges[e][1]) for e in used]
        if hasattr(X, "source"):
            return " + ".join(ARROW.join(map(str, walk)) for walk in _walks(pairs, X.source))
        return ", ".join(f"{a}-{b}" for a, b in pairs)
    if len(X.shape) == 2:
        return ", ".join(f"{i}-{j}" for i, j in zip(*np.unravel_index(used, X.shape), strict=True))
    if X.zero_one:
        return ", ".join(map(str, used.tolist()))
    return ", ".join(f"{i}: {v[i]:.4g}" for i in used)


def coordinate_labels(X: DecisionSet) -> tuple[str, ...]:
    """Return the name of each coordinate as `vertex_name` writes it."""
    edges = getattr(X, "edges", None)
    if edges is not None and len(edges) == X.dim:
        return tuple(f"{edge[0]}-{edge[1]}" for edge in edges)
    if len(X.shape) == 2:
        return tuple(f"{i}-{j}" for i, j in np.ndindex(*X.shape))
    return tuple(map(str, range(X.dim)))


def _walks(pairs: list[tuple[Hashable, Hashable]], source: Hashable) -> Iterator[list[Hashable]]:
    """Yield the walk from the source, then the cycles beside it; each edge is used once."""
    out: dict[Hashable, list[Hashable]] = {}
    for a, b in pairs:
        out.setdefault(a, []).append(b)
    node = source
    while True:
        walk = [node]
        while out.get(node):
            node = out[node].pop(0)
            walk.append(node)
        yield walk
        left = next((a for a, heads in out.items() if heads), None)
        if left is None:
            return
        node = left
