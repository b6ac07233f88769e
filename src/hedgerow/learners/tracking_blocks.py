"""A leader and a follower for each simplex of a product, mixed: tracks drift in little memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector
from hedgerow.kernels.hedge import combine, compare
from hedgerow.kernels.simplices import project
from hedgerow.kernels.vectors import copy, descent, dot
from hedgerow.learners import block_ocg
from hedgerow.learners.approach import approach
from hedgerow.learners.block_ocg import BEGIN, BLOCKS, ROUND, BlockOCG, along_simplex
from hedgerow.learners.corrective_omd import FIRST
from hedgerow.learners.kernel_learner import NUMBERS, KernelLearner
from hedgerow.learners.steps import CertificateSteps
from hedgerow.learners.tracking_ocg import L, P, hedge
from hedgerow.sets.compositions.product import Product

Array = Vector
Loss = tuple[float, float, float]
BETA, DELTA, TOTAL, WORTH, CUT, ROW = 0, 1, 2, L + 2, L + 3, L + 4
"""The numbers of each simplex: the follower's beta and Delta, what the entries sum up to, those of
`tracking_ocg.hedge`, what the last violation cost there, and the length of a step that was cut. The
state is [x | the leader's length | leader | x_B | these rows]."""


@kernel(number, read, read, write, write)
def proximal_step(s: Array, x: Array, row: Array, y: Array) -> float:
    """Write argmin of <s, z> + beta ||z - x||^2 over the simplex into y; return the next beta.

    beta and Delta are those of `CorrectiveOMD`, but neither is forgotten: they never fall. The step
    is exact: a simplex needs no atoms. After a violation it gains no more than the violation cost:
    the loss goes on falling where the constraint is satisfied, and all who share a link would leave
    it at once.
    """
    n, D2 = len(s), 2.0 * row[TOTAL] * row[TOTAL]
    beta = row[BETA]
    if beta == 0.0:
        beta = FIRST * np.sqrt(along_simplex(s, dot(s, s)) / D2)
    if beta == 0.0 or n == 1:
        copy(y, x)
        return beta
    aim = y[n : 2 * n]
    for i in range(n):
        aim[i] = x[i] - s[i] / (2.0 * beta)
    project(aim, row[TOTAL], y[:n])
    gain, _, step2 = descent(s, x, y[:n])
    if gain > row[WORTH] > 0.0:
        share = row[WORTH] / gain
        combine(y[:n], 1.0 - share, x, share, y[:n])
        gain, step2 = share * gain, share * share * step2
    row[DELTA] += max(0.0, gain - beta * step2)
    return max(beta, row[DELTA] / D2)


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Update the weights and the follower of each simplex, and write the leader's direction."""
    n = len(s)
    parts = state[n + 1 :]
    leader, follower = parts[: int(state[n])], parts[int(state[n]) :]
    own, x_B, rows = leader[3 * n :], follower[:n], follower[n:]
    blocks, begin, t = int(own[BLOCKS]), own[BEGIN:], own[ROUND] + 1.0
    scratch = work[3 * n + NUMBERS + 3 * blocks :]
    losses, no_handicap, y = scratch[:2], scratch[2:4], scratch[4:]
    no_handicap[0] = no_handicap[1] = 0.0
    for b in range(blocks):
        i, j = int(begin[b]), int(begin[b + 1])
        row, s_b = rows[b * ROW : (b + 1) * ROW], s[i:j]
        losses[0] = compare(s_b, leader[i:j], x_B[i:j])[1]
        losses[1] = 0.0  # less <s, x_B>, which changes no weight
        hedge(row, no_handicap, losses, t, 0.0)
        row[BETA] = proximal_step(s_b, x_B[i:j], row, y)
        copy(x_B[i:j], y[: j - i])
    copy(work[2 * n : 3 * n], s)  # for after_oracle
    return block_ocg.before_oracle(leader, work, s, inner, loss, steps)


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Move the leaders, and mix; after a violation approach the mixture."""
    parts = state[n + 1 :]
    leader, follower = parts[: int(state[n])], parts[int(state[n]) :]
    own, x_B, rows = leader[3 * n :], follower[:n], follower[n:]
    block_ocg.after_oracle(leader, work, n, ones, steps)
    begin = own[BEGIN:]
    for b in range(int(own[BLOCKS])):
        i, j = int(begin[b]), int(begin[b + 1])
        row, x, s = rows[b * ROW : (b + 1) * ROW], state[i:j], work[2 * n + i : 2 * n + j]
        free = row[WORTH] == 0.0 and row[CUT] == 0.0
        target = x if free else work[i:j]
        combine(target, row[P], leader[i:j], row[P + 1], x_B[i:j])
        row[CUT] = 0.0 if free else approach(x, target, s, row[WORTH], row[CUT])


class TrackingBlocks(KernelLearner):
    """`TrackingOCG` for each simplex of a product, by one oracle call of the product.

    In each simplex x = p x_A + (1 - p) x_B. A is that simplex's part of `BlockOCG`, which sums all
    gradients. B is online mirror descent as in `CorrectiveOMD`, but with the exact proximal step,
    which on a simplex costs no oracle call and no remembered vertices; it forgets. After a
    violation its step gains at most what `worth` says, and x approaches the mixture
    (`approach.py`). p is `AdaHedge` on their losses. In each simplex the mixture is hardly worse
    than the better of the two (Theorem C of beyond.md), and regrets of a product add up.

    A simplex of k entries needs 8 k + 32 numbers of 8 bytes, work memory included: 512 bytes for
    k = 4, where 24 remembered vertices alone would need 768.

    Args:
        decision_set: a `Product` of `Simplex`; `PathShares` is one.
        steps: the step rule of A; `CertificateSteps()` if left out.
        start: x_1 of both; the set's own start if left out.

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = TrackingBlocks(Product(Simplex(2), Simplex(3)))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0, 0.0, 1e-3, 1e-3])))
    >>> learner.ask().round(9)
    array([0., 1., 1., 0., 0.])

    """

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: Product,
        steps: CertificateSteps | None = None,
        start: ArrayLike | None = None,
    ):
        given: object = decision_set
        if not isinstance(given, Product) or decision_set.compiled is None:
            raise TypeError(
                f"TrackingBlocks plays on a Product of simplices, got {decision_set!r:.80}; "
                "use TrackingOCG there"
            )
        leader = BlockOCG(decision_set, steps, start)  # of which the state is taken
        self.steps = leader.steps
        n, sizes = decision_set.dim, decision_set.sizes
        blocks = sizes.size
        length = leader._state.array.size
        numbers = {"length": 1, "leader": length, "x_B": n, "rows": ROW * blocks}
        scratch = 3 * blocks + 4 + 2 * int(sizes.max())
        super().__init__(
            decision_set, numbers, self.steps.kernels(), leader.first_play, None, scratch
        )
        self._state["length"][0], self._state["leader"][:] = length, leader._state.array
        self._state["x_B"][:] = leader.first_play
        rows = self._state["rows"].reshape(blocks, ROW)
        rows[:, P : P + 2] = 0.5
        rows[:, TOTAL] = decision_set.compiled.numbers

    @property
    def rounds(self) -> int:
        """The number of losses that it has learnt from."""
        return int(self._leader_numbers[ROUND])

    @property
    def oracle_calls(self) -> int:
        """One per round, of the whole product."""
        return self.rounds

    @property
    def loss_sum(self) -> Vector:
        """The sum of all gradients so far, a live view of the state."""
        n = self.decision_set.dim
        return self._state["leader"][2 * n : 3 * n]

    @property
    def weights(self) -> Vector:
        """How much of A and of B is played in each simplex now, a row for each."""
        return self._state["rows"].reshape(-1, ROW)[:, P : P + 2].copy()

    @property
    def worth(self) -> Vector:
        """What the last violation cost in each simplex, w v_b; a live view, to be written."""
        return self._state["rows"].reshape(-1, ROW)[:, WORTH]

    @property
    def _leader_numbers(self) -> Vector:
        return self._state["leader"][3 * self.decision_set.dim :]
