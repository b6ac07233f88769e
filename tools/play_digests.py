"""Digests of what every method plays, to see whether a change of the code changes a play.

    python tools/play_digests.py record before.json     # on the old code
    python tools/play_digests.py record after.json      # on the new code
    python tools/play_digests.py compare before.json after.json

A digest is the SHA-256 of all decisions, costs and violations of a game, bit for bit. It depends on
the processor and on NumPy's build, so compare only files that one machine recorded.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants

ROUNDS = 200
SEED = 7
EDGES = [(i, j) for i in range(8) for j in range(i + 1, min(i + 4, 8))]
KNOWN = Constants((2.0, 2.0), (8.0, 8.0))


def linear_game(decision_set: Any) -> hr.Problem:
    """Return a game whose costs and constraints pull apart; one point satisfies every round."""
    rng = np.random.default_rng(SEED)
    push = rng.standard_normal(decision_set.dim)
    feasible = 0.3 * decision_set.lmo(push) + 0.7 * decision_set.lmo(-push)
    rounds = []
    for _ in range(ROUNDS):
        a, c = rng.standard_normal((2, decision_set.dim)) * 0.5 + [push, -push]
        a, c = a / np.linalg.norm(a), c / np.linalg.norm(c)
        height = -float(c @ feasible) - rng.uniform(0.0, 0.1)
        rounds.append((hr.Linear(a), hr.Linear(c, height)))
    return hr.RecordedProblem(decision_set, rounds)


def games() -> dict[str, hr.Problem]:
    """Return the games by name."""
    sets = {
        "simplex": hr.sets.Simplex(20),
        "ball": hr.sets.L2Ball(6, radius=2.0),
        "paths": hr.sets.DagPaths(EDGES, 0, 7),
        "product": hr.sets.Product(hr.sets.KSubsets(9, 3), hr.sets.Box([-1.0] * 4, [2.0] * 4)),
    }
    named = {name: linear_game(decision_set) for name, decision_set in sets.items()}
    return named | {"quadratic": hr.problems.QuadraticBox(n=6, horizon=ROUNDS, seed=SEED)}


def digest(*arrays: Any) -> str:
    """Return the SHA-256 of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def played(build: Any, problem: hr.Problem, feedback: Any) -> dict[str, str]:
    """Play a game compiled and round by round; return the digests, or why it is refused."""
    try:
        compiled = build(problem.decision_set)
        trace = hr.simulate(compiled, problem, feedback)
        policy = build(problem.decision_set)
        steps = list(hr.play(policy, problem, feedback))
    except (ValueError, TypeError, NotImplementedError) as error:
        return {"refused": str(error)}
    turns = digest([s.cost for s in steps], [s.violation for s in steps], policy.ask())
    simulated = digest(trace.costs, trace.violations, compiled.ask())
    return {
        "simulate": simulated,
        "play": digest([s.x for s in steps]),
        "compiled": str(trace.compiled),
        "simulate equals play": str(simulated == turns),
    }


def cases() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each case and its digests."""
    for game, problem in games().items():
        for name, method in METHODS.items():
            for preset in ("practical", "theory"):

                def build(decision_set: Any, method: Any = method, preset: Any = preset) -> Any:
                    return method.policy(decision_set, ROUNDS, SEED, preset, KNOWN)

                yield f"{name} {preset} {game}", played(build, problem, method.feedback(KNOWN))

        def semi_bandit(decision_set: Any) -> Any:
            return hr.semi_bandit_coco(decision_set, ROUNDS, SEED)

        yield f"semi_bandit_coco {game}", played(semi_bandit, problem, hr.semi_bandit)


def record(path: Path) -> None:
    """Write the digests of all cases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(cases())
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    refused = sum("refused" in one for one in found.values())
    unequal = [name for name, one in found.items() if one.get("simulate equals play") == "False"]
    sys.stdout.write(f"{len(found) - refused} digests, {refused} cases refused\n")
    sys.stdout.write(f"simulate differs from play: {', '.join(unequal) or 'never'}\n")


def compare(before: Path, after: Path) -> int:
    """Print the cases that differ, and return how many do."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    for name in changed:
        sys.stdout.write(f"{name}: {old.get(name)} -> {new.get(name)}\n")
    sys.stdout.write(f"{len(changed)} of {len({*old, *new})} cases differ\n")
    return len(changed)


def main(words: list[str]) -> int:
    """Record digests or compare two files."""
    match words:
        case ["record", path]:
            record(Path(path))
            return 0
        case ["compare", before, after]:
            return min(1, compare(Path(before), Path(after)))
    sys.stderr.write(f"{__doc__}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
