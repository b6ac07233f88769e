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

ENTRY = re.compile(r"^:{5}\{py:(?:class|data|exception|function)\} (\w+)", re.MULTILINE)
ROOM = re.compile(r"^```\{py:module\} ([\w.]+)", re.MULTILINE)


def without_entry(pages):
    """Return the public names, rooms included, that no page has an entry for."""
    entered = set()
    for page in pages.values():
        (room,) = ROOM.findall(page)
        entered |= {room, *(f"{room}.{name}" for name in ENTRY.findall(page))}
    asked = {"hedgerow", *(f"hedgerow.{name}" for name in hedgerow.__all__)}
    for name in hedgerow.__all__:
        if inspect.ismodule(room := getattr(hedgerow, name)):
            asked |= {f"hedgerow.{name}.{inner}" for inner in room.__all__}
    return asked - entered


@pytest.fixture(scope="module")
def pages():
    return api_pages.pages()


def test_every_public_name_has_an_entry(pages):
    assert without_entry(pages) == set()
    assert sum(len(ENTRY.findall(page)) for page in pages.values()) > 390


def test_a_missing_entry_is_noticed(pages):
    cut = pages | {
        "hedgerow.sets.md": pages["hedgerow.sets.md"].replace("} Simplex(", "} Simpler("),
        "hedgerow.games.md": pages["hedgerow.functions.md"],
    }
    missing = without_entry(cut)
    assert {"hedgerow.sets.Simplex", "hedgerow.games", "hedgerow.games.play"} <= missing
    assert "hedgerow.sets.Box" not in missing


def test_every_entry_says_something(pages):
    for name, page in pages.items():
        for entry in re.findall(r"^:{5}\{.*?^:{5}$", page, re.DOTALL | re.MULTILINE):
            said = [line for line in entry.splitlines()[1:-1] if line and line != ":no-index:"]
            assert said, f"{name}: {entry.splitlines()[0]}"


def test_methods_of_classes_are_there(pages):
    entry = pages["hedgerow.md"].partition("{py:class} Trace(")[2].partition("\n:::::\n")[0]
    assert "{py:property} ccv" in entry
    assert "{py:method} regret(best: Benchmark) -> float" in entry
    simplex = (
        pages["hedgerow.sets.md"].partition("{py:class} Simplex(")[2].partition("\n:::::\n")[0]
    )
    assert "- `lmo`: Put the whole total on the smallest entry of c" in simplex


def test_a_docstring_becomes_markdown():
    text = """Plain <c, x> and *stars*.

    Wrapped
    lines.

    Args:
        n: the number
            of things, see theory.md.
        total: `a < b`.

    >>> 1 + 1
    2

    """
    assert list(api_pages.markdown(inspect.cleandoc(text), {"n": "int"})) == [
        "Plain \\<c, x> and \\*stars\\*.",
        "Wrapped lines.",
        "**Parameters**",
        "`n` (int)\n: the number of things, see [theory.md](../../explanation/theory.md).",
        "`total`\n: `a < b`.",
        "```pycon\n>>> 1 + 1\n2\n```",
    ]
    with pytest.raises(ValueError, match="not one page"):
        list(api_pages.markdown("See no-such-page.md."))


def commands(command, name="hedgerow"):
    """Yield the name and the parameters of a command and of all below it."""
    yield name, command.params
    for word, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{name} {word}")


def test_every_command_and_option_is_in_the_reference():
    page = WRITTEN["reference/cli.md"].read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    found = dict(commands(get_command(app)))
    assert sections.keys() == found.keys() - {"hedgerow"}
    for name, text in sections.items():
        for one in found[name]:
            for word in one.opts if one.param_type_name == "option" else ():
                assert f"`{word}" in text, f"{name} {word}"
