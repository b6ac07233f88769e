"""Run the examples, the gallery and the tutorial from an installed wheel, without the repository.

    python tools/installed.py dist/hedgerow-0.2.0-py3-none-any.whl python3.12 python3.13

For each Python it makes an empty environment, installs the wheel with all extras, copies the
programs elsewhere and runs them there. `--quick` installs, warms up and plays one game alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tutorial import PAGE, ROOT, differences, empty, follow, steps_of

FIRST = """
import hedgerow as hr
from hedgerow._engine.announcement import compile_time
problem = hr.ShortestPath.random_network(nodes=30, edges=90, horizon=200, seed=0)
trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
print(f"first game: {compile_time.kernels} kernels compiled, CCV {trace.ccv:.6g}, {hr.__file__}")
"""
BIN = "Scripts" if os.name == "nt" else "bin"


def run(at: Path, *command: str | Path) -> str:
    """Run a command in a folder, in an environment of its own, and return what it prints."""
    words = [str(word) for word in command]
    environment = {**empty(), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 - our own programs
        words, cwd=at, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check(wheel: Path, python: str, quick: bool) -> None:
    """Install the wheel for one Python and run everything."""
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        begin = time.perf_counter()
        run(at, python, "-m", "venv", at / "venv")
        own = at / "venv" / BIN
        run(at, own / "python", "-m", "pip", "install", "--quiet", f"{wheel}[all]")
        report(python, begin, run(at, own / "python", "--version").strip() + " installed")
        begin = time.perf_counter()
        report(python, begin, run(at, own / "hedgerow", "warm-up").strip())
        begin = time.perf_counter()
        report(python, begin, run(at, own / "python", "-c", FIRST).strip())
        if quick:
            return
        shutil.copytree(ROOT / "examples", at / "examples")
        (at / "work").mkdir()
        programs = [*at.glob("examples/*.py"), *at.glob("examples/gallery/*.py")]
        begin = time.perf_counter()
        for program in sorted(programs):
            run(at / "work", own / "python", program)
        report(python, begin, f"{len(programs)} examples run")
        begin = time.perf_counter()
        steps = steps_of(PAGE.read_text(encoding="utf-8"), install=False)
        path = os.pathsep.join([str(own), empty()["PATH"]])
        printed = follow(steps, at / "work", {**empty(), "PATH": path})
        if said := differences(steps, printed):
            sys.exit(said)
        report(python, begin, f"{len(steps)} commands of the tutorial print what it shows")


def report(python: str, begin: float, what: str) -> None:
    """Print one line, with its time."""
    sys.stdout.write(f"{python}: {what} ({time.perf_counter() - begin:.0f} s)\n")
    sys.stdout.flush()


def main() -> None:
    """Check each Python in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("python", nargs="*", default=[sys.executable])
    parser.add_argument("--quick", action="store_true", help="leave out examples and tutorial")
    asked = parser.parse_args()
    for python in asked.python:
        check(asked.wheel.resolve(), python, asked.quick)


if __name__ == "__main__":
    main()
