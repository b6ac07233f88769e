"""The guard: practical weights and steps, allowed while they cannot break a proved bound.

A practical preset proposes a weight and a regulariser. Before each step the guard checks one
inequality between numbers that are known by then; while it holds, regret and CCV obey Theorem G of
theory.md, whatever was proposed. A proposal that would break it is reduced, at worst to the
weight of Theorem F and the regulariser of its schedule. These always satisfy it, but for a mixture,
which then plays its leader alone in the next round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import ClassVar, Protocol

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, write
from hedgerow._engine.signatures import ALLOW, CONSTRAINT_GRAD2, COST2, PRODUCT, SIZES
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.vectors import three, two
from hedgerow.learners import steps as rules
from hedgerow.learners.growth import Growth, best_growth
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
PAID, LAM_E, C, R2, Q, A, KAPPA, FIRST = range(8)
"""The guard's constants: lambda/c1, lambda_e (of a mixture, lambda_e + lambda_h), C and R^2; the
growth's q and a, and the schedule's kappa; (a kappa)^{-1/(q-1)}."""
UNIT, PHI, COSTS, PC, WC, WE, Z, RISEN, POWERS, TRIVIAL, THEN, ACTED, REFUTED = range(8, 21)
"""Its other numbers: the power of two above the first cost gradient; sums of ||grad f||^{q'},
||grad f|| and ||grad f + wc grad g||^{q'} in that unit; sums of wc g and (w - wc) g; the bound of
Z_t at the last step, and now; since then the sum of ||s||^{q'} in that unit, q' D sum ||s|| of the
other rounds, and beta; rounds that it changed; and 1 as soon as it is proved that no action
satisfies all rounds."""
STEEPEST_COST, PHI_FIRST, GRADS, STEEPNESS = range(21, 25)
"""The largest ||grad f||. For the bound of the CCV: Phi in the first violated round; the sums of
||grad g||^{q'} and of ||grad g|| over violated rounds."""
C1 = {2: 0.2929, 3: 0.178, 4: 0.1281}
"""The largest n(omega) - omega over omega >= 0, rounded up; `norm_of_weights` is n."""
SHARE = 0.25
"""The default of lambda, lambda_e and lambda_h."""
BISECTIONS = 40
ROUNDING = 1.0 + 1e-6
"""Sums must differ by more than this factor to prove anything."""
FLAT2 = INFINITESIMAL * INFINITESIMAL
"""||grad f||^2 of a round before the first cost that is not flat: Phi_t is never 0."""
FLAT_UNIT = 2.0 * INFINITESIMAL
"""The guard's unit during these rounds, the power of two above their gradients."""


def norm_of_weights(omega: float, dual: float) -> float:
    """Return n(omega) = (((1 + omega)^{q'} - 1)/q')^{1/q'}.

    With Wc = m_T omega, m_T n(omega) bounds what Theorem F's weights add to the losses' norm.
    """
    return float((((1.0 + omega) ** dual - 1.0) / dual) ** (1.0 / dual))


@cache
def first_constant(q: int, v: float = 0.0) -> float:
    """Return c1, the largest n(omega) - omega + v (1 + omega); v is C^{-q} for a mixture."""
    if v == 0.0:
        return C1[q]
    dual, step = q / (q - 1.0), 1e-3
    omegas = (step * k for k in range(1, 10_000))
    most = max(norm_of_weights(omega, dual) - omega + v * (1.0 + omega) for omega in omegas)
    return most + step * step  # n is concave, with a second derivative above -1 at the maximum


@kernel(number, write, number, number)
def dual_power(guard: Array, norm2: float, unit: float) -> float:
    """Return (norm/unit)^{q'}."""
    return (norm2 / (unit * unit)) ** (0.5 * guard[Q] / (guard[Q] - 1.0)) if norm2 > 0.0 else 0.0


@kernel(number, write, number)
def dual_root(guard: Array, total: float) -> float:
    """Return total^{1/q'}."""
    return three_quarters(total) if guard[Q] == 4.0 else total ** (1.0 - 1.0 / guard[Q])


@kernel(number, SIZES, number)
def mixed_size2(sizes: Sizes, weight: float) -> float:
    """Return ||grad f + weight grad g||^2."""
    return max(
        0.0, sizes[COST2] + weight * (2.0 * sizes[PRODUCT] + weight * sizes[CONSTRAINT_GRAD2])
    )


@kernel(number, write, number)
def add_cost(guard: Array, cost2: float) -> float:
    """Add ||grad f||^{q'} to Phi^{q'}; return what was added, in the guard's unit.

    Until the first cost that is not flat, each counts as one of an infinitesimal size. With
    Phi_t = 0 every weight would be refused; with no entry at all the rounds would stay in the
    learner's sums without a place in the bound.
    """
    if cost2 == 0.0 and guard[UNIT] == 0.0:
        guard[UNIT] = FLAT_UNIT
    elif cost2 > 0.0 and (guard[UNIT] == 0.0 or guard[UNIT] == FLAT_UNIT):
        unit = power_of_two_above(cost2)
        shrink = dual_power(guard, guard[UNIT] * guard[UNIT], unit)
        guard[PHI] *= shrink
        guard[PC] *= shrink
        guard[POWERS] *= shrink
        guard[UNIT] = unit
    counted = FLAT2 if cost2 == 0.0 and guard[UNIT] == FLAT_UNIT else cost2
    size = dual_power(guard, counted, guard[UNIT])
    guard[PHI] += size
    guard[COSTS] += math.sqrt(cost2) / guard[UNIT]
    guard[STEEPEST_COST] = max(guard[STEEPEST_COST], math.sqrt(cost2))
    return size


@kernel(number, write, number, number, number, number)
def theorem_weight(guard: Array, D: float, value: float, force2: float, paid: float) -> float:
    """Return Theorem F's weight of a constraint with ||grad g||^2 = force2, after the cost's.

    wc = ((m_t + Wc)/kappa_t) (g/kappa_t)^{q-1}, m_t = (lambda/c1) C D Phi_t,
    kappa_t = C D ||grad g||; Wc, the sum of wc g so far, is `paid`.
    """
    if value <= 0.0 or force2 <= 0.0:
        return 0.0
    CD, phi, norm = guard[C] * D, guard[UNIT] * dual_root(guard, guard[PHI]), math.sqrt(force2)
    if guard[STEEPNESS] == 0.0:
        guard[PHI_FIRST] = phi
    guard[STEEPNESS] += norm
    guard[GRADS] += dual_power(guard, force2, 1.0)
    kappa = CD * norm
    share = min(value / kappa, 1.0 / guard[C])  # no more where some action satisfies the round
    return (guard[PAID] * CD * phi + paid) / kappa * share ** (guard[Q] - 1.0)


@kernel(number, write, number, number, SIZES)
def record_weight(guard: Array, D: float, value: float, sizes: Sizes) -> float:
    """Record the cost and the one constraint of a round; return Theorem F's weight."""
    size = add_cost(guard, sizes[COST2])
    wc = theorem_weight(guard, D, value, sizes[CONSTRAINT_GRAD2], guard[WC])
    guard[PC] += size if wc == 0.0 else dual_power(guard, mixed_size2(sizes, wc), guard[UNIT])
    return wc


@kernel(types.boolean, write, number, number, number)
def refute(guard: Array, D: float, known: float, regularised: float) -> bool:
    """Return whether no action satisfies all rounds so far, by what is known of them.

    If x* did, sum <grad f, x_t - x*> + Wc + We <= Z + R^2 beta + H, where H is what a mixture lost
    to its leader; `known` is Z + H. The first sum is at least -D sum ||grad f||. Theorem G then
    promises nothing, and Theorem F's weight, which grows by a factor in every violated round, would
    grow without end.
    """
    if guard[REFUTED] == 0.0:
        most = max(0.0, known + regularised) + D * guard[UNIT] * guard[COSTS]
        if guard[WC] + guard[WE] > ROUNDING * most:
            guard[REFUTED] = 1.0
    return guard[REFUTED] > 0.0


@kernel(number, write, number, number)
def power_factor(guard: Array, D: float, beta: float) -> float:
    """Return what the sum of ||s||^{q'}, in the unit, is multiplied by in the one-step inequality.

    (D^{q-2}/(a beta))^{1/(q-1)} unit^{q'}. The a of a learner that steps once in b rounds is that
    of a step, over b: rounds without one count as one round with the sum of their gradients.
    """
    if beta == 0.0:
        return math.inf
    unit = guard[UNIT]
    return unit * D * (unit / (guard[A] * beta * D)) ** (1.0 / (guard[Q] - 1.0))


@kernel(two, write, number, number, number)
def one_step(guard: Array, s2: float, D: float, factor: float) -> tuple[float, float]:
    """Return both bounds of what a round adds to Z, given ||s||^2: by its power, and q' ||s|| D."""
    power = dual_power(guard, s2, guard[UNIT])
    trivial = guard[Q] / (guard[Q] - 1.0) * math.sqrt(s2) * D
    return (factor * power if power > 0.0 else 0.0), trivial


@kernel(two, write, write, number, number, number)
def increase(guard: Array, rule: Array, s2: float, beta: float, b: float) -> tuple[float, float]:
    """Return by how much a round of ||s||^2 = s2 raises the inequality's left side, and Z alone.

    Left: the rise of Z, plus R^2 (beta + q' max(0, b - beta)), plus what a mixture can lose to its
    leader in this round. Of the rounds since the last step some count by their powers, the others
    by the trivial bound: the gradient of all is a sum of both.
    """
    R2_, theta, D = guard[R2], 1.0 / (guard[Q] - 1.0), rule[rules.D]
    factor = power_factor(guard, D, beta)
    by_power, trivial = one_step(guard, s2, D, factor)
    rise = guard[TRIVIAL] + min(by_power, trivial) + theta * (beta - guard[THEN]) * R2_
    if guard[POWERS] > 0.0:
        rise += factor * guard[POWERS]
    lost = math.sqrt(s2) * rule[rules.APART]
    return rise + R2_ * (beta + (1.0 + theta) * max(0.0, b - beta)) + lost, rise


@kernel(nothing, write, number, number, number)
def remember(guard: Array, s2: float, D: float, beta: float) -> None:
    """Add a round to those since the last step, by the smaller one of its two bounds."""
    by_power, trivial = one_step(guard, s2, D, power_factor(guard, D, beta))
    if by_power <= trivial:
        guard[POWERS] += dual_power(guard, s2, guard[UNIT])
    else:
        guard[TRIVIAL] += trivial


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


@kernel(types.boolean, write, write, number)
def has_stopped(guard: Array, rule: Array, cost2: float) -> bool:
    """Return whether there is nothing to guard, because no action satisfies all rounds."""
    known = guard[RISEN] + rule[rules.LOST]
    if not refute(guard, rule[rules.D], known, guard[R2] * rule[rules.BETA]):
        return False
    rule[rules.ALONE] = 0.0
    add_cost(guard, cost2)
    return True


@kernel(number, write, write, number, number, number, SIZES)
def largest_allowed(
    guard: Array, rule: Array, value: float, weight: float, floor: float, sizes: Sizes
) -> float:
    """Return the largest weight between floor and weight that satisfies the inequality.

    Record it; the cost and Theorem F's weight, which is the floor, are recorded before.
    """
    D, lost, unit = rule[rules.D], rule[rules.LOST], guard[UNIT]
    if rule[rules.UNIT] == 0.0:
        rule[rules.UNIT] = power_of_two_above(mixed_size2(sizes, weight))
    root, dual = unit * dual_root(guard, guard[PC]), guard[Q] / (guard[Q] - 1.0)
    b = guard[KAPPA] * root / D  # the schedule's regulariser
    if rule[rules.LEFT] < math.inf:  # the learner stepped: its rounds so far are settled
        guard[Z] = min(guard[RISEN], rule[rules.M] + dual * rule[rules.LEFT])
        guard[POWERS], guard[TRIVIAL], guard[THEN] = 0.0, 0.0, rule[rules.BETA]
    known = guard[Z]
    slack = dual * (guard[FIRST] * D * root + guard[R2] * b) - known - lost + guard[WE]
    slack += guard[LAM_E] * guard[C] * D * unit * dual_root(guard, guard[PHI])
    s2 = mixed_size2(sizes, weight)
    beta = proposed_beta = capped_regulariser(rule, relative_size(s2, rule[rules.UNIT]))
    left, rise = increase(guard, rule, s2, beta, b)
    if not left - (weight - floor) * value <= slack:
        beta = max(proposed_beta, b)
        left, rise = increase(guard, rule, s2, beta, b)
        if not left - (weight - floor) * value <= slack:
            weight, beta, rise = reduced(guard, rule, value, weight, floor, b, slack, sizes)
            s2 = mixed_size2(sizes, weight)
            left = increase(guard, rule, s2, beta, b)[0]
        rule[rules.FORCED_BETA] = beta
        guard[ACTED] += 1.0
    extra = (weight - floor) * value
    rule[rules.ALONE] = 0.0 if left - extra <= slack else 1.0  # the last resort missed it
    guard[RISEN] = known + rise
    remember(guard, s2, D, beta)
    guard[WE] += extra if value > 0.0 else 0.0
    return weight


@kernel(*ALLOW)
def allow(guard: Array, rule: Array, value: float, proposed: float, sizes: Sizes) -> float:
    """Return the weight of this round, at most the larger of the proposed one and Theorem F's."""
    if has_stopped(guard, rule, sizes[COST2]):
        return proposed
    floor = record_weight(guard, rule[rules.D], value, sizes)
    weight = largest_allowed(guard, rule, value, max(proposed, floor), floor, sizes)
    guard[WC] += floor * max(0.0, value)
    return weight


class Guarded(Protocol):
    """A learner whose step rule is `CertificateSteps`, and lets a guard see its numbers."""

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of its steps."""
        ...

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

    With the best `Growth` (q, a) that is proved of the learner's steps, its constant C, and
    Phi_T = (sum ||grad f_t||^{q'})^{1/q'}, q' = q/(q - 1): for every x* that satisfies all rounds,
    Regret_T <= (1 + lam_e + lam) C D Phi_T, and CCV_T is of order T^{1/q'} (log T)^{1/q}
    (`bounds.guarded_regret`, `bounds.guarded_ccv`). What a mixture has lost to its leader is part
    of the inequality; where even the weight of Theorem F misses it, the leader plays the next round
    alone, and the bounds have a term D max ||grad f + wc grad g|| more.
    On most games it never acts; default.md counts where it does.

    Args:
        learner: an `AdaptiveOCG` or `AwayOCG` with `CertificateSteps`, or what mixes one with
            others.
        lam: the share of the bound that pays for Theorem F's weights.
        lam_e: the share that practical weights and steps may use up.
        lam_h: the share that a mixture may lose to its leader; it adds to lam_e.

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
        rho, b = (self.radius / self.diameter) ** 2, learner.longest_rest
        self.growth = best_growth((growth.every(b) for growth in learner.growths), rho)
        q, a, kappa = self.growth.q, self.growth.a, self.growth.kappa(rho)
        self.C, self.mixes = self.growth.constant(rho), b > 1.0
        shares = {"lam": lam, "lam_e": lam_e, "lam_h": lam_h}
        self.lam, self.lam_e, lam_h = (as_positive(v, n) for n, v in shares.items())
        self.lam_e += lam_h if self.mixes else 0.0
        self._state = State(numbers=STEEPNESS + 1)
        charge = first_constant(q, self.C**-q if self.mixes else 0.0)
        self.array[:Q] = self.lam / charge, self.lam_e, self.C, self.radius**2
        self.array[Q:UNIT] = q, a, kappa, (a * kappa) ** (-1.0 / (q - 1.0))

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
        """Phi_t = (sum of ||grad f||^{q'})^{1/q'}, in units of cost per length."""
        return float(self.array[UNIT] * dual_root(self.array, self.array[PHI]))

    @property
    def steepest_cost(self) -> float:
        """The largest ||grad f|| so far, in units of cost per length."""
        return float(self.array[STEEPEST_COST])

    @property
    def cost_ratio(self) -> float:
        """Phi_t relative to Phi in the first violated round; 1 before it."""
        first = float(self.array[PHI_FIRST])
        return self.cost_size / first if first > 0.0 else 1.0

    @property
    def constraint_size(self) -> float:
        """(sum of ||grad g||^{q'})^{1/q'} over violated rounds, in the constraint's unit."""
        return float(self.array[GRADS] ** (1.0 / self.growth.dual))

    @property
    def worst_violation(self) -> float:
        """D times the sum of ||grad g|| over violated rounds: no decision violates more."""
        return float(self.diameter * self.array[STEEPNESS])

    @property
    def worst(self) -> float:
        """D times the sum of ||grad f||: no play has more regret."""
        return float(self.diameter * self.array[UNIT] * self.array[COSTS])

    def allow(self, value: float, proposed: float, sizes: Sizes) -> float:
        """Take in a round and return the weight that is allowed."""
        return float(type(self).allowed(self.array, self.rule, value, proposed, sizes))
