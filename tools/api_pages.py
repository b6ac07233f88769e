"""The reference of the site: a page for each module, which lets autodoc document its public names.

`pages()` needs no Sphinx. A name that several modules list has one entry; the others refer to it.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, get_args

import hedgerow
from tables import DOCS

API = DOCS / "reference" / "api"


def listed(module: ModuleType) -> list[str]:
    """Return the public names of a module: `__all__`, or else its classes and functions."""
    own = module.__name__
    return getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not _is_data(value) and value.__module__ == own
    ]


@cache
def modules() -> dict[str, ModuleType]:
    """Return the package and the public modules in it, by their full names."""
    found = {"hedgerow": hedgerow}
    waiting: list[ModuleType] = [hedgerow]
    while waiting:
        for name in listed(module := waiting.pop()):
            if inspect.ismodule(value := getattr(module, name)):
                found[f"{module.__name__}.{name}"] = value
                waiting.append(value)
    return dict(sorted(found.items()))


@cache
def public_names() -> dict[str, Any]:
    """Return everything that public modules list, by full name, without modules."""
    return {
        f"{full}.{name}": getattr(module, name)
        for full, module in modules().items()
        for name in listed(module)
        if not inspect.ismodule(getattr(module, name))
    }


@cache
def homes() -> dict[str, str]:
    """Return for each public name the one under which the same thing has its entry."""
    names, first = public_names(), dict[int, str]()
    for full, value in names.items():
        first.setdefault(id(value), full)
    return {full: full if _is_data(value) else first[id(value)] for full, value in names.items()}


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {f"{full}.md": _page(full) for full in modules()}


def write(folder: Path = API) -> None:
    """Write the pages, and delete those of modules that are gone; a page that is right stays."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _page(module: str) -> str:
    own = [full for full in public_names() if full.rpartition(".")[0] == module]
    inner = [full for full in modules() if full.rpartition(".")[0] == module]
    known = [full for full in own if not _is_data(public_names()[full])]
    blocks = [f".. automodule:: {module}"]
    for names in (inner, known):
        if names:
            lines = [f"   {name.rpartition('.')[2]}" for name in names]
            blocks.append("\n".join([".. autosummary::", "   :nosignatures:", "", *lines]))
    blocks += map(_entry, own)
    if inner:
        lines = [f"   {name}" for name in inner]
        blocks.append("\n".join([".. toctree::", "   :hidden:", "", *lines]))
    body = "\n\n".join(blocks)
    return f"# {module}\n\n```{{eval-rst}}\n{body}\n```\n"


def _entry(full: str) -> str:
    """Return the directive for a name; members that a public base documents are left to it."""
    value, home, name = public_names()[full], homes()[full], full.rpartition(".")[2]
    if home != full:
        return f".. py:{_kind(value)}:: {name}\n   :no-index:\n\n   The same as ``{home}``."
    if _is_data(value):
        kinds = ", ".join(f"`{kind.__name__}`" for kind in get_args(value))
        text = _text_below(full) or (f"One of {kinds}." if isinstance(value, UnionType) else "")
        if not text:
            raise ValueError(f"{full} has no docstring; write a string below its assignment")
        lines = "\n   ".join(map(escaped, text.splitlines()))
        return f".. py:data:: {name}\n\n   {lines}"
    directive = f".. auto{_kind(value)}:: {full}"
    if not inspect.isclass(value):
        return directive
    classes = {public for public in public_names().values() if inspect.isclass(public)}
    elsewhere = [
        base.__name__
        for base in value.__mro__[1:]
        if base in classes or not base.__module__.startswith("hedgerow")
    ]
    lines = ["   :members:", "   :show-inheritance:"]
    if not getattr(value, "_is_protocol", False):
        lines.append(f"   :inherited-members: {', '.join(elsewhere)}")
    return "\n".join([directive, *lines])


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "data" if _is_data(value) else "function"


def _is_data(value: Any) -> bool:
    return not (inspect.isclass(value) or inspect.isroutine(value))


def _text_below(full: str) -> str:
    """Return the string below the assignment of a name, in the file that has it."""
    module, _, name = full.rpartition(".")
    start = Path(str(modules()[module].__file__))
    files = start.parent.rglob("*.py") if start.name == "__init__.py" else [start]
    for file in files:
        for here, below in pairwise(ast.parse(file.read_text("utf-8")).body):
            targets = getattr(here, "targets", [getattr(here, "target", None)])
            named = any(isinstance(t, ast.Name) and t.id == name for t in targets)
            if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return inspect.cleandoc(str(below.value.value))
    return ""


def escaped(line: str) -> str:
    r"""Return a line of a docstring such that reStructuredText shows it as it is.

    Code stands in backquotes, and the name of a page of docs/ becomes a link.

    >>> print(escaped("||x|| and *stars*, but `a * b`"))
    \|\|x\|\| and \*stars\*, but ``a * b``
    """
    parts = re.split(r"`([^`]*)`", line)
    for k, text in enumerate(parts):
        if k % 2:
            parts[k] = f"``{text}``"
            continue
        plain = re.sub(r"([*|\\])", r"\\\1", text)
        plain = re.sub(r"_(?!\w)", r"\\_", plain)  # would be a link
        parts[k] = re.sub(r"\b([\w-]+\.md)\b", _linked, plain)
    return "".join(parts)


def _linked(found: re.Match[str]) -> str:
    """Return a link to the page of a name; pages have different names."""
    pages = list(DOCS.glob(f"*/{found[1]}"))
    if len(pages) != 1:
        raise ValueError(f"a docstring names {found[1]}, which is not one page of docs/")
    return f":doc:`/{pages[0].relative_to(DOCS).with_suffix('').as_posix()}`"


if __name__ == "__main__":
    write()
