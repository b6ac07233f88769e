"""`hedgerow verify`: check run files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.output import print_line
from hedgerow.testing.verification import TamperedRunError, describe, verify_run


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Run files.")],
    sha256: Annotated[
        str, typer.Option(help="The digest that the file must have, or how it begins.")
    ] = "",
) -> None:
    """Recompute regret, CCV and certificate of recorded runs from their rounds.

    A file that was changed, or that states what its rounds do not give, is refused. The exit code
    is 1 if one is.
    """
    refused = False
    for file in files:
        try:
            found = verify_run(file)
            if not found["sha256"].startswith(sha256.lower()):
                raise TamperedRunError(f"its SHA-256 is {found['sha256']}, not {sha256}")
            print_line(f"{file}: holds: {describe(found)}")
        except (OSError, TamperedRunError) as error:
            why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
            refused = True
            print_line(f"{file}: refused: {why}")
    raise typer.Exit(int(refused))
