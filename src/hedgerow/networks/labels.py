"""Words that travel with numbers: measured, a proxy for it, or drawn from a law."""

from __future__ import annotations

import re

import numpy as np

from hedgerow.inputs import Vector, as_count
from hedgerow.networks.numbers import parse_number

KINDS = ("measured", "proxy", "synthetic")
STRONG = 0.9
"""Above this rank correlation a bandwidth is the latency under another name."""

_LABEL = re.compile(r"measured|(?:proxy|synthetic):\S.*")
_LOGNORMAL = re.compile(r"synthetic:lognormal\(([^,()]+),([^,()]+)\)")


def check_label(label: object, name: str) -> str:
    """Return a label, or say which there are.

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

    >>> import numpy as np
    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([9.0, 4.0, 1.0]))
    -1.0
    """
    x, y = (_ranks(values) - (len(values) - 1) / 2 for values in (a, b))
    scale = float(np.sqrt(x @ x) * np.sqrt(y @ y))
    return round(float(x @ y) / scale, 4) if scale > 0.0 else None


def _ranks(values: Vector) -> Vector:
    """Return ranks from 0, equal values sharing their mean."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(ends[place] - (counts[place] + 1) / 2)
