"""Hash what the machine code of a kernel depends on: sources and constants, of callees too.

numba's own cache compares only the file in which a kernel is defined, so a kernel would keep the
old arithmetic of a callee in another file. Here the names that a kernel reads are followed to the
functions and constants behind them, in this package and in users' own modules alike.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

ENGINE = Path(__file__).parent
CONSTANTS = int | float | complex | str | bytes | np.generic
"""Values that numba writes into the machine code, besides arrays and tuples."""


@functools.cache
def engine_fingerprint() -> str:
    """Hash all that compiles kernels."""
    files = sorted(ENGINE.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def fingerprint(function: FunctionType) -> str:
    """Hash the sources and constants of a function and of all functions that it may call.

    Raises:
        OSError: a source cannot be read.

    """
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
    """Return the hashed file and constants of a function, and the functions that it reads."""
    found, called = {_file_hash(function.__code__.co_filename)}, []
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
        elif (file := _module_file(value)) is not None:
            found.add(_file_hash(file))
    return found, called


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


def _module_file(value: Any) -> str | None:
    """Return the source of the module that defines a value or its type."""
    named = getattr(value, "__module__", None) or type(value).__module__
    file = getattr(sys.modules.get(named), "__file__", None)
    return file if file is not None and file.endswith(".py") else None


def _file_hash(file: str) -> str:
    found = Path(file).stat()
    return _hash_of_version(file, found.st_mtime_ns, found.st_size)


@functools.cache
def _hash_of_version(file: str, *_: int) -> str:
    """Hash a file, again where its time or size has changed: a module may be loaded again."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
