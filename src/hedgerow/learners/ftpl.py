"""Algorithm 7's learner: follow the perturbed leader."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count, as_gradient, as_number, as_positive
from hedgerow.player import StatefulPlayer
from hedgerow.protocols.compiled import Advance
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State


@dataclass(frozen=True)
class GaussianNoise:
    """The noise schedule eta_t = factor sqrt((offset + sum of ||loss||^2 so far) / N).

    Args:
        offset: what stands in for losses before the first. Algorithm 7 divided by V has 1/V^2,
            that is 1/T, with plain norms. None takes the first loss's own squared norm, so that the
            schedule has no unit, and measures losses along the set alone.
        factor: how much noise.

    """

    offset: float | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.offset is not None:
            object.__setattr__(self, "offset", as_positive(self.offset, "offset"))
        object.__setattr__(self, "factor", as_positive(self.factor, "factor"))

    def norm2(self, decision_set: DecisionSet, s: Vector) -> float:
        """Return the squared size of a loss: along the set, or plain where the offset is given."""
        return decision_set.squares(s)[0 if self.offset is None else 1]

    def scale(self, squares: float, first: float, n: int) -> float:
        """Return eta_t; before any loss, 1 when nothing is known of its size."""
        offset = first if self.offset is None else self.offset
        return self.factor * math.sqrt((offset + squares) / n) or 1.0


class FTPL(StatefulPlayer):
    """Follow the perturbed leader: plays vertices, x_t = lmo(L_{t-1} + eta_t p_t).

    p_t is a fresh standard Gaussian vector each round and L_{t-1} the sum of linear losses. One
    oracle call a round; every play is a vertex, so nothing has to be sampled, and the set need not
    be convex. Oblivious games only.

    Args:
        decision_set: where to play; only its oracle is used.
        seed: fixes the noise.
        noise: the schedule eta_t.

    Reference: Abernethy, Lee and Tewari (2016); Algorithm 7 of the paper.

    """

    oblivious_only = True

    def __init__(self, decision_set: DecisionSet, seed: int, noise: GaussianNoise | None = None):
        self.decision_set = decision_set
        self.noise = GaussianNoise() if noise is None else noise
        self._rng = np.random.default_rng(as_count(seed, "seed", least=0))
        n = decision_set.dim
        self._state = State(x=n, L=n, squares=1, first=1, calls=1)
        self._workspace = decision_set.workspace()
        self._lead()

    def _lead(self) -> None:
        state = self._state
        n = self.decision_set.dim
        eta = self.noise.scale(float(state["squares"][0]), float(state["first"][0]), n)  # line 3
        p = self._rng.standard_normal(n)  # p_t, fresh every round, line 4
        state["x"][:] = self._workspace.lmo(state["L"] + eta * p)  # x_t, line 5
        state["calls"][0] += 1.0

    @property
    def oracle_calls(self) -> int:
        """One a round, and one for the first play."""
        return int(self._state["calls"][0])

    @property
    def losses(self) -> Vector:
        """The sum of the losses told so far, as a fresh array."""
        return self._state["L"].copy()

    def ask(self) -> Vector:
        """Return x_t, a vertex."""
        return self._state["x"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Add the loss and draw the next leader."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        state = self._state
        kernels.ocg.add(state["L"], s)  # L_t, line 9
        size = self.noise.norm2(self.decision_set, s)
        state["squares"][0] += size
        if state["first"][0] == 0.0:
            state["first"][0] = size
        self._lead()

    def compiled(self) -> Advance | None:
        """Return the kernels and arrays of `tell`, if the set has kernels too."""
        n, rng = self.decision_set.dim, self._rng
        if (space := self._workspace.space) is None:
            return None
        work = np.zeros(2 * n + 2)
        work[n : n + 2] = self.noise.offset or 0.0, self.noise.factor
        drawn: dict[str, Any] = {}

        def noise(k: int) -> Vector:
            drawn.update(rows=k, before=rng.bit_generator.state)
            return rng.standard_normal((k, n))

        def played(k: int) -> None:
            if k < drawn["rows"]:  # take back what was not used
                rng.bit_generator.state = drawn["before"]
                rng.standard_normal((k, n))

        steps = kernels.steps  # unused: the leader takes no steps
        return Advance(
            kernels.leaders.perturbed_leader,
            (steps.rms_regularise, steps.line_search, steps.nothing_to_settle),
            self._state.array,
            work,
            space,
            noise=noise,
            played=played,
        )

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}
