"""Where compiled kernels are kept, so that a machine compiles them once.

A file is named after the code, versions and processor that its machine code depends on. It is
read from every folder that is known, and written to the first that allows it. A file is only loaded
only if no other user can have written it, because loading runs what it holds, and if its checksum
is right, because damaged machine code ends the process. Otherwise the kernel is compiled again. A
kernel that is compiled anew deletes its files of more than a month ago.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import logging
import os
import pickle
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from hedgerow._engine.sources import engine_fingerprint, fingerprint

config: Any = numba_config
MONTH = 30 * 24 * 3600.0
PYCACHE = "__pycache__"
CHECKSUM = hashlib.sha256().digest_size
_log = logging.getLogger("hedgerow")


def places(source: Path) -> Iterator[Path]:
    """Yield the folders in which kernels of this source may be kept, the preferred one first.

    They are NUMBA_CACHE_DIR if that is set, the folder beside the source, and the user's cache if
    there is a home.
    """
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR).absolute() / "hedgerow"
    yield source.parent / PYCACHE
    own = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(own):
        own = os.path.join(os.path.expanduser("~"), ".cache")  # stays ~ where no home is known
    if os.path.isabs(own):
        yield Path(own) / "hedgerow"


class KernelCache(NullCache):
    """The files of one kernel.

    Args:
        function: the kernel before it is compiled.
        form: what is kept, if not the kernel as Python calls it.

    """

    def __init__(self, function: Any, form: str = ""):
        code = function.__code__
        self._function = function
        self._source = Path(code.co_filename).absolute()
        self._name = f"{self._source.stem}.{function.__qualname__}-{code.co_firstlineno}{form}"
        self._kept: Path | None = None

    @functools.cached_property
    def _state(self) -> tuple[str, str, str]:
        """What the code depends on, found when it is first needed: all callees are known then."""
        cells = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
        return fingerprint(self._function), engine_fingerprint(), dumps(cells).hex()

    @functools.cached_property
    def _places(self) -> list[Path]:
        """The folders in which it may be kept."""
        return list(places(self._source))

    @property
    def cache_path(self) -> str | None:
        """The folder that holds the compiled kernel, if any does."""
        return None if self._kept is None else str(self._kept)

    def _file(self, signature: Any, context: Any) -> str:
        """Name the file after all that the machine code depends on."""
        versions, processor = (numba.__version__, sys.version), context.codegen().magic_tuple()
        state = repr((self._state, versions, processor, signature))
        return f"{self._name}.{hashlib.sha256(state.encode()).hexdigest()[:16]}.nbc"

    def load(self, signature: Any, context: Any, build: Any = lambda _, *data: data) -> Any:
        """Return what the first place that has it keeps, or None; `build` makes it of the data."""
        context.refresh()
        for place in self._places:
            with suppress(Exception):  # missing, unreadable or damaged: it is compiled again
                data = _read(place / self._file(signature, context))
                found = build(context, *pickle.loads(data))  # noqa: S301
                self._kept = place
                return found
        return None

    def save(self, signature: Any, context: Any, data: tuple[Any, ...]) -> None:
        """Keep the data in the first place that only this user can write to."""
        for place in self._places:
            with suppress(OSError):
                place.mkdir(0o755, parents=True, exist_ok=True)
                if not is_private(place.stat()):
                    if place.name != PYCACHE:  # which Python makes, by the user's umask
                        _warn_of_folder(place)
                    continue
                _write(place / self._file(signature, context), dumps(data))
                self._kept = place
                self._clear_away(place)
                return
        _warn_that_nothing_is_kept()

    def _clear_away(self, place: Path) -> None:
        """Delete this kernel's old files: of other sources, versions or processors."""
        earliest = time.time() - MONTH
        for path in place.glob(f"{glob.escape(self._name.rpartition('-')[0])}-*.nbc"):
            with suppress(OSError):  # another process was quicker, or owns it
                if path.stat().st_mtime < earliest:
                    path.unlink()

    def load_overload(self, signature: Any, context: Any) -> CompileResult | None:
        """Return the compiled kernel from the first place that has it."""
        found: CompileResult | None = self.load(signature, context, CompileResult._rebuild)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled kernel, unless it holds addresses of this process."""
        if not result.library.has_dynamic_globals:
            self.save(signature, result.target_context, result._reduce())


def is_private(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user or to root, and no other user can write to it.

    Windows has no such modes: its folders of a user are closed to others.
    """
    if not hasattr(os, "geteuid"):
        return True
    shared = stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & shared


def _read(path: Path) -> bytes:
    """Return what a file holds, if it is ours and whole."""
    with path.open("rb") as file:  # what is checked is what is read, whatever happens to the name
        if not (is_private(path.parent.stat()) and is_private(os.fstat(file.fileno()))):
            _warn_of_folder(path.parent)
            raise PermissionError(f"others can write to {path}")
        checksum, data = file.read(CHECKSUM), file.read()
    if hashlib.sha256(data).digest() != checksum:
        raise ValueError(f"{path} is damaged")
    return data


def _write(path: Path, data: bytes) -> None:
    """Write a file, its checksum first, that others see whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@functools.cache
def _warn_of_folder(folder: Path) -> None:
    _log.warning(
        "compiled kernels in %s are not used, because others could have written them: make the "
        "folder yours with chmod -R go-w, delete it, or set NUMBA_CACHE_DIR to one that only you "
        "can write to",
        folder,
    )  # once for each folder, shown on stderr even where logging is not set up


@functools.cache
def _warn_that_nothing_is_kept() -> None:
    _log.warning(
        "compiled kernels cannot be kept, every process compiles its own: set NUMBA_CACHE_DIR to a "
        "folder that only you can write to"
    )
