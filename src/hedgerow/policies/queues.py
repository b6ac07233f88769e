"""Two queues for violations, and the projected steps that they weigh."""

from __future__ import annotations

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.policies.projecting import Projecting
from hedgerow.sets.decision_set import DecisionSet


class _Queued(Projecting):
    """A queue Q, and g_t^+ to first order."""

    def __init__(
        self,
        decision_set: DecisionSet,
        constants: tuple[float, ...],
        unit: float,
        eagerness: float,
        horizon: int | None,
    ):
        super().__init__(decision_set, (constants, unit, eagerness), horizon, queue=1)
        self.unit, self.eagerness = unit, eagerness

    @property
    def queue(self) -> float:
        """Q."""
        return float(self._state["queue"][0])

    def _clipped(self, cost: EvalGrad, constraint: EvalGrad) -> tuple[Vector, float, Vector]:
        """Return grad f_t, g_t^+(x_t) and a subgradient of g_t^+ there."""
        f, g = self._seen(EvalGrad, cost, constraint)
        return (f.grad, g.value, g.grad) if g.value > 0.0 else (f.grad, 0.0, 0.0 * g.grad)


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
        super().__init__(decision_set, (V, alpha), unit, eagerness, horizon)
        self.V, self.alpha = V, alpha

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> None:
        """Take one projected step, then move the queue."""
        f, g, slope = self._clipped(cost, constraint)
        self._round()
        x, Q = self._state["x"], self.queue
        step = (self.unit / (2.0 * self.alpha)) * (self.V * f + Q * slope)
        moved = self._project(x - step)
        change = (g + float(slope @ (moved - x))) / self.unit
        self._state["queue"][0] = max(Q + self.eagerness * change, 0.0)
        x[:] = moved


class VirtualQueue(_Queued):
    """Q never falls below what the last round fell short of: gt = gamma g_t^+.

    x_{t+1} = P(x_t - (grad f_t + (Q_t + gt(x_t)) grad gt)/(2 alpha)),
    Q_{t+1} = max(-gt(x_{t+1}), Q_t + gt(x_{t+1})), where gt(x_{t+1}) is linearised at x_t.

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
        super().__init__(decision_set, (gamma, alpha), unit, eagerness, horizon)
        self.gamma, self.alpha = gamma, alpha

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> None:
        """Take one projected step, then move the queue."""
        f, g, slope = self._clipped(cost, constraint)
        self._round()
        x, Q, scale = self._state["x"], self.queue, self.gamma / self.unit
        weight = self.eagerness * (Q + scale * g) * self.gamma
        moved = self._project(x - (self.unit / (2.0 * self.alpha)) * (f + weight * slope))
        left = scale * max(0.0, g + float(slope @ (moved - x)))  # gt(x_{t+1})
        self._state["queue"][0] = max(-left, Q + left)
        x[:] = moved
