"""Everyone tuned alike: `python evidence/fair.py` writes evidence/fair.csv.

It is `hedgerow tune fair` and the table of its held-out runs, about 750 s of one processor, resumed
in out/ where it was stopped. With a folder that holds intercloud45/edges.csv and
seattle99/seattle_rtt_688x99x99.npz, `python evidence/fair.py FOLDER` writes
evidence/fair_networks.csv from `fair_network` and `fair_latency` instead.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from hedgerow.experiments.executors import processes
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.tuning import tune
from hedgerow.networks.edges import read_edges
from hedgerow.networks.matrix import read_matrix
from hedgerow.report.summary import Row, Summary
from hedgerow.report.tables import as_csv

HERE = Path(__file__).parent
OUT = HERE.parent / "out"
WORKERS = 2


def tuned(name: str, network: Path | None = None) -> list[Row]:
    """Tune a shipped experiment and return the rows of its held-out seeds."""
    folder = OUT / f"{name}-tuned"
    _, tallies = tune(load_experiment(name, network), folder, partial(processes, workers=WORKERS))
    failed = [sentence for tally in tallies for sentence in tally.failed.values()]
    if failed:
        raise RuntimeError(f"{name}: {len(failed)} runs failed, the first one so: {failed[0]}")
    return Summary(Results(folder / "held_out")).rows


def networks(data: Path) -> dict[str, Path]:
    """Turn the two measurements into network files, as docs/how-to/experiments.md does."""
    OUT.mkdir(exist_ok=True)
    files = {"fair_network": OUT / "intercloud.json", "fair_latency": OUT / "seattle.json"}
    read_edges(data / "intercloud45/edges.csv").save(files["fair_network"])
    matrices = data / "seattle99/seattle_rtt_688x99x99.npz"
    read_matrix(matrices, factor=10.0).save(files["fair_latency"])
    return files


def main() -> None:
    """Write one of the two tables."""
    if len(sys.argv) > 1:
        found = [
            row for name, file in networks(Path(sys.argv[1])).items() for row in tuned(name, file)
        ]
        path = HERE / "fair_networks.csv"
    else:
        found, path = tuned("fair"), HERE / "fair.csv"
    path.write_text(as_csv(found), encoding="utf-8")
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
