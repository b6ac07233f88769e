"""Code from outside of the library: results say which file it was, and workers must have it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow.experiments.digests import ChangedFileError, sha256


def code_of(build: Callable[..., Any]) -> str:
    """Return the SHA-256 of the file that defines a function; empty for the library's own.

    The library is known by its fingerprint (`hedgerow.experiments.sources`). What the file imports
    is not looked at. A file that is edited must be imported anew: start Python again.
    """
    function = getattr(build, "func", build)  # of a partial
    name = str(getattr(function, "__module__", None) or type(function).__module__)
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.partition(".")[0] == "hedgerow" or file is None:
        return ""
    return sha256(Path(file))


def check_code(find: Callable[[str], Any], name: str, expected: str) -> None:
    """Refuse to play with code that this process does not have, or has another state of."""
    if not expected:
        return
    try:
        build = find(name).build
    except ValueError as error:
        raise ChangedFileError(f"{error}; every worker needs it") from None
    if code_of(build) != expected:
        raise ChangedFileError(
            f"the code of {name} is not that which the experiment was read with: its SHA-256 is "
            "another; start the experiment again, or bring all workers to one state"
        )
