"""The reference of the site: one page a room, one entry for each public name, from its docstring.

`pages()` needs no Sphinx. Docstrings are plain text with Markdown's backquotes, Google's sections
and doctests; here they become Markdown for MyST.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, get_args

import hedgerow
from tables import DOCS

API = DOCS / "reference" / "api"
SECTION = re.compile(r"(Args|Returns|Yields|Raises|Attributes):")
HEADINGS = {"Args": "Parameters"}
PROPERTIES = (property, cached_property)


def listed(module: ModuleType) -> list[str]:
    """Return the names of a room: its list, or where it has none the classes and functions."""
    own = module.__name__
    return getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == own
    ]


@cache
def rooms() -> dict[str, ModuleType]:
    """Return the package, its rooms and the rooms in them, by their full names."""
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
    """Return everything that the package and its rooms list, by full name, rooms left out."""
    return {
        f"{room}.{name}": getattr(module, name)
        for room, module in rooms().items()
        for name in listed(module)
        if not inspect.ismodule(getattr(module, name))
    }


@cache
def homes() -> dict[str, str]:
    """Return for each public name the one under which the same thing has its entry."""
    names, first = public_names(), dict[int, str]()
    for full, value in names.items():
        first.setdefault(id(value), full)
    return {full: full if _is_plain(value) else first[id(value)] for full, value in names.items()}


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    made = {}
    for room, module in rooms().items():
        own = {f: value for f, value in public_names().items() if f.rpartition(".")[0] == room}
        made[f"{room}.md"] = _page(room, module, own)
    return made


def write(folder: Path = API) -> None:
    """Write the pages, and take away those of rooms that are gone; a page that is right stays."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _page(room: str, module: ModuleType, own: dict[str, Any]) -> str:
    blocks = [f"# {room}", f"```{{py:module}} {room}\n```", *markdown(inspect.getdoc(module) or "")]
    inner = [name for name in rooms() if name.rpartition(".")[0] == room]
    if inner:
        lines = [f"| [{name}]({name}.md) | {_sentence(rooms()[name])} |" for name in inner]
        blocks.append("\n".join(["| room | what |", "|---|---|", *lines]))
    if own:
        lines = [f"| {_link(full)} | {_sentence(value, full)} |" for full, value in own.items()]
        blocks.append("\n".join(["| name | what |", "|---|---|", *lines]))
    for full, value in own.items():
        home = homes()[full]
        blocks.append(_entry(full, value) if home == full else _alias(full, home, value))
    if inner:
        blocks.append("\n".join(["```{toctree}", ":hidden:", "", *inner, "```"]))
    return "\n\n".join(blocks) + "\n"


def _link(full: str) -> str:
    return f"{{py:obj}}`{full.rpartition('.')[2]} <{homes()[full]}>`"


def _alias(full: str, home: str, value: Any) -> str:
    body = [":no-index:", f"The same as `{home}`."]
    return _directive(_kind(value), full.rpartition(".")[2], _signature(value), body, 5, start="")


def _entry(full: str, value: Any) -> str:
    body = list(markdown(_doc(full, value), _types(value)))
    if inspect.isclass(value):
        body += _members(value)
    return _directive(_kind(value), full.rpartition(".")[2], _signature(value), body, 5)


def _members(cls: type) -> Iterator[str]:
    """Yield an entry for each new member, a line for each that a public base documents."""
    bases = [base for base in cls.__mro__[1:] if base in _public_classes()]
    known = {name for base in bases for name in vars(base)}
    seen: set[str] = set()
    again, inherited = [], []
    for base in cls.__mro__:
        names = [n for n, m in vars(base).items() if n[0] != "_" and n not in seen and _shown(m)]
        if not base.__module__.startswith("hedgerow"):
            continue
        if base in bases:
            inherited += [f"From `{base.__name__}`: {', '.join(f'`{n}`' for n in names)}."] * bool(
                names
            )
        for name in () if base in bases else names:
            if name in known:
                again.append(f"- `{name}`: {_first_block(_member_doc(cls, name))}")
            else:
                yield _member(cls, name, vars(base)[name])
        seen.update(names)
    if again:
        yield "**Redefined here**"
        yield "\n".join(sorted(again))
    yield from inherited


@cache
def _public_classes() -> set[type]:
    return {value for value in public_names().values() if inspect.isclass(value)}


def _first_block(text: str) -> str:
    return next(markdown(text), "")


def _shown(member: object) -> bool:
    kinds = (*PROPERTIES, classmethod, staticmethod)
    return inspect.isfunction(member) or isinstance(member, kinds)


def _member(cls: type, name: str, member: Any) -> str:
    text = _member_doc(cls, name)
    if isinstance(member, PROPERTIES):
        return _directive("property", name, "", markdown(text), 4)
    kind = {classmethod: "classmethod", staticmethod: "staticmethod"}.get(type(member), "method")
    function = getattr(cls, name)
    signature = _signature(function, bound=kind == "method")
    return _directive(kind, name, signature, markdown(text, _types(function)), 4)


def _member_doc(cls: type, name: str) -> str:
    """Return the docstring of a member, or of the one that it redefines."""
    members = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
    texts = [getattr(getattr(m, "__func__", m), "__doc__", None) or "" for m in members]
    return next((inspect.cleandoc(text) for text in texts if text.strip()), "")


def _directive(
    kind: str, name: str, signature: str, body: Iterable[str], depth: int, start: str = "\n"
) -> str:
    fence = ":" * depth
    return f"{fence}{{py:{kind}}} {name}{signature}\n{start}" + "\n\n".join(body) + f"\n{fence}"


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) and not _is_plain(value) else "data"


def _is_plain(value: Any) -> bool:
    return not (inspect.isclass(value) or inspect.isroutine(value))


def _signature(value: Any, bound: bool = False) -> str:
    if getattr(value, "_is_protocol", False) or _is_plain(value):
        return ""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        one.replace(annotation=_bare(one.annotation))
        for one in list(found.parameters.values())[1 if bound else 0 :]
    ]
    back = found.empty if inspect.isclass(value) else _bare(found.return_annotation)
    text = str(found.replace(parameters=parameters, return_annotation=back))
    return re.sub(r"<(?:function )?(?:class ')?([\w.]+)[^>]*>", r"\1", text)


class _Bare(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _bare(annotation: Any) -> Any:
    return _Bare(annotation.replace("'", "")) if isinstance(annotation, str) else annotation


def _types(value: Any) -> dict[str, str]:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return {}
    kinds = {p.name: p.annotation for p in parameters if p.annotation is not p.empty}
    return {n: k if isinstance(k, str) else getattr(k, "__name__", "") for n, k in kinds.items()}


def _doc(full: str, value: Any) -> str:
    room, _, name = full.rpartition(".")
    if not _is_plain(value):
        text = inspect.getdoc(value) or ""
    elif isinstance(value, UnionType):
        text = "One of " + ", ".join(f"`{kind.__name__}`" for kind in get_args(value)) + "."
        text = _said_below(rooms()[room], name) or text
    else:
        text = _said_below(rooms()[room], name)
    if not text:
        raise ValueError(f"{full} says nothing of itself; write a docstring")
    return text


def _said_below(room: ModuleType, name: str) -> str:
    """Return the string below the assignment of a name, in the module that has it."""
    package = Path(str(room.__file__)).parent
    files = package.rglob("*.py") if hasattr(room, "__path__") else [Path(str(room.__file__))]
    for file in files:
        body = _statements(file)
        for here, below in pairwise(body):
            targets = getattr(here, "targets", [getattr(here, "target", None)])
            named = any(isinstance(t, ast.Name) and t.id == name for t in targets)
            if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return inspect.cleandoc(str(below.value.value))
    return ""


@cache
def _statements(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text("utf-8")).body


def _sentence(value: Any, full: str = "") -> str:
    """Return the first paragraph of a docstring up to its first full stop, for a table."""
    text = " ".join(
        (_doc(full, value) if full else inspect.getdoc(value) or "").split("\n\n")[0].split()
    )
    return _escaped(re.split(r"(?<=\.) (?=[A-Z`])", text)[0]).replace("|", "\\|")


def markdown(text: str, types: dict[str, str] | None = None) -> Iterator[str]:
    """Yield the blocks of a docstring in Markdown."""
    blocks = re.split(r"\n\s*\n", text) if text else []
    section = ""
    for block in blocks:
        if found := SECTION.match(block):
            section = found[1]
            yield f"**{HEADINGS.get(section, section)}**"
            block = block[found.end() :].strip("\n")
            if not block.strip():
                continue
        if section and block.startswith("    "):
            yield from _section(textwrap.dedent(block), types or {}, named=section != "Returns")
            continue
        section = ""
        yield _block(block)


def _block(block: str) -> str:
    if block.lstrip().startswith(">>>"):
        return f"```pycon\n{textwrap.dedent(block)}\n```"
    if block.startswith("    ") or re.match(r"(- |\d+\. )", block):
        return block if block.startswith("    ") else _escaped(block)
    return _escaped(" ".join(block.split()))


def _section(block: str, types: dict[str, str], named: bool) -> Iterator[str]:
    """Yield a definition for each `name: text`, whose later lines are indented."""
    for item in re.split(r"\n(?=\S)", block):
        text = " ".join(item.split())
        name, colon, said = text.partition(": ")
        if not (named and colon and re.fullmatch(r"[\w, *]+", name)):
            yield _escaped(text)
            continue
        kind = types.get(name, "").replace("'", "")
        yield f"`{name}`" + (f" ({_escaped(kind)})" if kind else "") + f"\n: {_escaped(said)}"


def _escaped(text: str) -> str:
    """Return plain text such that Markdown shows it as it is, code in backquotes left alone."""
    parts = re.split(r"(`[^`]*`)", text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([*<\[\]$\\{}~])", r"\\\1", parts[k])
        parts[k] = re.sub(r"\b([\w-]+\.md)\b", _linked, parts[k])
    return (
        re.sub(r"^([#>+=-])", r"\\\1", "".join(parts))
        if not text.startswith("- ")
        else "".join(parts)
    )


def _linked(found: re.Match[str]) -> str:
    """Return a link to the page of a name; pages have different names."""
    pages = list(DOCS.glob(f"*/{found[1]}"))
    if len(pages) != 1:
        raise ValueError(f"a docstring names {found[1]}, which is not one page of docs/")
    return f"[{found[1]}](../../{pages[0].relative_to(DOCS).as_posix()})"


if __name__ == "__main__":
    write()
