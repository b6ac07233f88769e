"""How numba compiles a kernel: by the passes that it needs, with the types of calls remembered.

Most of what numba does before LLVM serves code that kernels do not have: closures, `with`, object
mode, generators. After each of its 27 passes it analyses the function anew, and for the type of
every `a + b`, twice, it tries all candidates in turn. What is left out here changes no arithmetic.
Only kernels go this way: other code in the process, and what numba itself compiles for a kernel,
is compiled as ever.
"""

from __future__ import annotations

import dis
import functools
from typing import Any

from numba.core import typed_passes, types
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.cpu import CPUContext
from numba.core.extending import models, register_model
from numba.core.registry import CPUTarget, cpu_target
from numba.core.typing.context import Context as TypingContext

from hedgerow._engine.link import KernelLibrary
from hedgerow._engine.passes import PASSES
from hedgerow._engine.reference_counts import borrows, counted, holds_references, uncounted

Base: Any = Compiler
Manager: Any = PassManager
Function: Any = types.Function
Types: Any = TypingContext
Processor: Any = CPUContext
Target: Any = CPUTarget

UNUSUAL = {
    *("MAKE_FUNCTION", "LIST_APPEND", "SET_ADD", "MAP_ADD", "BEFORE_WITH", "RAISE_VARARGS"),
    *("YIELD_VALUE", "RETURN_GENERATOR", "PUSH_EXC_INFO"),
    *("BUILD_MAP", "BUILD_CONST_KEY_MAP", "DICT_UPDATE", "DICT_MERGE"),
}
"""Instructions of Python that the passes left out below would deal with."""
UNUSUAL_CODES = {dis.opmap[name] for name in UNUSUAL if name in dis.opmap}
UNUSUAL_NAMES = {"literally", "literal_unroll", "prange"}
"""Functions of numba likewise."""
REWRITTEN = ("binop", "inplace_binop", "unary", "call")
"""Expressions that numba may rewrite after it knows their types, where they are arrays."""


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
            if kind is typed_passes.IRLegalization and self._is_to_borrow(state):
                state.targetctx, state.library.borrows = uncounted(state.targetctx), True
                continue  # it would write down where variables end
            one: Any = _pass_registry.get(kind).pass_inst
            one.analysis = self._analysis
            one.run_pass(state)

    def _is_to_borrow(self, state: Any) -> bool:
        """Whether it borrows, and only kernels that know it call it if it returns arrays."""
        is_inner = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        return (is_inner or not holds_references(state.return_type)) and borrows(state)


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


class RememberingFunction(Function):  # type: ignore[misc]
    """A function of numba's, with a memory for the signatures of its calls.

    Args:
        templates: where numba looks for them.

    """

    def __init__(self, templates: tuple[Any, ...]):
        super().__init__(templates)
        self._known: dict[Any, tuple[Any, Any]] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, and remember what it is compiled to."""
        key = tuple(args)
        if kws or not all(one.is_precise() for one in key):
            return super().get_call_type(context, args, kws)
        if key not in self._known:
            found = super().get_call_type(context, args, kws)
            self._known[key] = found, self.get_impl_key(found)
        found, self._impl_keys[found.args] = self._known[key]
        return found


register_model(RememberingFunction)(models.OpaqueModel)


class KernelTyping(Types):  # type: ignore[misc]
    """Numba's types of functions, of those that remember their calls.

    Args:
        context: numba's own, which it shares all else with.

    """

    def __init__(self, context: Any):
        self.__dict__.update(vars(context))
        self._context = context
        self._remembering: dict[Any, RememberingFunction] = {}

    def refresh(self) -> None:
        """Take in what was registered since."""
        self._context.refresh()

    def _lookup_global(self, gv: Any) -> Any:
        found = super()._lookup_global(gv)
        if type(found) is not types.Function:
            return found
        if found not in self._remembering:
            self._remembering[found] = RememberingFunction(found.templates)
        return self._remembering[found]


class KernelContext(Processor):  # type: ignore[misc]
    """Numba's code generation, which looks for new registrations only where there are some.

    Args:
        context: numba's own, which it shares all else with.
        typing_context: the types of functions.

    """

    def __init__(self, context: Any, typing_context: KernelTyping):
        self.__dict__.update(vars(context))
        self.typing_context = typing_context
        self._registered: list[int] = []

    def refresh(self) -> None:
        """Take in what was registered since."""
        if self._registered != [self._count()]:
            super().refresh()
            self._registered[:] = [self._count()]

    def _count(self) -> int:
        known = (*self._registries, *self.typing_context._registries)
        lists = (entries for registry in known for entries in vars(registry).values())
        return sum(len(entries) for entries in lists if type(entries) is list)

    def create_cpython_wrapper(self, *parts: Any, **options: Any) -> None:
        """Write what Python calls; it counts what Python hands it."""
        super(KernelContext, counted(self)).create_cpython_wrapper(*parts, **options)


class KernelTarget(Target):  # type: ignore[misc]
    """Numba's processor, where kernels are compiled for it."""

    @functools.cached_property
    def target_context(self) -> Any:
        """How code is generated."""
        return KernelContext(cpu_target.target_context, self.typing_context)

    @functools.cached_property
    def typing_context(self) -> Any:
        """The types of functions."""
        return KernelTyping(cpu_target.typing_context)


kernel_target = KernelTarget("cpu")
