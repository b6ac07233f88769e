"""Algorithm 7: follow the perturbed leader with a signed queue, for combinatorial actions."""

from __future__ import annotations

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import RNG, as_count, as_seed
from hedgerow.learners.ftpl import FTPL, GaussianNoise
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Preset, check_preset
from hedgerow.policies.theorem import AT_ONCE, EXACT, OBLIVIOUS, Theorem
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.potentials import PowerPotential
from hedgerow.surrogates.ranges import ObservedRanges
from hedgerow.surrogates.signed import SignedSurrogate


@baseline(
    source="Sarkar et al. 2026, Algorithm 7",
    regret="T^{3/4}, expected",
    ccv="T^{3/4}, expected signed sum",
    per_round="1 linear minimisation",
    sees="gradients",
    needs="linear functions; oblivious rounds; known T",
    confidence="high",
)
def ftpl_coco(
    decision_set: DecisionSet,
    horizon: int,
    seed: int | None = None,
    *,
    preset: Preset = "practical",
    rng: RNG | None = None,
) -> ConstrainedPolicy[EvalGrad]:
    """Algorithm 7: plays vertices, such as paths, with a small signed sum of violations.

    The loss f_t + (2 Q(t-1)/V) g_t with V = sqrt(T) and Q(t) = (Q(t-1) + <g_t, x_t>)^+ goes to
    `FTPL`, which plays a vertex each round. Linear costs and constraints, rounds that are fixed
    beforehand, any set with an oracle, convex or not. Expected regret and expected signed sum of
    violations are of order T^{3/4} at most, sqrt(T) as measured.

    **The CCV is not small**: the sum of g_t^+ grows linearly in T, because single vertices
    violate the constraint in many rounds. For a small CCV use `projection_free_coco`, which plays
    mixtures.

    `theory` is the paper's box divided by V, with noise offset 1/T; it assumes norms of f_t,
    g_t and of all points of at most 1. `practical` learns the ranges and has no units.

    Args:
        decision_set: where to play; only its oracle is used.
        horizon: the number of rounds T.
        seed: fixes the noise.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        preset: "practical" or "theory".

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon")
    seed = as_seed(seed, rng)
    potential = PowerPotential(2.0, T**0.25)  # Phi(Q)/V = Q^2/sqrt(T)
    needs: tuple[str, ...] = (
        OBLIVIOUS,
        "linear costs and constraints without constants",
        "norms of f_t, g_t and all points at most 1",
        "the quoted bound of Gaussian noise",
        EXACT,
        AT_ONCE,
    )
    if preset == "theory":
        theorem = Theorem("Theorem 5.1", (("T", float(T)),), needs)
        learner = FTPL(decision_set, seed, GaussianNoise(offset=1.0 / T))
        return ConstrainedPolicy(learner, SignedSurrogate(potential), (theorem,))
    needs = (*needs, "the theory preset; learnt units are measured, not proved")
    theorem = Theorem("Theorem 5.1", (("T", float(T)),), needs, proved=False)
    learner = FTPL(decision_set, seed, GaussianNoise())
    surrogate = SignedSurrogate(potential, 0.0, ObservedRanges(learner))
    return ConstrainedPolicy(learner, surrogate, (theorem,))
