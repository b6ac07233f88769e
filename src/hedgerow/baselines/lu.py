"""BAGEL: Sinha and Vaze's surrogate, played with a separation oracle in place of projections."""

from __future__ import annotations

from hedgerow.baselines.sinha_vaze import priced
from hedgerow.feedback import EvalGrad
from hedgerow.learners.separation_ogd import SeparationAdaGrad
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset, check_preset, needed_horizon
from hedgerow.sets.decision_set import DecisionSet


@baseline(
    source="Lu, Pedramfar and Aggarwal 2025",
    regret="T^{1/2}",
    ccv="T^{1/2} log T",
    per_round="theory: about 1 separation, amortised",
    sees="gradients",
    needs="inner ball; theory: known T, G",
    confidence="low: reconstruction from the abstract",
    remark="from the abstract",
)
def lu_bagel(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> Constrained[EvalGrad]:
    """Optimal regret and CCV without projections: `SeparationAdaGrad` on f_t + w_t g_t^+.

    The weight is that of `sinha_vaze_2024`. The paper proves regret O(sqrt T) and CCV
    O(sqrt T log T) with about T separations, where the ratio R/r of outer and inner radius is in
    the constants. This is a reconstruction from its abstract, without its blocks: the surrogate and
    AdaGrad are those of Sinha and Vaze, the infeasible projection that of Garber and Kretzu (2022).

    `theory` needs T > (4R/r)^2; with R = D that is 32 n (n - 1) on a simplex and about 2e8 on the
    paths of a graph with 1200 edges. `practical` caps the squeeze at 1/2 and lets it fall; it takes
    many separations a round where R/r is large (on average 227 at R/r = 123, on a graph of 90
    edges) and refuses sets with R/r above 1000. No round takes more than (R/r)^2 / (d (2 - d)) + 2
    of them, with the squeeze d = 4R/(r sqrt T), or 1/2 at first; above 10 000 it warns and says how
    many, once, before the first round.

    Args:
        decision_set: where to play; it needs a separation oracle, a hull and an inner ball.
        horizon: the number of rounds T; `theory` needs it.
        preset: "practical" or "theory".
        lipschitz: as in `sinha_vaze_2024`.
        eagerness: as in `sinha_vaze_2024`.

    Reference: Lu, Pedramfar and Aggarwal, "Order-optimal projection-free algorithm for
    adversarially constrained online convex optimization", arXiv 2502.16744, 2025.

    """
    check_preset(preset, decision_set, horizon)
    T = needed_horizon(horizon) if preset == "theory" else None
    learner = SeparationAdaGrad(decision_set, T)
    return Constrained(learner, priced(learner, horizon, preset, lipschitz, eagerness))
