"""The measured files behind some of the evidence, in the folder that HEDGEROW_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

STAR = "ripe_hub191/ripe_hub191_traceroute.ndjson.gz"
CLOUDS = "intercloud45/edges.csv"
DEVICES = "seattle99/seattle_rtt_688x99x99.npz"
MARKETS = {name: f"portfolio/{name}.csv.gz" for name in ("nyse_o", "djia", "msci")}


def measured_files(*names: str) -> Path:
    """Return the folder that has these files, or end with a sentence that says what to set."""
    named = os.environ.get("HEDGEROW_DATA")
    if not named:
        raise SystemExit("set HEDGEROW_DATA to the folder of the measured files (data.md)")
    for name in names:
        if not (Path(named) / name).is_file():
            raise SystemExit(f"HEDGEROW_DATA={named} has no {name}; add it (data.md)")
    return Path(named)
