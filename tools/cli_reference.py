"""The reference of the command line: every command with its arguments and options, as it parses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from hedgerow.cli.app import app
from tables import table


def cli_markdown() -> str:
    """Return a section for each command, in the order of `hedgerow --help`."""
    return "\n\n".join(_command("hedgerow", get_command(app)))


def _command(name: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if name != "hedgerow":
        yield f"## {name}"
        yield _prose(command.help)
    if not inner:
        yield f"```text\n{_usage(name, command)}\n```"
    if rows := [_row(one) for one in command.params if not getattr(one, "hidden", False)]:
        yield table(["argument or option", "what", "default"], rows)
    for word, below in inner.items():
        yield from _command(f"{name} {word}", below)


def _usage(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    words = [_metavar(one) if one.required else f"[{_metavar(one)}]" for one in arguments]
    required = [
        f"{one.opts[0]} {_metavar(one)}"
        for one in command.params
        if one.param_type_name == "option" and one.required
    ]
    return " ".join([name, *required, "[OPTIONS]", *words])


def _row(one: Any) -> tuple[str, str, str]:
    if one.param_type_name == "argument":
        name = f"`{_metavar(one)}`"
    else:
        words = [*one.opts, *one.secondary_opts]
        value = "" if getattr(one, "is_flag", False) else f" {_metavar(one)}"
        name = ", ".join(f"`{word}{value}`" for word in words)
    default = "required" if one.required else _default(one)
    return name, _prose(getattr(one, "help", "") or "").replace("|", "\\|"), default


def _metavar(one: Any) -> str:
    return str(one.metavar or one.name.upper())


def _default(one: Any) -> str:
    value = one.default
    if value is None or value == () or value == [] or callable(value) or value is False:
        return ""
    return "yes" if value is True else f"`{value}`"


def _prose(text: str | None) -> str:
    """Return help in one line, as Markdown that shows it as it is."""
    line = " ".join((text or "").replace("\b", " ").split())
    return line.replace("<", "\\<").replace("*", "\\*")
