"""The guard of a learner of blocks: Theorem G's inequality adds up over the factors."""

from __future__ import annotations

import math

import numpy as np

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import ALLOW, COST2
from hedgerow.inputs import Vector
from hedgerow.kernels.vectors import four, two
from hedgerow.learners import steps as rules
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.learners.steps import CertificateSteps, capped_regulariser
from hedgerow.sets.compositions.product import Product
from hedgerow.snapshot import State
from hedgerow.surrogates.guard import (
    ACTED,
    BISECTIONS,
    FIRST,
    KAPPA,
    LAM_E,
    PC,
    PHI,
    R2,
    RISEN,
    SHARE,
    STEEPNESS,
    UNIT,
    WC,
    WE,
    C,
    Guard,
    Q,
    Sizes,
    Z,
    add_cost,
    dual_root,
    mixed_size2,
    one_step,
    power_factor,
    record_weight,
    refute,
)

Array = Vector
DIAMETER, CAP, BLOCKS = range(STEEPNESS + 1, STEEPNESS + 4)
"""The numbers after the guard's: D of the product, the steps' cap; then R_b^2 of each block."""
ROW = rules.WORTH + 2
"""How many numbers a block has: those of its step rule, and the sum of <s, x>."""


@kernel(four, read, write, number)
def sums_of_blocks(guard: Array, rows: Array, b: float) -> tuple[float, float, float, float]:
    """Return, over the blocks and with R_b^2 as weights, what the inequality needs to know.

    By Hoelder, sum (D_b^{q-2} ||s_b||^q)^{1/(q-1)} <= (D^{q-2} ||s||^q)^{1/(q-1)}, so that
    `steepest` of the whole gradient with the least beta_b bounds what all blocks lose.

    The sums of beta_b, of the beta_b that M_b and P_b ask for before this round, of
    max(0, b - that), and the least of these; 0 <= that of the round itself - that <=
    cap ||s_b||/D_b.
    """
    spent = wanted = short = 0.0
    least = math.inf
    for k in range(len(guard) - BLOCKS):
        row, R2_b = rows[k * ROW : (k + 1) * ROW], guard[BLOCKS + k]
        beta = capped_regulariser(row, 0.0)
        spent += R2_b * row[rules.BETA]
        wanted += R2_b * beta
        short += R2_b * max(0.0, b - beta)
        least = min(least, beta)
    return spent, wanted, short, least


@kernel(two, read, write, number)
def raised(guard: Array, rows: Array, b: float) -> tuple[float, float]:
    """Return the sum of R_b^2 max(beta_b, b), and the least of these."""
    total, least = 0.0, math.inf
    for k in range(len(guard) - BLOCKS):
        beta = max(rows[k * ROW + rules.BETA], b)
        total += guard[BLOCKS + k] * beta
        least = min(least, beta)
    return total, least


@kernel(number, read, number)
def settled(rows: Array, dual: float) -> float:
    """Return the sum of M_b + q' (gap_b - Delta_b) of the last round."""
    total = 0.0
    for k in range(len(rows) // ROW):
        total += rows[k * ROW + rules.M] + dual * rows[k * ROW + rules.LEFT]
    return total


@kernel(nothing, write, number)
def force_beta(rows: Array, beta: float) -> None:
    """Force every block's regulariser to be at least beta in this round."""
    for k in range(len(rows) // ROW):
        rows[k * ROW + rules.FORCED_BETA] = beta


@kernel(number, write, number, number, number)
def steepest(guard: Array, s2: float, D: float, beta: float) -> float:
    """Return how much a round of ||s||^2 = s2 can add to Z, with the least regulariser."""
    by_power, trivial = one_step(guard, s2, D, power_factor(guard, D, beta))
    return min(by_power, trivial)


@kernel(*ALLOW)
def allow_blocks(guard: Array, rows: Array, value: float, proposed: float, sizes: Sizes) -> float:
    """Return the weight of this round, as `guard.allow` does for one block."""
    D = guard[DIAMETER]
    known = guard[Z] = min(guard[RISEN], settled(rows, guard[Q] / (guard[Q] - 1.0)))
    if refute(guard, D, known, raised(guard, rows, 0.0)[0]):
        add_cost(guard, sizes[COST2])
        return proposed
    floor = record_weight(guard, D, value, sizes)
    weight, unit = max(proposed, floor), guard[UNIT]
    theta = 1.0 / (guard[Q] - 1.0)
    root = unit * dual_root(guard, guard[PC])
    b = guard[KAPPA] * root / D  # the schedule's regulariser
    slack = (1.0 + theta) * (guard[FIRST] * D * root + guard[R2] * b) - known + guard[WE]
    slack += guard[LAM_E] * guard[C] * D * unit * dual_root(guard, guard[PHI])
    spent, wanted, short, least = sums_of_blocks(guard, rows, b)
    norm = math.sqrt(mixed_size2(sizes, weight))
    wanted += guard[CAP] * math.sqrt(guard[R2]) * norm  # at most, after this round
    rise = steepest(guard, norm * norm, D, least) + theta * (wanted - spent)
    if not rise + wanted + (1.0 + theta) * short - (weight - floor) * value <= slack:
        total, least = raised(guard, rows, b)
        low, high, tried = floor, weight, weight
        for _ in range(BISECTIONS):  # the largest weight that is allowed; the floor always is
            rise = steepest(guard, mixed_size2(sizes, tried), D, least)
            if rise + theta * (total - spent) + total - (tried - floor) * value <= slack:
                low = tried
            else:
                high = tried
            if low == weight:
                break
            tried = 0.5 * (low + high)
        weight = low
        norm = math.sqrt(mixed_size2(sizes, weight))
        rise = steepest(guard, norm * norm, D, least) + theta * (total - spent)
        force_beta(rows, b)
        guard[ACTED] += 1.0
    guard[RISEN] = known + rise
    guard[WC] += floor * max(0.0, value)
    guard[WE] += (weight - floor) * value if value > 0.0 else 0.0
    return weight


class BlockGuard(Guard):
    """The guard of a `BlockOCG` whose steps are `CertificateSteps`.

    Inequality (3) of theory.md, with the sums of M_b, of R_b^2 beta_b and of
    R_b^2 max(0, b - beta_b) over the blocks, keeps Theorem G with the constants of one block
    whose steps gain an eighth of what they could (`BlockOCG.growths`).

    Args:
        learner: who plays.
        lam: the share of the bound that pays for Theorem F's weights.
        lam_e: the share that practical weights and steps may use up.

    """

    allowed = allow_blocks

    def __init__(self, learner: BlockOCG, lam: float = SHARE, lam_e: float = SHARE):
        if not isinstance(learner.steps, CertificateSteps):
            raise TypeError(f"the learner's steps must be CertificateSteps, got {learner.steps!r}")
        super().__init__(learner, lam, lam_e)
        X = learner.decision_set
        assert isinstance(X, Product)
        parts = zip(X.factors, X.parts(learner.first_play), strict=True)
        radii = [min(factor.radius_around(x), factor.diameter) for factor, x in parts]
        own, self._state = self.array, State(numbers=BLOCKS + len(radii))
        self.array[: own.size] = own
        self.array[R2] = np.sum(np.square(radii))
        self.array[DIAMETER], self.array[CAP] = self.diameter, learner.steps.cap
        self.array[BLOCKS:] = np.square(radii)
