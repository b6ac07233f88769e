"""Bounds in games that break assumptions: `python evidence/limits_attack.py` writes a JSON file.

900 games in which an adversary reacts (`rates_attack.py`), with rounds that no action satisfies,
with several constraints, and with margins. For a fixed action x let

    B(x) = sum over t of max(0, g_t(x) - u_t),

where u_t is what the policy found to be unavoidable in round t; in some games that is too small to
be looked for. After every 20 rounds, for several x:

- the regret against x is at most `certificate(B(x))`,
- `least_violation` is at most B(x),
- where B(x) = 0, no guard says that no action satisfies all rounds, and Theorem G's bounds of the
  regret and of the avoidable CCV hold.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rates_attack import KINDS, ROUNDING, SETS, Attack, unit

import hedgerow as hr
from hedgerow.bounds import guarded_ccv, guarded_regret
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.policies import ViolatedShare

OUT = Path(__file__).parent / "limits_attack.json"
ROUNDS, EVERY, PARTS = 200, 20, 3
BURSTS = ((30, 31), (60, 90), (150, 165))
"""Rounds that no action satisfies."""
SMALL, LARGE = (-4.0, 0.0), (0.0, 1.0)
"""By how much, as powers of ten, relative to the range of the constraint."""
PLAYED = ("simplex", "cube", "ball", "paths", "product")
SEEDS = 5
coco = hr.projection_free_coco
POLICIES: dict[str, tuple[Callable[[hr.DecisionSet], Any], int]] = {
    "default": (coco, 1),
    "tracking=False": (lambda X: coco(X, tracking=False), 1),
    "a queue for each of 3": (lambda X: coco(X, constraints=PARTS), PARTS),
    "ViolatedShare, 5 %": (lambda X: ViolatedShare(coco(X), 0.05), 1),
    "ViolatedShare of each of 3": (
        lambda X: ViolatedShare(coco(X, constraints=PARTS), 0.05),
        PARTS,
    ),
    "default, 3 parts": (coco, PARTS),
}
Seen = tuple[Vector, list[tuple[Vector, float]]]


@dataclass
class Found:
    """What came out of the games of one policy."""

    games: int = 0
    compared: int = 0
    feasible: int = 0
    infeasible_rounds: int = 0
    refuted: int = 0
    broken: int = 0
    tightest: float = 0.0
    what: list[str] = field(default_factory=list)

    def see(self, name: str, value: float, bound: float, rounding: float) -> None:
        """Compare a value with its bound."""
        self.compared += 1
        if not value <= bound * (1.0 + ROUNDING) + rounding:
            self.broken += 1
            self.what.append(f"{name}: {value:g} > {bound:g}")
        elif bound > rounding and name == "certificate":
            self.tightest = max(self.tightest, value / bound)


def rounds_of(X: hr.DecisionSet, kind: str, seed: int, m: int, ask: Any) -> Iterator[Seen]:
    """Yield the cost and m constraints of each round; see `corner` for the bursts."""
    attack = Attack(kind, ("one", "log-uniform", "steps")[seed % 3], 0.0, seed)
    rng, z, normal = np.random.default_rng([seed, 2]), *corner(X, seed)
    units = 10.0 ** rng.uniform(-3.0, 3.0, m)
    for t, (a, c, b) in enumerate(attack.rounds(X, ask)):
        if t == ROUNDS:
            return
        size = float(np.linalg.norm(c))
        rows = [(c, b + float(c @ attack.feasible(X)) - float(c @ z))]  # z satisfies it, too
        for k in range(1, m):
            other = units[k] * size * unit(rng.standard_normal(X.dim))
            rows.append((other, -float(other @ z) - 0.1 * rng.random() * units[k] * size))
        if any(begin <= t < end for begin, end in BURSTS):
            k, exponent = t % m, rng.uniform(*(SMALL if seed % 3 and seed % 2 == 0 else LARGE))
            left = 10.0**exponent * size * units[k] * X.diameter
            steep = size * units[k] * normal
            rows[k] = (steep, left - float(steep @ z))  # at least `left` for every action
        yield a, rows


def corner(X: hr.DecisionSet, seed: int) -> tuple[Vector, Vector]:
    """Return an action and a direction in which no other action is lower."""
    normal = unit(np.random.default_rng([seed, 5]).standard_normal(X.dim))
    return X.lmo(normal), normal


def queues_of(policy: Any) -> list[Any]:
    """Return the surrogates of a policy, also inside a wrapper."""
    surrogate = getattr(policy, "policy", policy).surrogate
    return list(getattr(surrogate, "surrogates", (surrogate,)))


def attacked(name: str, X: hr.DecisionSet, kind: str, seed: int, found: Found) -> None:
    """Play one game and compare."""
    make, m = POLICIES[name]
    policy, rng = make(X), np.random.default_rng([seed, 9])
    queues, (z, _) = queues_of(policy), corner(X, seed)
    actions = np.array([z, X.start(), *(X.lmo(rng.standard_normal(X.dim)) for _ in range(3))])
    own = len(queues)  # of several constraints the largest counts, unless each has a queue
    beyond, regret, ccv = np.zeros((own, len(actions))), np.zeros(len(actions)), np.zeros(own)
    worst, feasible = 0.0, np.full(len(actions), True)
    for t, (a, rows) in enumerate(rounds_of(X, kind, seed, m, policy.ask), start=1):
        x = policy.ask()
        seen = [EvalGrad(float(c @ x) + b, c) for c, b in rows]
        policy.tell(EvalGrad(float(a @ x), a), seen if m > 1 else seen[0])
        values = np.array([actions @ c + b for c, b in rows])
        here = np.array([g.value for g in seen])
        if own == 1:
            values, here = values.max(axis=0, keepdims=True), here.max(keepdims=True)
        unavoidable = np.array([queue.unavoidable for queue in queues])
        above = values - unavoidable[:, None]
        beyond += np.maximum(0.0, above)
        # relative to the round's own size: rounds of a game differ by ten powers of ten
        sizes = X.diameter * np.linalg.norm([c for c, _ in rows], axis=1, keepdims=True)
        feasible &= (above <= 1e-9 * (sizes if own > 1 else sizes.max())).all(axis=0)
        ccv += np.maximum(0.0, here - unavoidable)
        regret += float(a @ x) - actions @ a
        worst += X.diameter * float(np.linalg.norm(a))
        if t % EVERY == 0:
            _compare(policy, regret, beyond, ROUNDING * worst, found)
    found.games += 1
    found.infeasible_rounds += policy.certificate(free_of(own)).infeasible_rounds
    guard = getattr(policy, "policy", policy).surrogate.guard
    found.refuted += guard.refuted
    if name.startswith("ViolatedShare") or not feasible.any():
        return  # its guard is about the constraints with their margins
    found.feasible += 1
    found.see("refuted", float(guard.refuted), 0.0, 0.0)
    _compare_theorem(policy, guard, float(regret[feasible].max()), ccv, ROUNDING * worst, found)


def free_of(queues: int) -> Any:
    """Return the budget of an action that violates nothing."""
    return 0.0 if queues == 1 else [0.0] * queues


def _compare(policy: Any, regret: Vector, beyond: Vector, rounding: float, found: Found) -> None:
    """Compare the certificate with the regret against each action."""
    for lost, budget in zip(regret, beyond.T, strict=True):
        given: Any = float(budget[0]) if budget.size == 1 else budget.tolist()
        found.see("certificate", float(lost), float(policy.certificate(given)), rounding)
    least, total = (
        policy.certificate(free_of(len(beyond))).least_violation,
        beyond.sum(axis=0).min(),
    )
    found.see("least violation", least, float(total), 1e-9 * (1.0 + float(beyond.max())))


def _compare_theorem(
    policy: Any, guard: Any, regret: float, ccv: Vector, rounding: float, found: Found
) -> None:
    """Compare Theorem G with the game of an action that satisfies all rounds."""
    theorem = next((t for t in policy.guarantees() if t.name == "Theorem G"), None)
    if theorem is None:
        return
    D, q, mixture = theorem["D"], int(theorem["q"]), theorem["mixture"] > 0.0
    C, lam, lam_e = (theorem[key] for key in ("C", "lam", "lam_e"))
    steepest = guard.steepest_cost if mixture else 0.0
    bound = guarded_regret(C, D, guard.cost_size, lam, lam_e, steepest)
    found.see("regret", regret, bound, rounding)
    if guard.worst_violation > 0.0 and ccv.size == 1:
        n = (guard.worst / (D * guard.cost_size)) ** q
        share = guarded_ccv(C, n, lam, lam_e, q, guard.cost_ratio, mixture=mixture)
        found.see("CCV", float(ccv[0]), D * guard.constraint_size * share, 0.0)


def main(seeds: int = SEEDS) -> dict[str, Found]:
    """Play all games; return what was found for each policy."""
    results = {name: Found() for name in POLICIES}
    for name, place, kind in product(POLICIES, PLAYED, KINDS[:6]):
        for seed in range(seeds):
            attacked(name, SETS[place](), kind, 600 + seed, results[name])
    return results


if __name__ == "__main__":
    made = main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
    OUT.write_text(
        json.dumps({name: asdict(found) for name, found in made.items()}, indent=1) + "\n"
    )
