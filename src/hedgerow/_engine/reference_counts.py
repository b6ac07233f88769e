"""Kernels that make no arrays: they count no references.

numba counts who holds an array, with code at each assignment, and LLVM takes most of it out again.
A kernel whose arrays are all arguments, or parts of arguments, holds nothing of its own: whoever
called it keeps them. What it returns is as borrowed as what it was given, and a caller that counts
begins to hold it there.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core import ir, types
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import impl_ret_borrowed, user_function
from numba.core.runtime.context import NRTContext

References: Any = NRTContext
PARTS = ("getitem", "static_getitem", "exhaust_iter")
"""Expressions that take a part of an array, or of a tuple."""
HELD = types.Array | types.BaseTuple
"""The types of what a kernel may borrow."""


class Uncounted(References):  # type: ignore[misc]
    """Numba's references, without their counts."""

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        """Leave the count as it is."""

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        """Leave the count as it is."""


@functools.cache
def holds_references(kind: Any) -> bool:
    """Whether values of a type hold arrays, or else what is counted."""
    return bool(default_manager[kind].contains_nrt_meminfo())


def borrows(state: Any) -> bool:
    """Whether a kernel, of which the types are known, only uses what it is given."""
    kinds = filter(holds_references, set(state.typemap.values()))
    if not all(isinstance(kind, HELD) for kind in kinds):
        return False
    for one, made in state.calltypes.items():
        if isinstance(one, ir.SetAttr):
            return False
        if made is None or not holds_references(made.return_type):
            continue
        if not _is_part(one, made, state.typemap):
            return False
    return True


def _is_part(expression: Any, made: Any, typemap: Any) -> bool:
    """Whether the value of an expression is a part of its arguments."""
    if expression.op == "call":
        called = typemap[expression.func.name]
        called = getattr(called, "dispatcher", None) or getattr(called, "typing_key", None)
        return called is tuple or getattr(called, "borrows", False)
    if expression.op == "binop":
        return all(isinstance(one, types.BaseTuple) for one in made.args)
    return expression.op in PARTS and not any(isinstance(i, types.Array) for i in made.args[1:])


def uncounted(context: Any) -> Any:
    """Return numba's code generation, without counts."""
    changed = context.subtarget()
    changed.nrt = Uncounted(changed, True)
    return changed


def counted(context: Any) -> Any:
    """Return numba's code generation, with counts."""
    changed = context.subtarget()
    changed.nrt = NRTContext(changed, True)
    return changed


def lending(description: Any, library: Any) -> Any:
    """Return what writes the code of a call of such a kernel."""
    call = user_function(description, [library])

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        made = call(context, builder, signature, given)
        return impl_ret_borrowed(context, builder, signature.return_type, made)

    code.libs = call.libs  # type: ignore[attr-defined]
    return code
