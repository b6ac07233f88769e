"""A PostgreSQL server of its own, in a temporary folder, for tests and evidence."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
WHY_NOT = "needs a PostgreSQL server: apt-get install postgresql"


def available() -> bool:
    """Whether a server is installed, and may be started by this user."""
    return bool(INSTALLED) and (os.geteuid() != 0 or _owner() is not None)


@contextmanager
def postgres_server(below: str = "/tmp") -> Iterator[str]:  # noqa: S108 - sockets have short paths
    """Start a server that listens on a socket in its folder, and yield its URL."""
    bin_folder = INSTALLED[-1].parent
    as_user: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=below))
    if os.geteuid() == 0:  # which the server refuses to be
        owner = _owner()
        assert owner is not None
        as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    make = [bin_folder / "initdb", "-D", folder / "data", "-U", "hedgerow", "-A", "trust"]
    make += ["--no-sync"]  # of the empty database; what is stored in it later is synced
    subprocess.run(make, check=True, cwd=folder, **quiet, **as_user)  # noqa: S603
    start = [bin_folder / "postgres", "-D", folder / "data", "-k", folder, "-h", ""]
    server = subprocess.Popen(start, cwd=folder, **quiet, **as_user)  # noqa: S603
    try:
        ready = [bin_folder / "pg_isready", "-q", "-h", folder, "-U", "hedgerow"]
        while subprocess.run(ready, check=False, **quiet).returncode:  # noqa: S603
            if server.poll() is not None:
                raise RuntimeError("the PostgreSQL server did not start")
            time.sleep(0.02)
        yield f"postgresql://hedgerow@/postgres?host={folder}"
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: the folder goes too
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return None
