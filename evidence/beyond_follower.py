"""The follower alone: `python evidence/beyond_follower.py` writes its JSON file.

`CorrectiveOMD` without the leader beside it, and the weight that AdaHedge gave the leader at the
end, at eagerness 1, seeds 30 to 39.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from beyond import SEEDS, Arena
from beyond_games import power, tracking

from hedgerow.learners.corrective_omd import CorrectiveOMD

GAMES = ["S1", "S2", "S2b", "N1"]


def compared(game: str) -> dict[str, Any]:
    """Mean regret and CCV of both over the seeds."""
    alone, mixed, weights = [], [], []
    for seed in SEEDS:
        arena = Arena(game, seed)
        policy = tracking(arena.X, arena.T, 1.0)
        mixed.append(arena.play(policy))
        weights.append(float(policy.learner.weights[0]))
        alone.append(arena.play(power(CorrectiveOMD(arena.X), 1.0)))
    rows = {"follower": alone, "tracking": mixed}
    pairs = {key: [round(float(v), 4) for v in np.mean(row, axis=0)] for key, row in rows.items()}
    return {"game": game, **pairs, "weight_of_leader": round(float(np.median(weights)), 4)}


if __name__ == "__main__":
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps([compared(game) for game in GAMES], indent=1) + "\n")
    sys.stdout.write(f"{path}\n")
