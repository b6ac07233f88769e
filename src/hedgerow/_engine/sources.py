"""Hash what the machine code of a kernel depends on: functions and constants, of callees too.

numba's own cache compares only the file in which a kernel is defined, so a kernel would keep the
old arithmetic of a callee in another file. Here the names that a kernel reads are followed to the
functions and constants behind them, in this package and in users' own modules alike. What is hashed
is what was imported, the bytecode in memory: a file may have been changed since, by an editor or an
upgrade, and machine code of the old source must not be kept under the name of the new one.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

ENGINE = Path(__file__).parent
CONSTANTS = int | float | complex | str | bytes | np.generic
"""Values that numba writes into the machine code, besides arrays and tuples."""


def engine_fingerprint() -> str:
    """Hash all that compiles kernels, as it was when this module was imported."""
    return _ENGINE_HASH


def _hash_engine() -> str:
    with suppress(OSError):
        files = sorted(ENGINE.glob("*.py"))
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    return "no sources"


_ENGINE_HASH = _hash_engine()


def fingerprint(function: FunctionType) -> str:
    """Hash the code and constants of a function and of all functions that it may call."""
    found, seen, left = set[str](), set[int](), [function]
    while left:
        one = left.pop()
        if id(one) not in seen:
            seen.add(id(one))
            own, called = _parts(one)
            found |= own
            left += called
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


@functools.cache
def _parts(function: FunctionType) -> tuple[set[str], list[FunctionType]]:
    """Return the hashed code and constants of a function, and the functions that it reads."""
    found, called = {_hash_code(function)}, []
    left = list(_read_values(function))
    for name, value in left:  # the list grows by what tuples hold
        inner = _function_of(value)
        if inner is not None:
            called.append(inner)
        elif isinstance(value, tuple):
            left += ((f"{name}[{k}]", one) for k, one in enumerate(value))
        elif isinstance(value, CONSTANTS):
            found.add(f"{name} = {value!r}")
        elif isinstance(value, np.ndarray):
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            found.add(f"{name} = {value.dtype} {value.shape} {digest}")
        else:
            found.add(f"{name} = {_describe(value)}")
    return found, called


def _hash_code(function: FunctionType) -> str:
    """Hash a function's name, defaults and bytecode."""
    described = function.__qualname__, function.__defaults__, _plain(function.__code__)
    return hashlib.sha256(repr(described).encode()).hexdigest()


def _plain(code: CodeType) -> tuple[Any, ...]:
    """Return what a code object does, without where it is written."""
    consts = tuple(_plain(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, consts, names, code.co_argcount, code.co_kwonlyargcount, code.co_flags


def _describe(value: Any) -> str:
    """Return name and release of a value that another package defines, such as `numpy.zeros`."""
    module = getattr(value, "__module__", None) or type(value).__module__
    package = sys.modules.get(module.partition(".")[0])
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{module}.{name} {getattr(package, '__version__', '')}"


def _function_of(value: Any) -> FunctionType | None:
    """Return the function behind a kernel, an intrinsic or another wrapper, if there is one."""
    for inner in (value, getattr(value, "py_func", None), getattr(value, "__wrapped__", None)):
        if isinstance(inner, FunctionType):
            return inner
    return None


def _read_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function reads, and attributes of modules by the same names."""
    names = sorted(_names(function.__code__))
    modules: list[ModuleType] = []
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            if isinstance(value, ModuleType):
                modules.append(value)
            else:
                yield name, value
    for module in modules:  # the list grows while `package.module.name` is followed
        for name in names:
            value = vars(module).get(name)
            if isinstance(value, ModuleType):
                modules += [] if value in modules else [value]
            elif value is not None:
                yield f"{module.__name__}.{name}", value


def _names(code: CodeType) -> set[str]:
    """Return the names in a function's code and in the functions inside it."""
    inner = (_names(one) for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*inner)
