"""How a kernel calls a kernel: with the address and the length of a vector, nothing else of it.

numba hands over seven values for each vector, and takes them apart and puts them together again on
the way; half of all instructions before LLVM did that. An error is handed on as it is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.callconv import CPUCallConv
from numba.core.datamodel.manager import DataModelManager
from numba.core.datamodel.models import ArrayModel
from numba.core.datamodel.packer import ArgPacker
from numba.core.datamodel.registry import default_manager
from numba.core.ir import Assign
from numba.core.lowering import Lower
from numba.np.numpy_support import as_dtype

from hedgerow.compiling.borrowed import holds_references
from hedgerow.compiling.libraries import InnerLibrary
from hedgerow.compiling.vector_views import view

Convention: Any = CPUCallConv
Arrays: Any = ArrayModel
Base: Any = Lower
WHOLE = ir.IntType(64)
NUMBERS = types.Number | types.Boolean


class VectorModel(Arrays):  # type: ignore[misc]
    """A contiguous vector, of which an argument is the address and the length."""

    def get_argument_type(self) -> Any:
        """Return LLVM's types of both."""
        data = self.get_model(self.get_field_position("data"))
        return data.get_argument_type(), WHOLE

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Take both from a vector."""
        return self.get(builder, value, "data"), self.get(builder, value, "nitems")

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return the vector; nobody counts references to it."""
        data, length = value
        return view(self, builder, data, length, as_dtype(self._fe_type.dtype).itemsize)


def _model(manager: Any, kind: Any) -> Any:
    is_vector = kind.ndim == 1 and kind.layout == "C" and isinstance(kind.dtype, NUMBERS)
    return (VectorModel if is_vector else ArrayModel)(manager, kind)


vector_models: Any = DataModelManager({types.Array: _model}).chain(default_manager)


class KernelCalls(Convention):  # type: ignore[misc]
    """Numba's calling convention, with vectors in short."""

    def _get_arg_packer(self, argtypes: Any) -> Any:
        return ArgPacker(vector_models, argtypes)

    def declared(self, module: Any, description: Any) -> Any:
        """Return the function in LLVM's module."""
        kind = self.get_function_type(description.restype, description.argtypes)
        return cgutils.get_or_insert_function(module, kind, description.mangled_name)

    def call(self, builder: Any, description: Any, given: Any) -> Any:
        """Call a function from a kernel, which returns with the same error if there is one."""
        made = self.get_return_type(description.restype).pointee
        place = cgutils.alloca_once(builder, made)
        builder.store(cgutils.get_null_value(made), place)
        values = self._get_arg_packer(description.argtypes).as_arguments(builder, given)
        error = self._get_excinfo_argument(builder.function)
        called = self.declared(builder.module, description)
        code = builder.call(called, [place, error, *values])
        with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, code)):
            builder.ret(code)
        return self.context.get_returned_value(builder, description.restype, builder.load(place))


class KernelLower(Base):  # type: ignore[misc]
    """Numba's writing of code, for kernels without `try`."""

    def init(self) -> None:
        """Decide how this one is called: in full if it returns what it may have been given."""
        super().init()
        self.context.is_kernel = True
        inner = isinstance(self.library, InnerLibrary)
        self.library.short = inner and not holds_references(self.fndesc.restype)

    @property
    def call_conv(self) -> Any:
        """How it is called."""
        return KernelCalls(self.context) if self.library.short else self.context.call_conv

    def setup_function(self, fndesc: Any) -> None:
        """Begin to write."""
        if not self.library.short:
            super().setup_function(fndesc)
            return
        self.function = self.call_conv.declared(self.module, fndesc)
        self.call_conv.decorate_function(self.function, fndesc.args, fndesc.argtypes)
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _find_singly_assigned_variable(self) -> None:
        """Keep what is assigned once as a value; numba does so with what one block alone uses.

        Where references are counted, variables have a place in memory, as numba wants it; so where
        a block stands before one that always comes first.
        """
        before = compute_cfg_from_blocks(self.func_ir.blocks).immediate_dominators()
        if not self.library.borrows or any(first > k for k, first in before.items()):
            super()._find_singly_assigned_variable()
            return
        assigned = (i for block in self.blocks.values() for i in block.find_insts(Assign))
        counts = Counter(one.target.name for one in assigned)
        self._singly_assigned_vars = {name for name, count in counts.items() if count == 1}
        self._blk_local_varmap: dict[str, Any] = {}


def calling(description: Any, library: Any) -> Any:
    """Return what writes the code of a call."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        convention = KernelCalls(context)
        if getattr(context, "is_kernel", False):
            return convention.call(builder, description, given)
        called = convention.declared(builder.module, description)
        kinds = description.restype, description.argtypes
        status, made = convention.call_function(builder, called, *kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return made

    code.libs = (library,)  # type: ignore[attr-defined]
    return code
