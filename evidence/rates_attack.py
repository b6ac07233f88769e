"""Games in which an adversary reacts, against the bounds of learners: `rates.py` plays them.

In each round the adversary sees the decision. One point satisfies every constraint, whatever the
adversary does: it is known before the first round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.bounds import schedule_regret, universal_regret
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, AwayOCG
from hedgerow.learners.steps import CertificateSteps, ScheduleSteps, UniversalSteps

Vector = np.ndarray[Any, np.dtype[np.float64]]
Attacks = Iterator[tuple[Vector, Vector, float]]
ROUNDS = 300
GRID = [(i, j) for i in range(3) for j in range(3)]
EDGES = [
    (3 * i + j, 3 * (i + a) + j + b)
    for (i, j), (a, b) in product(GRID, ((0, 1), (1, 0), (1, 1)))
    if i + a < 3 and j + b < 3
]
SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex": lambda: hr.sets.Simplex(8),
    "cube": lambda: hr.sets.Box([0.0] * 5, [1.0] * 5),
    "l1 ball": lambda: hr.sets.L1Ball(5),
    "paths": lambda: hr.sets.DagPaths(EDGES, 0, 8),
    "ball": lambda: hr.sets.L2Ball(4),
    "ellipsoid": lambda: hr.sets.Ellipsoid([1.0, 2.0, 0.5]),
    "product": lambda: hr.sets.Product(hr.sets.Simplex(4), hr.sets.Simplex(3)),
}
KINDS = ("push", "pull", "turn", "flip", "hurt", "lure", "late")
SIZES = ("one", "log-uniform", "steps")
SHARES = (0.0, 0.3)
"""How much of the set, shrunk towards the feasible point, the adversary leaves feasible."""
ROUNDING = 1e-9
"""Sums of a few hundred rounds are known up to this share of D sum ||grad||."""


def unit(v: Vector) -> Vector:
    """Return a vector of length 1, or zeros."""
    return v / max(float(np.linalg.norm(v)), 1e-300)


@dataclass(frozen=True)
class Attack:
    """One adversary on one set.

    `push` makes what was played dear; `pull` draws into what the constraint forbids; `turn`
    punishes the last movement; `flip` changes signs at doubling intervals; `hurt` draws at random
    and takes the sign that hurts; `lure` makes a vertex cheap until it is nearly reached; `late` is
    `pull` whose constraint does not bind in the first three quarters.
    """

    kind: str
    sizes: str
    share: float
    seed: int

    def feasible(self, X: hr.DecisionSet) -> Vector:
        """Return the point that satisfies every round."""
        rng = np.random.default_rng([self.seed, 1])
        corners = [X.lmo(rng.standard_normal(X.dim)) for _ in range(3)]
        mixed: Vector = rng.dirichlet(np.ones(4)) @ np.array([X.start(), *corners])
        return mixed

    def scales(self, rng: np.random.Generator) -> Vector:
        """Return the sizes of cost and constraint of each round, between 1e-6 and 1e6."""
        drawn = rng.uniform(-6.0, 6.0, (ROUNDS, 2))
        if self.sizes == "one":
            drawn[:] = drawn[0]
        if self.sizes == "steps":
            drawn[:] = drawn[np.floor(3.0 * np.log2(np.arange(1, ROUNDS + 1))).astype(int)]
        return 10.0**drawn

    def rounds(self, X: hr.DecisionSet, ask: Callable[[], Vector]) -> Attacks:
        """Yield a_t, c_t and b_t of f_t = <a_t, x> and g_t = <c_t, x> + b_t."""
        rng, n, z = np.random.default_rng(self.seed), X.dim, self.feasible(X)
        scales, direction, vertex, before = self.scales(rng), rng.standard_normal(n), z, ask()
        for t in range(ROUNDS):
            x, noise, other = ask(), unit(rng.standard_normal(n)), unit(rng.standard_normal(n))
            apart = unit(x - z)
            if self.kind == "lure" and np.linalg.norm(x - vertex) < 0.1 * X.diameter:
                vertex = X.lmo(rng.standard_normal(n))
            match self.kind:
                case "push":
                    a, c = apart + 0.3 * noise, apart + 0.3 * other
                case "pull" | "late":
                    c = apart + 0.3 * other
                    a = 0.3 * noise - c
                case "turn":
                    a, c = x - before + 1e-3 * noise, before - x + 1e-3 * other
                case "flip":
                    sign = (-1.0) ** int(np.log2(t + 1))
                    a, c = sign * direction + 0.3 * noise, -sign * direction + 0.3 * other
                case "hurt":
                    a = noise if noise @ apart >= 0.0 else -noise
                    c = other if other @ apart >= 0.0 else -other
                case _:
                    a = unit(x - vertex) + 0.1 * noise
                    c = unit(vertex - z) + 0.1 * other
            a, c, before = scales[t, 0] * unit(a), scales[t, 1] * unit(c), x
            at_z, most = float(c @ z), -X.minimum(-c)
            slack = self.share
            if self.kind == "late" and 4 * t < 3 * ROUNDS:
                slack = 1.5
            yield a, c, -at_z - slack * max(0.0, most - at_z)


@dataclass
class Found:
    """What came out of some games: how many rounds broke a bound, and the largest ratios."""

    games: int = 0
    rounds: int = 0
    broken: int = 0
    regret: float = 0.0

    def see(self, regret: float, bound: float, rounding: float = 0.0) -> None:
        """Compare a regret with its bound."""
        if not regret <= bound * (1.0 + ROUNDING) + rounding:
            self.broken += 1
        if bound > rounding:
            self.regret = max(self.regret, regret / bound)


def learners(X: hr.DecisionSet) -> dict[str, tuple[Callable[[], Any], Callable[[Vector], float]]]:
    """Return learners with their bounds, a function of the norms so far."""
    R, D = X.radius_around(X.start()), X.diameter
    found: dict[str, tuple[Callable[[], Any], Callable[[Vector], float]]] = {}
    for name, make in (("one step", AdaptiveOCG), ("away steps", AwayOCG)):
        growths, away = make(X, CertificateSteps()).growths, make is AwayOCG
        for growth in growths:

            def scheduled(norms: Vector, growth: Any = growth) -> float:
                sizes = float(np.sum(norms**growth.dual))
                return schedule_regret(D, sizes, radius=R, growth=growth)

            steps = ScheduleSteps(growth, (R / D) ** 2)
            found[f"{name}, schedule of q = {growth.q}"] = (
                lambda make=make, steps=steps: make(X, steps),
                scheduled,
            )

        def universal(norms: Vector, growths: Any = growths, away: bool = away) -> float:
            given = [universal_regret(norms, D, R, growth, away=away) for growth in growths]
            return min(given)

        found[f"{name}, universal"] = (
            lambda make=make: make(X, UniversalSteps()),
            universal,
        )
    return found


def attack_learner(
    X: hr.DecisionSet,
    make: Callable[[], Any],
    bound: Callable[[Vector], float],
    attack: Attack,
    found: Found,
) -> None:
    """Play the costs of one game with a learner; compare with its bound in every round.

    The bound grows with t and takes long to compute. It is computed anew where the bound of an
    earlier round would let the regret be above it, or the ratio be the largest so far.
    """
    learner, D, sums, inner = make(), X.diameter, np.zeros(X.dim), 0.0
    norms, limit = np.zeros(ROUNDS), 0.0
    for t, (a, _, _) in enumerate(attack.rounds(X, learner.ask)):
        inner, sums, norms[t] = inner + float(a @ learner.ask()), sums + a, X.tangent_norm(a)
        learner.tell(EvalGrad(0.0, a))
        regret = inner - X.minimum(sums)
        if regret > min(1.0, found.regret) * limit:
            limit = bound(norms[: t + 1])
        found.see(regret, limit, ROUNDING * D * float(norms.sum()))
    found.games += 1
    found.rounds += ROUNDS


def attacks(sets: Iterable[str] = SETS) -> list[dict[str, Any]]:
    """Play every adversary on every set against every learner."""
    rows = []
    for number, name in enumerate(sets):
        X = SETS[name]()
        plans = [
            Attack(kind, sizes, share, 100 * number + seed)
            for seed, (kind, sizes, share) in enumerate(product(KINDS, SIZES, SHARES))
        ]
        for learner, (begin, bound) in learners(X).items():
            found = Found()
            for plan in plans[::2]:  # the share is the constraint's alone
                attack_learner(X, begin, bound, plan, found)
            rows.append({"set": name, "player": learner, **vars(found)})
    return rows
