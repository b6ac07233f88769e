"""Proximal steps over remembered vertices: a learner for losses that drift."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_gradient, as_number, as_positive
from hedgerow.learners.arguments import first_play
from hedgerow.learners.atoms import Atoms
from hedgerow.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State

FIRST = 1e-3
"""The first regulariser, in units of ||s_1||/D: any small number, the second is learnt."""
ACCURACY = 0.01
"""The gap at which a descent ends, in units of what one proximal step can gain."""

NEWS = 1e-6
"""How much better than all remembered ones a new vertex is, in units of that gap: no tie."""


class CorrectiveOMD(StatefulPlayer):
    """Online mirror descent whose proximal steps are made on the hull of remembered vertices.

    x_{t+1} ~ argmin of F_t(x) = <s_t, x> + beta_t ||x - x_t||^2, without projection: pairwise steps
    on the weights of at most `atoms` vertices; then one vertex v_t = argmin over X of
    <grad F_t, x> at the corrected point, one line search towards it, and pairwise steps again.
    Where v_t is left out (`tell_without_oracle`) the round costs no oracle call. It forgets: unlike
    a leader that sums all gradients it follows a best point that moves. On losses that do not
    drift it is the noisier one; `Mixture` plays both.

    beta_{t+1} = max(beta_t, Delta_t / (c D^2)), Delta_t = sum of <s, x_tau - x_{tau+1}> -
    beta_tau ||x_tau - x_{tau+1}||^2: no unit, any horizon. After the fact, for every u in X,
    sum <s_t, x_t - u> <= beta_T D^2 + Delta_T + sum of gap_t, where gap_t is the Frank-Wolfe gap of
    F_t at x_{t+1}. No bound of the gaps is claimed.

    Memory: (atoms + 6) n + atoms^2 float64. One oracle call a round.

    Args:
        decision_set: where to play.
        atoms: how many points to remember, at least 2; more than 32 hardly helps.
        c: how much of beta D^2 the steps may take up.
        start: x_1; the set's own start if left out.

    Reference: proximal steps as in Beck and Teboulle, Mirror descent and nonlinear projected
    subgradient methods for convex optimization (2003); the regulariser is that of Orabona and Pal,
    Scale-free online learning (2018); fully corrective steps as in Lacoste-Julien and Jaggi, On the
    global linear convergence of Frank-Wolfe optimization variants (NeurIPS 2015).

    >>> from hedgerow.sets.simplices import Simplex
    >>> learner = CorrectiveOMD(Simplex(2))
    >>> for s in ([2.0, 0.0], [0.0, 2.0], [0.0, 2.0]):
    ...     learner.tell(EvalGrad(0.0, np.array(s)))
    >>> learner.ask()
    array([1., 0.])

    """

    oblivious_only = False

    def __init__(
        self,
        decision_set: DecisionSet,
        atoms: int = 32,
        c: float = 1.0,
        start: ArrayLike | None = None,
    ):
        X = self.decision_set = decision_set
        x1 = first_play(X, start)
        self._diameter = X.diameter or 1.0  # a single point: any length will do
        self._c = as_positive(c, "c")
        self.atoms = Atoms(x1, as_count(atoms, "atoms", least=2), self._diameter)
        self._state = State(x=X.dim, t=1, calls=1, q=1, beta=1, Delta=1)
        self.atoms.mix(self._state["x"])
        self._before, self._direction = np.empty(X.dim), np.empty(X.dim)
        self._workspace = X.workspace()

    @property
    def oracle_calls(self) -> int:
        """One for each `tell`, none for `tell_without_oracle`."""
        return int(self._state["calls"][0])

    @property
    def beta(self) -> float:
        """The regulariser of the next round, 0 while no gradient was felt."""
        return float(self._state["beta"][0])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}, with one oracle call."""
        s, tolerance = self._correct(loss)
        x, d, beta = self._state["x"], self._direction, self.beta
        kernels.ocg.gradient(d, s, x, self._before, beta)  # grad F_t at the corrected point
        v = self._workspace.lmo(d)
        self._state["calls"][0] += 1.0
        if self.atoms.lacks(v, d) > NEWS * tolerance:
            gap, distance2 = kernels.ocg.gap_and_distance(d, x, v)
            curvature = 2.0 * beta * distance2
            k = self.atoms.admit(v, float(self._state["t"][0]))
            sigma = 1.0 if gap >= curvature else gap / curvature  # line search towards v
            self.atoms.descend_towards(k, sigma, d, beta, tolerance)
            self.atoms.mix(x)
        self._settle(s)

    def tell_without_oracle(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move within the hull of the remembered vertices."""
        s, _ = self._correct(loss)
        self._settle(s)

    def _correct(self, loss: EvalGrad) -> tuple[Vector, float]:
        """Descend F_t on the hull of the atoms; return s_t and the tolerance."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        state, D = self._state, self._diameter
        size = self.decision_set.tangent_norm(s)
        state["t"][0] += 1.0
        state["q"][0] += size**2
        if self.beta == 0.0:
            state["beta"][0] = FIRST * size / D
        self._before[:] = state["x"]  # x_t
        if self.beta == 0.0:
            return s, math.inf
        rms = math.sqrt(float(state["q"][0] / state["t"][0]))
        tolerance = ACCURACY * rms * min(rms / self.beta, D)
        self.atoms.descend(s, self.beta, tolerance)
        self.atoms.mix(state["x"])
        return s, tolerance

    def _settle(self, s: Vector) -> None:
        """Delta_t += <s_t, x_t - x_{t+1}> - beta_t ||x_t - x_{t+1}||^2; beta_{t+1}."""
        state, step = self._state, self._before - self._state["x"]
        state["Delta"][0] += max(0.0, float(s @ step - self.beta * (step @ step)))
        state["beta"][0] = max(self.beta, state["Delta"][0] / (self._c * self._diameter**2))

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"atoms": self.atoms, "workspace": self._workspace}
