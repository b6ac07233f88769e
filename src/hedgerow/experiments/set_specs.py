"""Decision sets in experiment files: of the library, of an installed package, or by import path."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from hedgerow import sets
from hedgerow.experiments.fingerprints import check_code, code_of
from hedgerow.imports import as_name, is_path, load_path, load_plugin, plugin_names
from hedgerow.sets.decision_set import DecisionSet

GROUP = "hedgerow.sets"
"""The entry points by which an installed package adds sets."""


class SetKind(NamedTuple):
    """A kind of set: its name, and the class or function that builds it from its keys."""

    name: str
    build: Callable[..., Any]

    @property
    def summary(self) -> str:
        """What the set is: the first line of the docstring of `build`."""
        return (inspect.getdoc(self.build) or "no description").splitlines()[0]


@dataclass(frozen=True)
class SetSpec:
    """A set as a file names it.

    Attributes:
        kind: its name in the library or in an installed package, or its import path.
        arguments: what it is built with, sorted by name.
        code: the SHA-256 of the file that defines a kind from outside of the library.

    """

    kind: str
    arguments: tuple[tuple[str, Any], ...]
    code: str = ""

    def build(self) -> DecisionSet:
        """Build the set."""
        made = find_set(self.kind).build(**dict(self.arguments))
        if not isinstance(made, DecisionSet):
            raise TypeError(f"{self.kind} must return a DecisionSet, got {type(made).__name__}")
        return made

    def resolved(self) -> dict[str, Any]:
        """Return it as plain data: what tells one set from another."""
        code = {"code": self.code} if self.code else {}
        arguments = {name: _listed(value) for name, value in self.arguments}
        return {"kind": self.kind, "arguments": arguments, **code}

    def check_code(self) -> None:
        """Refuse a kind from outside of the library that this process has not, or has otherwise."""
        check_code(find_set, self.kind, self.code)


def read_set(value: Any, where: str) -> SetSpec:
    """Check what a file says about a set: a name, or a table with its `kind` and its keys."""
    table = value if isinstance(value, Mapping) else {"kind": value}
    if "kind" not in table:
        raise ValueError(f"{where} lacks the key 'kind', the name of a set; give it")
    try:
        kind = find_set(as_name(table["kind"]))
    except ValueError as error:
        raise ValueError(f"{where}.kind: {error}") from None
    given = {name: _plain(v, f"{where}.{name}") for name, v in table.items() if name != "kind"}
    try:
        inspect.signature(kind.build).bind(**given)
    except TypeError as error:
        raise ValueError(
            f"{where}: {kind.name} does not take these keys ({error}); its keys are "
            f"{', '.join(inspect.signature(kind.build).parameters) or 'none'}"
        ) from None
    return SetSpec(kind.name, tuple(sorted(given.items())), code_of(kind.build))


def find_set(name: str) -> SetKind:
    """Return a kind of set by its name here, its name in an installed package, or its import path.

    >>> find_set("Simplex").build(n=3)
    Simplex(n=3, total=1.0)
    >>> find_set("Simplx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no set 'Simplx' (did you mean 'Simplex'?); ...

    """
    if name in _ours():
        return SetKind(name, getattr(sets, name))
    try:
        return SetKind(name, load_path(name) if is_path(name) else load_plugin(GROUP, name))
    except LookupError:
        near = get_close_matches(name, set_names(), n=1)
        raise ValueError(
            f"there is no set {name!r}{f' (did you mean {near[0]!r}?)' if near else ''}; "
            "`hedgerow list` shows all names, and 'package.module:factory' names your own"
        ) from None


def set_names() -> list[str]:
    """Return the names of all sets, those of installed packages last."""
    ours = _ours()
    return [*ours, *(name for name in plugin_names(GROUP) if name not in ours)]


def _ours() -> list[str]:
    """Return the names of the library's own sets."""
    found = ((name, getattr(sets, name)) for name in dir(sets))
    return [
        name
        for name, value in found
        if inspect.isclass(value)
        and issubclass(value, DecisionSet)
        and not inspect.isabstract(value)
    ]


def _listed(value: Any) -> Any:
    """Return a key of a set as JSON has it."""
    return [_listed(entry) for entry in value] if isinstance(value, tuple) else value


def _plain(value: Any, where: str) -> Any:
    """Return a key of a set as it can be hashed and stored: a number, a text, or lists of them."""
    if isinstance(value, list | tuple):
        return tuple(_plain(entry, f"{where}[{i}]") for i, entry in enumerate(value))
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{where} must be a number, a text or a list of them, got {type(value).__name__}; build "
        "other sets in a function of your own, and name it by its import path"
    )
