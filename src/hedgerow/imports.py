"""Import by name: public names on first use, import paths, and plug-ins of installed packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import lazy_loader

from hedgerow.gone import GONE


def attach_lazy(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, as its `__init__.pyi` lists them.

    Args:
        package: its `__name__`.
        file: its `__file__`.

    """
    found, listed, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name in names:
            return found(name)
        if name in GONE.get(package, {}):
            raise AttributeError(f"{package} has no {name!r} any more: {GONE[package][name]}")
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"dir({package}) lists its names"
        raise AttributeError(f"{package} has no {name!r}; {hint}")

    return get, listed, names


def is_path(name: str) -> bool:
    """Whether a name is an import path, "package.module:factory"."""
    return ":" in name


def as_name(given: Any) -> str:
    """Return the name of what is given by name, or as a function or class by its import path.

    >>> from fractions import Fraction
    >>> as_name(Fraction), as_name("guo_recoo")
    ('fractions:Fraction', 'guo_recoo')

    """
    if isinstance(given, str):
        return given
    module, name = getattr(given, "__module__", None), getattr(given, "__qualname__", None)
    if not callable(given) or module is None or name is None or "<" in name:
        raise ValueError(
            f"give a name, an import path 'package.module:factory', or a function or class that "
            f"other processes can import, got {given!r:.60}"
        )
    return f"{module}:{name}"


def load_path(path: str) -> Callable[..., Any]:
    """Return the function that an import path names.

    >>> load_path("math:hypot")(3.0, 4.0)
    5.0

    """
    module, _, name = path.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise ValueError(f"an import path is 'package.module:factory', got {path!r}")
    if module == "__main__":
        raise ValueError(
            f"{path!r} is in the script that runs, which other processes do not have; "
            "put the function into a module of its own"
        )
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{path!r} cannot be imported: there is no module {error.name!r}; put its file beside "
            "the experiment file, install its package, or put its folder on PYTHONPATH"
        ) from None
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{path!r} cannot be imported: {module} raises {type(error).__name__} ({error})"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{path!r} cannot be imported: {module} has no {name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{path!r} must name a function, got {type(found).__name__}")
    function: Callable[..., Any] = found
    return function


def search_in(folder: Path) -> None:
    """Let import paths find the modules of a folder, after all that are installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # processes that are started later inherit it


def plugin_names(group: str) -> list[str]:
    """Return the names that installed packages offer in a group of entry points, sorted."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return sorted({entry.name for entry in entry_points(group=group)})


@cache
def load_plugin(group: str, name: str) -> Callable[..., Any]:
    """Return the function that an installed package offers under a name.

    Raises:
        LookupError: if none does.

    """
    from importlib.metadata import entry_points

    found = {entry.value for entry in entry_points(group=group, name=name)}
    if len(found) > 1:
        raise ValueError(
            f"{name!r} is offered by several installed packages, as {', '.join(sorted(found))}; "
            "name the one that you mean by its import path"
        )
    if not found:
        raise LookupError(f"no installed package offers {name!r} in {group}")
    return load_path(next(iter(found)))


def load_named(
    name: str, group: str, kind: str, names: Callable[[], list[str]]
) -> Callable[..., Any]:
    """Return the function of an import path, or of a plug-in by its name.

    Args:
        name: the path or the name.
        group: the entry points of such plug-ins.
        kind: what it should be, for the error: "set".
        names: returns all names that are known, to suggest one.

    """
    try:
        return load_path(name) if is_path(name) else load_plugin(group, name)
    except LookupError:
        near = get_close_matches(name, names(), n=1)
        raise ValueError(
            f"there is no {kind} {name!r}{f' (did you mean {near[0]!r}?)' if near else ''}; "
            "`hedgerow list` shows all names, and 'package.module:factory' names your own"
        ) from None
