"""The guard: practical weights and steps, allowed while they cannot break a proved bound.

A practical preset proposes a weight and a regulariser. Before each step the guard checks one
inequality between numbers that are known by then; while it holds, regret and CCV obey Theorem G of
theory.md, whatever was proposed. A proposal that would break it is reduced, at worst to the
weight of Theorem F and the regulariser of its schedule, which always keep it; for a learner that
skips steps up to the term E_T of theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, Protocol

from numba import types

from hedgerow._engine.kernel import kernel, number, write
from hedgerow._engine.signatures import ALLOW, CONSTRAINT_GRAD2, COST2, PRODUCT, SIZES
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.vectors import three, two
from hedgerow.learners import steps as rules
from hedgerow.learners.steps import (
    capped_regulariser,
    power_of_two_above,
    relative_size,
    three_quarters,
)
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import State, Stateful
from hedgerow.surrogates.ranges import INFINITESIMAL

Array = Vector
Sizes = tuple[float, float, float, float, float, float]
LAM, LAM_E, LAM_H, C, R2, FIRST = range(6)
"""The guard's constants: lambda, lambda_e, lambda_h, C and R^2; b^{1/3}, where the learner steps at
least once in b rounds."""
UNIT, PHI, COSTS, PC, WC, WE, Z, RISEN, BLOCK, THEN, ACTED, STEEPEST, REFUTED = range(6, 19)
"""Its other numbers: the power of two above the first cost gradient; sums of ||grad f||^{4/3},
||grad f|| and ||grad f + wc grad g||^{4/3} in that unit; sums of wc g and (w - wc) g; the bound of
Z_t at the last step, and now; the sum of ||s|| and beta since then; rounds that it changed; the
largest ||s||; and 1 as soon as it is proved that no action satisfies all rounds."""
C1 = 0.1281
"""The largest (3/4)^{3/4} ((1 + omega)^{4/3} - 1)^{3/4} - omega over omega >= 0, rounded up."""
SHARE = 0.25
"""The default of lambda, lambda_e and lambda_h."""
BISECTIONS = 40
ROUNDING = 1.0 + 1e-6
"""Sums must differ by more than this factor to prove anything."""
FLAT2 = INFINITESIMAL * INFINITESIMAL
"""||grad f||^2 of a round before the first cost that is not flat: Phi_t is never 0."""
FLAT_UNIT = 2.0 * INFINITESIMAL
"""The guard's unit during these rounds, the power of two above their gradients."""


@kernel(number, SIZES, number)
def mixed_size2(sizes: Sizes, weight: float) -> float:
    """Return ||grad f + weight grad g||^2."""
    return max(
        0.0, sizes[COST2] + weight * (2.0 * sizes[PRODUCT] + weight * sizes[CONSTRAINT_GRAD2])
    )


@kernel(number, write, number)
def add_cost(guard: Array, cost2: float) -> float:
    """Add ||grad f||^{4/3} to Phi^{4/3}; return what was added, in the guard's unit.

    Until the first cost that is not flat, each counts as one of an infinitesimal size. With
    Phi_t = 0 every weight would be refused; with no entry at all the rounds would stay in the
    learner's sums without a place in the bound.
    """
    if cost2 == 0.0 and guard[UNIT] == 0.0:
        guard[UNIT] = FLAT_UNIT
    elif cost2 > 0.0 and (guard[UNIT] == 0.0 or guard[UNIT] == FLAT_UNIT):
        unit = power_of_two_above(cost2)
        shrink = (guard[UNIT] / unit) ** (4.0 / 3.0)
        guard[PHI] *= shrink
        guard[PC] *= shrink
        guard[UNIT] = unit
    counted = FLAT2 if cost2 == 0.0 and guard[UNIT] == FLAT_UNIT else cost2
    size = relative_size(counted, guard[UNIT])
    guard[PHI] += size
    guard[COSTS] += math.sqrt(cost2) / guard[UNIT]
    return size


@kernel(number, write, number, number, SIZES)
def theorem_weight(guard: Array, D: float, value: float, sizes: Sizes) -> float:
    """Take in the round's sizes; return Theorem F's weight.

    wc = ((m_t + Wc)/kappa_t) (g/kappa_t)^3, m_t = (lambda/c1) C D Phi_t, kappa_t = C D ||grad g||.
    """
    size, unit = add_cost(guard, sizes[COST2]), guard[UNIT]
    if value <= 0.0 or sizes[CONSTRAINT_GRAD2] <= 0.0:
        guard[PC] += size
        return 0.0
    CD = guard[C] * D
    m = guard[LAM] / C1 * CD * unit * three_quarters(guard[PHI])
    kappa = CD * math.sqrt(sizes[CONSTRAINT_GRAD2])
    share = min(value / kappa, 1.0 / guard[C])  # no more where some action satisfies the round
    wc = (m + guard[WC]) / kappa * share * share * share
    guard[PC] += relative_size(mixed_size2(sizes, wc), unit)
    return wc


@kernel(types.boolean, write, number, number, number)
def refute(guard: Array, D: float, known: float, regularised: float) -> bool:
    """Return whether no action satisfies all rounds so far, by what is known of them.

    If x* did, sum <grad f, x_t - x*> + Wc + We <= Z + R^2 beta + H, where H is what a mixture lost
    to its leader, at most lambda_h C D Phi + D max ||s||; and the first sum is at least
    -D sum ||grad f||. Theorem G then promises nothing, and Theorem F's weight, which grows by a
    factor in every violated round, would grow without end.
    """
    if guard[REFUTED] == 0.0:
        phi = guard[UNIT] * three_quarters(guard[PHI])
        lost = guard[LAM_H] * guard[C] * D * phi + D * guard[STEEPEST]
        most = max(0.0, known + regularised) + lost + D * guard[UNIT] * guard[COSTS]
        if guard[WC] + guard[WE] > ROUNDING * most:
            guard[REFUTED] = 1.0
    return guard[REFUTED] > 0.0


@kernel(number, number, number, number)
def steepest(norm: float, D: float, beta: float) -> float:
    """Return min(D^{2/3} ||s||^{4/3} beta^{-1/3}, (4/3) ||s|| D): the one-step inequality."""
    rise = 4.0 / 3.0 * norm * D
    if beta > 0.0:
        rise = min(rise, norm * (D * D * (norm / beta)) ** (1.0 / 3.0))
    return rise


@kernel(two, write, write, number, number, number)
def increase(guard: Array, rule: Array, s2: float, beta: float, b: float) -> tuple[float, float]:
    """Return by how much a round of ||s||^2 = s2 raises the inequality's left side, and Z alone.

    Left: the rise of Z, plus R^2 (beta + (4/3) max(0, b - beta)). Rounds without a step since the
    last one count as one with this, whose gradient is at most the sum of theirs.
    """
    R2_ = guard[R2]
    rise = steepest(guard[BLOCK] + math.sqrt(s2), rule[rules.D], beta)
    rise += (beta - guard[THEN]) * R2_ / 3.0
    return rise + R2_ * (beta + 4.0 / 3.0 * max(0.0, b - beta)), rise


@kernel(three, write, write, number, number, number, number, number, SIZES)
def reduced(
    guard: Array,
    rule: Array,
    value: float,
    weight: float,
    floor: float,
    b: float,
    slack: float,
    sizes: Sizes,
) -> tuple[float, float, float]:
    """Return the largest weight that is allowed, by bisection, with its beta and its rise of Z."""
    low, high = floor, weight
    beta = max(rule[rules.BETA], b)  # allowed by Theorem G, with the weight of Theorem F
    rise = increase(guard, rule, mixed_size2(sizes, floor), beta, b)[1]
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        s2 = mixed_size2(sizes, middle)
        tried = max(capped_regulariser(rule, relative_size(s2, rule[rules.UNIT])), b)
        left, more = increase(guard, rule, s2, tried, b)
        if left - (middle - floor) * value <= slack:
            low, beta, rise = middle, tried, more
        else:
            high = middle
    return low, beta, rise


@kernel(*ALLOW)
def allow_all(guard: Array, rule: Array, value: float, proposed: float, sizes: Sizes) -> float:
    """Return the proposed weight: the surrogate has no guard."""
    return proposed


@kernel(*ALLOW)
def allow(guard: Array, rule: Array, value: float, proposed: float, sizes: Sizes) -> float:
    """Return the weight of this round, at most the larger of the proposed one and Theorem F's."""
    D = rule[rules.D]
    if refute(guard, D, guard[RISEN], guard[R2] * rule[rules.BETA]):
        rule[rules.MAX_LOSS_TO_LEADER] = 0.0
        add_cost(guard, sizes[COST2])
        return proposed
    floor = theorem_weight(guard, D, value, sizes)
    weight, unit = max(proposed, floor), guard[UNIT]
    if rule[rules.UNIT] == 0.0:
        rule[rules.UNIT] = power_of_two_above(mixed_size2(sizes, weight))
    root = unit * three_quarters(guard[PC])
    b = root / D  # the schedule's regulariser
    if rule[rules.LEFT] < math.inf:  # the learner stepped: its rounds so far are settled
        guard[Z] = min(guard[RISEN], rule[rules.M] + 4.0 / 3.0 * rule[rules.LEFT])
        guard[BLOCK], guard[THEN] = 0.0, rule[rules.BETA]
    known, CD = guard[Z], guard[C] * D
    slack = 4.0 / 3.0 * (guard[FIRST] * D * root + guard[R2] * b) - known + guard[WE]
    bound = CD * unit * three_quarters(guard[PHI])
    slack += guard[LAM_E] * bound
    s2 = mixed_size2(sizes, weight)
    beta = proposed_beta = capped_regulariser(rule, relative_size(s2, rule[rules.UNIT]))
    left, rise = increase(guard, rule, s2, beta, b)
    if not left - (weight - floor) * value <= slack:
        beta = max(proposed_beta, b)
        left, rise = increase(guard, rule, s2, beta, b)
        if not left - (weight - floor) * value <= slack:
            weight, beta, rise = reduced(guard, rule, value, weight, floor, b, slack, sizes)
        rule[rules.FORCED_BETA] = beta
        guard[ACTED] += 1.0
    extra = (weight - floor) * value
    rule[rules.MAX_LOSS_TO_LEADER] = guard[LAM_H] * bound
    norm = math.sqrt(mixed_size2(sizes, weight))
    guard[BLOCK] += norm
    guard[STEEPEST] = max(guard[STEEPEST], norm)
    guard[RISEN] = known + rise
    guard[WC] += floor * max(0.0, value)
    guard[WE] += extra if value > 0.0 else 0.0
    return weight


class Guarded(Protocol):
    """A learner whose step rule is `CertificateSteps`, and lets a guard see its numbers."""

    @property
    def decision_set(self) -> DecisionSet:
        """Where it plays."""
        ...

    @property
    def rule_numbers(self) -> Vector:
        """The numbers of its `CertificateSteps`, a view of its state."""
        ...

    @property
    def first_play(self) -> Vector:
        """x_1, the centre of its regulariser."""
        ...

    @property
    def longest_rest(self) -> float:
        """b, where it steps at least once in b rounds."""
        ...


class Guard(Stateful):
    """Allows a practical policy its weights and steps while Theorem G's inequality holds.

    With C = (4/3)(b^{1/3} + (R/D)^2), where the learner steps at least once in b rounds,
    Phi_T = (sum ||grad f_t||^{4/3})^{3/4}, and every x* that satisfies all rounds,
    Regret_T <= (1 + lam_e + lam) C D Phi_T, and CCV_T = O(T^{3/4} (log T)^{1/4})
    (`bounds.guarded_ccv`). On most games it never acts; default.md counts where it does.

    Args:
        learner: an `AdaptiveOCG` with `CertificateSteps`, or what mixes one with others.
        lam: the share of the bound that pays for Theorem F's weights.
        lam_e: the share that practical weights and steps may use up.
        lam_h: the share that a mixture may lose to its leader.

    """

    allowed: ClassVar[Callable[..., float]] = allow
    """The kernel."""

    def __init__(
        self, learner: Guarded, lam: float = SHARE, lam_e: float = SHARE, lam_h: float = SHARE
    ):
        self.learner = learner
        X = learner.decision_set
        self.diameter = X.diameter or 1.0
        self.radius = min(X.radius_around(learner.first_play), self.diameter)
        first = float(learner.longest_rest ** (1.0 / 3.0))
        self.C = 4.0 / 3.0 * (first + (self.radius / self.diameter) ** 2)
        shares = {"lam": lam, "lam_e": lam_e, "lam_h": lam_h}
        self.lam, self.lam_e, self.lam_h = (as_positive(v, n) for n, v in shares.items())
        self._state = State(numbers=REFUTED + 1)
        self.array[:UNIT] = (self.lam, self.lam_e, self.lam_h, self.C, self.radius**2, first)

    def __repr__(self) -> str:
        return f"Guard({type(self.learner).__name__})"  # which is shown once

    @property
    def array(self) -> Vector:
        """The numbers, for the kernels."""
        return self._state.array

    @property
    def rule(self) -> Vector:
        """The step rule's numbers, for the kernels."""
        return self.learner.rule_numbers

    @property
    def interventions(self) -> int:
        """Number of rounds in which the proposed weight was reduced."""
        return int(self.array[ACTED])

    @property
    def refuted(self) -> bool:
        """Whether no action satisfies all rounds, by proof; all weights are then allowed."""
        return bool(self.array[REFUTED])

    @property
    def cost_size(self) -> float:
        """Phi_t = (sum of ||grad f||^{4/3})^{3/4}, in units of cost per length."""
        return float(self.array[UNIT] * self.array[PHI] ** 0.75)

    @property
    def worst(self) -> float:
        """D times the sum of ||grad f||: no play has more regret."""
        return float(self.diameter * self.array[UNIT] * self.array[COSTS])

    def allow(self, value: float, proposed: float, sizes: Sizes) -> float:
        """Take in a round and return the weight that is allowed."""
        return float(type(self).allowed(self.array, self.rule, value, proposed, sizes))
