"""Proximal steps over remembered vertices: a learner for losses that drift."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.kernels.ocg import gap_and_distance, gradient
from hedgerow.kernels.vectors import copy, descent, two
from hedgerow.learners import atoms as remembered
from hedgerow.learners.arguments import first_play
from hedgerow.learners.kernel_learner import NUMBERS, KernelLearner
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, CALLS, BETA, DELTA, BUDGET, DIAMETER, ATOMS = range(7)
"""The numbers of the state [x | t, calls, beta, Delta, c D^2, D | atoms], after x."""
TOLERANCE = 0
"""The number that the first kernel passes to the second."""
FIRST = 1e-3
"""The first regulariser, in units of ||s_1||/D: any small number, the second is learnt."""
MEMORY, LONGER = 50.0, 1.0 / 16.0
"""In round t what was learnt of the regulariser fades by 1/(MEMORY + LONGER t): after an outage, or
an outlier, the follower is soon as quick as before. Of t/2, t/4, sqrt t, 4 sqrt t, 50 + 2 sqrt t,
100 and 200 rounds of memory none was as good on short and long games; with less than a share of t
the noise of 100,000 rounds cost ten times the violation."""
ACCURACY = 0.01
"""The gap at which a descent ends, in units of what a proximal step of this round can gain. Not of
earlier rounds: after an outage their sizes would let no step begin."""
NEWS = 1e-6
"""How much better than all remembered ones a new vertex is, in units of that gap: no tie."""


@kernel(two, write, write, read, number)
def proximal_step(state: Array, work: Array, s: Array, tangent2: float) -> tuple[float, float]:
    """Take in s_t and descend F_t on the hull of the atoms.

    Return the tolerance, and whether x has moved; then x_t is left in `work`.
    """
    n = len(s)
    x, own, atoms, scratch = state[:n], state[n:], state[n + ATOMS :], work[3 * n + NUMBERS :]
    size, D = math.sqrt(tangent2), own[DIAMETER]
    own[ROUND] += 1.0
    if own[BETA] == 0.0:
        own[BETA] = FIRST * size / D
    if size == 0.0:
        return math.inf, 0.0
    tolerance = ACCURACY * size * min(size / own[BETA], D)
    remembered.multiply(atoms, scratch[n:], s)
    if not remembered.descend(atoms, scratch[n:], n, own[BETA], tolerance):
        return tolerance, 0.0
    copy(scratch[:n], x)
    remembered.mix(x, atoms)
    return tolerance, 1.0


@kernel(nothing, write, number)
def learn_beta(own: Array, delta: float) -> None:
    """Delta_t = keep Delta_{t-1} + delta_t^+, and beta_{t+1}."""
    keep = 1.0 - 1.0 / (MEMORY + LONGER * own[ROUND])
    own[DELTA] = keep * own[DELTA] + max(0.0, delta)
    own[BETA] = max(keep * own[BETA], own[DELTA] / own[BUDGET])


@kernel(nothing, write, write, read)
def end_round(state: Array, work: Array, s: Array) -> None:
    """Learn from delta_t = <s_t, x_t - x_{t+1}> - beta_t ||x_t - x_{t+1}||^2; x_t is in `work`."""
    n = len(s)
    x, own, x_t = state[:n], state[n:], work[3 * n + NUMBERS : 4 * n + NUMBERS]
    gain, _, step2 = descent(s, x_t, x)
    learn_beta(own, gain - own[BETA] * step2)


@kernel(nothing, write, write, read, number)
def correct_alone(state: Array, work: Array, s: Array, tangent2: float) -> None:
    """Descend within the hull of the atoms, and no further: no oracle is asked in this round."""
    if proximal_step(state, work, s, tangent2)[1] > 0.0:
        end_round(state, work, s)
    else:  # x_t has not moved, and is not in `work`
        learn_beta(state[len(s) :], 0.0)


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Correct on the hull of the atoms, and write grad F_t at the corrected point.

    x_t and s_t are left in `work`, for `end_round`, and the gradient by the weights, for `level`.
    """
    n = len(s)
    x_t = work[3 * n + NUMBERS : 4 * n + NUMBERS]
    work[3 * n + TOLERANCE], moved = proximal_step(state, work, s, loss[0])
    if moved == 0.0:
        copy(x_t, state[:n])
    copy(work[2 * n : 3 * n], s)
    gradient(work[:n], s, state[:n], x_t, state[n + BETA])
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Admit the vertex if it is news, step towards it, and descend again."""
    x, own, atoms = state[:n], state[n:], state[n + ATOMS :]
    d, v, scratch = work[:n], work[n : 2 * n], work[4 * n + NUMBERS :]
    beta, tolerance = own[BETA], work[3 * n + TOLERANCE]
    own[CALLS] += 1.0
    remembered.level(atoms, scratch, d)
    if remembered.lacks(atoms, scratch, v, d) > NEWS * tolerance:
        gap, distance2 = gap_and_distance(d, x, v)
        curvature = 2.0 * beta * distance2
        k = remembered.admit(atoms, scratch, v, d, own[ROUND])
        sigma = 1.0 if gap >= curvature else gap / curvature  # line search towards v
        remembered.step_towards(atoms, scratch, n, k, beta, sigma)
        remembered.descend(atoms, scratch, n, beta, tolerance)
        remembered.mix(x, atoms)
    end_round(state, work, work[2 * n : 3 * n])


@kernel(*AFTER_ORACLE)
def without_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Stay within the hull of the remembered vertices."""
    end_round(state, work, work[2 * n : 3 * n])


def state_sizes(n: int, atoms: int) -> dict[str, int]:
    """Return the names and sizes of the state after x."""
    names = ("t", "calls", "beta", "Delta", "budget", "diameter")
    return dict.fromkeys(names, 1) | {"atoms": remembered.part_size(n, atoms)}


def scratch_size(n: int, atoms: int) -> int:
    """Return how much scratch memory the kernels need: x_t, and that of the atoms."""
    return n + remembered.scratch_size(n, atoms)


def begin(state: Vector, x1: Vector, atoms: int, c: float, diameter: float) -> None:
    """Fill a state before the first round."""
    n = x1.size
    own = state[n:]
    own[BUDGET], own[DIAMETER] = c * diameter**2, diameter
    remembered.begin(own[ATOMS:], x1, atoms, diameter)
    state[:n] = x1 + 0.0  # the mixture of one atom: no -0.0


class CorrectiveOMD(KernelLearner):
    """Online mirror descent whose proximal steps are made on the hull of remembered vertices.

    x_{t+1} ~ argmin of F_t(x) = <s_t, x> + beta_t ||x - x_t||^2, without projection: up to four
    pairwise steps on the weights of at most `atoms` vertices; then one vertex v_t = argmin over X
    of <grad F_t, x> at the corrected point, one line search towards it, and pairwise steps again.
    Where v_t is left out (`tell_without_oracle`) the round costs no oracle call. It forgets: unlike
    a leader that sums all gradients it follows a best point that moves. On losses that do not
    drift it is the noisier one; `TrackingOCG` plays both.

    beta_{t+1} = max(k_t beta_t, Delta_t / (c D^2)), Delta_t = k_t Delta_{t-1} + delta_t^+,
    delta_t = <s_t, x_t - x_{t+1}> - beta_t ||x_t - x_{t+1}||^2: no unit, any horizon. It forgets
    step sizes, too: k_t = 1 - 1/(50 + t/16), so that an outlier does not slow it down for the
    rest of the game. After the fact, for every u in X, sum <s_t, x_t - u> <= D^2 (beta_1 + the sum
    of beta's rises) + the sum of delta_t + the sum of gap_t, where gap_t is the Frank-Wolfe gap of
    F_t at x_{t+1}; D^2 times the rises is at most the sum of delta_t^+/c (theory.md). No bound of
    the gaps is claimed.

    Memory: (atoms + 6) n + atoms^2 float64. One oracle call per round.

    Args:
        decision_set: where to play.
        atoms: how many points to remember, at least 2; more than 24 hardly helps.
        c: how much of beta D^2 the steps may take up.
        start: x_1; the set's own start if left out.

    Reference: proximal steps as in Beck and Teboulle, Mirror descent and nonlinear projected
    subgradient methods for convex optimization (2003); the regulariser is that of Orabona and Pal,
    Scale-free online learning (2018); fully corrective steps as in Lacoste-Julien and Jaggi, On the
    global linear convergence of Frank-Wolfe optimization variants (NeurIPS 2015).

    >>> import numpy as np
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = CorrectiveOMD(Simplex(2))
    >>> for s in ([2.0, 0.0], [0.0, 2.0], [0.0, 2.0]):
    ...     learner.tell(EvalGrad(0.0, np.array(s)))
    >>> learner.ask()
    array([1., 0.])

    """

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: DecisionSet,
        atoms: int = 24,
        c: float = 1.0,
        start: ArrayLike | None = None,
    ):
        n, x1 = decision_set.dim, first_play(decision_set, start)
        K, c = as_count(atoms, "atoms", least=2), as_positive(c, "c")
        sizes, scratch = state_sizes(n, K), scratch_size(n, K)
        super().__init__(decision_set, sizes, x1=x1, scratch=scratch)
        diameter = decision_set.diameter or 1.0  # a single point: any length will do
        begin(self._state.array, x1, K, c, diameter)
        self.atoms = remembered.Atoms(self._state["atoms"], n)

    @property
    def oracle_calls(self) -> int:
        """One for each `tell`, none for `tell_without_oracle`."""
        return int(self._state["calls"][0])

    @property
    def beta(self) -> float:
        """The regulariser of the next round, 0 while every gradient was zero along the set."""
        return float(self._state["beta"][0])

    def tell_without_oracle(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move within the hull of the remembered vertices."""
        self._tell_without_oracle(loss, without_oracle)
