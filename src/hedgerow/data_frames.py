"""Columns as a data frame of pandas, which is imported when one is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any], index: str | None = None) -> pd.DataFrame:
    """Return columns as a data frame; the column that `index` names becomes its index."""
    try:
        found: Any = importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError(
            'a data frame needs pandas; install it with: pip install ".[frames]"'
        ) from None
    frame = found.DataFrame(dict(columns))
    return frame if index is None else frame.set_index(index)
