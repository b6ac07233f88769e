"""Rounds of any compiled kind as arrays, as the compiled loop reads them, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from hedgerow import kernels
from hedgerow.functions import Function, Linear, Maximum, Quadratic, labels_in, parts_of
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.rounds import function_table
from hedgerow.sets.compiled import NO_INDEX, NO_NUMBERS, Index, pack_uint32

Pair = tuple[Function, Function]
"""The cost and the constraint of a round."""
Piece = Vector | tuple[float, ...]
Evaluate = Callable[..., float]
RowArrays = tuple[Index, Vector, Vector, Index, Index]


@dataclass(frozen=True, eq=False)
class FunctionRows:
    """One function of each of k rounds, as compiled code reads them.

    Args:
        evaluate: the kernel, with the signature `EVALUATE` of `_engine/signatures.py`.
        own: each round's own numbers, one after the other.
        begin: where they begin, and the end.
        parts: how many parts the function of each round has; 1 unless it is a `Maximum`.
        index: the whole numbers of all rounds.
        numbers: the numbers of all rounds.
        scratch: how many numbers the kernel needs to work in.

    """

    evaluate: Evaluate
    own: Vector
    begin: Index
    parts: Index
    index: Index
    numbers: Vector
    scratch: int = 0

    @classmethod
    def of_rows(
        cls,
        evaluate: Evaluate,
        rows: Vector,
        index: Index = NO_INDEX,
        numbers: Vector = NO_NUMBERS,
        parts: int = 1,
        scratch: int = 0,
    ) -> FunctionRows:
        """Return functions whose own numbers are the rows of an array."""
        k, width = rows.shape
        begin = pack_uint32(np.arange(k + 1) * width)
        return cls(
            evaluate,
            np.ascontiguousarray(rows).reshape(-1),
            begin,
            np.full(k, parts, np.uint32),
            index,
            numbers,
            scratch,
        )

    @property
    def arrays(self) -> RowArrays:
        """What the loop reads."""
        return self.index, self.numbers, self.own, self.begin, self.parts

    def after(self, left_out: int) -> FunctionRows:
        """Leave out the first rounds."""
        return replace(self, begin=self.begin[left_out:], parts=self.parts[left_out:])


class FunctionRounds(NamedTuple):
    """Rounds of functions, as the loop of `kernels/rounds.py` reads them.

    Args:
        rounds: how many there are.
        table: the functions, and memory.
        gradients: where the gradients of a round's constraints are written, one in each row.
        values: where their values are written.
        parts_g: how many parts the constraint of each round has.

    """

    rounds: int
    table: Any
    gradients: Vector
    values: Vector
    parts_g: Index


@dataclass(frozen=True, eq=False)
class CompiledChunk:
    """Rounds as arrays, and as functions for those that the loop leaves to Python.

    Args:
        rounds: how many there are.
        costs: of each round; None, as are the constraints, where the loop has no kernel for them.
        constraints: of each round.
        functions: returns round r of the chunk as two functions; a rule that reacts to the
            decision takes it as an argument.
        parts: the constraints by parts, for policies that see these; left out, as in `constraints`.

    """

    rounds: int
    costs: FunctionRows | None
    constraints: FunctionRows | None
    functions: Callable[[int, Vector], Pair]
    parts: FunctionRows | None = None

    def functions_on(self, n: int, by_parts: bool = False) -> FunctionRounds:
        """Return what a loop on n coordinates evaluates, with memory for gradients and values."""
        f, g = self.costs, self.parts if by_parts and self.parts is not None else self.constraints
        assert f is not None
        assert g is not None
        m, k = (int(rows.parts.max()) for rows in (f, g))
        gradients, values = np.empty((k, n)), np.empty(max(m, k))
        table = function_table.filled(
            eval_f=f.evaluate,
            rows_f=f.arrays,
            eval_g=g.evaluate,
            rows_g=g.arrays,
            gradients_f=np.empty((m, n)),
            gradients_g=gradients,
            values=values,
            scratch=np.empty(max(f.scratch, g.scratch)),
        )
        return FunctionRounds(self.rounds, table, gradients, values, g.parts)

    def after(self, left_out: int) -> CompiledChunk:
        """Leave out the first rounds."""
        return CompiledChunk(
            self.rounds - left_out,
            None if self.costs is None else self.costs.after(left_out),
            None if self.constraints is None else self.constraints.after(left_out),
            lambda r, x: self.functions(left_out + r, x),
            None if self.parts is None else self.parts.after(left_out),
        )


def pieces_of(f: Function, n: int) -> list[Piece] | None:
    """Return a function on n coordinates as a row for `kernels/convex.py`, in pieces.

    None for one that has no such row.
    """
    kinds = kernels.convex
    if labels_in(f) is not None:
        return None  # its order may be another one, which Python finds out
    if type(f) is Linear:
        return [(kinds.LINEAR, f.offset), f.coefficients] if f.coefficients.size == n else None
    if type(f) is Quadratic:
        whole: list[Piece] = [(kinds.QUADRATIC, f.offset), f.linear, f.matrix.reshape(-1)]
        return whole if f.linear.size == n else None
    if type(f) is not Maximum:
        return None
    begin, pieces = [float(kinds.BEGIN + len(f.parts) + 1)], []
    for part in f.parts:
        if type(part) is Maximum or (row := pieces_of(part, n)) is None:
            return None
        begin.append(begin[-1] + sum(map(len, row)))
        pieces += row
    return [(kinds.MAXIMUM, len(f.parts), *begin), *pieces]


def packed_rows(functions: Sequence[Function], n: int) -> FunctionRows | None:
    """Return functions on n coordinates as rows; None if one of them has no such row."""
    pieces, ends = [], [0]
    for f in functions:
        if (row := pieces_of(f, n)) is None:
            return None
        pieces += row
        ends.append(ends[-1] + sum(map(len, row)))
    parts = np.array([len(parts_of(f)) for f in functions], np.uint32)
    own = np.concatenate(pieces)
    return FunctionRows(
        kernels.convex.evaluate, own, pack_uint32(ends), parts, NO_INDEX, NO_NUMBERS
    )


def packed_chunks(rounds: Iterator[Pair], n: int, size: int) -> Iterator[CompiledChunk] | None:
    """Return rounds as arrays, `size` at a time; None if the first one has no such rows.

    Later ones without rows come as chunks without arrays.
    """
    # The first round decides: a problem without rows is then played in Python from the start.
    size, first = as_count(size, "the chunk size"), next(rounds, None)
    if first is None or _chunk([first], n).costs is None:
        return None
    rest = chain([first], rounds)
    return (_chunk(batch, n) for batch in iter(lambda: list(islice(rest, size)), []))


def _chunk(rounds: Sequence[Pair], n: int) -> CompiledChunk:
    costs, constraints = (packed_rows([pair[k] for pair in rounds], n) for k in (0, 1))
    if costs is None or constraints is None:
        costs = constraints = None
    return CompiledChunk(len(rounds), costs, constraints, lambda r, _: rounds[r])


def linear_rows(slopes: Vector, offsets: Vector) -> FunctionRows:
    """Return linear functions as rows for the kernel of `kernels/convex.py`."""
    kinds = np.full(offsets.size, kernels.convex.LINEAR)
    rows = np.column_stack([kinds, offsets, slopes])
    return FunctionRows.of_rows(kernels.convex.evaluate, rows, NO_INDEX, NO_NUMBERS)
