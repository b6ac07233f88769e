"""The record of choices: what was measured, what stands in for it, what was rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hedgerow.policies.methods import METHODS
from hedgerow.report.experiment.summary import Summary


class Choice(NamedTuple):
    """A choice, its kind (measured, proxy, synthetic, reconstruction, choice), and the reason."""

    what: str
    kind: str
    why: str


OPEN = (
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
    yield from OPEN
    for problem in summary.results.experiment["problems"]:
        kind, files = problem["kind"], problem["sha256"]
        if files:
            names = ", ".join(sorted(files))
            yield Choice(problem["label"], "measured", f"from files ({names}); hashes are stored")
        else:
            yield Choice(problem["label"], "synthetic", SYNTHETIC.get(kind, "drawn from its seed"))
    for name in summary.results.experiment["methods"]:
        method = METHODS[name]
        rebuilt = "reconstruction" in method.confidence
        kind = "reconstruction" if rebuilt else "choice"
        yield Choice(name, kind, f"{method.source}; specification: {method.confidence}")
    how = {
        run.record["constants"]["how"]
        for run in summary.results.runs
        if run.record.get("constants")
    }
    for text in sorted(how):
        yield Choice("constants told to theorems", "measured", text)
