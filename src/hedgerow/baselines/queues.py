"""Two queues for violations, and the projected steps that they weigh."""

from __future__ import annotations

from hedgerow.baselines.projecting import Projecting
from hedgerow.feedback import EvalGrad
from hedgerow.sets.decision_set import DecisionSet


class _Queued(Projecting):
    """A queue Q, beside the point."""

    def __init__(
        self,
        decision_set: DecisionSet,
        unit: float,
        eagerness: float,
        horizon: int | None,
    ):
        super().__init__(decision_set, horizon, queue=1)
        self.unit, self.eagerness = unit, eagerness

    @property
    def queue(self) -> float:
        """The length of the queue, Q."""
        return float(self._state["queue"][0])


class DriftPlusPenalty(_Queued):
    """Q waits for violations that were not worked off yet; their first-order change counts too.

    x_{t+1} = P(x_t - (V grad f_t + Q_t grad g_t)/(2 alpha)),
    Q_{t+1} = [Q_t + g_t(x_t) + <grad g_t, x_{t+1} - x_t>]_+ with g_t^+ for g_t.

    Args:
        decision_set: where to play; it must know its projection.
        V: the weight on the cost.
        alpha: the proximal weight.
        unit: the unit in which distances are measured.
        eagerness: the factor on what enters the queue.
        horizon: the number of rounds that V and alpha were made for.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        V: float,
        alpha: float,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        super().__init__(decision_set, unit, eagerness, horizon)
        self.V, self.alpha = V, alpha

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> None:
        """Take one projected step, then move the queue."""
        f, g = self._seen(EvalGrad, cost, constraint)
        self._round()
        x, Q = self._state["x"], self.queue
        slope = g.grad if g.value > 0.0 else 0.0 * g.grad  # of g_t^+
        step = (self.unit / (2.0 * self.alpha)) * (self.V * f.grad + Q * slope)
        moved = self._project(x - step)
        change = (max(0.0, g.value) + float(slope @ (moved - x))) / self.unit
        self._state["queue"][0] = max(Q + self.eagerness * change, 0.0)
        x[:] = moved


class VirtualQueue(_Queued):
    """Q sums what the last round's constraint is broken by at the next play: gt = gamma g_t^+.

    x_{t+1} = P(x_t - (grad f_t + (Q_t + gt(x_t)) grad gt)/(2 alpha)),
    Q_{t+1} = Q_t + gt(x_{t+1}), where g_t, sign and all, is linearised at x_t and clipped
    afterwards: exact for affine constraints, also where a step leaves g_t <= 0. (The original's
    max(-gt(x_{t+1}), .) is for a signed gt.)

    Args:
        decision_set: where to play; it must know its projection.
        gamma: the factor on the constraint.
        alpha: the proximal weight.
        unit: the unit in which distances are measured.
        eagerness: the factor on the queue's weight in the step.
        horizon: the number of rounds that gamma and alpha were made for.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        gamma: float,
        alpha: float,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        super().__init__(decision_set, unit, eagerness, horizon)
        self.gamma, self.alpha = gamma, alpha

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> None:
        """Take one projected step, then move the queue."""
        f, g = self._seen(EvalGrad, cost, constraint)
        self._round()
        x, Q, scale = self._state["x"], self.queue, self.gamma / self.unit
        weight = self.eagerness * (Q + scale * g.value) * self.gamma if g.value > 0.0 else 0.0
        moved = self._project(x - (self.unit / (2.0 * self.alpha)) * (f.grad + weight * g.grad))
        left = scale * max(0.0, g.value + float(g.grad @ (moved - x)))  # gt(x_{t+1})
        self._state["queue"][0] = Q + left
        x[:] = moved
