"""Entries, slices and the length of a vector, in a few instructions each.

numba writes some thirty instructions for `x[i]` and a hundred for `x[i:j]`: it copies the array's
description to the stack each time, for shapes, strides and steps of any kind. LLVM reduces all that
to what is written here. A negative index counts from the end, and the ends of a slice are moved
into the vector, as Python has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.np.arrayobj import fix_integer_index, load_item, store_item

WHOLE = ir.IntType(64)
NONE, ONE, LAST = WHOLE(0), WHOLE(1), WHOLE(2**63 - 1)
Code = Callable[[Any, Any, Any, Any], Any]


def code_of(function: Any, signature: Any) -> Code | None:
    """Return what writes the code of a call, or None where numba's own is to be taken."""
    given = signature.args
    if function is slice:
        return _bounds if len(given) == 2 else None
    if function not in (operator.getitem, operator.setitem, len) or not _is_vector(given[0]):
        return None
    if function is len:
        return _length
    if isinstance(given[1], types.Integer):
        return _read if function is operator.getitem else _write
    if isinstance(given[1], types.SliceType) and not given[1].has_step:
        return _slice if function is operator.getitem else None
    return None


def _is_vector(kind: Any) -> bool:
    return type(kind) is types.Array and kind.ndim == 1 and kind.layout == "C"


def _size(model: Any, builder: Any, vector: Any) -> Any:
    return builder.extract_value(model.get(builder, vector, "shape"), 0)


def _length(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return _size(context.data_model_manager[signature.args[0]], builder, given[0])


def _place(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Return the address of an entry."""
    vector, position = given[:2]
    model = context.data_model_manager[signature.args[0]]
    size = _size(model, builder, vector)
    i = fix_integer_index(context, builder, signature.args[1], position, size)
    return builder.gep(model.get(builder, vector, "data"), [i])


def _read(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return load_item(
        context, builder, signature.args[0], _place(context, builder, signature, given)
    )


def _write(context: Any, builder: Any, signature: Any, given: Any) -> None:
    vector, _, kind = signature.args
    place = _place(context, builder, signature, given)
    store_item(context, builder, vector, context.cast(builder, given[2], kind, vector.dtype), place)


def _bounds(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Return slice(start, stop), either of which may be None."""
    made = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
    for k, (kind, value, default) in enumerate(
        zip(signature.args, given, (NONE, LAST), strict=True)
    ):
        made = builder.insert_value(made, default if kind is types.none else value, k)
    return builder.insert_value(made, ONE, 2)


def _slice(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    vector, bounds = given
    model = context.data_model_manager[signature.args[0]]
    size = _size(model, builder, vector)
    start, stop = (_inside(builder, builder.extract_value(bounds, k), size) for k in (0, 1))
    length = builder.select(builder.icmp_signed("<", start, stop), builder.sub(stop, start), NONE)
    shape = builder.insert_value(ir.Constant(ir.ArrayType(WHOLE, 1), ir.Undefined), length, 0)
    data = builder.gep(model.get(builder, vector, "data"), [start])
    made = model.set(builder, model.set(builder, vector, length, "nitems"), data, "data")
    made = model.set(builder, made, shape, "shape")
    return impl_ret_borrowed(context, builder, signature.return_type, made)


def _inside(builder: Any, end: Any, size: Any) -> Any:
    """Return where an end of a slice lies in a vector of this size."""
    negative = builder.icmp_signed("<", end, NONE)
    end = builder.select(negative, builder.add(end, size), end)
    end = builder.select(builder.icmp_signed("<", end, NONE), NONE, end)
    return builder.select(builder.icmp_signed(">", end, size), size, end)
