"""Conditional gradient with away steps: T^{1/2} on polytopes, at one oracle call per round."""

from __future__ import annotations

from typing import Any

from numpy import zeros
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.ocg import accumulate_and_gradient, gap_and_distance, gradient
from hedgerow.learners import active_set
from hedgerow.learners.arguments import first_play
from hedgerow.learners.growth import Growth, growths_of_away_steps
from hedgerow.learners.kernel_learner import NUMBERS, KernelLearner
from hedgerow.learners.steps import CertificateSteps, StepRule, as_steps
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, INNER, DROPS, VERTICES, RULE = range(5)
"""The numbers of the state [x | x_1 | S | t, sum of <s, x>, dropped vertices, where the vertices
begin | rule | vertices], after the vectors."""
BETA, VALUE, AWAY, GAP, FAR2 = range(5)
"""The numbers that the first kernel passes to the second: 1/eta_t and F_t(x) after the drops; the
away vertex a, <grad F, a - x> and ||a - x||^2."""
MOST_VERTICES = 64
"""The default's largest active set."""


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Take in s_t; drop vertices while an away step with exact line search drops one.

    These steps need no oracle and never raise F_t. Afterwards the away step is inside the hull.
    """
    n = len(s)
    x, x1, S, d, a = state[:n], state[n : 2 * n], state[2 * n : 3 * n], work[:n], work[n : 2 * n]
    own, passed = state[3 * n :], work[3 * n :]
    vertices = own[int(own[VERTICES]) :]
    t = own[ROUND] = own[ROUND] + 1.0
    own[INNER] += inner
    beta = passed[BETA] = steps.regularise(own[RULE:], t, loss)
    value, far2, _, _, _ = accumulate_and_gradient(d, S, s, x, x1, beta)
    passed[VALUE] = value + beta * far2
    passed[GAP] = passed[FAR2] = 0.0
    while vertices[active_set.COUNT] > 1.0:
        k = active_set.worst(vertices, d, a)
        gap, far2 = gap_and_distance(d, a, x)
        longest = active_set.longest_away(vertices, k, n)
        if gap < 2.0 * beta * far2 * longest or gap == 0.0:
            passed[AWAY], passed[GAP], passed[FAR2] = k, gap, far2
            return True
        active_set.drop(vertices, k, n)
        active_set.mix(x, vertices)
        own[DROPS] += 1.0
        passed[VALUE] -= longest * (gap - beta * longest * far2)
        gradient(d, S, x, x1, beta)
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Step towards v_t or away from a_t, whichever lowers F_t more."""
    x, own, d, v, passed = state[:n], state[3 * n :], work[:n], work[n : 2 * n], work[3 * n :]
    vertices, beta, away = own[int(own[VERTICES]) :], passed[BETA], passed[GAP]
    gap, distance2 = gap_and_distance(d, x, v)
    sigma = steps.step_size(own[RULE:], own[ROUND], beta, gap, distance2)
    gain = sigma * (gap - beta * sigma * distance2)
    if away * away > 4.0 * beta * passed[FAR2] * gain:  # the exact line search away from a_t
        tau = away / (2.0 * beta * passed[FAR2])
        gain = 0.5 * tau * away
        active_set.step_away(vertices, int(passed[AWAY]), n, tau)
        active_set.mix(x, vertices)
    elif sigma > 0.0:
        active_set.step_towards(vertices, v, sigma, work[3 * n + NUMBERS :])
        active_set.mix(x, vertices)
    steps.after_step(own[RULE:], own[INNER] - (passed[VALUE] - gain), gap - gain)


def capacity_of(decision_set: DecisionSet, vertices: int | None) -> int:
    """Return the largest active set: as given, or n + 2, but 64 at most."""
    if vertices is None:
        return min(decision_set.dim + 2, MOST_VERTICES)
    return as_count(vertices, "vertices", 2)


class AwayOCG(KernelLearner):
    """Online conditional gradient that also steps away from vertices that were wrong.

    F_t(x) = sum of <grad_tau, x> up to t + beta_t ||x - c||^2. x_t is a convex combination of
    vertices. First, while an exact line search away from the worst of them, argmax <grad F_t, a>,
    would drop it, it is dropped; this needs no oracle call and never raises F_t. Then one oracle
    call finds v_t, and x_{t+1} is the better one of two exact line searches, towards v_t or away
    from the worst vertex. So a round has exactly one oracle call.

    On a polytope of pyramidal width delta a round gains delta^2/(4 D^2) of F_t(x_t) - min F_t, and
    with `ScheduleSteps` or `UniversalSteps` regret is of order T^{1/2}; on every set it is of order
    T^{3/4} (theory.md). The first decision is a vertex, so that all of them are.

    State: (vertices + 4) n numbers. With `vertices` of at least n + 2, one too many is removed
    without moving x_t (Caratheodory). With fewer, the two lightest are merged into one point that
    is not a vertex; then the order T^{3/4} is proved alone (`growths`).

    Args:
        decision_set: where to play.
        steps: a rule with line search; `CertificateSteps()` if left out.
        start: c, the centre of the regulariser; the set's own start if left out.
        vertices: the largest active set; the smaller of n + 2 and 64 if left out.

    Reference: Lacoste-Julien and Jaggi, On the global linear convergence of Frank-Wolfe
    optimization variants (NeurIPS 2015), for the steps; dropping before the oracle call, and the
    rates, are this library's.

    >>> import numpy as np
    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = AwayOCG(Simplex(3))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0, 1.0])))
    >>> learner.ask(), learner.active
    (array([0., 1., 0.]), 1)

    """

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: StepRule | None = None,
        start: ArrayLike | None = None,
        vertices: int | None = None,
    ):
        n, centre = decision_set.dim, first_play(decision_set, start)
        self.steps = CertificateSteps() if steps is None else as_steps(steps)
        K = capacity_of(decision_set, vertices)
        rule = self.steps.begin(decision_set.diameter or 1.0)  # a single point: any length will do
        numbers = {"x1": n, "S": n, "t": 1, "inner": 1, "drops": 1, "begin": 1, "rule": rule.size}
        numbers |= {"vertices": active_set.part_size(n, K)}
        vertex, scratch = decision_set.lmo(zeros(n)), active_set.scratch_size(n, K)
        kernels, horizon = self.steps.kernels(), self.steps.horizon
        super().__init__(decision_set, numbers, kernels, vertex, horizon, scratch)
        self._state["x1"][:], self._state["rule"][:] = centre, rule
        self._state["begin"][0] = RULE + rule.size
        active_set.begin(self._state["vertices"], vertex, K)

    @property
    def oracle_calls(self) -> int:
        """One per round."""
        return self.rounds

    @property
    def first_play(self) -> Vector:
        """The centre of the regulariser; the first decision itself is a vertex."""
        return self._state["x1"].copy()

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of the steps of a round: q = 2 only if no vertices can be merged."""
        return growths_of_away_steps(self.decision_set, self.capacity)

    @property
    def capacity(self) -> int:
        """The largest active set."""
        return int(self.vertices[active_set.CAPACITY])

    @property
    def rule_numbers(self) -> Vector:
        """The step rule's numbers, a view of the state."""
        return self._state["rule"]

    @property
    def vertices(self) -> Vector:
        """The active set, as `active_set.py` has it, a view of the state."""
        return self._state["vertices"]

    @property
    def active(self) -> int:
        """The number of vertices that x_t is a combination of."""
        return int(self.vertices[active_set.COUNT])

    @property
    def drops(self) -> int:
        """The number of vertices dropped so far."""
        return int(self._state["drops"][0])

    @property
    def merged(self) -> int:
        """How often two vertices were merged, because no more fit in."""
        return int(self.vertices[active_set.MERGED])
