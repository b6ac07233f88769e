"""How a quantity grows with the horizon: an exponent with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_array, as_count


@dataclass(frozen=True)
class GrowthFit:
    """A fit value ~ factor T^exponent.

    Attributes:
        exponent: the least-squares slope of log(mean value) against log(horizon).
        factor: the factor of the fit.
        low: the interval's lower end.
        high: the interval's upper end.
        level: the confidence level.

    """

    exponent: float
    factor: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        share = f"{100.0 * self.level:g} %"
        return f"T^{self.exponent:.3f}, {share} interval {self.low:.3f} to {self.high:.3f}"


def fit_growth(
    horizons: ArrayLike,
    values: ArrayLike,
    seed: int = 0,
    *,
    level: float = 0.95,
    resamples: int = 2000,
) -> GrowthFit:
    """Fit an exponent in logarithms, with a bootstrap interval.

    The values of each horizon are drawn again with replacement, horizon by horizon, and the fit is
    repeated; the interval holds the middle share `level` of the slopes. With a single value per
    horizon the residuals are drawn instead, widened by sqrt(n/(n - 2)).

    Values must be above 0: a negative regret has no exponent.

    Args:
        horizons: at least three different T.
        values: one value for each horizon, or one row of repeated values.
        seed: fixes the draws.
        level: the interval's level.
        resamples: the number of draws.

    >>> fit_growth([100, 1000, 10000], [10.0, 100.0, 1000.0]).exponent
    1.0

    """
    T, table = _checked(horizons, values)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be above 0 and below 1, got {level:g}")
    rng, draws = np.random.default_rng(seed), as_count(resamples, "resamples")
    n, repeats = table.shape
    x = np.log(T)
    slope, start = np.polyfit(x, np.log(table.mean(axis=1)), 1)
    if repeats == 1:
        fitted = start + slope * x
        residuals = (np.log(table[:, 0]) - fitted) * np.sqrt(n / (n - 2))
        y = fitted + residuals[rng.integers(n, size=(draws, n))]
    else:
        chosen = rng.integers(repeats, size=(draws, n, repeats))
        y = np.log(np.take_along_axis(table[None], chosen, axis=2).mean(axis=2))
    centred = x - x.mean()
    slopes = y @ centred / (centred @ centred)
    low, high = np.quantile(slopes, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return GrowthFit(round(float(slope), 12), float(np.exp(start)), float(low), float(high), level)


def _checked(horizons: ArrayLike, values: ArrayLike) -> tuple[Vector, Vector]:
    T, table = as_array(horizons, "horizons"), as_array(values, "values")
    table = table[:, None] if table.ndim == 1 else table
    if T.ndim != 1 or np.unique(T).size < 3 or (T <= 0.0).any():
        raise ValueError(
            f"growth needs at least three different horizons above 0, got {T.tolist()}; play more"
        )
    if table.ndim != 2 or table.shape[0] != T.size or table.shape[1] == 0:
        raise ValueError(
            f"values must have one row for each of the {T.size} horizons, got shape {table.shape}"
        )
    if (table <= 0.0).any():
        raise ValueError(
            f"{int((table <= 0.0).sum())} of {table.size} values are at most 0, which no power of "
            "T is; report them as they are, or fit a quantity that is above 0"
        )
    return T, table
