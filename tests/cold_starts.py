"""Start processes that have compiled nothing yet, each in an environment of its own.

Run as a program, it reads lists of environments, one a line, starts the processes of a list at the
same time, and prints a line with the list of their reports, all as JSON. It imports numba once and
forks: to start numba takes longer than all the rest.

An environment is a `folder` with a kernel in `folder/package/tiny.py` and an empty `folder/cwd`,
the `variables` that are set (no others are), and `uid`, to become somebody else, or null.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import tempfile
import traceback
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba

from hedgerow._engine import (
    announcement,  # before the right to read it may be given up
    kernel,  # noqa: F401
)

TINY = """
from hedgerow._engine.kernel import kernel, number

@kernel(number, number)
def twice(a):
    return 2.0 * a
"""


def load(folder: Path):
    """Import the kernel of this folder, compiling it if need be."""
    spec = spec_from_file_location("tiny", folder / "package" / "tiny.py")
    module = sys.modules["tiny"] = module_from_spec(spec)  # what is kept refers to it by name
    spec.loader.exec_module(module)
    module.twice.ready()
    return module.twice


def begin(environment) -> None:
    """Make this process one that was started in the environment."""
    os.chdir(Path(environment["folder"]) / "cwd")
    os.environ.clear()
    os.environ.update(environment["variables"])
    if environment["uid"] is not None:
        os.setgroups([])
        os.setgid(environment["uid"])
        os.setuid(environment["uid"])
    numba.config.reload_config()  # as an import of numba would


def report(environment):
    """Compile and call the kernel; say what came of it."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("hedgerow").addHandler(handler)
    before = numba.config.CACHE_DIR, list(warnings.filters)
    try:
        begin(environment)
        before = numba.config.CACHE_DIR, list(warnings.filters)
        twice = load(Path(environment["folder"]))
        stats = twice.stats
        misses = sum(stats.cache_misses.values())
        found = {"answer": twice(21.0), "kept": stats.cache_path, "misses": misses, "said": said}
    except BaseException:
        found = {"error": traceback.format_exc()}
    return found | {"untouched": before == (numba.config.CACHE_DIR, list(warnings.filters))}


def start(environment) -> tuple[int, int]:
    """Fork a process that reports; return its number and what to read the report from."""
    read, write = os.pipe()
    if child := os.fork():
        os.close(write)
        return child, read
    os.write(write, json.dumps(report(environment)).encode())
    os._exit(0)


def result(child: int, read: int):
    """Wait for a report."""
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"error": f"ended with status {status} and said nothing"}


def main() -> None:
    """Start what is asked for, line by line."""
    announcement.SLOW = math.inf  # what is said must not depend on how busy the machine is
    sys.dont_write_bytecode = True  # what is written is what the cache writes
    with tempfile.TemporaryDirectory() as folder:  # imports all that compiling and loading import
        (Path(folder) / "package").mkdir()
        (Path(folder) / "package" / "tiny.py").write_text(TINY)
        load(Path(folder)), load(Path(folder))
    for line in sys.stdin:
        started = [start(environment) for environment in json.loads(line)]
        sys.stdout.write(json.dumps([result(*one) for one in started]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
