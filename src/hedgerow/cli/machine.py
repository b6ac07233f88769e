"""`hedgerow warm-up` and `hedgerow doctor`: prepare this machine, and look at it."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from hedgerow._engine.announcement import compile_time
from hedgerow._engine.kernel import COMPILED
from hedgerow.cli.diagnosis import diagnosis
from hedgerow.cli.output import counted, print_line, quiet_log
from hedgerow.games.warm_up import warm_ups


def warm_up() -> None:
    """Compile what the default policies need, for images and CI.

    The kernels are kept on disk, so the first game compiles nothing. A second call is quick.
    """
    if not COMPILED:
        print_line("NUMBA_DISABLE_JIT is set, so there is nothing to compile.")
        return
    begin, console = time.perf_counter(), Console(stderr=True)
    with quiet_log():
        for one in track(
            list(warm_ups()), "Compiling", console=console, disable=not console.is_terminal
        ):
            one.play()
    done = counted(compile_time.kernels, "kernel")
    print_line(f"Compiled {done} in {time.perf_counter() - begin:.1f} s.")


def doctor(
    store: Annotated[
        str, typer.Argument(metavar="[STORE]", help="A store to reach, a file or a URL.")
    ] = "",
) -> None:
    """Show versions, cache, extras and a store on one screen, to paste into an issue.

    Nothing is changed. The exit code is 1 if there is a problem.
    """
    found = diagnosis(store)
    for finding in found:
        print_line(str(finding))
    raise typer.Exit(int(any(finding.remedy for finding in found)))
