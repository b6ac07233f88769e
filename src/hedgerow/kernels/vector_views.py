"""A vector of its address and its length, as compiled code has it; somebody else owns it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

WHOLE = ir.IntType(64)


def view(model: Any, builder: Any, data: Any, length: Any, size: int) -> Any:
    """Return the vector, with entries of so many bytes; `model` is numba's of its type."""
    meminfo, parent, *_ = model.get_value_type().elements
    one, undefined = ir.ArrayType(WHOLE, 1), ir.Undefined
    fields = meminfo(None), parent(None), WHOLE(undefined), WHOLE(size)
    rest = model.get_value_type().elements[4](undefined), one(undefined), one([size])
    made = ir.Constant(model.get_value_type(), [*fields, *rest])
    made = model.set(builder, made, data, "data")
    made = model.set(builder, made, length, "nitems")
    return model.set(builder, made, builder.insert_value(one(undefined), length, 0), "shape")
