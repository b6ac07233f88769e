"""Tables of docs/how-to/scale.md: paths in bulk, large games, solvers, and Dask."""

from __future__ import annotations

import math
from statistics import mean

from hedgerow.policies.certificate import Certificate
from tables import read, table


def paths() -> str:
    """Return what bulk paths win and lose against Yen's, on each network."""
    rows = []
    for row in read("scale.json")["paths"]:
        (yen, bulk), (yen_cost, bulk_cost), (slow, fast) = row["least"], row["cost"], row["seconds"]
        cells = [row["network"], str(row["pairs"]), f"{yen:.3f}", f"{bulk:.3f}"]
        cells += [f"{100.0 * (bulk_cost / yen_cost - 1.0):+.1f} %", f"{slow / fast:.0f}"]
        rows.append(cells)
    found = read("scale.json")["paths"]
    rows.append(
        [
            "*mean*",
            "",
            f"{mean(row['least'][0] for row in found):.3f}",
            f"{mean(row['least'][1] for row in found):.3f}",
            f"{100.0 * mean(row['cost'][1] / row['cost'][0] - 1.0 for row in found):+.1f} %",
            "",
        ]
    )
    heads = ["network", "pairs", "least limit, Yen", "least limit, bulk"]
    return table([*heads, "latency of bulk at one limit", "Yen's time over bulk's"], rows)


def game() -> str:
    """Return a large game: what it took, and what it achieved beside usual rules."""
    row = read("scale.json")["game"]
    seconds = row["seconds"]
    certified = (
        f"The certificate is {row['certificate']:.3g} ms per round, against every fixed split "
    )
    certified += "that satisfies all rounds, if there is one."
    cost = row["methods"]["ours"]["cost"]
    if nothing := Certificate(row["certificate"]).within(cost - row["longest"], cost).says_nothing:
        certified = f"The certificate {nothing}."
    lines = [
        f"{row['pairs']:,} demands on {row['paths']:,} paths with {row['hops']:,} hops, "
        f"{row['nodes']:,} nodes, {row['links']:,} directed links, {row['rounds']} rounds. "
        f"Paths {row['paths_seconds']:.0f} s, building the game {row['build_seconds']:.1f} s, peak "
        f"memory {row['peak_gb']:.2f} GB, {seconds['1 thread']:.3g} s per round with one thread "
        f"and {seconds['2 threads']:.3g} s with two. {certified}",
        "",
    ]
    rows = [
        [
            "`ShardedTraffic`" if name == "ours" else name,
            f"{one['cost']:.2f}",
            f"{100.0 * one['violation']:.3f} %",
            f"{100.0 * one['violation_late']:.3f} %",
            f"{one['largest']:.2f}",
        ]
        for name, one in row["methods"].items()
    ]
    heads = ["method", "latency, ms", "traffic above the limit", "in the second half"]
    return "\n".join(lines) + "\n" + table([*heads, "median largest utilisation"], rows)


def growth() -> str:
    """Return time and memory by the number of demands, and the exponents."""
    found = read("scale.json")["growth"]
    rows = [
        [
            f"{row['pairs']:,}",
            *(f"{1e3 * row['seconds'][threads]:.3g}" for threads in ("1", "2")),
            f"{1e3 * row['floor_seconds']:.3g}",
            f"{row['floor_bytes'] / 1e6:.3g}",
            f"{row['peak_gb']:.2f}",
        ]
        for row in found["sizes"]
    ]
    heads = ["demands", "ms per round, 1 thread", "2 threads", "floor, ms", "MB that must move"]
    exponents = " and ".join(
        f"{value:.2f} with {threads} thread{'s' * (threads != '1')}"
        for threads, value in found["exponent"].items()
        if value is not None
    )
    found_exponents = f"\n\nExponent of the time in demands, from 10,000 on: {exponents}."
    return table([*heads, "peak memory, GB"], rows) + (found_exponents if exponents else "")


def solvers() -> str:
    """Return the times of linear programmes."""
    rows = []
    for row in read("scale.json")["solvers"]:
        cells = [f"{row['pairs']:,}"]
        for one in row["solvers"].values():
            spent = f"{one['seconds']:.3g} s"
            cells.append(spent if one["status"] == "Optimal" else f"not in {spent}")
        rows.append(cells)
    return table(["demands", "simplex", "interior point", "PDLP"], rows)


def at_equal_violation() -> str:
    """Return the best programme beside ours with the largest limit that violates no more."""
    rows, times = [], []
    for row in read("scale.json")["solvers"]:
        best = row["solvers"]["simplex"]
        enough = [one for one in row["ours"] if one["violation"] <= best["violation"]]
        ours = enough[0] if enough else min(row["ours"], key=lambda one: one["violation"])
        times.append((row["pairs"], best["seconds"]))
        rows.append(
            [
                f"{row['pairs']:,}",
                f"{1e3 * best['seconds']:,.3g}",
                f"{1e3 * ours['seconds']:.3g}",
                f"{best['seconds'] / ours['seconds']:,.0f}",
                f"{100.0 * best['violation']:.3f} %",
                f"{100.0 * ours['violation']:.3f} %",
                f"{best['cost']:.2f}",
                f"{ours['cost']:.2f}",
                f"{ours['limit']:g}",
            ]
        )
    (small, quick), (large, slow) = times[-2:]
    growth = math.log(slow / quick) / math.log(large / small)
    million = slow * (1e6 / large) ** growth
    own = read("scale.json")["growth"]["sizes"][-1]
    heads = ["demands", "HiGHS, ms", "ours, ms", "ratio", "above the limit: HiGHS", "ours"]
    said = (
        f"\n\nFrom {small:,} to {large:,} demands the simplex method's time grows with the power "
        f"{growth:.2f} of the demands. *Extrapolated*, not measured: {million:,.0f} s for a million"
    )
    if own["pairs"] == 1_000_000:
        said += f", where a round of ours was measured at {own['seconds']['1']:.2g} s"
    return table([*heads, "latency, ms: HiGHS", "ours", "ours' limit"], rows) + said + "."


def dask() -> str:
    """Return times and bytes on workers of one machine."""
    found = read("scale.json")["dask"]
    rows = [
        [
            f"{row['workers']}{', one killed' if row['killed'] else ''}",
            f"{1e3 * row['seconds']:.3g}",
            f"{row['bytes_per_round'] / 1e3:,.0f}",
            str(row["replaced"]),
            "equal" if row["equal"] else "different",
        ]
        for row in found["rows"]
    ]
    head = f"{found['pairs']:,} demands, {found['links']:,} links, on one machine of two cores.\n\n"
    heads = ["workers", "ms per round", "kB moved per round", "workers replaced", "results"]
    return head + table(heads, rows)
