"""What `hedgerow doctor` finds: versions, cache, extras and a store, as lines to paste.

It imports what is in doubt inside functions, so that it also runs where an extra is missing or a
package is too old to be imported.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

REQUIREMENT = re.compile(
    r"([\w.-]+)(?:\[[\w,-]+\])?>=([\d.]+)(?:\s*;\s*extra == [\"'](\w+)[\"'])?$"
)
CORE = ""
DEVELOPMENT = ("all", "bench", "docs", "test")
"""Extras that no user needs, or that are made of others."""
ABSENT = "not installed: "
VARIABLES = ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS", "XDG_CACHE_HOME")
TABLE = "hedgerow_schema"


class Finding(NamedTuple):
    """One line: what it is about, what was found, and what to do if that is wrong."""

    about: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        fine = "-" if self.found.startswith(ABSENT) else "ok"
        mark, advice = ("problem", f"; {self.remedy}") if self.remedy else (fine, "")
        return f"{mark:<8} {self.about:<9} {self.found}{advice}"


def diagnosis(store: str = "") -> list[Finding]:
    """Look at everything that an issue should name."""
    checks: list[Callable[[], Iterator[Finding]]] = [_library, _machine, _packages, _cache]
    checks += [lambda: _store(store)] if store else []
    found: list[Finding] = []
    for check in checks:
        try:
            found += check()
        except Exception as error:  # a doctor says what broke, whatever it was
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            found.append(Finding(check.__name__.strip("_<>"), why[:200], "this is what to report"))
    return found


def _library() -> Iterator[Finding]:
    from hedgerow import __file__ as file
    from hedgerow import __version__
    from hedgerow.release import this_version

    yield Finding("hedgerow", f"{this_version()} in {Path(file).parent}")
    try:
        installed = metadata.version("hedgerow")
    except metadata.PackageNotFoundError:
        yield Finding("hedgerow", "is not installed", "run pip install . in its folder")
        return
    if installed != __version__:
        yield Finding(
            "hedgerow", f"pip installed {installed}, other sources run", "install it again"
        )


def _machine() -> Iterator[Finding]:
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    kind = platform.python_implementation() + ("" if gil else ", free-threaded")
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield Finding("python", f"{platform.python_version()} ({kind}), {where}")
    values = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    slow = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    remedy = "kernels run in Python, several hundred times slower: unset it" if slow else ""
    yield Finding("variables", ", ".join(values) or "none is set", remedy)


def _packages() -> Iterator[Finding]:
    """Compare what is installed with what the package declares."""
    asked: dict[str, list[tuple[str, str]]] = {}
    for line in metadata.requires("hedgerow") or []:
        if match := REQUIREMENT.match(line):
            asked.setdefault(match[3] or CORE, []).append((match[1], match[2]))
    versions, wrong = [], []
    core = asked.pop(CORE, [])
    for name, least in core:
        version = _version(name)
        versions.append(f"{name} {version}")
        if version is None or _numbers(version) < _numbers(least):
            wrong.append(f"{name}>={least}")
    quoted = " ".join(f'"{one}"' for one in wrong)
    yield Finding("packages", ", ".join(versions), f"run pip install {quoted}" if wrong else "")
    from numba import version_info

    from hedgerow._engine.kernel import NEWEST

    if version_info.short > NEWEST:
        known = f"later than {NEWEST[0]}.{NEWEST[1]}, the newest that is supported in full"
        yield Finding("numba", known, "kernels compile more slowly, with the same results")
    extras = {name: asked[name] for name in sorted(asked) if name not in DEVELOPMENT}
    for extra, names in extras.items():
        rest = [core, *(extras[other] for other in extras if other != extra)]
        others = {name for part in rest for name, _ in part}
        yield _extra(extra, names, others)


def _extra(extra: str, names: list[tuple[str, str]], others: set[str]) -> Finding:
    """Look at one extra: absent is fine, installed in part is not, and commands need `cli`."""
    missing = [name for name, _ in names if _version(name) is None]
    old = [
        f"{name} {version}, needs {least}"
        for name, least in names
        if (version := _version(name)) and _numbers(version) < _numbers(least)
    ]
    state = "; ".join([ABSENT + ", ".join(missing)] * bool(missing) + old)
    began = any(name not in missing and name not in others for name, _ in names)
    wrong = (old or missing) and (began or extra == "cli")
    remedy = f'run pip install ".[{extra}]"' if wrong else ""
    return Finding(f"[{extra}]", state or "installed", remedy)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release of a version as numbers.

    >>> _numbers("2026.8.1rc1") > _numbers("2026.8")
    True
    """
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:4])


def _cache() -> Iterator[Finding]:
    """Look for a folder that compiled kernels can be kept in."""
    from hedgerow import kernels
    from hedgerow._engine.cache import is_private, places

    lines, kept, writable = [], 0, False
    for place in places(Path(str(kernels.__file__))):
        count = len(list(place.glob("*.nbc"))) if place.is_dir() else 0
        nearest = next(folder for folder in (place, *place.parents) if folder.is_dir())
        state = "writable" if _can_write(nearest) else "read-only"
        if place.is_dir() and not is_private(place.stat()):
            state = "others can write to it, so it is not used"
        elif state == "writable":
            writable = True
        kept += count if "others" not in state else 0
        lines.append(f"{place} ({state}, {count} kernels)")
    own = "set NUMBA_CACHE_DIR to a folder that only you can write to"
    if not writable and kept:
        lines.append("kernels that are not among these are compiled in every process")
    yield Finding("cache", "; ".join(lines), "" if writable or kept else own)


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _store(place: str) -> Iterator[Finding]:
    """Reach a store without changing it."""
    shown = re.sub(r"//[^@/]*@", "//", place)  # without user and password
    try:
        version = _schema_of_server(place) if "://" in place else _schema_of_file(Path(place))
    except ModuleNotFoundError as missing:
        yield Finding("store", f"{shown} needs {missing.name}", 'run pip install ".[live]"')
        return
    except Exception as error:  # of the driver, which is not imported here
        why = " ".join(str(error).split())[:160]
        yield Finding("store", f"{shown} cannot be reached ({why})", "check its address and rights")
        return
    yield Finding("store", f"{shown} is reachable, version {version} of the tables")


def _schema_of_file(path: Path) -> int:
    if not path.is_file():
        raise FileNotFoundError("there is no such file")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute(f"SELECT version FROM {TABLE}").fetchone()[0])  # noqa: S608


def _schema_of_server(url: str) -> int:
    import psycopg

    plain = re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql://", url)
    with psycopg.connect(plain, connect_timeout=5) as connection:
        row = connection.execute("SELECT version FROM hedgerow_schema").fetchone()
    return int(row[0]) if row else 0
