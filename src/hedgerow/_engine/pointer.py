"""Kernel function pointers: the addresses of machine code that kernels call.

numba's own type of functions allows for those that are not compiled yet: to pass one takes 30
microseconds, and every call has a second branch, which asks Python for the address.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import NativeValue, lower_builtin, models, register_model, unbox
from numba.core.typeconv.castgraph import Conversion

Callable: Any = types.Callable


class KernelPointer(Callable):  # type: ignore[misc]
    """The type of a kernel that is an argument of another kernel.

    Args:
        signature: what it takes and returns.

    """

    def __init__(self, signature: Any):
        self.signature = signature
        super().__init__(name=f"Handed[{signature}]")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, or None where the arguments do not fit."""
        if kws or len(args) != len(self.signature.args):
            return None
        for given, wanted in zip(args, self.signature.args, strict=True):
            fit = context.can_convert(types.unliteral(given), wanted)
            if fit is None or fit > Conversion.safe:
                return None
        return self.signature.replace(recvr=self)

    def get_call_signatures(self) -> Any:
        """Return all that it can be called with."""
        return [self.signature], False

    def get_impl_key(self, _: Any) -> Any:
        """Return under which name the code of a call is registered."""
        return KernelPointer

    def can_convert_from(self, _: Any, other: Any) -> Any:
        """Take kernels of this signature."""
        taken = getattr(getattr(other, "dispatcher", None), "signature", None)
        return Conversion.safe if taken == self.signature else None


def address_of(kind: Any, given: Any, c: Any) -> Any:
    """Write the code that takes the address from Python's object."""
    number = c.pyapi.object_getattr_string(given, "address")
    with c.builder.if_then(cgutils.is_null(c.builder, number), likely=False):
        c.builder.ret(c.pyapi.get_null_object())
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address)


def _call(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    address, *values = given
    made, kinds = signature.return_type, signature.args[1:]
    kind = context.call_conv.get_function_type(made, kinds).as_pointer()
    called = builder.bitcast(address, kind)
    status, value = context.call_conv.call_function(builder, called, made, kinds, values)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return value


register_model(KernelPointer)(models.OpaqueModel)
unbox(KernelPointer)(address_of)
lower_builtin(KernelPointer, KernelPointer, types.VarArg(types.Any))(_call)
