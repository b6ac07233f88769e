"""Quantities of edges, and the labels that travel with them: measured, a proxy, or synthetic."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, read_only, unmasked
from hedgerow.networks.source_files import parse_number

STRONG = 0.9
"""Above this rank correlation a bandwidth is the latency under another name."""

_LABEL = re.compile(r"measured|(?:proxy|synthetic):\S.*")
_LOGNORMAL = re.compile(r"synthetic:lognormal\(([^,()]+),([^,()]+)\)")


def check_label(label: object, name: str) -> str:
    """Return a label, or name the allowed ones.

    >>> check_label("proxy:http_total", "bandwidth_label")
    'proxy:http_total'
    """
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        raise ValueError(
            f"{name} must be 'measured', 'proxy:<method>' or 'synthetic:<law>', got {label!r}"
        )
    return label


def composed(label: str, how: str) -> str:
    """Return the label of values made from labelled ones.

    >>> composed("measured", "hub_sum"), composed("synthetic:lognormal(50,0.8)", "hub_min")
    ('proxy:hub_sum(measured)', 'synthetic:hub_min(lognormal(50,0.8))')
    """
    kind, _, inner = label.partition(":")
    return f"{'synthetic' if kind == 'synthetic' else 'proxy'}:{how}({inner or kind})"


def draw_synthetic(label: str, size: int, seed: int) -> Vector:
    """Draw values by the law that a label names, median x exp(sigma x normal).

    >>> draw_synthetic("synthetic:lognormal(50,0)", 2, seed=0)
    array([50., 50.])
    """
    match = _LOGNORMAL.fullmatch(label)
    try:
        median, sigma = (parse_number(part) for part in match.groups()) if match else (0.0, 0.0)
    except ValueError:
        median, sigma = 0.0, 0.0
    if not (0.0 < median < 1e9 and 0.0 <= sigma < 10.0):
        raise ValueError(
            f"a synthetic law is written synthetic:lognormal(MEDIAN,SIGMA) with 0 < MEDIAN < 1e9 "
            f"and 0 <= SIGMA < 10, got {label!r}"
        )
    rng = np.random.default_rng([as_count(seed, "seed", least=0), 3])
    return np.asarray(median * np.exp(sigma * rng.standard_normal(size)))


def rank_correlation(a: Vector, b: Vector) -> float | None:
    """Return Spearman's correlation of ranks, or None where one of them is constant.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([9.0, 4.0, 1.0]))
    -1.0
    """
    from scipy.stats import spearmanr

    if np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    return round(float(spearmanr(a, b).statistic), 4)


@dataclass(frozen=True, eq=False)
class Quantity:
    """A named quantity of the edges, such as a price or a loss, in the unit that its owner uses.

    Args:
        values: one number for each edge; NaN where it is not known.
        label: its origin: "measured", "proxy:<method>" or "synthetic:<law>".
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
