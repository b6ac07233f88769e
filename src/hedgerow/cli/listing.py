"""`hedgerow list`, `problems`, `methods`, `experiments`, `sets` and `show`."""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from hedgerow.baselines.methods import GROUP as METHODS
from hedgerow.baselines.methods import find_method, method_names
from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import print_error, print_json, print_line
from hedgerow.experiments.constants import is_compiled
from hedgerow.experiments.problems import GROUP as PROBLEMS
from hedgerow.experiments.problems import find_kind, kind_names
from hedgerow.experiments.reading import find_experiment, shipped
from hedgerow.experiments.registry import SETS_GROUP as SETS
from hedgerow.experiments.registry import Parameter, find_set, set_names
from hedgerow.imports import plugin_names
from hedgerow.policies.method import Method
from hedgerow.report.catalogue import catalogue_table

RUNS = {True: "compiled", False: "not compiled", None: "compiled or not, by its set"}
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show_list(as_json: Json = False) -> None:
    """List the names of all problems, methods, sets and shipped experiments."""
    if as_json:
        print_json(listing())
        return
    names = {"problems": kind_names(), "methods": method_names(), "experiments": [*shipped()]}
    names["sets"] = set_names()
    for title, listed in names.items():
        print_line(f"{title} ({len(listed)}; more with `hedgerow {title}`)")
        _print_wrapped(", ".join(listed), "  ")


def problems(as_json: Json = False) -> None:
    """List the kinds of problems, with the keys and defaults that experiment files may give."""
    _show(_problems(), as_json, ("about", "keys"))


def methods(as_json: Json = False) -> None:
    """List the methods: their bounds, what they see, how they run, and where they come from.

    "compiled" methods play linear rounds in the compiled loop, where the set has kernels, too.
    """
    _show(_methods(), as_json, ("regret", "source"))


def experiments(as_json: Json = False) -> None:
    """List the experiments that come with the library; `hedgerow show NAME` prints one."""
    _show(_experiments(), as_json, ("about",))


def sets() -> None:
    """List the decision sets and the capabilities of each besides its oracle."""
    Console().print(catalogue_table())
    if installed := plugin_names(SETS):
        print_line(f"Of installed packages: {', '.join(installed)}.")


def shipped_names(incomplete: str) -> list[str]:
    """Complete the name of a shipped experiment in a shell."""
    return [name for name in shipped() if name.startswith(incomplete)]


def show(
    name: Annotated[
        str,
        typer.Argument(help="A shipped experiment, or a file.", autocompletion=shipped_names),
    ],
) -> None:
    """Print an experiment file, to read it or to start your own from it."""
    with report_errors():
        sys.stdout.write(find_experiment(name).read_text(encoding="utf-8"))


def listing() -> dict[str, list[dict[str, Any]]]:
    """Return everything that an experiment file may name, as plain data."""
    return {
        "problems": _problems(),
        "methods": _methods(),
        "experiments": _experiments(),
        "sets": _rows(set_names(), SETS, _set),
    }


def _rows(
    names: Iterable[str], group: str, describe: Callable[[str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Describe each name; skip a plug-in that cannot be used, and report why on stderr."""
    rows, plugins = [], set(plugin_names(group))
    for name in names:
        try:
            rows.append(describe(name))
        except Exception as error:
            if name not in plugins:
                raise
            why = str(error) if isinstance(error, ValueError) else repr(error)
            print_error(f"the plug-in {name!r} of {group} is left out: {' '.join(why.split())}")
    return rows


def _problems() -> list[dict[str, Any]]:
    return _rows(kind_names(), PROBLEMS, _problem)


def _problem(name: str) -> dict[str, Any]:
    kind = find_kind(name)
    keys = {name: _shown(parameter) for name, parameter in kind.parameters.items()}
    return {"kind": kind.name, "about": kind.summary, "keys": keys}


def _set(name: str) -> dict[str, Any]:
    kind = find_set(name)
    return {"set": kind.name, "about": kind.summary}


def _methods() -> list[dict[str, Any]]:
    return _rows(method_names(), METHODS, _method)


def _method(name: str) -> dict[str, Any]:
    """Describe a method; play it for two rounds to find out whether it is compiled."""
    method = find_method(name)
    return {
        "method": method.name,
        "regret": method.regret,
        "ccv": method.ccv,
        "sees": method.sees,
        "compiled": is_compiled(method),
        "source": _source(method),
    }


def _experiments() -> list[dict[str, Any]]:
    return [
        {"name": name, "about": tomllib.loads(path.read_text(encoding="utf-8"))["about"]}
        for name, path in shipped().items()
    ]


def _show(rows: Sequence[Mapping[str, Any]], as_json: bool, lines: Sequence[str]) -> None:
    """Print an entry for each row: its name, then lines that are indented and wrapped."""
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print_line(str(next(iter(row.values()))))
        for line in _lines(row, lines):
            _print_wrapped(line, "    ")


def _lines(row: Mapping[str, Any], wanted: Sequence[str]) -> Iterator[str]:
    for heading in wanted:
        value = row[heading]
        if heading == "keys":
            keys = ", ".join(f"{name} = {default}" for name, default in value.items())
            yield f"keys: {keys}" if keys else "no keys"
        elif heading == "regret":
            yield f"regret {value}; CCV {row['ccv']}; sees {row['sees']}; {RUNS[row['compiled']]}"
        else:
            yield str(value)


def _print_wrapped(text: str, indent: str) -> None:
    width = max(40, Console().width)
    for line in textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        print_line(line)


def _source(method: Method) -> str:
    """Return authors and year, with remarks on its default preset."""
    remarks = method.remarks("practical")
    return f"{method.source} ({remarks})" if remarks else method.source


def _shown(parameter: Parameter) -> Any:
    if parameter.required:
        if parameter.is_set:
            return "a set"
        return "a file" if parameter.is_file else "required"
    return "by default" if parameter.default is None else parameter.default
