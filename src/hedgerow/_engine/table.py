"""A table of vectors, kernels and numbers, which Python fills in and kernels read by name.

A kernel gets the address of a row of words, eight bytes each: the address and the length of a
vector, the address of a kernel or of another table, a number. The vectors are views without
reference counts, which would make a round on 1200 edges a tenth longer.
"""

from __future__ import annotations

import ctypes
import struct
import zlib
from array import array
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.extending import infer_getattr, lower_getattr_generic, models, register_model, unbox
from numba.core.typing.templates import AttributeTemplate
from numba.np.numpy_support import as_dtype

from hedgerow._engine.kernel import COMPILED
from hedgerow._engine.pointer import KernelPointer, address_of
from hedgerow._engine.vector_views import view

Type: Any = types.Type
Attributes: Any = AttributeTemplate
Tuple: Any = types.BaseTuple
WORD = ir.IntType(64)
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""NumPy's numbers of what an array is, `array.flags.num`."""
DATA = object.__basicsize__
"""Where an array of NumPy's has the address of its entries: after what all objects have."""


def _in_array(vector: Any) -> int:
    """Return the address of the entries, read from the array's object."""
    return ctypes.c_size_t.from_address(id(vector) + DATA).value


def _by_numpy(vector: Any) -> int:
    """Return the address of the entries, as NumPy has it."""
    return int(vector.ctypes.data)


SAMPLE = np.zeros(1)
address_in = _in_array if _in_array(SAMPLE) == _by_numpy(SAMPLE) else _by_numpy
"""Returns the address of an array's entries; to ask NumPy takes a microsecond."""


class TableType(Type):  # type: ignore[misc]
    """The type of a table.

    Args:
        title: what it is called.
        fields: the type of each field: vectors and tuples of them, matrices, kernels, other tables
            (`any_table` for one of any type), numbers.

    """

    def __init__(self, title: str, fields: dict[str, Any]):
        self.title, self.fields = title, fields
        self._vectors = _names(fields, types.Array)
        self._lists = [n for n in self._vectors if isinstance(fields[n].dtype, TableType)]
        self._tuples = _names(fields, Tuple)
        self._addressed = [(n, fields[n]) for n in _names(fields, KernelPointer | TableType)]
        self._numbers = _names(fields, types.Number | types.Boolean)
        vectors = [fields[name] for name in self._vectors]
        vectors += [vector for name in self._tuples for vector in fields[name]]
        self._needed = [_needed(vector) for vector in vectors]
        addressed = [name for name, _ in self._addressed]
        order = [*self._vectors, *self._tuples, *addressed, *self._numbers]
        layout = [_layout(fields[name]) for name in order]
        self.places = dict(zip(order, accumulate([0, *map(len, layout)]), strict=False))
        self._pack = struct.Struct("=" + "".join(layout)).pack
        super().__init__(name=f"{title}-{zlib.crc32(repr(fields).encode()):08x}")

    def __reduce__(self) -> Any:
        return TableType, (self.title, self.fields)

    def filled(self, **values: Any) -> Any:
        """Return a table of these values.

        A kernel may be replaced by a function of Python. Then kernels that take the table run in
        Python.
        """
        python = any(_is_python(values[name]) for name, _ in self._addressed)
        for name in self._lists:
            python = python or any(map(_is_python, values[name]))
        if python or not COMPILED:
            return PlainTable(python, values)
        addresses = {n: np.array([one.address for one in values[n]], np.int64) for n in self._lists}
        return Table(self, values, addresses)

    def packed(self, values: dict[str, Any]) -> bytes:
        """Return the words of a table."""
        vectors = [values[name] for name in self._vectors]
        words: list[int] = []
        for name in self._tuples:
            vectors += values[name]
        for vector, (dtype, ndim, flags) in zip(vectors, self._needed, strict=True):
            if vector.dtype != dtype or vector.ndim != ndim or vector.flags.num & flags != flags:
                raise TypeError(_misfit(self.title, dtype, ndim, flags, vector))
            words += (address_in(vector), *vector.shape)
        for name, kind in self._addressed:
            if getattr(values[name], "kind", None) is not kind:
                raise TypeError(f"{self.title}.{name} takes a {kind}, got {values[name]!r}")
            words.append(values[name].address)
        return self._pack(*words, *[values[name] for name in self._numbers])


class Table:
    """A table in Python's hands, which only passes it on; it keeps what was put in.

    Args:
        kind: its type.
        values: the fields.
        addresses: the addresses of the tables in fields that are lists of tables.

    """

    __slots__ = ("_kept", "_numba_type_", "address", "kind")
    in_python = False

    def __init__(self, kind: TableType, values: dict[str, Any], addresses: dict[str, Any]):
        words = array("B", kind.packed(values | addresses))
        self.kind = self._numba_type_ = kind
        self._kept = words, values, addresses
        self.address = words.buffer_info()[0]

    def __getattr__(self, name: str) -> Any:
        """Return a field, for kernels that run in Python because of another table."""
        try:
            return self._kept[1][name]
        except KeyError:
            raise AttributeError(f"{self.kind.title} has no field {name!r}") from None

    def __reduce__(self) -> Any:
        return _filled, (self.kind, self._kept[1])


def _filled(kind: TableType, values: dict[str, Any]) -> Any:
    return kind.filled(**values)


class PlainTable(SimpleNamespace):
    """A table of which some kernels are functions of Python, or all without a compiler.

    Args:
        in_python: whether some are.
        values: the fields.

    """

    def __init__(self, in_python: bool, values: dict[str, Any]):
        super().__init__(**values | {"in_python": in_python})


def _is_python(part: Any) -> bool:
    """Whether a kernel or a table is Python's, not only for want of a compiler."""
    return bool(getattr(part, "in_python", not hasattr(part, "kind")))


def _names(fields: dict[str, Any], kinds: Any) -> list[str]:
    return [name for name, kind in fields.items() if isinstance(kind, kinds)]


def _layout(kind: Any) -> str:
    """Return the format of a field, one letter for each word."""
    if isinstance(kind, types.Array):
        return "q" * (1 + kind.ndim)
    if isinstance(kind, Tuple):
        return "qq" * len(kind)
    return "d" if kind == types.float64 else "q"


def _needed(kind: Any) -> tuple[Any, int, int]:
    """Return dtype, dimensions and flags of an array that can be put in."""
    dtype = np.dtype(np.int64) if isinstance(kind.dtype, TableType) else as_dtype(kind.dtype)
    return dtype, kind.ndim, CONTIGUOUS | ALIGNED | (WRITEABLE if kind.mutable else 0)


def _misfit(title: str, dtype: Any, ndim: int, flags: int, got: Any) -> str:
    shape = "vector" if ndim == 1 else "matrix"
    wanted = f"a {'writeable ' if flags & WRITEABLE else ''}contiguous {shape} of {dtype}"
    other = "" if got.flags.writeable else "read-only "
    layout = f"shape {got.shape} with strides {got.strides}"
    return f"{title} takes {wanted} here, got a {other}{got.dtype} array of {layout}"


@infer_getattr
class TableFields(Attributes):  # type: ignore[misc]
    """The types of a table's fields, for numba."""

    key = TableType

    def generic_resolve(self, table: Any, name: str) -> Any:
        """Return the type of a field; None if there is none of this name."""
        return table.fields.get(name)


def _field(context: Any, builder: Any, table: Any, address: Any, name: str) -> Any:
    """Write the code that reads a field."""
    kind, words = table.fields[name], builder.bitcast(address, WORD.as_pointer())
    at = builder.gep(words, [WORD(table.places[name])])
    if isinstance(kind, Tuple):
        vectors = [
            _vector(context, builder, one, builder.gep(at, [WORD(2 * k)]))
            for k, one in enumerate(kind)
        ]
        return context.make_tuple(builder, kind, vectors)
    if isinstance(kind, types.Array):
        return _vector(context, builder, kind, at)
    if kind == types.boolean:
        return builder.trunc(builder.load(at), ir.IntType(1))
    return builder.load(builder.bitcast(at, context.get_value_type(kind).as_pointer()))


def _vector(context: Any, builder: Any, kind: Any, at: Any) -> Any:
    entry, model = context.get_data_type(kind.dtype), context.data_model_manager[kind]
    data = builder.load(builder.bitcast(at, entry.as_pointer().as_pointer()))
    shape = [builder.load(builder.gep(at, [WORD(1 + k)])) for k in range(kind.ndim)]
    return view(model, builder, data, shape, context.get_abi_sizeof(entry))


any_table = TableType("AnyTable", {})
"""The type of a table that is only passed on, to a kernel that knows its type."""


class Untyped:
    """A table as `any_table`, or a kernel whose first argument is a table, as one of `any_table`.

    Both are addresses to compiled code, so that one loop can call the kernels of all policies.

    Args:
        inner: the table or the kernel.
        kind: the type without that of the table.

    """

    __slots__ = ("address", "inner", "kind")

    def __init__(self, inner: Any, kind: Any):
        self.inner, self.kind, self.address = inner, kind, inner.address

    def __reduce__(self) -> Any:
        return Untyped, (self.inner, self.kind)


def untyped(inner: Any, kind: Any = any_table) -> Any:
    """Return a table or a kernel without the type of its table; itself where Python runs it."""
    return Untyped(inner, kind) if COMPILED and not _is_python(inner) else inner


register_model(TableType)(models.OpaqueModel)
unbox(TableType)(address_of)
lower_getattr_generic(TableType)(_field)
