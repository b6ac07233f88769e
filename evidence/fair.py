"""Everyone tuned alike: `python evidence/fair.py` writes fair.csv and fair_games.csv.

It is `hedgerow tune fair` with generated traffic added, one problem after another, resumed in out/
where it was stopped, with the strongest rivals also tuned in a second constant, and with the rules
of engineers, which have nothing to tune. Where HEDGEROW_DATA names the folder of the measured files
it writes evidence/fair_networks.csv too, from `fair_network` and `fair_latency`. Names of problems
and of methods on the command line choose some; a file keeps its rows of the others. Play only those
methods again that changed, and compare a few others: the same code must give the same rows. Times
per round then stay those of the run of all methods, because others cannot be compared with them.

Every game that is reported is a row of fair_games.csv. `evidence/fair_table.py` describes that file
and computes the tables from it. A method that refuses a problem has a row in the tables with its
reason in place of numbers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
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

from hedgerow.baselines.methods import METHODS, method_names
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
RULES = ("threshold_rule", "proportional_integral", "last_round")
"""Yesterday's best is not among them: these games are shorter than its day."""
VARIANTS = tuple(name for family in FAMILIES.values() for name in family[1:])
HEADINGS = (
    "problem", "horizon", "trained_on", "method", "group", "eagerness", "steps", "choices",
    "at_low_end", "at_high_end", *COMPUTED, "microseconds_per_round", "compiled", "reason",
)  # fmt: skip
LAST = {"two constants": 1, "refused": 2}
"""Groups that follow all others of a problem."""
Selection = dict[str, Any]


def with_variants(experiment: Experiment, asked: Collection[str] = ()) -> Experiment:
    """Return the experiment with rules and the second constants of the strongest rivals.

    If methods are asked for, it has no others.
    """
    methods = (*experiment.methods, *VARIANTS, *RULES)
    if asked:
        methods = tuple(name for name in methods if family_of(name)[0] in asked)
    code = tuple((name, code_of(load_path(name))) for name in VARIANTS if name in methods)
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
    return sorted(rows, key=lambda row: (row["label"], row["method"], row["steps"], row["seed"]))


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
    """Write rows and games of some methods on a problem; the files keep all others."""
    new = {(row["problem"], row["method"]) for row in made}
    before = read_rows(name)
    kept = [row for row in before if (row["problem"], row["method"]) not in new]
    blank = dict.fromkeys(HEADINGS, "")
    filled = [blank | {key: written(value) for key, value in row.items()} for row in made]
    if any(row["problem"] in {problem for problem, _ in new} for row in kept):
        keep_times(filled, before)  # those of one run can be compared
    rows = in_order([*kept, *filled], "problem", lambda row: LAST.get(row["group"], 0))
    write_rows(name, HEADINGS, rows)
    others = [
        game
        for game in read_rows("fair_games.csv")
        if (problem_of(game["label"]), game["method"]) not in new
    ]
    write_rows("fair_games.csv", COLUMNS, in_order([*others, *games], "label"))
    fair_table.main()  # the correction is over all problems: all p-values change


def keep_times(rows: list[Row], before: list[Row]) -> None:
    """Give rows the times of a round that they had before, where they had any."""
    times = {(row["problem"], row["method"]): row["microseconds_per_round"] for row in before}
    for row in rows:
        time = times.get((row["problem"], row["method"]))
        if time and row["microseconds_per_round"] != "":
            row["microseconds_per_round"] = time


def in_order(rows: list[Row], first: str, then: Callable[[Row], int] = lambda _: 0) -> list[Row]:
    """Return rows by a column as it comes, then by a key, then in the order of the methods."""
    places = {name: i for i, name in enumerate(dict.fromkeys(row[first] for row in rows))}
    methods = {name: i for i, name in enumerate((*METHODS, *RULES))}
    return sorted(rows, key=lambda row: (places[row[first]], then(row), methods[row["method"]]))


def main() -> None:
    """Write both tables, problem by problem."""
    methods = [name for name in sys.argv[1:] if name in method_names()]
    asked = [name for name in sys.argv[1:] if name not in methods]
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
            found = tuned(with_variants(experiment, methods), folder, workforce)
            store(file, rows_of(label, *found), games_of(found[1]))


if __name__ == "__main__":
    main()
