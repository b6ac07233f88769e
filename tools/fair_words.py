"""Sentences on the tuned comparison, made from its two files: a new run needs no new prose."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable

import evidence_tables as evidence
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.reading import shipped
from tables import read, table

ADDED = {"traffic": "Demands on Abilene split over paths, no link used above a limit, synthetic."}
"""The problem that `evidence/fair.py` adds to those of the experiment files."""
NOT_YET = "not played yet"
GRAPHS = ("atlas_like", "intercloud45", "seattle99")


def listed(words: Iterable[str]) -> str:
    """Return names in code, as a sentence has them.

    >>> listed(["a", "b", "c"])
    '`a`, `b` and `c`'
    """
    *first, last = [f"`{word}`" for word in words]
    return f"{', '.join(first)} and {last}" if first else last


def asked() -> dict[str, str]:
    """Return the problems that the experiment files ask for, each with what it is."""
    names = ("fair", "fair_network", "fair_latency")
    files = [tomllib.loads(shipped()[name].read_text(encoding="utf-8")) for name in names]
    problems = [problem for file in files for problem in file["problems"]]
    kinds = {p.get("label", p["kind"]).partition(":")[0]: p["kind"] for p in problems}
    return {label: find_kind(kind).summary for label, kind in kinds.items()} | ADDED


def setting() -> str:
    """Return every problem with what its choices rest on, and say where they are at an end."""
    at, about = evidence.grouped("tuned"), asked()
    lines = []
    for problem in evidence.problems():
        row = at[evidence.DEFAULT, problem]
        cells = [row["trained_on"], row["horizon"], row["games"]]
        lines.append([f"`{problem}`", about.pop(problem), *cells])
    lines += [[f"`{name}`", what, NOT_YET, "", ""] for name, what in about.items()]
    tuned, problems = {method for method, _ in at}, len(evidence.problems())
    choices, ends, whose = evidence.grid_ends()
    games = len(read("fair_games.csv"))
    found = [
        f"There are {len(tuned)} methods with a tuned factor and {problems} problems.",
        f"{games} games are reported.",
        f"The choice is an end of what was tried in {ends} of {choices} choices"
        f"{f', of {listed(whose)}' if ends else ''}.",
        *(
            f"`{method}` refuses `{problem}`: {row['reason']}."
            for (method, problem), row in evidence.grouped("refused").items()
        ),
    ]
    head = ["problem", "what it is", "chosen on", "T", "games"]
    return f"{' '.join(found)}\n\n{table(head, lines)}"


def outcome() -> str:
    """Say who has the smallest sums of ranks, who is undominated, and what a round takes."""
    return " ".join([*_sums(), *_undominated(), *_times()])


def _sums() -> list[str]:
    totals = evidence.rank_totals()
    order = sorted(totals, key=lambda name: totals[name])
    ours = (evidence.DEFAULT, f"{evidence.DEFAULT}_plain")
    places = [
        f"`{name}` is number {order.index(name) + 1} of {len(order)} with {totals[name]}"
        for name in ours
        if name != order[0]
    ]
    firsts = [problem for problem, names in evidence.firsts().items() if names & set(ours)]
    where = f"{len(firsts)} of {len(evidence.problems())} problems"
    return [
        f"`{order[0]}` has the least total, {totals[order[0]]}; {' and '.join(places)}.",
        f"One of ours has the smallest sum on {where}{', ' if firsts else ''}"
        f"{listed(firsts) if firsts else ''}.",
    ]


def _undominated() -> list[str]:
    rows = {p: evidence.grouped("tuned")[evidence.DEFAULT, p] for p in evidence.problems()}
    not_so = [problem for problem, row in rows.items() if row["undominated"] == "0"]
    share = f"{len(rows) - len(not_so)} of {len(rows)} problems"
    one = f"; one is on {listed(not_so)}" if not_so else ""
    return [f"No tuned method is better than the default in both means on {share}{one}."]


def _times() -> list[str]:
    rows = [row for row in evidence.grouped("tuned").values() if row["problem"] in GRAPHS]
    ours = [_microseconds(row) for row in rows if row["method"] == evidence.DEFAULT]
    theirs = [_microseconds(row) for row in rows if float(row["projections_per_round"]) > 0.5]
    return [
        f"A round of the default takes {min(ours):.0f} to {max(ours):.0f} microseconds on the "
        f"graphs, one of a method that projects {min(theirs):.0f} to {max(theirs):.0f}, all on a "
        "busy machine and some compiled."
    ]


def _microseconds(row: dict[str, str]) -> float:
    return float(row["microseconds_per_round"])


def standings() -> str:
    """Say how the comparisons with the default end, for both groups of rivals."""
    as_published = evidence.rivals_as_published()
    without = (
        f"{listed(as_published)}, the tuned methods that are left without reconstructions, methods "
        "out of scope and variants of ours (`projection_free_coco_plain`, and `wang_2025` with "
        "restarts around our learner),"
    )
    return " ".join(
        [
            _standings("tuned", "tuned methods"),
            _standings("tuned", without, as_published),
            _standings("two constants", "rivals that have two constants"),
        ]
    )


def _standings(group: str, who: str, some: Collection[str] | None = None) -> str:
    found = evidence.against_default(group).values()
    count = {
        kind: sum(some is None or name in some for how in found for name in how[kind])
        for kind in evidence.STANDINGS.values()
    }
    return (
        f"In {sum(count.values())} comparisons with {who} the default is better in "
        f"{count['worse']} and worse in {count['better']}, has less of one and more of the other "
        f"in {count['trade']}, and it is undecided in {count['open']}."
    )
