"""Vectors and matrices by address and shape, as compiled code has them; others own the memory."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

WHOLE = ir.IntType(64)


def view(model: Any, builder: Any, data: Any, shape: list[Any], size: int) -> Any:
    """Return the array, with entries of this many bytes; `model` is numba's of its type."""
    kind, lengths = model.get_value_type(), ir.ArrayType(WHOLE, len(shape))
    parts = zip(model._fields, kind.elements, strict=True)
    made = kind([WHOLE(size) if name == "itemsize" else part(None) for name, part in parts])
    rows = columns = lengths(None)
    stride: Any = WHOLE(size)
    items: Any = WHOLE(1)
    for k in reversed(range(len(shape))):  # the last index runs fastest
        rows = builder.insert_value(rows, shape[k], k)
        columns = builder.insert_value(columns, stride, k)
        stride, items = builder.mul(stride, shape[k]), builder.mul(items, shape[k])
    for name, value in (("data", data), ("nitems", items), ("shape", rows), ("strides", columns)):
        made = model.set(builder, made, value, name)
    return made
