"""Stacks of matrices in .npz: one latency for each round and pair of nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.networks.errors import DataError, Reason, Rejections, check_one_of
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import check_label
from hedgerow.networks.readings import AGGREGATES
from hedgerow.networks.source_files import MOST_NUMBERS, read_npz


def read_matrix(
    path: Path | str,
    key: str | None = None,
    *,
    factor: float = 1.0,
    zero: str = "gap",
    aggregate: str = "median",
    label: str = "measured",
    keep_going: bool = False,
    most_numbers: int = MOST_NUMBERS,
) -> Network:
    """Read a stack of shape (rounds, nodes, nodes), or one matrix; each pair becomes an edge.

    The base latency is the median (or least, or last) over the rounds with a reading; the series
    keeps every round, with NaN where there is none. A pair that never has one is left out.

    Args:
        path: the .npz file.
        key: the array in it; None takes the only one.
        factor: what turns an entry into milliseconds (10 for hundredths of a second).
        zero: "gap" if 0 means no reading, "value" if it is a latency.
        aggregate: median, min or last.
        label: of the latency, which the file does not have.
        keep_going: count broken entries as gaps, instead of refusing the file.
        most_numbers: how many numbers the array may hold; a larger one is refused unread.

    """
    path, factor = Path(path), as_positive(factor, "factor")
    check_label(label, "label")
    check_one_of(aggregate, "aggregate", AGGREGATES)
    check_one_of(zero, "zero", ("gap", "value"))

    def chosen(names: list[str]) -> list[str]:
        found = names if key is None else [name for name in names if name == key]
        if len(found) != 1:
            there = ", ".join(names)[:200] or "none"
            raise DataError(
                path, "", f"there is no array {key!r}, choose one with key=...: {there}"
            )
        return found

    arrays, sha256 = read_npz(path, chosen, as_count(most_numbers, "most_numbers"))
    ((key, stack),) = arrays.items()
    if stack.ndim == 2:
        stack = stack[np.newaxis]
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or stack.shape[1] < 2 or not len(stack):
        raise DataError(
            path, f"array {key!r}", f"must have shape (rounds, nodes, nodes), got {stack.shape}"
        )
    rounds, n, _ = stack.shape
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    with np.errstate(over="ignore"):
        values = stack[:, pairs[:, 0], pairs[:, 1]].astype(np.float64) * factor
    left = Rejections(keep_going)
    gaps = {
        Reason.MISSING: np.isnan(values) | ((values == 0.0) & (zero == "gap")),
        Reason.NOT_FINITE: np.isinf(values),
        Reason.NEGATIVE: values < 0.0,
    }
    for reason, mask in gaps.items():
        if mask.any():
            t, e = np.argwhere(mask)[0].tolist()
            position = f"array {key!r}, entry [{t}, {pairs[e, 0]}, {pairs[e, 1]}]"
            detail = f"the latency is {values[t, e]:g} ms"
            left.add(reason, path, position, detail, count=int(mask.sum()))
            values[mask] = np.nan
    known = ~np.isnan(values).all(axis=0)
    if not known.any():
        raise DataError(path, f"array {key!r}", "no pair of nodes has a reading", left.table())
    values, pairs = values[:, known], pairs[known]
    return Network(
        tuple(str(i) for i in range(n)),
        pairs,
        _base(values, aggregate),
        label,
        latency_series=values,
        outages=np.isnan(values) if np.isnan(values).any() else None,  # all pairs, every round
        choices={
            "array": key,
            "factor to ms": factor,
            "zero": zero,
            "latency": f"declared {label}",
            "aggregate": aggregate,
        },
        provenance={
            "made by": "hedgerow ingest matrix",
            "files": [{"name": path.name, "sha256": sha256}],
            "rounds": rounds,
            "readings": rounds * n * (n - 1),
            "kept": rounds * n * (n - 1) - left.total,
            "left_out": left.table(),
        },
    )


def _base(values: NDArray[np.float64], aggregate: str) -> Vector:
    """Return one value for each column, from the rows with a reading."""
    if aggregate == "median":
        return np.asarray(np.nanmedian(values, axis=0))
    if aggregate == "min":
        return np.asarray(np.nanmin(values, axis=0))
    last = len(values) - 1 - np.argmax(~np.isnan(values[::-1]), axis=0)
    return np.asarray(values[last, np.arange(values.shape[1])])
