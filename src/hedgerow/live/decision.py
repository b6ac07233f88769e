"""A decision of a session: the chosen point, with the names of its coordinates and its routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.display import data_series
from hedgerow.inputs import Vector
from hedgerow.labels import Labels

if TYPE_CHECKING:
    import pandas as pd

Routes = Mapping[str, float]
"""The share of each route, the largest first."""


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision.

    Attributes:
        id: identifies the decision when its feedback is reported.
        round: its number in the session, from 1 on.
        action: the chosen point.
        time: when it was made, in seconds since 1970.
        labels: the names of the coordinates; None where they have none.

    """

    id: str
    round: int
    action: Vector
    time: float
    labels: Labels | None = None
    find_routes: Callable[[Vector], Routes] | None = field(default=None, repr=False)

    @property
    def named(self) -> dict[str, float]:
        """The coordinates that are not zero, by name; by number where they have no names."""
        used = np.flatnonzero(self.action).tolist()
        labels = self.labels
        return {str(k) if labels is None else labels[k]: float(self.action[k]) for k in used}

    @cached_property
    def routes(self) -> Routes:
        """The share of each route "a > b > c", the largest first; empty unless it is of paths."""
        return {} if self.find_routes is None else self.find_routes(self.action)

    def series(self) -> pd.Series:
        """Return the action as a Series with the labels; it needs pandas."""
        return data_series(self.action, self.labels)

    def plain(self, names: bool = True) -> dict[str, Any]:
        """Return it as plain data; `named` and `routes` are there where they are known."""
        found = {"id": self.id, "round": self.round, "action": self.action.tolist()}
        if names and self.labels is not None:
            found["named"] = self.named
        if names and self.find_routes is not None:
            found["routes"] = self.routes
        return {**found, "time": self.time}
