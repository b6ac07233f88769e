"""A learner of learners: on a product every block has its own step and its own regulariser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, number, read
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector
from hedgerow.kernels.ocg import accumulate_and_gradient, gap_and_distance, margin_and_left, move
from hedgerow.kernels.tangents import balanced
from hedgerow.kernels.vectors import dot
from hedgerow.learners import steps
from hedgerow.learners.arguments import first_play
from hedgerow.learners.growth import Growth
from hedgerow.learners.kernel_learner import NUMBERS, KernelLearner
from hedgerow.learners.steps import CertificateSteps, StepRule, as_steps
from hedgerow.sets.compiled import NO_INDEX, NO_NUMBERS
from hedgerow.sets.compositions.product import Product

Array = Vector
Loss = tuple[float, float, float]
ROUND, BLOCKS, SIMPLICES, LENGTH, BEGIN = range(5)
"""The numbers of the state [x | x_1 | S | t, how many blocks, whether all are simplices, how many
numbers a block has | where blocks begin, and the end | rule and sum of <s, x> of each block]."""


@kernel(number, read, number)
def along_simplex(c: Array, plain2: float) -> float:
    """Return the squared norm of c along a simplex, as its own kernel measures it."""
    return balanced(NO_INDEX, NO_NUMBERS, c, plain2) if len(c) > 1 else 0.0


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """In each block as in `adaptive_ocg.before_oracle`, with the block's own norms."""
    n = len(s)
    x, x1, S = state[:n], state[n : 2 * n], state[2 * n : 3 * n]
    own, passed = state[3 * n :], work[3 * n + NUMBERS :]
    blocks, length = int(own[BLOCKS]), int(own[LENGTH])
    begin, parts = own[BEGIN:], own[BEGIN + blocks + 1 :]
    t = own[ROUND] = own[ROUND] + 1.0
    for b in range(blocks):
        i, j = int(begin[b]), int(begin[b + 1])
        part, s_b, x_b = parts[b * length : (b + 1) * length], s[i:j], x[i:j]
        part[length - 1] += dot(s_b, x_b)
        plain2 = dot(s_b, s_b)
        tangent2 = along_simplex(s_b, plain2) if own[SIMPLICES] > 0.0 else passed[3 * b]
        beta = steps.regularise(part, t, (tangent2, plain2, loss[2]))
        value, far2, _, _, _ = accumulate_and_gradient(work[i:j], S[i:j], s_b, x_b, x1[i:j], beta)
        passed[3 * b + 1], passed[3 * b + 2] = beta, value + beta * far2
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """In each block as in `adaptive_ocg.after_oracle`."""
    x, own, passed = state[:n], state[3 * n :], work[3 * n + NUMBERS :]
    blocks, length = int(own[BLOCKS]), int(own[LENGTH])
    begin, parts = own[BEGIN:], own[BEGIN + blocks + 1 :]
    for b in range(blocks):
        i, j = int(begin[b]), int(begin[b + 1])
        part, beta, value = (
            parts[b * length : (b + 1) * length],
            passed[3 * b + 1],
            passed[3 * b + 2],
        )
        gap, distance2 = gap_and_distance(work[i:j], x[i:j], work[n + i : n + j])
        sigma = steps.step_size(part, own[ROUND], beta, gap, distance2)
        move(x[i:j], work[n + i : n + j], sigma)
        margin, left = margin_and_left(part[length - 1], value, beta, sigma, gap, distance2)
        steps.after_step(part, margin, left)


class BlockOCG(KernelLearner):
    """`AdaptiveOCG` on each factor of a product, side by side, by one oracle call of the product.

    A quadratic regulariser separates over the blocks of a product, and so does the line search: the
    plays are those of one `AdaptiveOCG` for each factor, with its part of each gradient. A block
    with small gradients is not slowed down by one with large ones.

    Each block has the guarantee of its step rule, and they add up: with `CertificateSteps`,
    Regret_T <= sum_b (4/3)(cap^{-1/3} + rho_b cap) D_b P_b^{3/4} + lower order, where
    P_b = sum_t ||grad_{t,b}||^{4/3} (Theorem E of theory.md, `bounds.capped_regret`). This is
    never above the bound of one block: P_b^{3/4} is a norm of the block's sizes with exponent 4/3,
    so sum_b D_b P_b^{3/4} <= D (sum_b P_b^{3/2})^{1/2} <= D P^{3/4}, by Cauchy-Schwarz and
    Minkowski, where D^2 = sum D_b^2 and ||grad_t||^2 = sum_b ||grad_{t,b}||^2.

    On a product of simplices a step is one compiled call, however many blocks there are.

    Args:
        decision_set: a `Product`; `PathShares` is one.
        steps: the step rule of every block; `CertificateSteps()` if left out.
        start: x_1; the set's own start if left out.

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = BlockOCG(Product(Simplex(2), Simplex(3)))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0, 0.0, 1e-3, 1e-3])))
    >>> learner.ask()
    array([0., 1., 1., 0., 0.])

    """

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: Product,
        steps: StepRule | None = None,
        start: ArrayLike | None = None,
    ):
        if not isinstance(decision_set, Product):
            raise TypeError(
                f"BlockOCG plays on a Product, got a {type(decision_set).__name__}; "
                "use AdaptiveOCG there"
            )
        self.steps = CertificateSteps() if steps is None else as_steps(steps)
        n = decision_set.dim
        x1, simplices = first_play(decision_set, start), decision_set.compiled is not None
        kinds, which = decision_set.kinds  # of many blocks few are different
        # a single point: any length will do
        begun = [[*self.steps.begin(X.diameter or 1.0), 0.0] for X in kinds]
        rules = np.array(begun)[which]
        blocks, length = rules.shape
        numbers = {"x1": n, "S": n, "t": 1, "blocks": 1, "simplices": 1, "length": 1}
        numbers |= {"begin": blocks + 1, "parts": rules.size}
        super().__init__(
            decision_set, numbers, self.steps.kernels(), x1, self.steps.horizon, 3 * blocks
        )
        self._state["x1"][:] = x1
        self._state["blocks"][0], self._state["length"][0] = blocks, length
        self._state["simplices"][0] = simplices
        self._state["begin"][1:] = np.cumsum(decision_set.sizes)
        self._state["parts"][:] = rules.ravel()

    @property
    def oracle_calls(self) -> int:
        """One per round, of the whole product."""
        return self.rounds

    @property
    def first_play(self) -> Vector:
        """x_1, the centre of the regularisers."""
        return self._state["x1"].copy()

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of a step in each block."""
        return (Growth(4, 1.0),)

    @property
    def rule_numbers(self) -> Vector:
        """The step rule's numbers and the sum of <s, x> of each block in turn, a view."""
        return self._state["parts"]

    @property
    def block_rules(self) -> Vector:
        """The step rule's numbers, one row for each block, a view of the state."""
        length = int(self._state["length"][0])
        return self._state["parts"].reshape(-1, length)[:, :-1]

    @property
    def bound(self) -> float:
        """The sum of M_b + (gap_b - Delta_b) + beta_b R_b^2: no regret on these losses is larger.

        For `CertificateSteps`, whose numbers these are.
        """
        X = self.decision_set
        assert isinstance(X, Product)
        parts = zip(X.factors, X.parts(self.first_play), strict=True)
        radii2 = np.array([factor.radius_around(x) ** 2 for factor, x in parts])
        rule = self.block_rules.T
        return float(np.sum(rule[steps.M] + rule[steps.LEFT] + rule[steps.BETA] * radii2))

    def _measure(self, s: Vector) -> float:
        """Measure the part of each block too, for `before_oracle`."""
        if not self._state["simplices"][0]:
            X = self.decision_set
            assert isinstance(X, Product)
            norms = [
                factor.tangent_norm2(np.ascontiguousarray(part))[0]
                for factor, part in zip(X.factors, X.parts(s), strict=True)
            ]
            self._work[3 * s.size + NUMBERS :: 3] = norms
        return super()._measure(s)
