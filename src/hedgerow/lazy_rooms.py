"""Rooms whose names are imported on first use; a name that is not there gets a suggestion."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import lazy_loader


def attach_room(
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
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"dir({package}) lists its names"
        raise AttributeError(f"{package} has no {name!r}; {hint}")

    return get, listed, names
