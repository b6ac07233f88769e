"""Where compiled kernels are kept, so that a machine compiles them once.

numba's own cache compares only the file in which a kernel is defined: a kernel that calls one of
another file would keep the old arithmetic of that file after a change there. It also refuses to
compile where nothing can be written. This one has a file for each state of the sources, reads from
every place that it knows, writes to the first that lets it, and is content with none. A kernel that
is compiled anew clears away its files of more than a month ago.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import logging
import os
import pickle
import re
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

config: Any = numba_config
PACKAGE = Path(__file__).parents[1]
IMPORTED = re.compile(r"^from hedgerow((?:\.\w+)*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
KERNELS = re.compile(r"^@(kernel|intrinsic)\b|^def kernel\b|^lower_\w+\b", re.MULTILINE)
"""What tells a file that takes part in compiled code."""
MONTH = 30 * 24 * 3600.0
_log = logging.getLogger("hedgerow")


@functools.cache
def fingerprint(source: Path) -> str:
    """Hash a source file and all kernels that it imports."""
    text = source.read_text("utf-8")
    digest = hashlib.sha256(text.encode())
    for imported in sorted(_imported(text)):
        if KERNELS.search(imported.read_text("utf-8")):
            digest.update(fingerprint(imported).encode())
    return digest.hexdigest()[:16]


@functools.cache
def compiling() -> str:
    """Hash all that compiles kernels: this folder."""
    texts = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def _imported(text: str) -> set[Path]:
    """Return the files of the package that a source imports at its top level."""
    found = set()
    for module, several, one in IMPORTED.findall(text):
        base = PACKAGE.joinpath(*module.split(".")[1:])
        found.add(base.with_suffix(".py"))
        names = (name.partition(" as ")[0].strip() for name in (several or one).split(","))
        found |= {base / f"{name}.py" for name in names}
    return {path for path in found if path.is_file()}


def places(source: Path) -> Iterator[Path]:
    """Yield the folders in which kernels of this source may be kept, the preferred one first.

    They are NUMBA_CACHE_DIR if that is set, the folder beside the source, and the user's cache if
    there is a home.
    """
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR).absolute() / "hedgerow"
    yield source.parent / "__pycache__"
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
        code, cells = function.__code__, function.__closure__ or ()
        source = Path(code.co_filename).absolute()
        self._name = f"{source.stem}.{function.__qualname__}-{code.co_firstlineno}{form}"
        self._advice = "set NUMBA_CACHE_DIR to a folder that can be written to"
        self._kept: Path | None = None
        try:
            self._sources = fingerprint(source) + compiling()
            self._places = list(places(source))
        except OSError:  # an archive, or a package without sources: nothing to go by
            self._sources, self._places = "", []
            self._advice = f"that takes the source {source}"
        self._cells = dumps(tuple(cell.cell_contents for cell in cells)).hex()

    @property
    def cache_path(self) -> str | None:
        """The folder that holds the compiled kernel, if any does."""
        return None if self._kept is None else str(self._kept)

    def _file(self, signature: Any, context: Any) -> str:
        """Name the file after all that the machine code depends on."""
        versions, processor = (numba.__version__, sys.version), context.codegen().magic_tuple()
        state = repr((self._sources, self._cells, versions, processor, signature))
        return f"{self._name}.{hashlib.sha256(state.encode()).hexdigest()[:16]}.nbc"

    def load(self, signature: Any, context: Any, build: Any = lambda _, *data: data) -> Any:
        """Return what the first place that has it keeps, or None; `build` makes it of the data."""
        context.refresh()
        file = self._file(signature, context)
        for place in self._places:
            with suppress(Exception):  # missing, unreadable or cut short: it is compiled again
                found = build(context, *pickle.loads((place / file).read_bytes()))  # noqa: S301
                self._kept = place
                return found
        return None

    def save(self, signature: Any, context: Any, data: tuple[Any, ...]) -> None:
        """Keep the data in the first place that can be written to."""
        file, written = self._file(signature, context), dumps(data)
        for place in self._places:
            with suppress(OSError):
                _write(place / file, written)
                self._kept = place
                self._clear_away(place)
                return
        _say_that_nothing_is_kept(self._advice)

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


def _write(path: Path, data: bytes) -> None:
    """Write a file that others see whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@functools.cache
def _say_that_nothing_is_kept(advice: str) -> None:
    _log.warning(
        "compiled kernels cannot be kept, every process compiles its own: %s", advice
    )  # once, shown on stderr even where logging is not set up
