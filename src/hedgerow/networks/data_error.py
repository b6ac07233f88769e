"""The one error of this layer: a sentence that says where the data are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class DataError(ValueError):
    """A file that cannot be used, with its name, the position in it, and what to do.

    Args:
        place: the file.
        position: the line, result or key; empty when it is the whole file.
        sentence: what is wrong and what to do.
        rejections: the table of what had been left out until then.

    >>> str(DataError("a.json", "line 3", "the latency is NaN"))
    'a.json, line 3: the latency is NaN'

    """

    def __init__(
        self,
        place: Path | str,
        position: str,
        sentence: str,
        rejections: Sequence[dict[str, Any]] = (),
    ):
        super().__init__(f"{place}, {position}: {sentence}" if position else f"{place}: {sentence}")
        self.rejections: tuple[dict[str, Any], ...] = tuple(rejections)
