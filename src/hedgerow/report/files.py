"""Files of a report: an error names the file, also where the system does not."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file and return where it is."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:  # a full disk has no name
        raise OSError(error.errno, error.strerror, str(path)) from None
    return path


def save_figure(figure: Any, path: Path, dpi: int, metadata: dict[str, Any] | None = None) -> Path:
    """Write a matplotlib figure in the format of its suffix and return where it is."""
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix.removeprefix("."), dpi=dpi, metadata=metadata)
    return write_file(path, drawn.getvalue())
