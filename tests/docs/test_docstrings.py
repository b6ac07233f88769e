"""Every public name says what it is: modules, classes, functions, and their public methods."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cached_property

import pytest

import hedgerow

PRIVATE = ("hedgerow.kernels",)
"""Compiled arithmetic, which nobody calls from outside."""
CALLED = (classmethod, staticmethod, property, cached_property)
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")
    if not name.startswith(PRIVATE)
]


def said(thing):
    """Whether a docstring of its own says anything."""
    function = getattr(thing, "__func__", thing)  # of a class or static method
    return bool((getattr(function, "__doc__", None) or "").strip())


def silent(name, thing):
    """Return the public names of a class, function or module without a docstring, itself first."""
    found = [] if said(thing) else [name]
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            called = isinstance(member, CALLED) or inspect.isfunction(member)
            bases = [vars(base)[key] for base in thing.__mro__ if key in vars(base)]
            if called and not key.startswith("_") and not any(map(said, bases)):
                found.append(f"{name}.{key}")
    return found


def public(module):
    """Yield the public classes and functions of a module: those of __all__, or all it defines."""
    for key in getattr(module, "__all__", [key for key in vars(module) if key[0] != "_"]):
        thing = getattr(module, key)
        ours = getattr(thing, "__module__", "").startswith("hedgerow")
        if ours and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield f"{module.__name__}.{key}", thing


@pytest.mark.parametrize("name", ["hedgerow", *MODULES])
def test_every_public_name_has_a_docstring(name):
    module = importlib.import_module(name)
    missing = silent(name, module)
    for key, thing in public(module):
        missing += silent(key, thing)
    assert not missing, f"no docstring: {', '.join(missing)}"


def test_a_missing_docstring_is_noticed():
    class Loud:
        """Says what it is."""

        def spoken(self):
            """Says it too."""

        def mute(self):
            pass

        @property
        def dumb(self):
            pass

        def _private(self):
            pass

    class Heir(Loud):
        """Says what it is."""

        def spoken(self):
            pass

    assert silent("Loud", Loud) == ["Loud.mute", "Loud.dumb"]
    assert silent("Heir", Heir) == []
    assert silent("f", lambda: None) == ["f"]
    assert dict(public(hedgerow.sets))["hedgerow.sets.Simplex"] is hedgerow.sets.Simplex
