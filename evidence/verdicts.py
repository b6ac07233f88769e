"""The paper's claims, judged: `python evidence/verdicts.py` writes evidence/verdicts.json.

The paper's four methods on the paper's graph, 30 seeds that chose nothing: the part of `hedgerow
reproduce --full` that its verdicts rest on, on other seeds; about two minutes of one processor,
resumed in out/ where it was stopped.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hedgerow.experiments.executors import processes
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.report.provenance import how_far
from hedgerow.report.summary import Summary
from hedgerow.report.verdicts import GARBER, OURS, SINHA, WANG, route_place, verdicts

HERE = Path(__file__).parent
OUT = HERE.parent / "out" / "verdicts"
WORKERS = 2
SEEDS = tuple(range(300, 330))


def experiment(seeds: tuple[int, ...] = SEEDS) -> Experiment:
    """Return the shipped comparison, cut to the claims: four methods, one graph, T = 1600."""
    paper = load_experiment("paper")
    routes = replace(paper.problems[0], horizons=(1600,))
    methods = (OURS, SINHA, WANG, GARBER)
    paper = replace(
        paper, problems=(routes,), methods=methods, eagerness_methods=(OURS,), seeds=seeds
    )
    return replace(paper, common_seeds=None)


def judged(folder: Path) -> dict[str, Any]:
    """Return the verdicts on a folder of results, as `hedgerow report --json` has them."""
    summary = Summary(Results(folder))
    place = route_place(summary)
    assert place is not None
    return {
        "runs": how_far(summary.results),
        "left_out": len(summary.unjudged),
        "judged_on": place._asdict(),
        "verdicts": [verdict.record() for verdict in verdicts(summary, place)],
    }


def main() -> None:
    """Play what is missing, judge, write."""
    tally = sweep(experiment(), OUT, partial(processes, workers=WORKERS))
    if tally.failed:
        raise RuntimeError(f"{len(tally.failed)} runs failed: {next(iter(tally.failed.values()))}")
    path = HERE / "verdicts.json"
    path.write_text(json.dumps(judged(OUT), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
