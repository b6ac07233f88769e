"""Optional solvers: used where they load, done without where they do not."""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module, util
from typing import Any

_log = logging.getLogger("hedgerow")


@cache
def loaded(package: str) -> Any | None:
    """Return an optional solver, or None if it is not installed or cannot be loaded.

    The second happens to `highspy` where another copy of HiGHS is in the process already, such as
    that of OR-Tools. It is said once, through the logger `hedgerow`.
    """
    if not util.find_spec(package):
        return None
    try:
        return import_module(package)
    except ImportError as error:
        _log.warning(  # shown on stderr even where logging is not set up
            "%s is installed but cannot be loaded (%s), perhaps because another package has loaded "
            "the same library before; going on without it, which is slower",
            package,
            error,
        )
        return None
