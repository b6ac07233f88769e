"""Sarkar and Sinha's anytime policy: the exponential price with a rate that falls."""

from __future__ import annotations

from hedgerow.baselines.sinha_vaze import THEOREM_RATE, priced, scaled
from hedgerow.feedback import EvalGrad
from hedgerow.learners.adagrad import AdaGrad
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    check_preset,
    needed_lipschitz,
    refuse_eagerness,
)
from hedgerow.potentials import AnytimeExponential
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.current import CurrentSurrogate


@baseline(
    source="Sarkar and Sinha 2025",
    regret="t^{1/2}, every t",
    ccv="t^{1/2} log t, every t",
    per_round="1 projection",
    sees="gradients",
    needs="none; theory: G",
    confidence="low: reconstruction from the abstract",
    remark="from the abstract",
)
def sarkar_sinha_2025(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> Constrained[EvalGrad]:
    """Sinha and Vaze's policy for any horizon: w_t = lambda_t exp(lambda_t Q(t)), no T in it.

    `theory`: lambda_t = 1/(2 sqrt t), Q in units of 2 G D. The paper proves regret O(sqrt t) and
    CCV O(sqrt t log t) for every t. This is a reconstruction from its abstract, constants included:
    the exact lambda_t and the proof were not at hand. As for `sinha_vaze_2024` the weight is small
    for long: it is 1 only once CCV is 4 G D sqrt(t) log(2 sqrt t).

    `practical`: lambda_t = min(0.3, 6/sqrt t) in learnt ranges, no constants, no unit.

    Args:
        decision_set: where to play; it must be able to project. One projection a round.
        horizon: not used; the first t plays are the same for every horizon.
        preset: "practical" or "theory".
        lipschitz: as in `sinha_vaze_2024`; `theory` needs it.
        eagerness: factor on lambda_t; more means less violation and more regret. Not in `theory`.

    Reference: Sarkar and Sinha, "Optimal Anytime Algorithms for Online Convex Optimization with
    Adversarial Constraints", arXiv 2510.22579, 2025.

    >>> from hedgerow.sets.simplices import Simplex
    >>> sarkar_sinha_2025(Simplex(3)).surrogate.potential.at(400.0).rate
    0.3

    """
    check_preset(preset, decision_set, horizon)
    learner = AdaGrad(decision_set)
    if preset == "practical":
        return Constrained(learner, priced(learner, None, preset, lipschitz, eagerness))
    refuse_eagerness(eagerness)
    potential = AnytimeExponential(THEOREM_RATE, highest=THEOREM_RATE)
    G = needed_lipschitz(lipschitz)
    return Constrained(learner, CurrentSurrogate(potential, 0.0, scaled(learner, G)))
