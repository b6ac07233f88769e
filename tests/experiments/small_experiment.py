"""A small experiment, and the command line in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results

TEXT = """
name = "small"
methods = ["projection_free_coco", "ftpl_coco", "unconstrained"]
presets = ["practical", "theory"]
horizons = [60]
seeds = [20, 21]

[[problems]]
kind = "iid_simplex"
n = 4

[[problems]]
kind = "halfspace_box"
n = 3
"""


def written(folder: Path, text: str = TEXT) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


def small(folder: Path, text: str = TEXT):
    return load_experiment(written(folder, text))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from hedgerow.cli import main; main()", *map(str, arguments)]


def hedgerow(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=cwd, timeout=120)


def invoked(*arguments: object):
    """Run a command in this process, which is quicker."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def results_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every result file; timings and environment are none."""
    files = [folder / "experiment.json", *folder.glob("runs/*"), *folder.glob("benchmarks/*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def timed(folder: Path) -> list[str]:
    """Return the ids of all tasks that were done, in order, as often as they were done."""
    lines = (folder / "timings.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines if line]
    return [entry["place"] + "/" + entry["id"] for entry in entries]


def record(folder: Path, **wanted: object):
    """Return the one run whose record has these values."""
    runs = Results(folder).runs
    (found,) = [r for r in runs if all(r.record[k] == v for k, v in wanted.items())]
    return found
