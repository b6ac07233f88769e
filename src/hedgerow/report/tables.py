"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hedgerow.protocols.benchmark import Benchmark
from hedgerow.report.curves import Run
from hedgerow.report.escaping import in_table


def run_table(runs: Sequence[Run], best: Benchmark, budget: float) -> Table:
    """Compare runs of one problem; `budget` is what the constraint asks for in each round."""
    rounds = len(runs[0].trace.costs)
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 2),
        pad_edge=False,
        caption=(
            f"best    the fixed action that keeps every round: {best.cost / rounds:.1f} ms,\n"
            f"        proved optimal within {max(0.0, best.gap) / rounds:.1g} ms\n"
            "cost    a round\n"
            "regret  cost above best's, in % of it\n"
            "proved  bound of the regret, proved by the run alone, in % of best's cost\n"
            "CCV     sum of max(0, g_t), in % of what all rounds ask for\n"
            "signed  sum of g_t, where slack pays for violation, in the same unit\n"
            "time    ask, feedback and tell, for one round"
        ),
        caption_justify="left",
    )
    table.add_column("policy", no_wrap=True)
    for heading in (
        "cost\nms",
        "regret\n%",
        "proved\n%",
        "CCV\n%",
        "signed\n%",
        "oracle\ncalls",
        "time\nµs",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, trace, certificate in runs:
        table.add_row(
            in_table(name),
            f"{trace.cost / rounds:.1f}",
            f"{100 * trace.regret(best) / best.cost:+.2f}",
            f"{100 * certificate / best.cost:+.2f}",
            f"{100 * trace.ccv / (rounds * budget):.2f}",
            f"{100 * trace.signed_ccv / (rounds * budget):+.2f}",
            f"{trace.oracle_calls}",
            f"{1e6 * trace.seconds / rounds:.0f}",
        )
    return table
