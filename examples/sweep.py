"""A sweep: methods x presets x seeds from a few lines of TOML, resumable, with a report."""

import tempfile
from pathlib import Path

from hedgerow.experiments.executors import serial
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.report.page import write_report
from hedgerow.report.summary import Summary

EXPERIMENT = """
name = "first-sweep"
about = "Who keeps a budget on a simplex?"
methods = ["projection_free_coco", "sinha_vaze_2024", "wang_2025", "unconstrained"]
horizons = [400]
seeds = [20, 21, 22]

[[problems]]
kind = "iid_simplex"
"""

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "sweep.toml").write_text(EXPERIMENT)
    sweep(load_experiment(folder / "sweep.toml"), folder / "out", serial)
    summary = Summary(Results(folder / "out"))
    page = write_report(summary, folder / "report")
    for row in summary.at(summary.places[0], "practical"):
        print(f"{row.config!s:22} regret {row.regret.value:6.2f} %, CCV {row.ccv.value:6.2f} %")
    print(f"report: {page.stat().st_size // 1024} kB")
