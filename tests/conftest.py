"""Files that tests read: drawn for every run, and measured ones where HEDGEROW_DATA names them."""

from __future__ import annotations

import gzip
import os
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from measured import VARIABLE, data, drawn_or, measured_folder

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a busy machine and a kernel's first call are no failures
EXAMPLE = Path(__file__).parents[1] / "examples/measurement_files.py"
os.umask(0o022)  # some tests start processes of other users, who read what was written here


def pytest_configure(config):
    """Refuse a wrong variable before any test runs."""
    if measured_folder() is None and config.option.markexpr == "measured":
        raise pytest.UsageError(f"-m measured needs {VARIABLE}, the folder of the measured files")


def pytest_collection_modifyitems(items):
    """Without the variable there are no measured tests: none is skipped, none is counted."""
    if measured_folder() is None:
        items[:] = [item for item in items if not item.get_closest_marker("measured")]


@pytest.fixture(scope="session")
def drawn(tmp_path_factory):
    """Return the folder that examples/measurement_files.py writes."""
    folder = tmp_path_factory.mktemp("measurements")
    return runpy.run_path(str(EXAMPLE))["write_measurements"](folder)


@pytest.fixture(scope="session", params=drawn_or("ripe_hub191"))
def star_results(request, drawn):
    """Return traceroutes of at least 190 probes that reach one hub."""
    measured = request.param != "drawn"
    return data(request.param) if measured else drawn / "atlas/traceroute.ndjson.gz"


@pytest.fixture(scope="session", params=drawn_or("atlas_hub_mesh/results.ndjson.gz"))
def two_stars(request, drawn, tmp_path_factory):
    """Return one file with pings to one hub and traceroutes to another."""
    if request.param != "drawn":
        return data(request.param)
    packed = [(drawn / f"atlas/{kind}.ndjson.gz").read_bytes() for kind in ("ping", "traceroute")]
    path = tmp_path_factory.mktemp("two_stars") / "results.ndjson.gz"
    path.write_bytes(b"".join(packed))  # gzip files may be put one after the other
    return path


@pytest.fixture(scope="session", params=drawn_or("intercloud45/edges.csv"))
def edges_csv(request, drawn):
    """Return a table of links with round-trip time and throughput."""
    return data(request.param) if request.param != "drawn" else drawn / "edges.csv"


@pytest.fixture(scope="session", params=drawn_or("seattle99/seattle_rtt_688x99x99.npz"))
def matrices_npz(request, drawn):
    """Return a stack of round-trip times in hundredths of a second, with gaps."""
    return data(request.param) if request.param != "drawn" else drawn / "matrices.npz"


MARKETS = [f"portfolio/{market}.csv.gz" for market in ("nyse_o", "djia", "msci")]


@pytest.fixture(scope="session", params=drawn_or(*MARKETS))
def prices_csv(request, tmp_path_factory):
    """Return daily price relatives of a market: with a common factor, restless assets grow more."""
    if request.param != "drawn":
        return data(request.param)
    rng, days, assets = np.random.default_rng(0), 1043, 24
    restless = rng.uniform(0.005, 0.03, assets)
    moves = rng.normal(0.0, 0.7, (days, 1)) + rng.standard_t(4, (days, assets))
    relatives = np.exp(restless * (0.05 + np.clip(moves, -8.0, 8.0)))
    path = tmp_path_factory.mktemp("market") / "prices.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write(",".join(f"a{i}" for i in range(assets)) + "\n")
        np.savetxt(file, relatives, "%.6f", ",")
    return path
