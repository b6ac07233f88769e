"""Help without noise: no type beside a flag, and plain types beside other options."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

LIST, RANGE = re.compile(r"list\[(\w+)\]"), re.compile(r" range\b")


class PlainCommand(TyperCommand):
    """A command with plain types in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` included."""
        return plain_types(super().get_params(ctx), ctx)


class PlainGroup(TyperGroup):
    """A group of commands with plain types in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` included."""
        return plain_types(super().get_params(ctx), ctx)


def plain_types(params: list[Any], ctx: Any) -> list[Any]:
    """Show nothing beside a flag, <str> for a list of texts, and <int> before a range."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.param_type_name == "option" and param.metavar is None:
            shown = RANGE.sub("", LIST.sub(r"\1", param.display_type(ctx)))
            if shown != param.display_type(ctx):
                param.metavar = shown
    return params


def use_plain_help(app: typer.Typer) -> None:
    """Give every command below a group the plain help."""
    for command in app.registered_commands:
        command.cls = PlainCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            use_plain_help(group.typer_instance)
