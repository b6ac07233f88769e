"""The numbers of the tuned comparison, computed from its games.

`python evidence/fair_table.py` reads evidence/fair_games.csv and computes these columns of fair.csv
and fair_networks.csv again: means, intervals, tests and ranks. It plays nothing.

A row of fair_games.csv is one game of one method on what was held out: `label` (the problem, with
the pair of devices where there are several), `seed`, `horizon`, `method`, `steps` ("own", or
"short" or "long" where a rival has other steps than its own), the tuned `eagerness`, `cost`,
`regret` and `ccv`, `price` (what the best fixed action costs more than the best that ignores the
constraint), `blind_ccv` (the CCV of the latter), and the numbers of oracle calls and projections.

Regret is in percent of the mean price over the reported games of a label, CCV in percent of the
mean `blind_ccv`. Every other method is compared with the default by a paired t-test in regret and
in CCV. Holm's correction is over all tests of both files: both numbers, all methods, all problems.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from two_constants import FAMILIES

from hedgerow.baselines.methods import find_method
from hedgerow.report.summary import Mean

HERE = Path(__file__).parent
FILES = ("fair.csv", "fair_networks.csv")
GAMES = "fair_games.csv"
DEFAULT = "projection_free_coco"
OWN = "own"
"""The steps of a method as it is."""
COLUMNS = (
    *("label", "seed", "horizon", "method", "steps", "eagerness", "cost", "regret", "ccv"),
    *("price", "blind_ccv", "oracle_calls", "projections"),
)
"""Of the file of games."""
COMPUTED = (
    *("games", "regret_percent", "regret_percent_half", "ccv_percent", "ccv_percent_half"),
    *("regret", "ccv", "regret_p", "ccv_p", "rank_by_regret", "rank_by_ccv", "undominated"),
    *("oracle_calls_per_round", "projections_per_round"),
)
"""The columns of the two tables that are computed from the games."""
Row = dict[str, Any]
Key = tuple[str, str, str]
"""Problem, group and method of a row of the tables."""


def problem_of(label: str) -> str:
    """Return the problem that a label belongs to."""
    return label.partition(":")[0]


def group_of(method: str) -> str:
    """Return "tuned", or "apart" for what has no factor to tune."""
    return "tuned" if find_method(method).takes("eagerness") else "apart"


def grouped(games: Iterable[Row]) -> dict[Key, list[Row]]:
    """Return the games behind each row of the tables, in the order of label and seed.

    A rival that has two constants plays each label with its best steps: those other than its own
    where the file has any.
    """
    found: dict[Key, dict[tuple[str, int], Row]] = defaultdict(dict)
    for game in sorted(games, key=lambda game: game["steps"] != OWN):  # later ones replace
        problem, method = problem_of(game["label"]), game["method"]
        where = game["label"], int(game["seed"])
        if game["steps"] == OWN:
            found[problem, group_of(method), method][where] = game
        if method in FAMILIES:
            found[problem, "two constants", method][where] = game
    return {key: [entry[where] for where in sorted(entry)] for key, entry in found.items()}


def units_of(games: Iterable[Row]) -> dict[str, Any]:
    """Return the mean price and the mean CCV of the blind action for each label."""
    units: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    for game in games:
        units[game["label"]][int(game["seed"])] = float(game["price"]), float(game["blind_ccv"])
    return {label: np.mean(list(pairs.values()), axis=0) for label, pairs in units.items()}


def statistics(games: list[Row]) -> dict[Key, Row]:
    """Return the computed columns of all rows of the tables."""
    rows, units = grouped(games), units_of(games)
    percent = {
        key: np.array(
            [
                100.0 * np.array([float(game["regret"]), float(game["ccv"])]) / units[game["label"]]
                for game in played
            ]
        )
        for key, played in rows.items()
    }
    found = {key: _means(rows[key], percent[key], key[1]) for key in rows}
    tests: dict[tuple[Key, str], float] = {}
    for key in rows:
        problem, _, method = key
        if method != DEFAULT:
            apart = percent[key] - percent[problem, "tuned", DEFAULT]
            for column, name in zip(apart.T, ("regret_p", "ccv_p"), strict=True):
                tests[key, name] = p_value(column)
    for (key, name), p in holm(tests).items():
        found[key][name] = p
    for problem in dict.fromkeys(problem for problem, _, _ in rows):
        rank({key: row for key, row in found.items() if key[0] == problem})
    return found


def _means(games: list[Row], percent: Any, group: str) -> Row:
    row: Row = {"games": len(games)}
    for name, values in zip(("regret_percent", "ccv_percent"), percent.T, strict=True):
        mean = Mean.of(list(values))
        row[name], row[f"{name}_half"] = mean.value, mean.half
    if group != "two constants":  # whose labels may have other units, and other steps
        for name in ("regret", "ccv"):
            row[name] = float(np.mean([float(game[name]) for game in games]))
        for name in ("oracle_calls", "projections"):
            per_round = [int(game[name]) / int(game["horizon"]) for game in games]
            row[f"{name}_per_round"] = float(np.mean(per_round))
    return row


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


def rank(rows: dict[Key, Row]) -> None:
    """Add the ranks among the tuned methods of one problem, and who is undominated."""
    field = {key[2]: both(row) for key, row in rows.items() if key[1] == "tuned"}
    for (_, group, method), row in rows.items():
        mine = both(row)
        others = [pair for name, pair in field.items() if name != method]
        better = [r <= mine[0] and c <= mine[1] and (r, c) != mine for r, c in others]
        row["undominated"] = int(not any(better)) if group != "apart" else ""
        if group == "tuned":
            row["rank_by_regret"] = 1 + sum(r < mine[0] for r, _ in others)
            row["rank_by_ccv"] = 1 + sum(c < mine[1] for _, c in others)


def both(row: Row) -> tuple[float, float]:
    """Return regret and CCV with the digits that are written: rounding decides no rank."""
    return float(written(row["regret_percent"])), float(written(row["ccv_percent"]))


def written(value: Any) -> Any:
    """Return a number with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else value


def read_rows(name: str) -> list[Row]:
    """Return the rows of a file of this folder, none where it does not exist."""
    path = HERE / name
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(name: str, columns: Iterable[str], rows: Iterable[Row]) -> None:
    """Write a file of this folder."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def renewed(rows: list[Row], found: dict[Key, Row]) -> list[Row]:
    """Return rows of a table with the computed columns as they follow from the games."""
    filled = []
    for row in rows:
        computed = found.get((row["problem"], row["group"], row["method"]), {"games": 0})
        filled.append(row | {name: str(written(computed.get(name, ""))) for name in COMPUTED})
    return filled


def main() -> None:
    """Compute the columns of both tables from the games."""
    found = statistics(read_rows(GAMES))
    for name in FILES:
        rows = renewed(read_rows(name), found)
        if rows:
            write_rows(name, rows[0], rows)
            sys.stdout.write(f"{HERE / name}\n")


if __name__ == "__main__":
    main()
