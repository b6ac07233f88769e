"""`for i in range(...)` with steps of one, in a few instructions.

numba writes a hundred for each such loop: it copies its descriptions of the range and of the
iterator to the stack each time, and divides by the step. The loop that LLVM makes of these is the
same: it counts down what is left.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.cpu import CPUContext

WHOLE = ir.IntType(64)
NONE, ONE = WHOLE(0), WHOLE(1)
RANGE, ITERATOR = types.range_state64_type, types.range_iter64_type
Processor: Any = CPUContext


def code_of(function: Any, signature: Any) -> Any:
    """Return what writes the code of a call, or None where numba's own is to be taken."""
    if function is range and signature.return_type == RANGE and len(signature.args) < 3:
        return _range
    if function == "getiter" and signature.args == (RANGE,):
        return _begin
    if function == "iternext" and signature.args == (ITERATOR,):
        return _next
    return None


def _struct(context: Any, builder: Any, kind: Any, *fields: Any) -> Any:
    made = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for k, field in enumerate(fields):
        made = builder.insert_value(made, field, k)
    return made


def _range(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    start, stop = (NONE, *given) if len(given) == 1 else given
    made = _struct(context, builder, RANGE, start, stop, ONE)
    made.has_steps_of_one = True
    return made


def _begin(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Return the iterator: where i and the count of what is left are kept, the end, the step."""
    [made] = given
    if not getattr(made, "has_steps_of_one", False):
        return Processor.get_function(context, "getiter", signature)(builder, given)
    start, stop = (builder.extract_value(made, k) for k in (0, 1))
    i, left = (cgutils.alloca_once(builder, WHOLE) for _ in range(2))
    builder.store(start, i)
    apart = builder.sub(stop, start)
    some = builder.icmp_signed(">", apart, NONE)
    builder.store(builder.select(some, apart, NONE), left)
    return _struct(context, builder, ITERATOR, i, stop, ONE, left)


def _next(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Return i, and whether it is one of the range."""
    place, step, left = (builder.extract_value(given[0], k) for k in (0, 2, 3))
    i, count = builder.load(place), builder.load(left)
    some = builder.icmp_signed(">", count, NONE)
    with builder.if_then(some):
        builder.store(builder.sub(count, ONE, flags=["nsw"]), left)
        builder.store(builder.add(i, step), place)
    return _struct(context, builder, signature.return_type, i, some)
