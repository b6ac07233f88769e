"""The record of choices: what comes from files, what stands in for it, what was rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hedgerow.baselines.methods import installed_method
from hedgerow.report.summary import Summary
from hedgerow.report.verdicts import ROUTES


class Choice(NamedTuple):
    """A choice, its kind (choice, file, synthetic, reconstruction, computed), and the reason."""

    what: str
    kind: str
    why: str


OF_ROUTES = (
    Choice(
        "the constraint's threshold",
        "choice",
        "The paper never states it; without one, bandwidth >= 0 always holds. Here: half of what "
        "the best path surely offers, raised where the cheapest path would keep it.",
    ),
    Choice(
        "the graph",
        "choice",
        "The paper's hub graph has cycles, and directions have negative entries, so Dijkstra is no "
        "oracle and shortest simple paths are hard. Here edges point forward: exact, one pass.",
    ),
)
ALWAYS = (
    Choice(
        "constants",
        "choice",
        "The paper sets all parameters 'as specified in the corresponding papers'. At T = 1600 "
        "those ignore the constraint; they are shown as theory, beside practical ones.",
    ),
    Choice(
        "regret",
        "choice",
        "Against the best fixed action that keeps every round's constraint, with a proved gap.",
    ),
)
SYNTHETIC = {
    "atlas_like": "latencies and bandwidths are drawn; the shape follows RIPE Atlas measurements",
}


def choices(summary: Summary) -> Iterator[Choice]:
    """Yield the open choices, then what each problem and method stands on."""
    experiment = summary.results.experiment
    if any(problem["kind"] in ROUTES for problem in experiment["problems"]):
        yield from OF_ROUTES
    yield from ALWAYS
    yield from map(_problem, experiment["problems"])
    for name in experiment["methods"]:
        method = installed_method(name)
        if method is None:
            yield Choice(name, "choice", "this release does not know it; its numbers are as stored")
            continue
        rebuilt = "reconstruction" in method.confidence
        kind = "reconstruction" if rebuilt else "choice"
        yield Choice(name, kind, f"{method.source}; specification: {method.confidence}")
    how = {
        run.record["constants"]["how"]
        for run in summary.results.runs
        if run.record.get("constants")
    }
    for text in sorted(how):
        yield Choice("constants told to theorems", "computed", text)


def _problem(problem: dict[str, Any]) -> Choice:
    label, kind, files = problem["label"], problem["kind"], problem["sha256"]
    if not files:
        return Choice(label, "synthetic", SYNTHETIC.get(kind, "drawn from its seed"))
    names = ", ".join(str(problem["parameters"][key]) for key in sorted(files))
    if "network" in files:
        labels = "see its labels for what was measured, stands in, or was drawn"
        return Choice(label, "file", f"from {names}: {labels} (`hedgerow network show`)")
    return Choice(label, "file", f"from {names}; its SHA-256 is stored")
