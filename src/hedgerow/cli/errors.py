"""Expected errors of commands: one sentence on stderr, exit code 2."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from hedgerow.cli.output import print_error
from hedgerow.experiments.results import FULL
from hedgerow.networks.errors import DataError
from hedgerow.report.networks import rejection_table

ARGUMENT = re.compile(
    r"(?<!')\b(af|bandwidth|decimal|hub|keep_going|key|latency|mix_versions|most_numbers|network|node_key|series|"
    r"source|target|time|type|workers)=(\.\.\.|'[^']+'|\w+)"
)
"""Arguments of the library that are options here, as its sentences write them unless quoted."""
COLUMN = r"""(\w+)=('[^']*'|"[^"]*"|\.\.\.)"""
COLUMNS = re.compile(rf"EdgeColumns\(((?:{COLUMN}(?:, )?)+)\)")
"""Names of columns, as its sentences write them."""
ENDS = {"source": "from", "target": "to"}


def check_output(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse to overwrite an input; the series go into an .npz beside the network."""
    written = {out.resolve(), out.with_suffix(".npz").resolve()}
    for path in inputs:
        if path.resolve() in written:
            raise ValueError(f"{out}: this would write over {path}; give another name with -o")


@contextmanager
def report_errors() -> Iterator[None]:
    """Print an error of the library as a sentence, after a table of rejected readings."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has gone; typer ends quietly
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if isinstance(error, ModuleNotFoundError) and not _needs_matplotlib(error):
            raise
        if isinstance(error, DataError) and error.rejections:
            Console(stderr=True).print(rejection_table(error.rejections))
        print_error(in_options(" ".join(_describe(error).split())))
        raise typer.Exit(2) from None


def in_options(sentence: str) -> str:
    """Name options of the command line where the library names arguments.

    >>> in_options("leave such readings out with keep_going=True, or use node_key='prb_id'")
    'leave such readings out with --keep-going, or use --node-key prb_id'
    >>> in_options("give EdgeColumns(source='src_site', latency=...)")
    'give --from src_site --latency COLUMN'
    """
    sentence = COLUMNS.sub(_columns, sentence)
    sentence = sentence.replace("give another folder", "give another folder with --out")
    return ARGUMENT.sub(_option, sentence)


def _columns(found: re.Match[str]) -> str:
    """Return options for names of columns; those of the ends of a link are no nodes."""
    options = []
    for role, quoted in re.findall(COLUMN, found[1]):
        name = "COLUMN" if quoted == "..." else shlex.quote(quoted[1:-1])
        options.append(f"--{ENDS.get(role, role)} {name}")
    return " ".join(options)


def _option(found: re.Match[str]) -> str:
    name, value = found[1].replace("_", "-"), found[2].strip("'")
    return f"--{name}" if value in ("True", "...") else f"--{name} {shlex.quote(value)}"


def _needs_matplotlib(missing: ModuleNotFoundError) -> bool:
    return (missing.name or "").partition(".")[0] == "matplotlib"


def _describe(error: Exception) -> str:
    """Return the message of an error; without the number in errors of the system."""
    if isinstance(error, ModuleNotFoundError):
        return 'figures need matplotlib; install it with: pip install ".[cli]"'
    if isinstance(error, MemoryError):
        return (
            f"not enough memory ({str(error) or 'nothing more is known'}); choose smaller numbers"
        )
    if isinstance(error, OSError) and error.strerror and error.filename:
        full = error.errno in FULL
        remedy = "free some and try again" if full else "check the path and its permissions"
        return f"{error.filename}: {error.strerror.lower()}; {remedy}"
    return str(error)
