"""Where compiled kernels are kept: a folder for each state of the sources they are made of.

numba compares only the file in which a kernel is defined. A kernel that calls one of another file
would keep the old arithmetic of that file after a change there.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import config as numba_config

config: Any = numba_config
KERNELS = Path(__file__).parent
IMPORTED = re.compile(
    r"^from hedgerow\.kernels(?:\.(\w+) import|\s+import ([\w, ]+))", re.MULTILINE
)


@functools.cache
def fingerprint(source: Path) -> str:
    """Hash a source file and all kernels that it imports."""
    text = source.read_text()
    digest = hashlib.sha256(text.encode())
    names = ",".join(one + several for one, several in IMPORTED.findall(text)).split(",")
    for name in sorted({name.strip() for name in names}):
        if (imported := KERNELS / f"{name}.py").exists():
            digest.update(fingerprint(imported).encode())
    return digest.hexdigest()[:16]


@contextmanager
def kept(source: Path) -> Iterator[None]:
    """Keep what is compiled inside in the folder of this source's state.

    The folder is in NUMBA_CACHE_DIR if that is set, else beside the source, or, where that cannot
    be written to, in the user's cache.
    """
    given, beside = config.CACHE_DIR, source.parent / "__pycache__"
    own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = given or (beside if os.access(source.parent, os.W_OK) else Path(own) / "hedgerow")
    config.CACHE_DIR = str(Path(base) / fingerprint(source))
    try:
        yield
    finally:
        config.CACHE_DIR = given
