"""Traffic matrices over time, from SNDlib archives, NPZ or CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import read_only
from hedgerow.networks.edge_tables import open_table
from hedgerow.networks.errors import DataError, Rejected
from hedgerow.networks.sndlib import sndlib_matrices
from hedgerow.networks.source_files import MOST_NUMBERS, parse_number, read_npz

COLUMNS = ["time", "origin", "destination", "demand"]


@dataclass(frozen=True, eq=False)
class TrafficMatrices:
    """One matrix for each round: row = origin, column = destination.

    Args:
        nodes: the order of rows and columns.
        demands: rounds x nodes x nodes, finite and at least 0.
        times: a name for each round.
        source: where they come from.
        left_out: how many rounds were left out because nothing was measured in them.

    """

    nodes: tuple[str, ...]
    demands: NDArray[np.float64]
    times: tuple[str, ...]
    source: str
    left_out: int = 0

    @classmethod
    def load(cls, path: Path | str, nodes: Sequence[str]) -> TrafficMatrices:
        """Read matrices for the nodes of a network; all-zero rounds are left out, and counted.

        A folder or tar archive holds one SNDlib XML file for each round. An .npz has `demands`
        (rounds, nodes, nodes), and perhaps `nodes` and `times`. A .csv has the columns time,
        origin, destination, demand; pairs without a row have no demand.

        Args:
            path: the folder or file.
            nodes: their names, in order.

        """
        path, names = Path(path), tuple(nodes)
        suffix = path.suffix.lower()
        if suffix == ".npz":
            times, stack = _from_npz(path, names)
        elif suffix in (".csv", ".gz") and ".tar" not in path.name:
            times, stack = _from_csv(path, names)
        elif path.is_dir() or suffix in (".tgz", ".tar", ".gz"):
            found = list(sndlib_matrices(path, names))
            if not found:
                raise DataError(path, "", "holds no XML file")
            times, stack = [name for name, _ in found], np.array([m for _, m in found])
        else:
            raise DataError(path, "", "give a folder, .tgz, .npz or .csv of demand matrices")
        wrong = ~(np.isfinite(stack) & (stack >= 0.0))
        if wrong.any():
            t, i, j = np.argwhere(wrong)[0]
            raise DataError(
                path,
                f"round {t + 1}",
                f"the demand {names[i]} to {names[j]} must be finite and at least 0, got "
                f"{stack[t, i, j]}",
            )
        for matrix in stack:
            np.fill_diagonal(matrix, 0.0)
        kept = np.flatnonzero(stack.any(axis=(1, 2)))
        if not kept.size:
            raise DataError(path, "", "has no demand in any round")
        return cls(
            names,
            read_only(stack[kept]),
            tuple(times[k] for k in kept),
            f"measured, {path.name}",
            len(stack) - kept.size,
        )


def _from_npz(path: Path, nodes: tuple[str, ...]) -> tuple[list[str], NDArray[np.float64]]:
    def wanted(names: list[str]) -> list[str]:
        if "demands" not in names:
            raise DataError(path, "", f"needs an array 'demands', has {', '.join(sorted(names))}")
        return ["demands"]

    stack = np.array(read_npz(path, wanted, MOST_NUMBERS)[0]["demands"], dtype=np.float64)
    n = len(nodes)
    if stack.ndim != 3 or stack.shape[1:] != (n, n):
        raise DataError(path, "demands", f"must have shape (rounds, {n}, {n}), got {stack.shape}")
    names, times = _names(path)
    if names and set(names) != set(nodes):
        missing = sorted(set(nodes) ^ set(names))[0]
        raise DataError(path, "nodes", f"must be those of the network; {missing!r} is in one alone")
    if names:
        order = [names.index(node) for node in nodes]
        stack = stack[:, order][:, :, order]
    return times if len(times) == len(stack) else [str(t + 1) for t in range(len(stack))], stack


def _names(path: Path) -> tuple[list[str], list[str]]:
    """Return the nodes and times of an .npz, empty where it has none; they are text."""
    with np.load(path, allow_pickle=False) as arrays:
        found = [
            [str(name) for name in arrays[key]] if key in arrays.files else []
            for key in ("nodes", "times")
        ]
    return found[0], found[1]


def _from_csv(path: Path, nodes: tuple[str, ...]) -> tuple[list[str], NDArray[np.float64]]:
    number = {name: k for k, name in enumerate(nodes)}
    rounds: dict[str, NDArray[np.float64]] = {}
    table = open_table(path)
    if table.columns != COLUMNS:
        there = ",".join(table.columns)[:80]
        raise DataError(path, "line 1", f"must be {','.join(COLUMNS)}, got {there}")
    for position, row in table.rows():
        place = f"{table.unit} {position}"
        if isinstance(row, Rejected):
            raise DataError(path, place, str(row))
        time, origin, target, text = (str(row.get(name)).strip() for name in COLUMNS)
        for name in (origin, target):
            if name not in number:
                raise DataError(path, place, f"names {name[:80]!r}, which is not a node here")
        try:
            value = parse_number(text)
        except ValueError:
            raise DataError(
                path, place, f"the demand must be a number, got {text[:80]!r}"
            ) from None
        matrix = rounds.setdefault(time, np.zeros((len(nodes), len(nodes))))
        if len(rounds) * matrix.size > MOST_NUMBERS:
            raise DataError(path, place, f"more than {MOST_NUMBERS} numbers; take fewer rounds")
        matrix[number[origin], number[target]] += value
    return list(rounds), np.array(list(rounds.values())).reshape(-1, len(nodes), len(nodes))
