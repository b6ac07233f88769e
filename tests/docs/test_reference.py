"""The reference is whole: an entry for every public name, a section for every command."""

from __future__ import annotations

import inspect
import re

import pytest
from typer.main import get_command

import api_pages
import hedgerow
from documents import WRITTEN
from hedgerow.cli.app import app

MODULE = re.compile(r"^\.\. automodule:: ([\w.]+)", re.MULTILINE)
ENTRY = re.compile(r"^\.\. (?:auto|py:)(?:class|data|exception|function):: ([\w.]+)", re.MULTILINE)


def without_entry(pages):
    """Return the public names, modules included, that no page has an entry for."""
    entered = set()
    for page in pages.values():
        (module,) = MODULE.findall(page)
        names = [name.rpartition(".")[2] for name in ENTRY.findall(page)]
        entered |= {module, *(f"{module}.{name}" for name in names)}
    asked = {"hedgerow", *(f"hedgerow.{name}" for name in hedgerow.__all__)}
    for name in hedgerow.__all__:
        if inspect.ismodule(module := getattr(hedgerow, name)):
            asked |= {f"hedgerow.{name}.{inner}" for inner in module.__all__}
    return asked - entered


@pytest.fixture(scope="module")
def pages():
    return api_pages.pages()


def test_every_public_name_has_an_entry(pages):
    assert without_entry(pages) == set()
    assert sum(len(ENTRY.findall(page)) for page in pages.values()) > 390


def test_a_missing_entry_is_noticed(pages):
    cut = pages | {
        "hedgerow.sets.md": re.sub(r"sets\.Simplex\b", "sets.Simpler", pages["hedgerow.sets.md"]),
        "hedgerow.games.md": pages["hedgerow.functions.md"],
    }
    missing = without_entry(cut)
    assert {"hedgerow.sets.Simplex", "hedgerow.games", "hedgerow.games.play"} <= missing
    assert "hedgerow.sets.Box" not in missing


def test_every_constant_says_something(pages):
    entries = [
        entry
        for page in pages.values()
        for entry in re.findall(r"^\.\. py:data:: \w+\n\n   (.*)", page, re.MULTILINE)
    ]
    assert len(entries) > 20
    assert all(map(str.strip, entries))


def test_a_docstring_is_escaped_and_pages_are_linked():
    line = "Plain <c, x>, ||x|| and *stars* of x_, `a * b`, see theory.md."
    assert api_pages.escaped(line) == (
        r"Plain <c, x>, \|\|x\|\| and \*stars\* of x\_, ``a * b``, see :doc:`/explanation/theory`."
    )
    with pytest.raises(ValueError, match="not one page"):
        api_pages.escaped("See no-such-page.md.")


def commands(command, name="hedgerow"):
    """Yield the name and the parameters of a command and of all below it."""
    yield name, command.params
    for word, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{name} {word}")


def test_every_command_and_option_is_in_the_reference():
    page = WRITTEN["reference/cli.md"].read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    found = dict(commands(get_command(app)))
    assert sections.keys() == found.keys() - {"hedgerow"}, "cli.md is stale; run make docs"
    for name, text in sections.items():
        for one in found[name]:
            for word in one.opts if one.param_type_name == "option" else ():
                assert f"`{word}" in text, f"cli.md lacks {name} {word}; run make docs"
