"""How objects are shown: in one short line, long arguments by their size; and no hidden text."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np

SHOWN = 8
"""Arrays and sequences with more entries than this are summarised."""
LONGEST = 72
"""Arguments that take more characters than this are summarised together."""


class ShownShort:
    """Shown as `Name(arguments)` where these are short, else with `_in_short()`.

    Dataclasses below it keep this `repr`, unless they write their own.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):
            setattr(cls, "__repr__", cls.__repr__)  # noqa: B010 - @dataclass then writes none

    def __repr__(self) -> str:
        text = _arguments(self) if dataclasses.is_dataclass(self) else None
        return f"{type(self).__name__}({self._in_short() if text is None else text})"

    def _in_short(self) -> str:
        """Say in a few words how large it is."""
        return "..."


def _arguments(part: Any) -> str | None:
    """Return the arguments of a dataclass in one line; None if they are long."""
    names = [field.name for field in dataclasses.fields(part) if field.init and field.repr]
    if any(_is_long(getattr(part, name)) for name in names):
        return None
    text = ", ".join(f"{name}={shown(getattr(part, name))}" for name in names)
    return text if len(text) <= LONGEST else None


def _is_long(argument: Any) -> bool:
    if isinstance(argument, np.ndarray):
        return argument.size > SHOWN
    return isinstance(argument, (list, tuple)) and len(argument) > SHOWN


def shown(argument: Any) -> str:
    """Show an argument in one line.

    >>> shown(np.zeros((2, 2))), shown(np.zeros(1000)), shown([1.0, [2.0]])
    ('array([[0., 0.], [0., 0.]])', 'array of shape (1000,)', '[1.0, [2.0]]')
    """
    if _is_long(argument):
        if isinstance(argument, np.ndarray):
            return f"array of shape {argument.shape}"
        return f"{type(argument).__name__} of {len(argument)}"
    if isinstance(argument, (list, tuple)) and not hasattr(argument, "_fields"):
        return f"[{', '.join(map(shown, argument))}]"
    if inspect.isfunction(argument):
        return argument.__name__
    return " ".join(repr(argument).split())


def printable(text: object) -> str:
    r"""Write out what no one can see: ends of lines, commands to terminals, changes of direction.

    >>> print(printable("a\nb \x1b[31mred"))
    a\nb \x1b[31mred
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))
