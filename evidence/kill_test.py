"""Kill a sweep thirty times, its parent or a worker, and compare the bytes with a quiet sweep.

    .venv/bin/python evidence/kill_test.py [kills] [seed]

Writes evidence/kill_test.json.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TEXT = """
name = "kill"
methods = ["projection_free_coco", "projection_free_long_term", "ftpl_coco", "unconstrained"]
presets = ["practical", "theory"]
horizons = [1000]
seeds = {first = 20, count = 30}

[[problems]]
kind = "iid_simplex"
n = 6

[[problems]]
kind = "halfspace_box"
n = 4

[[problems]]
kind = "random_network"
nodes = 30
edges = 90
"""


def start(file: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start the sweep with two workers."""
    code = "from hedgerow.cli import main; main()"
    arguments = ["run", str(file), "-o", str(out), "--workers", "2", "--quiet"]
    return subprocess.Popen([sys.executable, "-c", code, *arguments], start_new_session=True)  # noqa: S603


def workers(parent: int) -> list[int]:
    """Return the process ids of a sweep's workers (Linux)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            status, line = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(status.rpartition(")")[2].split()[1]) == parent and b"popen_loky" in line:
            found.append(int(entry.name))
    return found


def results(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every result."""
    files = [folder / "experiment.json", *folder.glob("runs/*"), *folder.glob("benchmarks/*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.is_file()}


def finished(folder: Path) -> int:
    """Return how many records there are."""
    return sum(1 for _ in folder.glob("*/*.json"))


def disturb(file: Path, out: Path, kills: int, rng: random.Random) -> list[dict[str, Any]]:
    """Kill until it was done `kills` times; a sweep that loses a worker goes on by itself."""
    log: list[dict[str, Any]] = []
    while len(log) < kills:
        process, before = start(file, out), finished(out)
        time.sleep(rng.uniform(0.0, 1.0))  # sometimes before anything is begun
        if rng.random() < 0.8:  # mostly once work is under way
            while process.poll() is None and finished(out) < before + 1:
                time.sleep(0.005)
            time.sleep(rng.uniform(0.0, 1.0))
        while process.poll() is None and len(log) < kills:
            found = workers(process.pid)
            if found and rng.random() < 0.4:
                os.kill(rng.choice(found), signal.SIGKILL)
                log.append({"killed": "worker", "finished": finished(out)})
                time.sleep(rng.uniform(0.5, 2.0))
                continue
            process.kill()
            process.wait()
            log.append({"killed": "parent", "finished": finished(out)})
            break
        if process.wait() == 0:
            break  # it outlived all kills
    return log


def main() -> None:
    """Run both sweeps, compare, write the verdict."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folder = Path(tempfile.mkdtemp())
    file = folder / "kill.toml"
    file.write_text(TEXT)
    assert start(file, folder / "quiet").wait() == 0
    log = disturb(file, folder / "disturbed", kills, random.Random(seed))  # noqa: S311
    assert start(file, folder / "disturbed").wait() == 0
    lines = (folder / "disturbed/timings.jsonl").read_text().splitlines()
    done = []
    for line in filter(None, lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # cut short by a kill
        done.append((entry["place"], entry["id"]))
    verdict = {
        "kills": len(log),
        "parents_killed": sum(entry["killed"] == "parent" for entry in log),
        "workers_killed": sum(entry["killed"] == "worker" for entry in log),
        "finished_at_each_kill": [entry["finished"] for entry in log],
        "result_files": len(results(folder / "quiet")),
        "byte_identical": results(folder / "quiet") == results(folder / "disturbed"),
        "finished_tasks_done_twice": len(done) - len(set(done)),
        "files_left_half_written": len(list((folder / "disturbed/partial").glob("*.part"))),
    }
    (HERE / "kill_test.json").write_text(json.dumps(verdict, indent=1) + "\n")
    sys.stdout.write(json.dumps(verdict, indent=1) + "\n")
    sys.exit(0 if verdict["byte_identical"] and not verdict["finished_tasks_done_twice"] else 1)


if __name__ == "__main__":
    main()
