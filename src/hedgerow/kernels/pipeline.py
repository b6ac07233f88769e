"""How numba compiles a kernel: by the passes that it needs, with the types of calls remembered.

Most of what numba does before LLVM serves code that kernels do not have: closures, `with`, object
mode, generators. After each of its 27 passes it analyses the function anew, and it looks for the
type of every `a + b` among some thirty candidates. What is left out here changes no machine code.
Only kernels go this way: other code in the process, and what numba itself compiles for a kernel,
is compiled as ever.
"""

from __future__ import annotations

import dis
import functools
from types import BuiltinFunctionType
from typing import Any

from numba.core import typed_passes, types, untyped_passes
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.cpu import CPUContext
from numba.core.registry import CPUTarget, cpu_target
from numba.core.typing.context import Context as TypingContext

from hedgerow.kernels.libraries import KernelLibrary
from hedgerow.kernels.scalars import TEMPLATES

Base: Any = Compiler
Manager: Any = PassManager
Types: Any = TypingContext
Processor: Any = CPUContext
Target: Any = CPUTarget

UNUSUAL = {
    *("MAKE_FUNCTION", "LIST_APPEND", "SET_ADD", "MAP_ADD", "BEFORE_WITH", "RAISE_VARARGS"),
    *("YIELD_VALUE", "RETURN_GENERATOR", "PUSH_EXC_INFO"),
}
"""Instructions of Python that the passes left out below would deal with."""
UNUSUAL_CODES = {dis.opmap[name] for name in UNUSUAL if name in dis.opmap}
UNUSUAL_NAMES = {"literally", "literal_unroll", "prange"}
"""Functions of numba likewise."""
REWRITTEN = ("binop", "inplace_binop", "unary", "call")
"""Expressions that numba may rewrite after it knows their types, where they are arrays."""
PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.InlineInlinables,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


def is_plain(function: Any) -> bool:
    """Whether the passes of a plain kernel are enough."""
    code = function.__code__
    return UNUSUAL_CODES.isdisjoint(code.co_code[::2]) and UNUSUAL_NAMES.isdisjoint(code.co_names)


def makes_arrays(state: Any) -> bool:
    """Whether an operator or a call makes an array, so that numba may rewrite it."""
    return any(
        getattr(expression, "op", "") in REWRITTEN and isinstance(made.return_type, types.Array)
        for expression, made in state.calltypes.items()
        if made is not None
    )


class PlainPasses(Manager):  # type: ignore[misc]
    """The passes of a plain kernel, without an analysis after each."""

    def run(self, state: Any) -> None:
        """Compile."""
        for kind, _ in self.passes:
            if kind is typed_passes.NopythonRewrites and not makes_arrays(state):
                continue
            one: Any = _pass_registry.get(kind).pass_inst
            one.analysis = self._analysis
            one.run_pass(state)


class KernelCompiler(Base):  # type: ignore[misc]
    """Numba's compiler with the passes of a plain kernel, for those that are plain."""

    def compile_extra(self, func: Any) -> Any:
        """Compile into a library of kernels."""
        if self.state.library is None:
            library = KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
            library.enable_object_caching()
            self.state.library = library
        return super().compile_extra(func)

    def define_pipelines(self) -> Any:
        """Return the passes."""
        if not is_plain(self.state.func_id.func):
            return super().define_pipelines()
        passes = PlainPasses("kernel")
        for one in PASSES:
            passes.add_pass(one, one._name)
        passes.finalize()
        return [passes]


class KernelTyping(Types):  # type: ignore[misc]
    """Numba's types of functions, with a memory for those of calls in kernels.

    Args:
        context: numba's own, which it shares all else with.

    """

    def __init__(self, context: Any):
        self.__dict__.update(vars(context))
        self._known: dict[Any, Any] = {}

    def resolve_value_type(self, val: Any) -> Any:
        """Return the type of a constant or a function."""
        found = super().resolve_value_type(val)
        own = TEMPLATES.get(val) if isinstance(found, types.Function) else None
        return found if own is None else types.Function((own, *found.templates))

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, from memory where its types are all that decides."""
        if kws or not isinstance(func, types.Function | BuiltinFunctionType):
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        found = self._known.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None and all(one.is_precise() for one in args):
                self._known[key] = found
        return found


class KernelContext(Processor):  # type: ignore[misc]
    """Numba's code generation, which looks for new registrations only where there are some.

    Args:
        context: numba's own, which it shares all else with.

    """

    def __init__(self, context: Any):
        self.__dict__.update(vars(context))
        self._registered: list[int] = []
        self._sizes: dict[Any, int] = {}

    def refresh(self) -> None:
        """Take in what was registered since."""
        if self._registered != [self._count()]:
            super().refresh()
            self._registered[:] = [self._count()]

    def _count(self) -> int:
        known = (*self._registries, *self.typing_context._registries)
        lists = (entries for registry in known for entries in vars(registry).values())
        return sum(len(entries) for entries in lists if type(entries) is list)

    def get_abi_sizeof(self, ty: Any) -> int:
        """Return the size of a type in bytes."""
        if ty not in self._sizes:
            self._sizes[ty] = super().get_abi_sizeof(ty)
        return self._sizes[ty]


class KernelTarget(Target):  # type: ignore[misc]
    """Numba's processor, where kernels are compiled for it."""

    @functools.cached_property
    def target_context(self) -> Any:
        """How code is generated."""
        return KernelContext(cpu_target.target_context)

    @functools.cached_property
    def typing_context(self) -> Any:
        """The types of functions."""
        return KernelTyping(cpu_target.typing_context)


kernel_target = KernelTarget("cpu")
