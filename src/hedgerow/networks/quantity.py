"""A named quantity of the edges: a price, a loss, a capacity; constant, or a series by round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, read_only, unmasked
from hedgerow.networks.labels import check_label


@dataclass(frozen=True, eq=False)
class Quantity:
    """What is known of each edge under one name, in the unit that its owner uses.

    Args:
        values: one number for each edge; NaN where it is not known.
        label: what it is: "measured", "proxy:<method>" or "synthetic:<law>".
        series: values by round and edge, NaN where there is no reading; None for a constant.

    >>> price = Quantity([0.4, 0.1], "measured")
    >>> price.values.tolist(), price.series
    ([0.4, 0.1], None)

    """

    values: Vector
    label: str
    series: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        check_label(self.label, "label")
        object.__setattr__(self, "values", _numbers(self.values, "values", 1))
        if self.series is not None:
            object.__setattr__(self, "series", _numbers(self.series, "series", 2))
            if self.series.shape[1] != len(self.values):
                raise ValueError(
                    f"series must have one column for each of {len(self.values)} edges, got shape "
                    f"{self.series.shape}"
                )


def _numbers(given: ArrayLike, name: str, ndim: int) -> NDArray[np.float64]:
    values = np.asarray(unmasked(given, name))
    if values.ndim != ndim or values.dtype.kind not in "fiu" or not values.size:
        what = "a vector" if ndim == 1 else "a matrix, rounds x edges,"
        raise ValueError(
            f"{name} must be {what} of real numbers, got shape {values.shape} of {values.dtype}"
        )
    if np.isinf(values).any():
        raise ValueError(f"{name} must be finite, or NaN where it is not known")
    return read_only(values.astype(np.float64))
