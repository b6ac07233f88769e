"""Conditional gradient that asks the oracle only when remembered vertices no longer serve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.steps import StepRule
from hedgerow.sets.compositions.wrappers import Affine
from hedgerow.sets.decision_set import DecisionSet, Workspace
from hedgerow.snapshot import Restorable, State, Stateful

SHARE = 0.5
"""A remembered vertex serves if its progress is at least this share of the last exact gap."""
ROUNDING = 1e-12
"""What progress may lack, as a share of <grad F_t(x_t), x_t>: at an optimum both are rounding."""
SPARSE = 0.25
"""Vertices with at most this share of nonzero entries are multiplied entry by entry."""


class LazyOCG(Stateful):
    """`AdaptiveOCG` that answers many of its linear minimisations from memory.

    Where the oracle is the dear part of a round. v_t is the remembered vertex of least
    <grad F_t(x_t), v> if its progress <grad F_t(x_t), x_t - v> is at least half the Frank-Wolfe gap
    that the last call of the oracle found, and at most `patience` times in a row; otherwise v_t
    is exact. How often in a row doubles, from 1 up to `patience`, each time that the oracle finds
    at most twice the progress of memory, and falls to 0 when it finds more. So every v_t is exact,
    or has half the progress of an exact gap that is at most `patience` rounds old.

    A remembered vertex need not be a minimiser, so Theorem 2.1 does not cover it. What
    `CertificateSteps` and `ConstrainedPolicy.certificate` prove after the fact still holds: it
    needs no more than that the steps lead to points of the set. `oracle_calls` counts the calls
    that were made.

    It pays where the oracle costs more than `memory` inner products with vertices, and where good
    vertices come again. Measured: one round in five to eight asks the oracle on routing graphs and
    on sets of few dimensions; two in three on a simplex of 200; more than half on noisy
    assignments; all on matrices of full rank. Regret moved by less than 0.006 of cost range x
    T^{3/4}, but by up to 0.04 to the worse where the costs drift.

    Args:
        decision_set: where to play; its own oracle stays exact.
        steps: `PaperSteps(horizon)`, `RmsSteps(kappa)` or `CertificateSteps(c)`.
        start: x_1; the set's own start if left out.
        memory: how many vertices are remembered, those least recently of use are forgotten. They
            are part of the state, memory x dim numbers; where vertices are dense, take few.
        patience: at most this many answers in a row come from memory.

    Reference: weak separation and caching as in Braun, Pokutta and Zink, Lazifying conditional
    gradient algorithms, JMLR 20 (2019), with back-off in place of their halving of the gap.

    >>> from hedgerow.learners.steps import CertificateSteps
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = LazyOCG(Simplex(3), CertificateSteps())
    >>> for _ in range(100):
    ...     learner.tell(EvalGrad(0.0, np.array([2.0, 0.0, 1.0])))
    >>> learner.ask(), learner.oracle_calls
    (array([0., 1., 0.]), 16)

    """

    oblivious_only = False

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: StepRule,
        start: ArrayLike | None = None,
        *,
        memory: int = 32,
        patience: int = 8,
    ):
        X = self.decision_set = decision_set
        size, most = as_count(memory, "memory"), as_count(patience, "patience")
        self._memory = _Memory(X, size, most)
        self._ocg = AdaptiveOCG(_Remembered(X, self._memory), steps, start)

    @property
    def oracle_calls(self) -> int:
        """How often the oracle itself was called."""
        return self._memory.calls

    @property
    def last_step(self) -> tuple[Vector, float]:
        """(v_t, sigma_t) of the last `tell`, as of `AdaptiveOCG`."""
        return self._ocg.last_step

    def ask(self) -> Vector:
        """Return x_t."""
        return self._ocg.ask()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        self._memory.x = self._ocg.ask()
        self._ocg.tell(loss)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"ocg": self._ocg}  # its workspace is the memory


class _Remembered(Affine):
    """The set itself, with a memory in place of its workspace."""

    scale, shift = 1.0, 0.0

    def __init__(self, inner: DecisionSet, memory: _Memory):
        self.inner = inner
        self._memory = memory

    def workspace(self) -> Workspace:
        return self._memory


class _Memory(Workspace):
    """Vertices, how long ago each was of use, and how far they may still be trusted."""

    def __init__(self, X: DecisionSet, size: int, most: int):
        super().__init__(X)
        self.space = None  # a compiled loop would ask the oracle itself
        self.x = X.start()
        self._state = State(
            vertices=size * X.dim, used=size, clock=1, gap=1, patience=1, left=1, calls=1
        )
        self._vertices = self._state["vertices"].reshape(size, X.dim)
        self._inner = X.workspace()
        self._most = float(most)
        self._index()

    def _index(self) -> None:
        """Find the nonzero entries of all vertices."""
        self._support = [self._nonzero(v) for v in self._vertices]

    @property
    def calls(self) -> int:
        """How often the oracle itself was called."""
        return int(self._state["calls"][0])

    @property
    def _parts(self) -> dict[str, Workspace]:
        return {"inner": self._inner}

    def clear(self) -> None:
        """Forget all vertices too."""
        super().clear()
        self._index()

    def _restored(self) -> None:
        self._index()

    def lmo(self, c: Vector) -> Vector:
        """Return the best remembered vertex if it serves, else ask the oracle."""
        state, here = self._state, float(c @ self.x)
        state["clock"][0] += 1.0
        values = self._values(c)
        best = int(np.argmin(values))
        progress = here - values[best] + ROUNDING * abs(here)  # -inf while nothing is remembered
        if state["left"][0] > 0.0 and progress >= SHARE * state["gap"][0]:
            state["left"][0] -= 1.0
            state["used"][best] = state["clock"][0]
            return np.array(self._vertices[best])
        v = self._inner.lmo(c)
        state["calls"][0] += 1.0
        gap = state["gap"][0] = max(0.0, here - float(c @ v))
        longer = min(self._most, max(1.0, 2.0 * state["patience"][0]))
        state["left"][0] = state["patience"][0] = longer if progress >= SHARE * gap else 0.0
        self._remember(v, best)
        return v

    def _values(self, c: Vector) -> Vector:
        """Return <c, v> for each remembered vertex, infinity for an empty place."""
        values = np.full(len(self._vertices), np.inf)
        for i, support in enumerate(self._support):
            if self._state["used"][i]:
                v = self._vertices[i]
                values[i] = c @ v if support is None else c[support] @ v[support]
        return values

    def _remember(self, v: Vector, best: int) -> None:
        """Note that the vertex was of use; a new one takes the place of the oldest."""
        used = self._state["used"]
        i = best if used[best] and np.array_equal(v, self._vertices[best]) else int(used.argmin())
        self._vertices[i] = v
        self._support[i] = self._nonzero(v)
        used[i] = self._state["clock"][0]

    def _nonzero(self, v: Vector) -> NDArray[np.intp] | None:
        support = np.flatnonzero(v)
        return support if support.size <= SPARSE * v.size else None
