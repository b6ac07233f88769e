"""Where nodes are on the Earth: a table of names, latitudes and longitudes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.data_error import DataError
from hedgerow.networks.edge_tables import open_table
from hedgerow.networks.numbers import parse_number
from hedgerow.networks.rejections import Rejected

NAMES = ("name", "node", "site")
LATITUDES = ("latitude", "lat")
LONGITUDES = ("longitude", "lon", "lng", "long")


def read_places(path: Path | str, nodes: Sequence[str], remarks: list[str]) -> NDArray[np.float64]:
    """Return latitude and longitude of each node, NaN for those that the file does not have.

    Args:
        path: CSV or JSON records with a name, a latitude and a longitude in degrees.
        nodes: the names of the network.
        remarks: what is worth saying is added here.

    """
    table = open_table(path)
    lower = {name.lower(): name for name in reversed(table.columns)}
    found = [
        next((n for n in names if n in lower), None) for names in (NAMES, LATITUDES, LONGITUDES)
    ]
    if None in found:
        there = ", ".join(table.columns)[:200] or "none"
        raise DataError(
            path,
            f"{table.unit} 1",
            f"places need columns name, latitude and longitude; the columns are: {there}",
        )
    name, *axes = (lower[each or ""] for each in found)
    index = {node: i for i, node in enumerate(nodes)}
    places = np.full((len(nodes), 2), np.nan)
    for position, row in table.rows():
        where = f"{table.unit} {position}"
        if isinstance(row, Rejected):
            raise DataError(path, where, str(row))
        node = index.get(str(row.get(name)).strip())
        if node is not None:
            places[node] = [_degrees(path, where, row.get(axis), axis) for axis in axes]
    unknown = [node for node, place in zip(nodes, places, strict=True) if np.isnan(place).any()]
    if unknown:
        shown = ", ".join(unknown[:4]) + (", ..." if len(unknown) > 4 else "")
        remarks.append(f"{Path(path).name} has no place for {len(unknown)} nodes: {shown}.")
    return places


def _degrees(path: Path | str, where: str, cell: Any, name: str) -> float:
    try:
        degrees = parse_number(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError, OverflowError):
        degrees = math.nan
    if not math.isfinite(degrees):
        raise DataError(path, where, f"{name} must be a number of degrees, got {cell!r:.42}")
    return degrees
