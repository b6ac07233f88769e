"""Measurement files to try `hedgerow ingest` on. They are drawn with a seed: nothing was measured.

Writes into out/measurements:

    atlas/ping.ndjson.gz        RIPE Atlas pings of 32 probes to one hub, every 240 seconds
    atlas/traceroute.ndjson.gz  RIPE Atlas traceroutes of 240 probes to another hub, two each
    edges.csv                   round-trip time and throughput between 24 regions of two clouds
    matrices.npz                round-trip times between 24 devices, 200 rounds, in 1/100 seconds
"""

import csv
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

PING_HUB, TRACE_HUB = "192.0.2.1", "192.0.2.129"  # addresses for documentation, RFC 5737
START = 1_700_000_000
EARTH_KM, FIBRE_KM_PER_MS = 6371.0, 200.0
CENTRES = np.array([[50, 8], [40, -80], [38, -120], [-20, -48], [20, 78], [35, 137], [-33, 150]])
SHARES = [0.45, 0.15, 0.1, 0.08, 0.08, 0.08, 0.06]


def places(count: int, rng: np.random.Generator) -> np.ndarray:
    """Points on the unit sphere, most of them where the networks are."""
    centre = CENTRES[rng.choice(len(CENTRES), count, p=SHARES)]
    lat, lon = np.radians(centre + rng.normal(0.0, 6.0, (count, 2))).T
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def round_trips(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Milliseconds there and back: light in fibre, on a way 1.2 to 2 times as long as need be."""
    km = EARTH_KM * np.arccos(np.clip(a @ b.T, -1.0, 1.0))
    stretch = rng.uniform(1.2, 2.0, km.shape)
    return 2.0 * km / FIBRE_KM_PER_MS * stretch + rng.exponential(2.0, km.shape) + 0.3


def header(kind: str, measurement: int, probe: int, hub: str, time: int) -> dict[str, Any]:
    """What every result of firmware 5080 has."""
    own = f"198.51.100.{probe % 254 + 1}"
    return {
        "fw": 5080, "mver": "2.6.2", "lts": 20, "af": 4, "dst_name": hub, "dst_addr": hub,
        "src_addr": own, "from": own, "proto": "ICMP", "size": 64, "msm_id": measurement,
        "prb_id": probe, "timestamp": time, "type": kind,
    }  # fmt: skip


def replies(rtt: float, rng: np.random.Generator, lost: float) -> list[dict[str, Any]]:
    """Three packets, each of them lost with a small probability."""
    late = rng.exponential(0.03 * rtt, 3)
    return [
        {"x": "*"} if gone else {"rtt": round(rtt + float(ms), 3)}
        for gone, ms in zip(rng.random(3) < lost, late, strict=True)
    ]


def pings(rng: np.random.Generator, probes: int = 32, rounds: int = 30) -> Iterable[dict[str, Any]]:
    """One result for each probe and round; one probe in sixteen loses most of its packets."""
    base = round_trips(places(probes, rng), places(1, rng), rng)[:, 0]
    for t in range(rounds):
        for i, rtt in enumerate(base):
            found = replies(rtt, rng, lost=0.8 if i % 16 == 5 else 0.01)
            times = [reply["rtt"] for reply in found if "rtt" in reply]
            summary = {"min": min(times), "max": max(times)} if times else {"min": -1, "max": -1}
            avg = round(sum(times) / len(times), 3) if times else -1
            result = header("ping", 1001, 6001 + i, PING_HUB, START + 240 * t + i)
            yield result | summary | {"avg": avg, "sent": 3, "rcvd": len(times), "result": found}


def traceroutes(
    rng: np.random.Generator, probes: int = 240, rounds: int = 2
) -> Iterable[dict[str, Any]]:
    """Routers answer with their own address, the hub at the last hop; 2 % never get there."""
    base = round_trips(places(probes, rng), places(1, rng), rng)[:, 0]
    for t in range(rounds):
        for i, rtt in enumerate(base):
            hops = []
            count = int(rng.integers(4, 12))
            for hop, share in enumerate(np.sort(rng.random(count)), start=1):
                router = {"from": f"203.0.113.{(7 * i + hop) % 254 + 1}", "size": 28}
                found = replies(float(share) * rtt, rng, lost=0.2)
                hops.append(
                    {"hop": hop, "result": [router | r if "rtt" in r else r for r in found]}
                )
            arrived = [{"from": TRACE_HUB, "ttl": 52} | r for r in replies(rtt, rng, lost=0.0)]
            missed = {"hop": 255, "result": [{"x": "*"}] * 3}
            hops.append(missed if i % 50 == 9 else {"hop": count + 1, "result": arrived})
            result = header("traceroute", 1002, 6001 + i, TRACE_HUB, START + 900 * t + i)
            yield result | {"endtime": result["timestamp"] + 3, "paris_id": 1, "result": hops}


def edges(rng: np.random.Generator, regions: int = 24) -> Iterable[tuple[str, str, float, float]]:
    """Every ordered pair that was tried; some links between the two clouds take a long way round.

    One TCP flow with a fixed window: the throughput falls as the round-trip time grows.
    """
    names = [f"{('oak', 'elm')[i % 2]}:region-{i // 2 + 1}" for i in range(regions)]
    at = places(regions, rng)
    rtt = round_trips(at, at, rng)
    cloud = np.arange(regions) % 2
    rtt[(cloud[:, None] != cloud) & (rng.random(rtt.shape) < 0.15)] *= 3.0
    mbps = 12_000.0 / rtt * np.exp(rng.normal(0.0, 0.6, rtt.shape))
    for i, j in np.argwhere(rng.random(rtt.shape) < 0.8).tolist():
        if i != j:
            yield names[i], names[j], round(rtt[i, j], 3), round(min(mbps[i, j], 4000.0), 3)


def matrices(rng: np.random.Generator, rounds: int = 200, devices: int = 24) -> np.ndarray:
    """Round-trip times of devices at home, in 1/100 s; 0 where none was read.

    Access lines add to what the distance takes. One reading in 200 fails, and from device 3 to
    device 17 most do.
    """
    at = places(devices, rng)
    access = rng.exponential(50.0, devices)
    base = round_trips(at, at, rng) + access[:, None] + access
    rtt = base * rng.lognormal(0.0, 0.4, (rounds, devices, devices))
    failed = rng.random(rtt.shape) < 0.005
    failed[:, 3, 17] = rng.random(rounds) < 0.8
    rtt[failed] = 0.0
    rtt[:, range(devices), range(devices)] = 0.0
    return np.where(rtt > 0.0, np.maximum(rtt / 10.0, 1.0), 0.0).astype(np.uint16)


def write_results(path: Path, results: Iterable[dict[str, Any]]) -> None:
    """JSON lines, one result each, packed."""
    lines = "".join(json.dumps(result) + "\n" for result in results)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def write_measurements(folder: Path, seed: int = 0) -> Path:
    """Write all files; the same seed writes the same files."""
    of_pings, of_traces, of_edges, of_matrices = np.random.default_rng(seed).spawn(4)
    (folder / "atlas").mkdir(parents=True, exist_ok=True)
    write_results(folder / "atlas/ping.ndjson.gz", pings(of_pings))
    write_results(folder / "atlas/traceroute.ndjson.gz", traceroutes(of_traces))
    with (folder / "edges.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["src", "dst", "rtt_ms", "throughput_mbps"])
        table.writerows(edges(of_edges))
    np.savez_compressed(folder / "matrices.npz", rtt_centisec=matrices(of_matrices))
    return folder


if __name__ == "__main__":
    folder = write_measurements(Path("out/measurements"))
    for path in sorted(folder.rglob("*.*")):
        print(path.as_posix())
