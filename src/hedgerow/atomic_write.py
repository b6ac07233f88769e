"""Files that others see whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path


def replace_files(contents: Mapping[Path, bytes], parts: Path | None = None) -> None:
    """Write all files under other names, then rename them; a failure leaves what was there.

    Args:
        contents: what each file is to hold.
        parts: the folder for unfinished files, on the same file system; if left out, each is
            written beside its file.

    """
    unfinished = {path: (parts or path.parent) / f".{uuid.uuid4().hex}.part" for path in contents}
    try:
        for path, content in contents.items():
            with unfinished[path].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, part in unfinished.items():
            part.replace(path)
    finally:
        for part in unfinished.values():
            with contextlib.suppress(OSError):
                part.unlink()
