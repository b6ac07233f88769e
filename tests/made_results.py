"""A results folder with known numbers, for tests of reports."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HORIZON = 100


class Made(NamedTuple):
    """One method: lists over seeds; the CCV curve is ccv (t / T)^growth. Units are percent."""

    regret: Sequence[float]
    ccv: Sequence[float] = (10.0, 10.0, 10.0, 10.0)
    growth: Sequence[float] = (0.5, 0.5, 0.5, 0.5)
    seconds: Sequence[float] = ()
    compiled: bool | None = None
    eagerness: float = 1.0
    each: Sequence[Sequence[float]] = ()
    more: dict[str, Any] = {}  # noqa: RUF012 - entries of every record, never changed


def make_results(
    at: Path,
    methods: dict[str, Made] | list[tuple[str, Made]],
    kinds: Sequence[str] = ("random_network",),
    labels: Sequence[str] = (),
    status: str = "optimal",
    **changed: Any,
) -> Path:
    """Write a folder where a benchmark costs 100 and the blind action 50 with a CCV of 100."""
    entries = list(methods.items()) if isinstance(methods, dict) else methods
    labels = labels or kinds
    for name in ("runs", "benchmarks"):
        (at / name).mkdir(parents=True)
    problems = [
        {"label": label, "kind": kind, "parameters": {}, "sha256": {}, "horizons": [HORIZON]}
        for label, kind in zip(labels, kinds, strict=True)
    ]
    seeds = list(range(40, 40 + max(len(made.regret) for _, made in entries)))
    names = list(dict.fromkeys(name for name, _ in entries))
    experiment = {"name": "made", "about": "made", "hedgerow": "0", "format": 1, "tune": None}
    experiment |= {"problems": problems, "methods": names, "presets": ["practical"]}
    experiment |= {"eagerness": [1.0], "eager": names, "seeds": seeds, **changed}
    (at / "experiment.json").write_text(json.dumps(experiment))
    for label, kind in zip(labels, kinds, strict=True):
        for seed in seeds:
            _benchmark(at, label, kind, seed, status)
        for name, made in entries:
            _runs(at, label, kind, name, made)
    return at


def plain(name: str) -> str:
    """Return a name that a file may have."""
    return re.sub(r"[^\w .-]", "_", name)


def _benchmark(at: Path, label: str, kind: str, seed: int, status: str) -> None:
    t = np.arange(1.0, HORIZON + 1.0)
    name = plain(f"{label}-{seed}")
    record = {"id": name, "problem": label, "kind": kind, "seed": seed}
    record["horizon"] = HORIZON
    record |= {"cost": 100.0, "blind": {"cost": 50.0, "ccv": 100.0}, "status": status}
    (at / "benchmarks" / f"{name}.json").write_text(json.dumps(record))
    np.save(at / "benchmarks" / f"{name}.npy", np.stack((t, t, 0.0 * t, 0.0 * t)))


def _runs(at: Path, label: str, kind: str, name: str, made: Made) -> None:
    t = np.arange(1.0, HORIZON + 1.0)
    for k, regret in enumerate(made.regret):
        seed, ccv = 40 + k, made.ccv[k]
        run = plain(f"{label}-{name}-{made.eagerness}-{seed}")
        record = {"id": run, "problem": label, "kind": kind, "horizon": HORIZON, "seed": seed}
        record |= {"method": name, "preset": "practical", "eagerness": made.eagerness}
        record |= {"status": "done", "reason": None, "constants": None, "cost": 100.0 + regret}
        record |= {"ccv": ccv, "oracle_calls": HORIZON, "projections": 0}
        record["benchmark"] = plain(f"{label}-{seed}")
        if made.each:
            record["ccv_each"] = list(made.each[k])
        record |= made.more
        (at / "runs" / f"{run}.json").write_text(json.dumps(record))
        share = (t / HORIZON) ** made.growth[k]
        np.save(at / "runs" / f"{run}.npy", np.stack((t, t + regret * share, ccv * share, t)))
        if made.seconds:
            entry = {"place": "runs", "id": run, "seconds": made.seconds[k]}
            entry["compiled"] = made.compiled
            with (at / "timings.jsonl").open("a") as file:
                file.write(json.dumps(entry) + "\n")
