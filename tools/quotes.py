"""Numbers in the prose: what a sentence must say as long as its evidence says so.

A block of a page (up to the next empty line) that quotes evidence has `<!-- quotes: name name -->`
in it. Each name is a function here, and the strings that it returns must stand in that block.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import Any

import evidence_tables as evidence
from hedgerow import bounds
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.paper import paper_potential
from page_tables import GUARDED, bench_row, guard_counts, round_times
from tables import read

Said = tuple[str, ...]
QUOTES: dict[str, Callable[[], Said]] = {}
MARK = re.compile(r"<!-- quotes: ([\w ]+) -->")


def quote(function: Callable[[], Said]) -> Callable[[], Said]:
    """Enter a function under its name."""
    QUOTES[function.__name__] = function
    return function


def quoted(page: str) -> Iterator[tuple[str, str, Said]]:
    """Yield (name, block, what must stand in it) for every quotation of a page."""
    for block in re.split(r"\n\s*\n", page):
        for names in MARK.findall(block):
            text = " ".join(MARK.sub("", block).split())
            for name in names.split():
                if name not in QUOTES:
                    raise ValueError(f"tools/quotes.py does not know {name!r}")
                yield name, text, QUOTES[name]()


def missing(page: str) -> list[str]:
    """Return a sentence for everything that a page should say and does not."""
    return [
        f"{name}: the evidence says {words!r}, the text around the mark does not"
        for name, text, said in quoted(page)
        for words in said
        if words not in text
    ]


# Methods


@quote
def all_methods() -> Said:
    """How many methods are registered."""
    return (f"{len(METHODS)} methods",)


@quote
def practical_methods() -> Said:
    """How many methods are left where those that play alike with practical constants count once."""
    return (f"{len(METHODS) - len(evidence.ALIKE)} methods are left",)


@quote
def without_factor() -> Said:
    """Who has no eagerness."""
    none = [name for name, method in METHODS.items() if not method.takes("eagerness")]
    return (f"{_word(len(none))} have none", *(f"`{name}`" for name in none))


@quote
def verdict_times() -> Said:
    """How long Wang et al.'s method takes against Algorithm 2, both compiled."""
    claim = read("verdicts.json")["verdicts"][-1]
    numbers = claim["parts"][0]["numbers"]
    found = re.fullmatch(r"wang_2025 \(compiled\) takes ([\d.]+) .*\(compiled\)", numbers)
    assert found is not None, numbers
    return (f"{found[1]} times as long",)


@quote
def restarts_lose() -> Said:
    """Pairs alike but for the restart, or but for the potential."""
    pairs, first, first_lost = evidence.paired_restarts("restart at x_1")
    _, here, here_lost = evidence.paired_restarts("restart at x_t")
    potentials, neither = evidence.paired_potentials()
    return (
        f"{pairs} pairs",
        f"in {first}, the restarted one in {first_lost}",
        f"{here} and {here_lost}",
        f"in {neither} of {potentials} pairs",
    )


# Constants of theorems


@quote
def paper_horizon() -> Said:
    """From which power of ten on the theorem's constants put a weight of 1 on the constraint."""

    def weight(T: int) -> float:
        potential, queue = paper_potential(T, 1.0)
        return potential.weight(queue + T)

    exponent = next(k for k in range(1, 60) if weight(10**k) >= 1.0)
    return (f"1e{exponent}",)


@quote
def theorem_horizons() -> Said:
    """From where on the paper's bounds say something."""
    horizons = (
        bounds.nonvacuous_horizon(lambda T: bounds.ocg_regret(1, 1, T), 1),
        bounds.nonvacuous_horizon(lambda T: bounds.coco_regret(1, 1, T), 1),
        bounds.nonvacuous_horizon(lambda T: bounds.coco_ccv(1, 1, T), 1),
    )
    return tuple(_power_of_ten(T) for T in horizons)


# Regret at the same violation


def _matched(game: str, method: str, level: str = "default") -> dict[str, Any]:
    rows = read("beyond.json")["matched"]
    key = (game, level, method)
    return next(r for r in rows if (r["game"], r["level"], r["method"]) == key)


def _regret(game: str, method: str, level: str = "default") -> float:
    return float(_matched(game, method, level)["regret"]["mean"])


GAMES = ("G", "N2", "S1", "N3", "S2", "S2b", "N1", "S3", "S4")


@quote
def wins() -> Said:
    """On how many of the nine games our two policies have less regret."""
    default = [g for g in GAMES if _regret(g, "default") < _regret(g, "Sinha-Vaze")]
    tracking = [g for g in GAMES if _regret(g, "tracking") < _regret(g, "Sinha-Vaze")]
    apart = {g: _matched(g, "Sinha-Vaze, per game")["tracking_minus"] for g in GAMES}
    clearly = [g for g, row in apart.items() if row["mean"] + row["half"] < 0.0]
    lost = {g for g in GAMES if g not in default}, {g for g in GAMES if g not in tracking}
    assert lost == ({"N1", "S2b"}, {"S2b"})
    assert {g for g in GAMES if g not in clearly} == {"S1", "N3", "S2b"}
    return (f"on {len(default)} of 9", f"on {len(tracking)} of 9", f"clearly so on {len(clearly)}")


@quote
def tracking_pays() -> Said:
    """What tracking gains on N1, costs elsewhere, and how long its rounds take."""
    more = {g: _regret(g, "tracking") - _regret(g, "default") for g in (*GAMES, "HB")}
    ratios = [
        r["ratio"] for r in read("beyond_speed.json")["policies"] if r["policy"] == "tracking"
    ]
    return (
        f"regret {_regret('N1', 'tracking'):.2f}",
        f"the default {_regret('N1', 'default'):.2f}",
        f"at most {max(more[g] for g in GAMES):.3f}",
        f"{more['HB']:.3f} on HB",
        f"{min(ratios):.1f} to {max(ratios):.1f} times",
    )


@quote
def beta_over_floor() -> Said:
    """How far the regulariser is above its floor, where it is."""
    shares = [s for row in read("beyond_growth.json") for s in row["floor_over_beta"] if s < 1.0]
    return (f"{math.floor(1 / max(shares))} to {math.floor(1 / min(shares))} times",)


@quote
def exact_leader_constants() -> Said:
    """(1 + 1/c) sqrt(c/2) of Theorem B."""
    values = ((1.0 + 1.0 / c) * math.sqrt(c / 2.0) for c in (1.0, 0.1, 0.03))
    one, tenth, default = (f"{value:.1f}" for value in values)
    return (f"is {one} at c = 1, {tenth} at c = 0.1 and {default} at c = 0.03",)


@quote
def growth_of_beta() -> Said:
    """Slopes of beta, M and CCV between T = 4000 and 64000."""
    rows = [row for row in read("beyond_growth.json") if row["game"] != "G"]
    slopes = [row[key] for row in rows for key in ("beta_slope", "M_slope")]
    ccv = {row["game"]: row["ccv_slope"] for row in rows}
    other = [slope for game, slope in ccv.items() if game != "S2b"]
    return (
        f"T^{{{min(slopes):.2f}}} to T^{{{max(slopes):.2f}}}",
        f"T^{{{min(other):.2f}}} to T^{{{max(other):.2f}}}",
        f"T^{{{ccv['S2b']:.2f}}} on S2b",
    )


@quote
def follower() -> Said:
    """The follower alone on S2b, and the weight that it is given there."""
    row = next(r for r in read("beyond_follower.json") if r["game"] == "S2b")
    regret, ccv = row["follower"]
    return (
        f"regret {regret:.3f} at CCV {ccv:.3f}",
        f"{100 * row['weight_of_leader']:.0f} % of the weight",
    )


@quote
def strict_graphs() -> Said:
    """Regret at a quarter of the CCV on the two graphs."""
    default, tracking = (
        [f"{_regret(game, method, 'strict'):.3f}" for game in ("G", "N2")]
        for method in ("default", "tracking")
    )
    assert _matched("G", "Wang", "strict")["regret"] is None
    return (
        f"regret {default[0]} on G and {default[1]} on N2",
        f"tracking {tracking[0]} and {tracking[1]}",
    )


@quote
def strict_curved() -> Said:
    """Regret at a quarter of the CCV on HB."""
    ours, theirs = (_regret("HB", m, "strict") for m in ("default", "Sinha-Vaze"))
    return (f"{ours:.3f} for the default, {theirs:.3f} for Sinha-Vaze",)


@quote
def chosen_factors() -> Said:
    """The factors that training chose."""
    chosen = read("beyond.json")["chosen"]
    by_game = chosen["factor_by_game"]
    assert {g for g, f in by_game.items() if abs(f - 0.088388) < 1e-6} == {"S1", "N3", "S3"}
    assert {g for g, f in by_game.items() if abs(f - 0.707107) < 1e-6} == {"G", "N2", "N1"}
    return (
        f"({chosen['factor']:.3f} was chosen)",
        f"0.1 ({chosen['c']:g})",
        f"{by_game['S1']:.3f} on S1, N3 and S3, {by_game['S2b']:.3f} on S2b and "
        f"{by_game['G']:.3f} on G, N2 and N1",
    )


@quote
def slightly_worse() -> Said:
    """Where tracking is worse than the default beyond doubt, at the default's CCV."""
    apart = {g: _matched(g, "default")["tracking_minus"] for g in GAMES}
    doubtless = {g for g, row in apart.items() if row["mean"] - row["half"] > 0.0}
    assert doubtless == {"S1", "N3", "S2", "S4", "G"}, doubtless
    return ("on S1, N3, S2, S4 and G beyond doubt",)


@quote
def larger_c() -> Said:
    """What c = 0.3 does at eagerness 1: regret lower or higher than at c = 0.03, and the CCV."""
    sweeps = read("beyond.json")["sweeps"]

    def at_one(game: str, method: str) -> tuple[float, float]:
        runs = [s for s in sweeps if (s["game"], s["method"]) == (game, method)]
        at = [run["eagerness"].index(1.0) for run in runs]
        pairs = [(run["regret"][i], run["ccv"][i]) for run, i in zip(runs, at, strict=True)]
        return mean(r for r, _ in pairs), mean(c for _, c in pairs)

    both = {g: (at_one(g, "CertificateSteps(0.3)"), at_one(g, "default")) for g in (*GAMES, "HB")}
    apart = {g: large[0] - small[0] for g, (large, small) in both.items()}
    less = {g for g, difference in apart.items() if difference < -0.005}
    more = {g for g, difference in apart.items() if difference > 0.005}
    assert (less, more) == ({"S2b", "N1"}, {"S1", "N3", "S2", "S4", "HB"}), apart
    (moving, drifting) = (both[g] for g in ("S2b", "N1"))
    return (
        f"{moving[0][1]:.3f} for {moving[1][1]:.3f}",
        f"{drifting[0][1]:.3f} for {drifting[1][1]:.3f}",
    )


def _real(game: str, method: str) -> dict[str, Any]:
    rows = read("beyond_real.json")["rows"]
    found: dict[str, Any] = next(r for r in rows if r["game"].endswith(game))["methods"][method]
    return found


@quote
def loose_routes() -> Said:
    """What tracking violates where the constraint does not bind."""
    one, two = (_real(game, "tracking") for game in ("30 to 26", "1 to 7"))
    saved = 1.0 - two["cost"] / _real("1 to 7", "default")["cost"]
    return (f"{one['ccv']:.1f} and {two['ccv']:.1f} links", f"{100 * saved:.0f} % below")


@quote
def real_ranks() -> Said:
    """Who is best on which real rounds, and where eight actions cost less than any play."""
    rows = read("beyond_real.json")["rows"]
    ours, markets, beaten = [], 0, []
    for row in rows:
        regrets = {name: found["regret"]["0"] for name, found in row["methods"].items()}
        least = min(value for value in regrets.values() if value is not None)
        if regrets["tracking"] == least:
            ours.append(row["game"])
        if row["game"].startswith("Portfolio"):
            markets += regrets["tracking"] > regrets["default"]
        costs = [min(found["cost_of_sweep"]) for found in row["methods"].values()]
        if row["benchmarks"]["7"]["cost"] < min(costs):
            beaten.append(row["game"])
    assert ours == ["quick routes, seattle99 83 to 63"], ours
    assert len(beaten) == len(rows) - 1
    assert rows[-1]["game"] not in beaten
    return (f"worse than the default on {_word(markets)} of three markets", "But for *LatencyCap*")


@quote
def switching_gaps() -> Said:
    """How open the benchmarks with switches are: the gap over what they add, at least."""
    shares = []
    for row in read("beyond_real.json")["rows"]:
        best = row["benchmarks"]
        assert best["0"]["status"] == "optimal"
        assert all(best[s]["status"] == "gap" for s in ("1", "3", "7"))
        shares += [best[s]["gap"] / (best["0"]["cost"] - best[s]["cost"]) for s in ("1", "3", "7")]
    return (f"{min(shares):.1f} to {max(shares):.0f} times",)


@quote
def lazy_pays() -> Said:
    """How much time laziness saves where it saves any."""
    ratios = [r["ratio"] for r in read("beyond_speed.json")["lazy"] if r["learner"] == "LazyOCG"]
    assert sum(ratio < 1.0 for ratio in ratios) == 1
    return (f"({100 * (1 - min(ratios)):.0f} % less time)",)


@quote
def longer_search() -> Said:
    """What the longer search found for the present default on the simplex."""
    rows = read("adversary_search.json")
    worst = [
        row["worst"]
        for row in rows
        if (row["policy"], row["set"]) == ("projection_free_coco", "Simplex")
        and row["measure"].startswith("regret")
    ]
    return (f"{worst[0]:.3f} for the present default on the simplex",)


@quote
def course_of_search() -> Said:
    """How the sequence that the search found hurts."""
    learner = read("beyond_adversary.json")["learners"][0]
    ours, rms = (learner["course"][name] for name in ("CertificateSteps(0.03)", "RmsSteps(16)"))
    t = ours["t"]
    early, half = t.index(5), t.index(100)
    late = ours["regret"][-1] - ours["regret"][half]
    return (
        f"{ours['beta'][early]:.0f} D L after 5 rounds and {ours['beta'][half]:.0f} D L after 100",
        f"{rms['beta'][early]:.1f} and {rms['beta'][half]:.1f}",
        f"{ours['far'][-1]:.1f} D away",
        f"{late:.2f} of its regret of {ours['regret'][-1]:.2f}",
        f"`RmsSteps` has {rms['regret'][-1]:.2f}",
    )


@quote
def guard_acts() -> Said:
    """On how many kinds of games the guard never acts, and how often at most elsewhere."""
    counts = guard_counts()
    quiet = {name: sum(not any(of[name]) for of in counts.values()) for name in GUARDED}
    box = counts["halfspace_box", 1000]["default"]
    assert max(max(of["default"]) for of in counts.values()) == max(box)
    caps = counts["latency cap, seattle99", 344]["default"]
    products = [n for (game, _), of in counts.items() if "product" in game for n in of["plain"]]
    assert (min(products), max(products)) == (1, 2)
    return (
        f"For the default it never acts on {quiet['default']} of {len(counts)} kinds",
        f"in up to {max(box)} of 1000 rounds, {median(box):g} in the median",
        f"in up to {max(caps)} of 344 rounds",
        f"Without tracking it never acts on {quiet['plain']} of {len(counts)} kinds",
    )


@quote
def cheap_projections() -> Said:
    """Where a round of a method that projects takes less time than one of the default."""
    cheaper, dearer = [], []
    for problem, (ours, _, least, _) in round_times().items():
        (cheaper if least < ours else dearer).append((problem, least / ours))
    names = [f"`{problem}`" for problem, _ in cheaper]
    ratios = [ratio for _, ratio in dearer]
    return (
        f"{', '.join(names[:-1])} and {names[-1]}",
        f"on the {len(dearer)} others",
        f"{min(ratios):.1f} to {max(ratios):.0f} times as long",
    )


# Problems


def _binding_pairs() -> list[dict[str, Any]]:
    pairs = read("problems.json")["latency_cap_on_random_pairs"]
    return [pair for pair in pairs if pair["blind_ccv"] > 0.0]


def _halved(key: str) -> int:
    return sum(pair[key] <= 0.5 * pair["blind_ccv"] for pair in _binding_pairs())


def _unchanged(key: str) -> int:
    return sum(pair[key] == pair["blind_ccv"] for pair in _binding_pairs())


@quote
def capped_pairs() -> Said:
    """Latency caps between random pairs: how many bind, and how many the default heeds."""
    binding = _binding_pairs()
    first, second = (
        sum(pair["network"] == name for pair in binding) for name in ("intercloud45", "seattle99")
    )
    return (
        f"for {first} and for {second}",
        f"these {len(binding)} pairs",
        f"on {_halved('ccv')}, and leaves it unchanged on {_unchanged('ccv')}",
    )


@quote
def range_given() -> Said:
    """What a given range does to the CCV, on the chosen pair and on random ones."""
    rows = {row["problem"]: row for row in read("problems.json")["rows"]}
    learnt = rows["LatencyCap, intercloud45"]
    given = rows["LatencyCap, intercloud45, range given"]
    return (
        f"{given['ccv'] / learnt['ccv']:.1f} times as large",
        f"halved on {_halved('ccv_range_given')} instead of {_halved('ccv')}",
        f"{_unchanged('ccv_range_given')} are unchanged",
    )


# Speed


@quote
def exponents() -> Said:
    """How the time of a round grows with horizon and edges."""
    bench = read("bench.json")
    slopes, edges = bench["exponents"], {row["edges"]: row for row in bench["edges"]}
    return (
        f"exponent {round(slopes['horizon'], 2) + 0.0:.2f}",  # no -0.00
        f"{edges[10_000]['us_per_round']:.0f} µs at 10^4, "
        f"{edges[100_000]['us_per_round']:.0f} µs at 10^5",
        f"is {slopes['edges']:.2f}",
    )


@quote
def warm_projections() -> Said:
    """One projection over one oracle call, at four sizes."""
    rows = read("bench.json")["projection"]
    ratios = [f"{row['ratio']:.0f}" for row in rows]
    sizes = [str(row["edges"]) for row in rows]
    return (
        f"{', '.join(ratios[:-1])} and {ratios[-1]} oracle calls",
        f"{', '.join(sizes[:-1])} and {sizes[-1]} edges",
    )


@quote
def live_rounds() -> Said:
    """How much slower asking and telling is than the compiled loop."""
    return (f"{bench_row('ask and tell')['ratio']:.1f} times",)


@quote
def sweep_speed() -> Said:
    """Throughput of a large sweep."""
    row = read("sweep_2000.json")
    return (
        f"{row['runs']} runs of {row['rounds_per_run']} rounds",
        f"{row['wall_seconds']:.0f} s",
    )


@quote
def kills() -> Said:
    """How often the sweep was killed."""
    row = read("kill_test.json")
    return (f"{_word(row['kills'])} times",)


@quote
def live_kills() -> Said:
    """How often live sessions were killed, and what was lost."""
    found = read("kill_live.json")
    lost = sum(row["acknowledged facts lost"] + row["counted twice"] for row in found.values())
    assert lost == 0
    assert all(row["states unlike a replay"] == 0 for row in found.values())
    assert all(row["final state bit-identical"] for row in found.values())
    return (f"{found['SQLite']['kills']} kills", f"{found['PostgreSQL']['kills']} with PostgreSQL")


def _word(n: int) -> str:
    words = {2: "two", 3: "three", 4: "four", 5: "five", 30: "thirty"}
    return words.get(n, str(n))


def _power_of_ten(T: float) -> str:
    return f"{T:.1e}".replace("e+0", "e").replace("e+", "e")
