"""Generated traffic on Abilene, as a kind of problem for `evidence/fair.py`."""

from __future__ import annotations

from hedgerow.networks import Topology
from hedgerow.problems import TrafficEngineering, gravity_demands

PAIRS = 40
ABILENE = Topology.shipped("topozoo/Abilene")


def traffic(horizon: int, seed: int) -> TrafficEngineering:
    """Forty demands on Abilene, each split over its paths, with a limit on utilisation."""
    demands = gravity_demands(ABILENE, horizon, seed, pairs=PAIRS)
    return TrafficEngineering.from_network(ABILENE, demands)
