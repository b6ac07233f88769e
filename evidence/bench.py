"""Speed: runs `benchmarks/bench.py` and keeps its numbers as evidence/bench.json."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Measure, then copy what was measured."""
    subprocess.run([sys.executable, "benchmarks/bench.py"], cwd=ROOT, check=True)
    shutil.copyfile(ROOT / "out/bench/bench.json", ROOT / "evidence/bench.json")


if __name__ == "__main__":
    main()
