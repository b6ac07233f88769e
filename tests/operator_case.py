"""An operator's measurements, made up: ten sites, nineteen links, one reading a minute of each.

Latency follows the distance; evenings are congested, more on some links than on others; one link
fails for an hour, which shows as two seconds. Every link has a price, which does not change.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

SITES = {
    "Lisbon": (38.72, -9.14), "Madrid": (40.42, -3.70), "Paris": (48.86, 2.35),
    "London": (51.51, -0.13), "Amsterdam": (52.37, 4.90), "Frankfurt": (50.11, 8.68),
    "Milan": (45.46, 9.19), "Vienna": (48.21, 16.37), "Warsaw": (52.23, 21.01),
    "Stockholm": (59.33, 18.07),
}  # fmt: skip
"""Latitude and longitude of each site."""
LINKS = (
    ("Lisbon", "Madrid"), ("Lisbon", "London"), ("Lisbon", "Paris"), ("Madrid", "Paris"),
    ("Madrid", "Milan"), ("Paris", "London"), ("Paris", "Amsterdam"), ("Paris", "Frankfurt"),
    ("Paris", "Milan"), ("London", "Amsterdam"), ("London", "Stockholm"),
    ("Amsterdam", "Frankfurt"), ("Amsterdam", "Stockholm"), ("Frankfurt", "Milan"),
    ("Frankfurt", "Vienna"), ("Frankfurt", "Warsaw"), ("Milan", "Vienna"), ("Vienna", "Warsaw"),
    ("Stockholm", "Warsaw"),
)  # fmt: skip
START = datetime(2026, 3, 2, tzinfo=UTC)
OUTAGE = ("Frankfurt", "Warsaw")
"""The link that fails."""
OUTAGE_BEGINS, OUTAGE_MINUTES, OUTAGE_MS = 1200, 60, 2000.0
HEADER = ("time", "site_a", "site_b", "rtt_ms", "price_eur")


def operator_csv(path: Path, minutes: int = 2880, seed: int = 0) -> Path:
    """Write the readings and return where they are; the same seed writes the same file."""
    latency, price = operator_readings(minutes, seed)
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for t in range(minutes):
            moment = (START + timedelta(minutes=t)).isoformat().replace("+00:00", "Z")
            table.writerows(
                (moment, a, b, f"{latency[t, i]:.3f}", f"{price[i]:.2f}")
                for i, (a, b) in enumerate(LINKS)
            )
    return path


def places_csv(path: Path) -> Path:
    """Write where the sites are."""
    rows = [f"{name},{lat},{lon}" for name, (lat, lon) in SITES.items()]
    path.write_text("\n".join(["name,latitude,longitude", *rows]) + "\n")
    return path


def operator_readings(minutes: int = 2880, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the latency of each minute and link in ms, and the price of each link.

    Fewer minutes are the first of more.
    """
    rng = np.random.default_rng(seed)
    base = np.array([_fibre_ms(SITES[a], SITES[b]) for a, b in LINKS])
    congestion = rng.uniform(0.0, 0.8, len(LINKS))
    price = np.round(rng.uniform(1.0, 6.0, len(LINKS)), 2)
    hour = (np.arange(minutes) / 60.0) % 24.0
    evening = np.exp(-0.5 * ((hour - 20.5) / 1.5) ** 2)  # from 19 to 22, UTC
    latency = base * (1.0 + np.outer(evening, congestion))
    latency *= rng.lognormal(0.0, 0.04, latency.shape)
    failed = slice(OUTAGE_BEGINS, OUTAGE_BEGINS + OUTAGE_MINUTES)
    latency[failed, LINKS.index(OUTAGE)] = OUTAGE_MS
    return latency, price


def _fibre_ms(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the round trip on fibre that is a third longer than the way of a bird."""
    (u, x), (v, y) = np.radians(a), np.radians(b)
    angle = np.arccos(np.sin(u) * np.sin(v) + np.cos(u) * np.cos(v) * np.cos(x - y))
    return 0.5 + 2.0 * 1.33 * 6371.0 * float(angle) / 200.0
