"""`hedgerow list`: problems, methods and shipped experiments."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hedgerow.baselines.methods import find_method, method_names
from hedgerow.experiments.problem_registry import Parameter
from hedgerow.experiments.problems import find_kind, kind_names
from hedgerow.experiments.reading import shipped
from hedgerow.policies.method import Method
from hedgerow.report.escaping import in_table


def show_list(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """List the problems, methods and shipped experiments."""
    found = listing()
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    console = Console()
    for title, rows in found.items():
        table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
        columns = list(rows[0])
        for i, heading in enumerate(columns):
            table.add_column(heading, no_wrap=i == 0, overflow="fold")
        for row in rows:
            table.add_row(*(in_table(_cell(row[heading])) for heading in columns))
        console.print(table)


def listing() -> dict[str, list[dict[str, Any]]]:
    """Return everything that an experiment file may name, as plain data."""
    return {
        "problems": [
            {
                "kind": kind.name,
                "about": kind.summary,
                "keys": {name: _shown(p) for name, p in kind.parameters.items()},
            }
            for kind in map(find_kind, kind_names())
        ],
        "methods": [
            {
                "method": method.name,
                "regret": method.regret,
                "ccv": method.ccv,
                "sees": method.sees,
                "source": _source(method),
            }
            for method in map(find_method, method_names())
        ],
        "experiments": [
            {"name": name, "about": tomllib.loads(path.read_text(encoding="utf-8"))["about"]}
            for name, path in shipped().items()
        ],
    }


def _source(method: Method) -> str:
    """Return authors and year, with what a reader of its default preset's numbers must know."""
    remarks = method.remarks("practical")
    return f"{method.source} ({remarks})" if remarks else method.source


def _shown(parameter: Parameter) -> Any:
    if parameter.required:
        return "a file" if parameter.is_file else "required"
    return "by default" if parameter.default is None else parameter.default


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {default}" for name, default in value.items())
    return str(value)
