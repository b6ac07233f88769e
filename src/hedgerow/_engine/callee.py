"""A kernel as other kernels call it: code that is linked into each of them.

numba by itself optimises a function and makes machine code of it, with wrappers for Python and C,
before it links it into its callers, where all of that is done again. Here the code of the callee is
only written down; the kernel that Python calls is optimised as a whole, once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import compiler

from hedgerow._engine.cache import KernelCache
from hedgerow._engine.compiler import KernelCompiler
from hedgerow._engine.link import InnerLibrary, Part
from hedgerow._engine.reference_counts import lending


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
        parts = tuple(part.bitcode for part in self.library.parts.values())
        own = self.library.name, self.library.borrows, parts
        return *own, self.description, self.environment, self.before


def inner_code(function: Any, signature: Any, target: Any) -> InnerCode:
    """Load or write down the code of a kernel."""
    cache, context = KernelCache(function, "inner"), target.target_context
    kept = cache.load(signature, context)
    code = _compiled(function, signature, target) if kept is None else _loaded(context, *kept)
    if kept is None and not code.library.has_dynamic_globals:
        code.description.typemap = code.description.calltypes = None
        cache.save(signature, context, code.kept)
    if code.library.borrows:
        write = lending(code.description, code.library)
        context.insert_func_defn([(write, code, code.description.argtypes)])
    else:
        context.insert_user_function(code, code.description, [code.library])
    return code


def _compiled(function: Any, signature: Any, target: Any) -> InnerCode:
    flags: Any = compiler.Flags()
    target.options.parse_as_flags(flags, {"nopython": True, "nogil": True})
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    library = InnerLibrary(target.target_context.codegen(), function.__qualname__)
    result: Any = compiler.compile_extra(
        *(target.typing_context, target.target_context, function, signature.args),
        *(signature.return_type, flags, {}, library, KernelCompiler),
    )
    library.finalize()
    return InnerCode(result.fndesc, library, result.environment, tuple(result.reload_init))


def _loaded(
    context: Any,
    name: str,
    borrows: bool,
    parts: tuple[bytes, ...],
    description: Any,
    environment: Any,
    before: Any,
) -> InnerCode:
    for run in before:
        run()
    library = InnerLibrary(context.codegen(), name)
    library.borrows = borrows
    for code in parts:
        library.add_part(Part(binding.parse_bitcode(code)))
    library._finalized = True
    return InnerCode(description, library, environment, before)
