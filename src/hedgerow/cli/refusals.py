"""Wrong input on the command line: one sentence on stderr, exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from hedgerow.network.data_error import DataError
from hedgerow.report.networks import left_out_table


@contextmanager
def refusals() -> Iterator[None]:
    """Turn a refusal of the library into a sentence, with what was left out before it."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        console = Console(stderr=True)
        if isinstance(error, DataError) and error.left_out:
            console.print(left_out_table(error.left_out))
        sentence = " ".join(str(error).split())
        console.print(f"hedgerow: {sentence}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
