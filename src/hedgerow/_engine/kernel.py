"""One decorator for every kernel: explicit signature, cached on disk, strict IEEE, no GIL."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numba import types, version_info
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import make_concrete_template

from hedgerow._engine.announcement import compile_time, warn_of_unknown_numba
from hedgerow._engine.cache import KernelCache, config
from hedgerow._engine.pointer import KernelPointer

OLDEST, NEWEST = (0, 63), (0, 68)
KNOWN = OLDEST <= version_info.short <= NEWEST
"""Whether the inner workings of this numba are known, so that kernels take the shorter way of
`pipeline.py`. A later numba compiles them by itself: the same arithmetic, a slower first call."""
way: tuple[Any, Any] = Compiler, cpu_target
if KNOWN:
    from hedgerow._engine.callee import inner_code
    from hedgerow._engine.compiler import KernelCompiler, kernel_target

    way = KernelCompiler, kernel_target

F = TypeVar("F", bound=Callable[..., Any])
Dispatcher: Any = CPUDispatcher
CASTS = {types.float64: float, types.int64: int, types.boolean: bool}


def interpreted(function: F, signature: Any) -> F:
    """Return a kernel that runs in Python, with numbers of the types that compiled code has."""
    casts = [CASTS.get(kind, _same) for kind in signature.args]
    cast = CASTS.get(signature.return_type, _same)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        given = [make(one) for make, one in zip(casts, arguments, strict=True)]
        with np.errstate(all="ignore"):
            return cast(function(*given))

    call.kind = KernelPointer(signature)  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _same(value: Any) -> Any:
    return value


number = types.float64
whole = types.int64
nothing = types.void
index = types.Array(types.uint32, 1, "C", readonly=True)  # signed indices cost twice the time
write_index = types.Array(types.uint32, 1, "C")
read = types.Array(types.float64, 1, "C", readonly=True)  # a writeable array fits here too
write = types.Array(types.float64, 1, "C")
flags = types.Array(types.boolean, 1, "C")
rows = types.Array(types.float64, 2, "C", readonly=True)
write_rows = types.Array(types.float64, 2, "C")


COMPILED = not config.DISABLE_JIT
"""False if NUMBA_DISABLE_JIT is set: kernels then run in Python, with the same results."""


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Compile without searching for garbage among the objects that numba makes: a tenth faster."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class Kernel(Dispatcher):  # type: ignore[misc]
    """A function that is compiled for one signature, when Python or a kernel first needs it.

    Args:
        function: the arithmetic.
        signature: the types that it is compiled for.
        handed: whether kernels call it by pointer; else Python calls it.

    """

    targetdescr = way[1]

    def __init__(self, function: Any, signature: Any, handed: bool = False):
        options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
        options["no_cpython_wrapper"] = handed
        super().__init__(function, targetoptions=options, pipeline_class=way[0])
        self.signature, self.kind = signature, KernelPointer(signature)
        self._code: Any = None
        self._handed: Any = None
        self._cache = KernelCache(function, "handed" if handed else "")

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """Its type, which numba would make anew whenever it is passed."""
        return types.Dispatcher(self)

    @property
    def borrows(self) -> bool:
        """Whether what it returns to a kernel is a part of what it was given."""
        return bool(self._code.library.borrows)

    def __reduce__(self) -> str:
        """Pickle it by name, as Python does functions."""
        return str(self.__qualname__)

    def ready(self) -> None:
        """Load it or compile it, in one thread at a time."""
        if not self._can_compile:
            return
        with global_compiler_lock:
            if not self._can_compile:
                return
            with _no_garbage_collection(), compile_time.counted():
                self.compile(self.signature)
                if self.stats.cache_misses:
                    compile_time.kernels += 1
                    compile_time.announce_if_slow()
                    if not KNOWN:
                        warn_of_unknown_numba(OLDEST, NEWEST)
            self._give_environments()
            self.disable_compile()

    def _give_environments(self) -> None:
        """Hand the constants of all kernels in it to the machine code, as loading it does."""
        [result] = self.overloads.values()
        if self.stats.cache_misses:
            for environment in result._find_referenced_environments():
                result.library.codegen.set_env(environment.env_name, environment)

    def _compile_for_args(self, *_: Any, **__: Any) -> Any:
        """Python calls it for the first time; return what then takes the call."""
        self._compilation_chain_init_hook()
        self.ready()
        return self

    @functools.cached_property
    def address(self) -> int:
        """Where the machine code begins, for kernels that call it by pointer."""
        with global_compiler_lock:
            if self._handed is None:
                called = not self._can_compile  # by Python: there is machine code
                self._handed = self if called else Kernel(self.py_func, self.signature, True)
                self._handed.ready()
        [result] = self._handed.overloads.values()
        begin: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        return begin

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """A kernel that calls it is being compiled."""
        if not KNOWN:
            self.ready()
            return super().get_call_template(args, kws)
        parameters, args = self.fold_argument_types(args, kws)
        if self._code is None:
            compile_time.announce_if_slow()
            self._code = inner_code(self.py_func, self.signature, self.targetdescr)
        name = self.py_func.__name__
        return make_concrete_template(name, name, [self.signature]), parameters, args, {}

    def get_overload(self, sig: Any) -> Any:
        """Return what that kernel calls."""
        return self._code if KNOWN else super().get_overload(sig)


class TableKernel(Kernel):
    """A kernel whose first argument is a table; it runs in Python if a part of the table does.

    So a round with a part in Python, such as an oracle, takes the same steps as a compiled one.
    """

    def __call__(self, table: Any, *arguments: Any) -> Any:
        """Run compiled or in Python, as the table does."""
        if table.in_python:
            return self._in_python(table, *arguments)
        return super().__call__(table, *arguments)

    @functools.cached_property
    def _in_python(self) -> Callable[..., Any]:
        return interpreted(self.py_func, self.signature)


def kernel(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile for exactly these types, once per machine, when first needed."""
    signature = result(*arguments)
    make = TableKernel if arguments and hasattr(arguments[0], "fields") else Kernel

    def compiled(function: F) -> F:
        return make(function, signature) if COMPILED else interpreted(function, signature)

    return compiled


def function(result: Any, *arguments: Any) -> Any:
    """Return the type of a kernel that is an argument of another kernel."""
    return KernelPointer(result(*arguments))
