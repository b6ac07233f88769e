"""Everyone tuned alike: `python evidence/fair.py` writes fair.csv and fair_games.csv.

It is `hedgerow tune fair` with generated traffic added, one problem after another, resumed in out/
where it was stopped, and with the strongest rivals also tuned in a second constant. Where
HEDGEROW_DATA names the folder of the measured files it writes evidence/fair_networks.csv too, from
`fair_network` and `fair_latency`. Names of problems on the command line choose some; a file keeps
its rows of the others.

Every game that is reported is a row of fair_games.csv. `evidence/fair_table.py` describes that file
and computes the tables from it. A method that refuses a problem has a row in the tables with its
reason in place of numbers.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fair_table
import numpy as np
from fair_table import (
    COLUMNS,
    COMPUTED,
    OWN,
    Row,
    group_of,
    problem_of,
    read_rows,
    write_rows,
    written,
)
from measured_files import CLOUDS, DEVICES, measured_files
from two_constants import FAMILIES

from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.executors import processes
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.fingerprints import code_of
from hedgerow.experiments.reading import load_experiment, read_experiment
from hedgerow.experiments.records import Record
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import Workforce
from hedgerow.experiments.tuning import report, train
from hedgerow.imports import load_path
from hedgerow.networks.edges import read_edges
from hedgerow.networks.matrix import read_matrix

HERE = Path(__file__).parent
OUT = HERE.parent / "out"
WORKERS = 2
TRAFFIC = {"kind": "traffic_game:traffic", "label": "traffic", "horizons": [300]}
VARIANTS = tuple(name for family in FAMILIES.values() for name in family[1:])
HEADINGS = (
    "problem", "horizon", "trained_on", "method", "group", "eagerness", "steps", "choices",
    "at_low_end", "at_high_end", *COMPUTED, "microseconds_per_round", "compiled", "reason",
)  # fmt: skip
Selection = dict[str, Any]


def with_variants(experiment: Experiment) -> Experiment:
    """Return the experiment with the second constants of the strongest rivals as methods."""
    code = tuple((name, code_of(load_path(name))) for name in VARIANTS)
    methods = (*experiment.methods, *VARIANTS)
    return replace(
        experiment, methods=methods, eagerness_methods=methods, code=(*experiment.code, *code)
    )


def with_traffic(experiment: Experiment) -> Experiment:
    """Return the experiment with generated traffic as its last problem."""
    table = {"name": "traffic", "methods": ["unconstrained"], "horizons": [1], "seeds": [300]}
    added = read_experiment({**table, "problems": [TRAFFIC]}, HERE).problems
    return replace(experiment, problems=(*experiment.problems, *added))


def without_losers(selection: Selection) -> Selection:
    """Return the selection with one of the other steps at most for each family: the best."""
    kept = []
    for row in selection["rows"]:
        family = next((f for f in FAMILIES.values() if row["method"] in f[1:]), None)
        kept.append(row)
        if family is not None and row["method"] != best_steps(selection, row["problem"], family):
            kept[-1] = {**row, "eagerness": None}
    return {**selection, "rows": kept}


def best_steps(selection: Selection, problem: str, family: tuple[str, ...]) -> str:
    """Return the member of a family with the least training score, the first on a tie."""
    rows = {row["method"]: row for row in selection["rows"] if row["problem"] == problem}
    return min(
        (name for name in family if rows[name]["tried"]),
        key=lambda name: min(entry["mean_score"] for entry in rows[name]["tried"]),
        default=family[0],
    )


def tuned(
    experiment: Experiment, folder: Path, workforce: Workforce
) -> tuple[Selection, Results, dict[str, str]]:
    """Tune an experiment; return the choice, what is reported, and why some do not play."""
    selection, tallies = train(experiment, folder, workforce)
    if selection:
        selection = without_losers(selection)
        tallies.append(report(experiment, selection, folder, workforce))
    failed = [sentence for tally in tallies for sentence in tally.failed.values()]
    if failed:
        raise RuntimeError(f"{folder}: {len(failed)} runs failed, the first one so: {failed[0]}")
    runs = [run.record for run in Results(folder / "train").runs]
    refused = {run["method"]: run["reason"] for run in runs if run["status"] == "refused"}
    return selection, Results(folder / "held_out"), refused


def trained_on(selection: Selection) -> str:
    """Say what the choice was made on."""
    rounds, seeds = selection["train_rounds"], selection["train_seeds"]
    return f"seeds {seeds[0]} to {seeds[-1]}" if rounds is None else f"the first {rounds} rounds"


def games_of(results: Results) -> list[Row]:
    """Return a row for each reported game."""
    rows = []
    for run in results.runs:
        record, best = run.record, run.benchmark
        if run.regret is None or best is None:
            continue
        method, steps = family_of(record["method"])
        numbers = {
            "eagerness": record["eagerness"],
            "cost": record["cost"],
            "regret": run.regret,
            "ccv": record["ccv"],
            "price": best["cost"] - best["blind"]["cost"],
            "blind_ccv": best["blind"]["ccv"],
        }
        rows.append(
            {
                "label": record["problem"],
                "seed": record["seed"],
                "horizon": record["horizon"],
                "method": method,
                "steps": steps,
                **{name: f"{value:.10g}" for name, value in numbers.items()},
                "oracle_calls": record["oracle_calls"],
                "projections": record["projections"],
            }
        )
    order = {name: i for i, name in enumerate(METHODS)}
    return sorted(rows, key=lambda r: (r["label"], order[r["method"]], r["steps"], r["seed"]))


def family_of(name: str) -> tuple[str, str]:
    """Return the method behind a name, and which steps it has.

    >>> family_of("guo_recoo"), family_of("two_constants:guo_recoo_long")
    (('guo_recoo', 'own'), ('guo_recoo', 'long'))
    """
    if name not in VARIANTS:
        return name, OWN
    method, _, steps = name.partition(":")[2].rpartition("_")
    return method, steps


def rows_of(
    problem: str, selection: Selection, results: Results, refused: dict[str, str]
) -> list[Row]:
    """Return what the table of one problem says of the choices and of the time of a round.

    All labels of the problem are together; last come the methods that refuse it.
    """
    seconds, engines = results.timings(), results.engines()
    played: dict[str, list[Record]] = {}
    for run in results.runs:
        if run.regret is not None and run.record["method"] not in refused:
            played.setdefault(run.record["method"], []).append(run.record)
    T = next(iter(played.values()))[0]["horizon"]
    about = {"problem": problem, "horizon": T, "trained_on": trained_on(selection)}
    labels = list(dict.fromkeys(row["problem"] for row in selection["rows"]))
    rows, two = [], []
    for method in dict.fromkeys(row["method"] for row in selection["rows"]):
        if method not in played or method in VARIANTS:
            continue
        mine = played[method]
        times = [seconds[record["id"]] for record in mine]
        chosen = [row for row in selection["rows"] if row["method"] == method and row["eagerness"]]
        rows.append(
            {
                **about,
                "method": method,
                "group": group_of(method),
                **choices(chosen),
                "microseconds_per_round": 1e6 * float(np.median(times)) / T,
                "compiled": int(all(engines[record["id"]] for record in mine)),
            }
        )
        if method in FAMILIES:
            best = {label: best_steps(selection, label, FAMILIES[method]) for label in labels}
            picked = [row for row in selection["rows"] if row["method"] == best[row["problem"]]]
            steps = {family_of(name)[1] for name in best.values()}
            entry = {**about, "method": method, "group": "two constants", **choices(picked)}
            two.append({**entry, "steps": " ".join(sorted(steps))})
    return [*rows, *two] + [
        {**about, "method": method, "group": "refused", "reason": reason}
        for method, reason in refused.items()
        if method not in VARIANTS
    ]


def choices(rows: list[Row]) -> Row:
    """Return the eagerness that was chosen for each label, and how many are at an end."""
    return {
        "eagerness": " ".join(f"{row['eagerness']:.12g}" for row in rows),
        "choices": len(rows),
        "at_low_end": sum(row["end"] == "low" for row in rows),
        "at_high_end": sum(row["end"] == "high" for row in rows),
    }


def networks(data: Path) -> dict[str, Path]:
    """Turn the two measurements into network files, as docs/how-to/experiments.md does."""
    OUT.mkdir(exist_ok=True)
    files = {"fair_network": OUT / "intercloud.json", "fair_latency": OUT / "seattle.json"}
    read_edges(data / CLOUDS).save(files["fair_network"])
    read_matrix(data / DEVICES, factor=10.0).save(files["fair_latency"])
    return files


def store(name: str, made: list[Row], games: list[Row]) -> None:
    """Write a problem's rows and games; the files keep those of other problems."""
    new = {row["problem"] for row in made}
    kept = [row for row in read_rows(name) if row["problem"] not in new]
    blank = dict.fromkeys(HEADINGS, "")
    filled = [blank | {key: written(value) for key, value in row.items()} for row in made]
    write_rows(name, HEADINGS, [*kept, *filled])
    others = [game for game in read_rows("fair_games.csv") if problem_of(game["label"]) not in new]
    write_rows("fair_games.csv", COLUMNS, [*others, *games])
    fair_table.main()  # the correction is over all problems: all p-values change


def main() -> None:
    """Write both tables, problem by problem."""
    asked = sys.argv[1:]
    jobs = []
    for problem in with_traffic(load_experiment("fair")).problems:
        one = replace(load_experiment("fair"), problems=(problem,))
        jobs.append(("fair.csv", problem.label, one))
    if "HEDGEROW_DATA" in os.environ:
        for name, file in networks(measured_files(CLOUDS, DEVICES)).items():
            experiment = load_experiment(name, file)
            label = experiment.problems[0].label.partition(":")[0]
            jobs.append(("fair_networks.csv", label, experiment))
    for file, label, experiment in jobs:
        if label in asked or not asked:
            folder = OUT / "fair-evidence" / label
            workforce = partial(processes, workers=WORKERS)
            found = tuned(with_variants(experiment), folder, workforce)
            store(file, rows_of(label, *found), games_of(found[1]))


if __name__ == "__main__":
    main()
