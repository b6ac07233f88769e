"""Measured files, in the folder that HEDGEROW_DATA names; without it nothing asks for them.

Tests that read them bear the mark `measured` and run beside the same tests on drawn files
(`conftest.py`). The layout of the folder is in docs/how-to/data.md.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "HEDGEROW_DATA"
LAYOUT = "docs/how-to/data.md names the files"


def measured_folder() -> Path | None:
    """Return the folder, or None where the variable is not set."""
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    if not Path(name).is_dir():
        raise pytest.UsageError(
            f"{VARIABLE} must name a folder of measured files, got {name!r}, which is none; "
            f"correct it or unset it ({LAYOUT})"
        )
    return Path(name)


def data(name: str) -> Path:
    """Return the path of a measured file or folder."""
    folder = measured_folder()
    assert folder is not None, "only tests with the mark `measured` ask for measured files"
    if not (folder / name).exists():
        raise FileNotFoundError(f"{VARIABLE}={folder} has no {name}; add it ({LAYOUT})")
    return folder / name


def drawn_or(*names: str) -> list[object]:
    """Parameters for a test: the drawn file always, the measured ones where they are at hand."""
    return ["drawn", *(pytest.param(name, marks=pytest.mark.measured) for name in names)]
