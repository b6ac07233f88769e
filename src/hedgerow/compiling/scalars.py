"""`min` and `max` of two numbers, and `int` of one, as instructions of a kernel.

To numba by itself they are functions, which it compiles for each pair of types before the kernel
that calls them. The instructions are the same, those of Python: `max(1.0, nan)` is 1.0.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.extending import lower_builtin
from numba.core.typing.templates import AbstractTemplate, signature
from numba.cpython.builtins import do_minmax

Template: Any = AbstractTemplate


LEAST, LARGEST, WHOLE = (f"hedgerow's {name}" for name in ("min", "max", "int"))
"""What the instructions are registered by."""


class OfTwo(Template):  # type: ignore[misc]
    """The types of `min` or `max` of two numbers."""

    mark: str

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature, or None for other arguments."""
        if kws or len(args) != 2 or not all(isinstance(one, types.Number) for one in args):
            return None
        return signature(self.context.unify_types(*args), *args)

    def get_impl_key(self, _: Any) -> Any:
        """Return what the instruction is registered by."""
        return self.mark


class Least(OfTwo):
    """`min`."""

    key, mark = min, LEAST


class Largest(OfTwo):
    """`max`."""

    key, mark = max, LARGEST


class Whole(Template):  # type: ignore[misc]
    """The types of `int` of a number."""

    key = int

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature, or None for other arguments."""
        if kws or len(args) != 1 or not isinstance(args[0], types.Integer | types.Float):
            return None
        [one] = args
        return signature(one if isinstance(one, types.Integer) else types.intp, one)

    def get_impl_key(self, _: Any) -> Any:
        """Return what the instruction is registered by."""
        return WHOLE


def _least(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return do_minmax(context, builder, signature.args, given, operator.lt)


def _largest(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return do_minmax(context, builder, signature.args, given, operator.gt)


def _whole(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return context.cast(builder, given[0], signature.args[0], signature.return_type)


lower_builtin(LEAST, types.Number, types.Number)(_least)
lower_builtin(LARGEST, types.Number, types.Number)(_largest)
lower_builtin(WHOLE, types.Number)(_whole)
TEMPLATES = {min: Least, max: Largest, int: Whole}
