"""Everyone tuned alike: `python evidence/fair.py` writes evidence/fair.csv.

It is `hedgerow tune fair` with generated traffic added, one problem after another, resumed in out/
where it was stopped, and with the strongest rivals also tuned in a second constant. Where
HEDGEROW_DATA names the folder of the measured files it writes evidence/fair_networks.csv too, from
`fair_network` and `fair_latency`. Names of problems on the command line choose some; a file keeps
its rows of the others.

Regret is in percent of the price of the constraint, the mean over the reported seeds of what the
best fixed action costs more than the best that ignores the constraint; CCV in percent of that blind
action's, likewise. These are the units of the choice. Every other method is compared with the
default by a paired t-test in regret and in CCV, with Holm's correction over both and all methods of
one problem. A method that refuses a problem has a row with its reason in place of numbers.
"""

from __future__ import annotations

import csv
import os
import sys
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import CLOUDS, DEVICES, measured_files
from scipy import stats
from two_constants import FAMILIES

from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.config import Experiment
from hedgerow.experiments.executors import processes
from hedgerow.experiments.fingerprints import code_of
from hedgerow.experiments.reading import load_experiment, read_experiment
from hedgerow.experiments.results import Results, RunResult
from hedgerow.experiments.sweeps import Workforce
from hedgerow.experiments.tuning import report, train
from hedgerow.import_paths import load_path
from hedgerow.networks.edges import read_edges
from hedgerow.networks.matrix import read_matrix
from hedgerow.report.summary import Mean

HERE = Path(__file__).parent
OUT = HERE.parent / "out"
WORKERS = 2
DEFAULT = "projection_free_coco"
TRAFFIC = {"kind": "traffic_game:traffic", "label": "traffic", "horizons": [300]}
VARIANTS = tuple(name for family in FAMILIES.values() for name in family[1:])
LAST = ("oracle_calls_per_round", "projections_per_round", "microseconds_per_round", "compiled")
HEADINGS = (
    "problem", "horizon", "trained_on", "method", "group", "eagerness", "steps", "choices",
    "at_low_end", "at_high_end", "games", "regret_percent", "regret_percent_half", "ccv_percent",
    "ccv_percent_half", "regret", "ccv", "regret_p", "ccv_p", "rank_by_regret", "rank_by_ccv",
    "undominated", *LAST, "reason",
)  # fmt: skip
Row = dict[str, Any]
Selection = dict[str, Any]
Pair = tuple[str, int]
"""Label and seed of a game."""


def with_variants(experiment: Experiment) -> Experiment:
    """Return the experiment with the second constants of the strongest rivals as methods."""
    code = tuple((name, code_of(load_path(name))) for name in VARIANTS)
    methods = (*experiment.methods, *VARIANTS)
    return replace(experiment, methods=methods, eager=methods, code=(*experiment.code, *code))


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


def rows_of(
    problem: str, selection: Selection, results: Results, refused: dict[str, str]
) -> list[Row]:
    """Return the table of one problem, all its labels together; last come those that refuse it."""
    seconds, engines = results.timings(), results.engines()
    runs = [
        run
        for run in results.runs
        if run.regret is not None and run.record["method"] not in refused
    ]
    values = unit_free(runs)
    rows = []
    for method in dict.fromkeys(row["method"] for row in selection["rows"]):
        mine = [run for run in runs if run.record["method"] == method]
        chosen = [row for row in selection["rows"] if row["method"] == method and row["eagerness"]]
        if not mine:
            continue
        T = mine[0].record["horizon"]
        rows.append(
            {
                "problem": problem,
                "horizon": T,
                "trained_on": trained_on(selection),
                "method": method,
                "group": group_of(method),
                "eagerness": " ".join(f"{row['eagerness']:g}" for row in chosen),
                "steps": method.rpartition("_")[2] if method in VARIANTS else "",
                "choices": len(chosen),
                "at_low_end": sum(row["end"] == "low" for row in chosen),
                "at_high_end": sum(row["end"] == "high" for row in chosen),
                "games": len(mine),
                "values": values[method],
                "regret": float(np.mean([run.regret for run in mine])),
                "ccv": float(np.mean([run.record["ccv"] for run in mine])),
                "oracle_calls_per_round": mean_of(mine, "oracle_calls") / T,
                "projections_per_round": mean_of(mine, "projections") / T,
                "microseconds_per_round": 1e6
                * float(np.median([seconds[run.record["id"]] for run in mine]))
                / T,
                "compiled": int(all(engines[run.record["id"]] for run in mine)),
            }
        )
    played = {key: rows[0][key] for key in ("problem", "horizon", "trained_on")}
    return ranked(compared(two_constants(rows, selection))) + [
        {**played, "method": method, "group": "refused", "games": 0, "reason": reason}
        for method, reason in refused.items()
        if method not in VARIANTS
    ]


def mean_of(runs: list[RunResult], key: str) -> float:
    """Return the mean of a number of the records."""
    return float(np.mean([run.record[key] for run in runs]))


def group_of(method: str) -> str:
    """Return "tuned", or "apart" for what has no factor to tune."""
    if method in VARIANTS:
        return "two constants"
    return "tuned" if METHODS[method].takes("eagerness") else "apart"


def unit_free(runs: list[RunResult]) -> dict[str, dict[Pair, tuple[float, float]]]:
    """Return regret and CCV of each method and game in percent of the units of its label."""
    games = {(run.record["problem"], run.record["seed"]): run.benchmark for run in runs}
    prices: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (label, _), best in games.items():
        assert best is not None
        blind = best["blind"]
        prices[label].append((best["cost"] - blind["cost"], blind["ccv"]))
    units = {label: np.mean(pairs, axis=0) for label, pairs in prices.items()}
    values: dict[str, dict[Pair, tuple[float, float]]] = defaultdict(dict)
    for run in runs:
        price, ccv = units[run.record["problem"]]
        game = run.record["problem"], run.record["seed"]
        percent = 100.0 * run.regret / price, 100.0 * run.record["ccv"] / ccv
        values[run.record["method"]][game] = percent
    return values


def two_constants(rows: list[Row], selection: Selection) -> list[Row]:
    """Return the rows with one "two constants" row for each family, of the best steps by label."""
    at = {row["method"]: row for row in rows}
    labels = list(dict.fromkeys(row["problem"] for row in selection["rows"]))
    found = [row for row in rows if row["group"] != "two constants"]
    for name, family in FAMILIES.items():
        if name not in at:
            continue
        best = {label: best_steps(selection, label, family) for label in labels}
        values = {game: at[best[game[0]]]["values"][game] for game in at[name]["values"]}
        steps = {"own" if m == name else m.rpartition("_")[2] for m in best.values()}
        picked = [row for row in selection["rows"] if row["method"] == best[row["problem"]]]
        found.append(
            {
                **at[name],
                "group": "two constants",
                "eagerness": " ".join(f"{row['eagerness']:g}" for row in picked),
                "steps": " ".join(sorted(steps)),
                "at_low_end": sum(row["end"] == "low" for row in picked),
                "at_high_end": sum(row["end"] == "high" for row in picked),
                "values": values,
                **dict.fromkeys(("regret", "ccv", *LAST), ""),
            }
        )
    return found


def compared(rows: list[Row]) -> list[Row]:
    """Add means, intervals, and the corrected p-values of the comparison with the default."""
    ours = next(row for row in rows if row["method"] == DEFAULT)["values"]
    games = sorted(ours)
    tests: dict[tuple[int, str], float] = {}
    for i, row in enumerate(rows):
        for which, name in enumerate(("regret", "ccv")):
            values = [row["values"][game][which] for game in games]
            mean = Mean.of(values)
            row[f"{name}_percent"], row[f"{name}_percent_half"] = mean.value, mean.half
            apart = np.subtract(values, [ours[game][which] for game in games])
            if row["method"] != DEFAULT:
                tests[i, name] = p_value(apart)
    for (i, name), p in holm(tests).items():
        rows[i][f"{name}_p"] = p
    return rows


def p_value(apart: Any) -> float:
    """Return the p-value of paired differences; those without spread have no t."""
    if np.ptp(apart) == 0.0:
        return float(not apart.any())
    return float(stats.ttest_1samp(apart, 0.0).pvalue)


def holm(tests: dict[Any, float]) -> dict[Any, float]:
    """Return Holm's corrected p-values."""
    corrected, least = {}, 0.0
    for i, (key, p) in enumerate(sorted(tests.items(), key=lambda entry: entry[1])):
        least = max(least, min(1.0, (len(tests) - i) * p))
        corrected[key] = least
    return corrected


def ranked(rows: list[Row]) -> list[Row]:
    """Add the ranks among the tuned methods, and who is undominated."""
    field = [row for row in rows if row["group"] == "tuned"]
    for row in rows:
        mine = both(row)
        others = [both(other) for other in field if other["method"] != row["method"]]
        better = [r <= mine[0] and c <= mine[1] and (r, c) != mine for r, c in others]
        row["undominated"] = int(not any(better)) if row["group"] != "apart" else ""
        if row["group"] == "tuned":
            row["rank_by_regret"] = 1 + sum(r < mine[0] for r, _ in others)
            row["rank_by_ccv"] = 1 + sum(c < mine[1] for _, c in others)
    return rows


def both(row: Row) -> tuple[float, float]:
    """Return regret and CCV with the digits that are written: rounding decides no rank."""
    return float(written(row["regret_percent"])), float(written(row["ccv_percent"]))


def networks(data: Path) -> dict[str, Path]:
    """Turn the two measurements into network files, as docs/how-to/experiments.md does."""
    OUT.mkdir(exist_ok=True)
    files = {"fair_network": OUT / "intercloud.json", "fair_latency": OUT / "seattle.json"}
    read_edges(data / CLOUDS).save(files["fair_network"])
    read_matrix(data / DEVICES, factor=10.0).save(files["fair_latency"])
    return files


def store(name: str, made: list[Row]) -> None:
    """Write rows to a file; it keeps those of other problems."""
    path, kept = HERE / name, list[Row]()
    if path.exists():
        with path.open(encoding="utf-8") as file:
            found = csv.DictReader(file)
            kept = [row for row in found if tuple(row) == HEADINGS]
    new = {row["problem"] for row in made}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADINGS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in kept if row["problem"] not in new)
        for row in made:
            writer.writerow({key: written(value) for key, value in row.items()})
    sys.stdout.write(f"{path}: {', '.join(sorted(new))}\n")
    sys.stdout.flush()


def written(value: Any) -> Any:
    """Return a number with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else value


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
            store(file, rows_of(label, *tuned(with_variants(experiment), folder, workforce)))


if __name__ == "__main__":
    main()
