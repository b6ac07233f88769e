"""Speed: runs `benchmarks/bench.py` and keeps its numbers and its figure.

They are evidence/bench.json and docs/explanation/performance.png.
"""

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
    shutil.copyfile(ROOT / "out/bench/bench.png", ROOT / "docs/explanation/performance.png")


if __name__ == "__main__":
    main()
