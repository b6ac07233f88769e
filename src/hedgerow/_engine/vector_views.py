"""A vector of its address and its length, as compiled code has it; somebody else owns it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

WHOLE = ir.IntType(64)
ONE = ir.ArrayType(WHOLE, 1)


def view(model: Any, builder: Any, data: Any, length: Any, size: int) -> Any:
    """Return the vector, with entries of so many bytes; `model` is numba's of its type."""
    kind, known = model.get_value_type(), {"itemsize": WHOLE(size), "strides": ONE([size])}
    parts = zip(model._fields, kind.elements, strict=True)
    made = kind([known.get(name, part(None)) for name, part in parts])
    shape = builder.insert_value(ONE(None), length, 0)
    for name, value in (("data", data), ("nitems", length), ("shape", shape)):
        made = model.set(builder, made, value, name)
    return made
