"""A kernel as other kernels call it: code that is linked into each of them.

numba by itself optimises a function and makes machine code of it, with wrappers for Python and C,
before it links it into its callers, where all of that is done again. Here the code of the callee is
only written down; the kernel that Python calls is optimised as a whole, once. The first game of
`projection_free_coco` on a machine then takes 60 % of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary

from hedgerow.kernels.cache import KernelCache

Library: Any = JITCodeLibrary


class InnerLibrary(Library):  # type: ignore[misc]
    """LLVM's code of a kernel and of those that it calls, to be linked."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Drop what is never used: it may hold addresses of this process."""
        passes: Any = binding.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_dead_code_elimination_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, self._codegen._pass_builder())

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerCode(NamedTuple):
    """The code, and what a caller must know to call it."""

    description: Any
    library: Any
    environment: Any
    before: tuple[Any, ...]
    """What is to be run before the code is loaded again."""

    @property
    def kept(self) -> tuple[Any, ...]:
        """What is kept of it on disk."""
        code = self.library._final_module.as_bitcode()
        return self.library.name, code, self.description, self.environment, self.before


def inner_code(function: Any, signature: Any, target: Any) -> InnerCode:
    """Load or write down the code of a kernel."""
    cache, context = KernelCache(function, "inner"), target.target_context
    kept = cache.load(signature, context)
    code = _compiled(function, signature, target) if kept is None else _loaded(context, *kept)
    if kept is None and not code.library.has_dynamic_globals:
        code.description.typemap = code.description.calltypes = None
        cache.save(signature, context, code.kept)
    context.insert_user_function(code, code.description, [code.library])
    return code


def _compiled(function: Any, signature: Any, target: Any) -> InnerCode:
    flags: Any = compiler.Flags()
    target.options.parse_as_flags(flags, {"nopython": True, "nogil": True})
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    library = InnerLibrary(target.target_context.codegen(), function.__qualname__)
    result: Any = compiler.compile_extra(
        *(target.typing_context, target.target_context, function, signature.args),
        *(signature.return_type, flags, {}, library),
    )
    library.finalize()
    return InnerCode(result.fndesc, library, result.environment, tuple(result.reload_init))


def _loaded(
    context: Any, name: str, code: bytes, description: Any, environment: Any, before: Any
) -> InnerCode:
    for run in before:
        run()
    library = InnerLibrary(context.codegen(), name)
    library._final_module = binding.parse_bitcode(code)
    library._finalize_final_module()
    return InnerCode(description, library, environment, before)
