"""Check how small and how large a set is: outside of these limits squares would leave float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.inputs import Vector, as_number

SMALLEST, LARGEST = 1e-100, 1e100
"""Radii, totals and factors lie between these; no coordinate is above the second."""
NARROWEST, WIDEST = 1e-120, 1e120
"""Diameters lie between these, wide enough for compositions of sets of allowed sizes."""


def as_size(value: Any, name: str) -> float:
    """Return a radius, a total or a factor, above zero and within the bounds."""
    size = as_number(value, name)
    if not SMALLEST <= size <= LARGEST:
        wanted = "above 0" if size <= 0.0 else f"between {SMALLEST:g} and {LARGEST:g}"
        unit = "" if size <= 0.0 else "; measure the coordinates in another unit"
        raise ValueError(f"{name} must be {wanted}, got {size:g}{unit}")
    return size


def check_coordinates(points: Vector, name: str) -> None:
    """Refuse coordinates that are too large; infinite ones are the caller's to judge."""
    finite = points[np.isfinite(points)]
    largest = max(float(finite.max(initial=0.0)), -float(finite.min(initial=0.0)))
    if largest > LARGEST:
        raise ValueError(
            f"{name} must be at most {LARGEST:g} in size, got {largest:g}; measure the coordinates "
            "in a larger unit"
        )


def check_width(width: float, what: str) -> None:
    """Refuse a set whose diameter, or largest width, is too small or large; not a single point."""
    if width != 0.0 and not NARROWEST <= width <= WIDEST:
        raise ValueError(
            f"{what} must be a single point or between {NARROWEST:g} and {WIDEST:g} wide, got "
            f"{width:g}; measure the coordinates in another unit"
        )
