"""Write what an operator has: one reading a minute of every link, with times, names and prices.

Ten sites, nineteen links, two days. Nothing in it was measured. Latencies follow the distance;
evenings are congested, more on some links than on others; one link is dead for an hour of the
first evening and answers after two seconds. Within that hour no route keeps 120 ms from Lisbon to
Warsaw in some minutes. A network of the Topology Zoo may take the place of the sites; its prices
are drawn, too.

    python examples/operator_measurements.py
    python examples/operator_measurements.py topozoo/Geant2012 DE AT    # the link that is dead
"""

from __future__ import annotations

import csv
import math
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

SITES = {
    "Amsterdam": (52.37, 4.90), "Frankfurt": (50.11, 8.68), "Lisbon": (38.72, -9.14),
    "London": (51.51, -0.13), "Madrid": (40.42, -3.70), "Milan": (45.46, 9.19),
    "Paris": (48.86, 2.35), "Stockholm": (59.33, 18.07), "Vienna": (48.21, 16.37),
    "Warsaw": (52.23, 21.01),
}  # fmt: skip
LINKS = {
    ("Amsterdam", "Frankfurt"): 4.44, ("Amsterdam", "Stockholm"): 2.94,
    ("Frankfurt", "Vienna"): 4.61, ("Frankfurt", "Warsaw"): 3.63, ("Lisbon", "London"): 1.14,
    ("Lisbon", "Madrid"): 3.11, ("Lisbon", "Paris"): 1.62, ("London", "Amsterdam"): 4.43,
    ("London", "Paris"): 4.08, ("London", "Stockholm"): 4.25, ("Madrid", "Milan"): 4.24,
    ("Madrid", "Paris"): 4.35, ("Milan", "Frankfurt"): 1.68, ("Milan", "Vienna"): 2.55,
    ("Paris", "Amsterdam"): 2.92, ("Paris", "Frankfurt"): 5.99, ("Paris", "Milan"): 5.90,
    ("Stockholm", "Warsaw"): 5.45, ("Vienna", "Warsaw"): 3.43,
}  # fmt: skip
"""Links and their prices, in euros for a unit of traffic and a minute."""
MINUTES = 2880
DEAD = ("Frankfurt", "Warsaw")
OUTAGE = slice(1200, 1260)
MS_PER_RADIAN = 188.0
"""A round trip over fibre, by way of a few exchanges."""


Sites = dict[str, tuple[float, float]]
Links = dict[tuple[str, str], float]


def topology(name: str) -> tuple[Sites, Links]:
    """Return the sites of a network that comes with the extra `data`, and links with prices."""
    from hedgerow.networks import Topology

    found, rng = Topology.shipped(name), np.random.default_rng(0)
    sites = {
        node: (float(lat), float(lon))
        for node, (lon, lat) in zip(found.nodes, found.positions, strict=True)
    }
    pairs = [(found.nodes[a], found.nodes[b]) for a, b in found.edges if a < b]
    return sites, dict(zip(pairs, rng.uniform(1.0, 6.0, len(pairs)).tolist(), strict=True))


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the angle between two sites, seen from the middle of the Earth."""
    (u, x), (v, y) = np.radians(one), np.radians(other)
    return math.acos(math.sin(u) * math.sin(v) + math.cos(u) * math.cos(v) * math.cos(x - y))


def readings(sites: Sites, links: Links, dead: tuple[str, str], seed: int = 0) -> np.ndarray:
    """Return the latency of every minute and link, in ms."""
    rng = np.random.default_rng(seed)
    base = np.array([1.1 + MS_PER_RADIAN * distance(sites[a], sites[b]) for a, b in links])
    congestion = rng.uniform(0.0, 0.8, len(links))
    hour = np.arange(MINUTES) / 60.0 % 24.0
    evening = np.exp(-0.5 * ((hour - 20.5) / 1.5) ** 2)
    latency = base * (1.0 + np.outer(evening, congestion))
    latency *= rng.lognormal(0.0, 0.04, latency.shape)
    latency[OUTAGE, list(links).index(dead)] = 2000.0
    return latency


def main(name: str = "operator", *dead: str) -> None:
    """Write the readings and the places."""
    sites, links = (SITES, LINKS) if not dead else topology(name)
    folder = Path("out") / Path(name).name
    folder.mkdir(parents=True, exist_ok=True)
    start = datetime(2026, 3, 2, tzinfo=UTC)
    with (folder / "measurements.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("time", "site_a", "site_b", "rtt_ms", "price_eur"))
        for t, row in enumerate(readings(sites, links, dead or DEAD)):
            moment = (start + timedelta(minutes=t)).strftime("%Y-%m-%dT%H:%M:%SZ")
            for (a, b), price, ms in zip(links, links.values(), row, strict=True):
                table.writerow((moment, a, b, f"{ms:.3f}", f"{price:.2f}"))
    lines = [f"{name},{lat},{lon}" for name, (lat, lon) in sites.items()]
    (folder / "places.csv").write_text("\n".join(["name,latitude,longitude", *lines]) + "\n")
    print(f"{folder / 'measurements.csv'}\n{folder / 'places.csv'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
