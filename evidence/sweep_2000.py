"""Two thousand runs on two processes: throughput, memory, size of the folder.

    .venv/bin/python evidence/sweep_2000.py [runs]

Writes evidence/sweep_2000.json. What else the machine does counts against it; the load is noted.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
TEXT = """
name = "many"
methods = ["projection_free_coco", "projection_free_long_term", "ftpl_coco", "unconstrained"]
horizons = [500]
seeds = {{first = 20, count = {seeds}}}

[[problems]]
kind = "iid_simplex"

[[problems]]
kind = "random_network"
nodes = 30
edges = 90
"""


def main() -> None:
    """Sweep, measure, resume (nothing is left to do), write."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    folder = Path(tempfile.mkdtemp())
    (folder / "many.toml").write_text(TEXT.format(seeds=runs // 8))
    code = "from hedgerow.cli import main; main()"
    out = folder / "out"
    arguments = ["run", str(folder / "many.toml"), "-o", str(out), "--workers", "2", "--json"]
    sweep = [sys.executable, "-c", code, *arguments]
    load, begin = os.getloadavg()[0], time.perf_counter()
    first = json.loads(subprocess.run(sweep, check=True, capture_output=True).stdout)  # noqa: S603
    seconds, spent = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    again = json.loads(subprocess.run(sweep, check=True, capture_output=True).stdout)  # noqa: S603
    resumed = time.perf_counter() - begin
    files = [path for path in out.rglob("*") if path.is_file()]
    found = {
        "runs": first["runs_done"],
        "benchmarks": first["tasks"] - first["runs_done"] - first["runs_refused"],
        "rounds_per_run": 500,
        "workers": 2,
        "load_before": round(load, 1),
        "wall_seconds": round(seconds, 1),
        "cpu_seconds": round(spent.ru_utime + spent.ru_stime, 1),
        "runs_per_second": round(first["runs_done"] / seconds, 1),
        "largest_process_mb": round(spent.ru_maxrss / 1024),
        "files": len(files),
        "folder_mb": round(sum(path.stat().st_size for path in files) / 1e6, 1),
        "resume_with_nothing_to_do_seconds": round(resumed, 1),
        "played_again": again["ran"],
    }
    (HERE / "sweep_2000.json").write_text(json.dumps(found, indent=1) + "\n")
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
