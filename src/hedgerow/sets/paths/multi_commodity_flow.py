"""Many unit flows on one graph, one for each pair of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import read_only
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.paths.edges import Edges, frozen
from hedgerow.sets.paths.path_shares import Pair
from hedgerow.sets.paths.unit_flow import UnitFlow

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False, init=False)
class MultiCommodityFlow(Product):
    """Multi-commodity flow: one unit from origin to destination for each pair, by any route.

    A product of `UnitFlow`: no path is left out, and circulations are part of the set. Oracle: for
    each pair one search by Dijkstra's method where its directions are at least 0, else the exact
    minimum-cost flow. Diameter: the bound of `UnitFlow`, joined.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        pairs: (origin, destination) of each demand.

    Attributes:
        pair_of: which pair each coordinate belongs to.

    >>> X = MultiCommodityFlow([("s", "a"), ("a", "t"), ("s", "t")], [("s", "t"), ("s", "a")])
    >>> X.lmo([1.0, 1.0, 3.0, 1.0, 1.0, 1.0])
    array([1., 1., 0., 1., 0., 0.])

    """

    edges: Edges
    pairs: tuple[Pair, ...]
    pair_of: NDArray[np.intp]

    def __init__(self, edges: Edges, pairs: Sequence[Pair]):
        edges, given = frozen(edges), tuple(pairs)
        if not given:
            raise ValueError("a multi-commodity flow needs at least one pair of nodes, got none")
        flows = {pair: UnitFlow(edges, *pair) for pair in set(given)}
        super().__init__(*(flows[pair] for pair in given))
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "pairs", given)
        owner = np.repeat(np.arange(len(given)), len(edges))
        object.__setattr__(self, "pair_of", read_only(owner))

    def _in_short(self) -> str:
        return f"{len(self.pairs)} pairs, {len(self.edges)} edges"

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which coordinate is a flow on which edge; times the flows it gives each edge's load."""
        from scipy import sparse

        return sparse.csr_array(
            sparse.hstack([sparse.eye_array(len(self.edges))] * len(self.pairs))
        )
