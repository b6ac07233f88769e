"""Algorithm 1 as the paper proves it: Theorem 2.1, its lemmas, and the leader's own bound.

L_1 <= L_2 <= ... are Lipschitz constants of the losses, and eta_t = D/(2 L_t T^{3/4}). Wherever
L_T/L_1 enters it is given by its logarithm, which fits a float when the ratio does not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import as_array


class Adaptivity(NamedTuple):
    """How the Lipschitz constants grew: what enters these bounds besides L_T.

    An artefact of the analysis: "A shorter analysis" in theory.md has bounds without it.
    """

    log_growth: float  # log(L_T/L_1)
    largest_ratio: float  # the largest L_t/L_{t-1}, with L_0 = L_1


def adaptivity(norms: ArrayLike) -> Adaptivity:
    """Measure how L_t grew in a run, from the norms of its gradients.

    L_t is the running maximum, from the first gradient that is not zero.

    >>> adaptivity([0.0, 1.0, 0.5, 2.0]).largest_ratio
    2.0
    """
    L = np.maximum.accumulate(as_array(norms, "norms"))
    L = L[L > 0.0]
    if not L.size:
        return Adaptivity(0.0, 1.0)
    return Adaptivity(float(np.log(L[-1] / L[0])), float(np.max(L[1:] / L[:-1], initial=1.0)))


def leader_distance(
    diameter: float, lipschitz: float, horizon: float, log_growth: float = 0.0
) -> float:
    """Lemma C: sum L_t ||x_t - x*_{t+1}|| <= 12 D L_T T^{3/4} sqrt(log(e T L_T/L_1)).

    x*_{t+1} minimises F_t, the play of follow-the-regularised-leader. Needs L_t nondecreasing and
    at least ||grad_t||, and sigma_t = min(1, 2/sqrt t). Erratum: the stray bracket after the log.
    The proof uses sigma_t >= 1/sqrt t and so loses a factor: see `sharper_ocg_regret`.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        log_growth: log(L_T/L_1).

    Reference: Lemma [term-a-lemma] of the paper.

    """
    return float(12.0 * diameter * lipschitz * horizon**0.75 * _root_log(horizon, log_growth))


def leader_movement(diameter: float, lipschitz: float, horizon: float) -> float:
    """Lemma D: sum L_t ||x*_{t+1} - x*_t|| <= 3 D L_T sqrt T.

    Needs L_t nondecreasing. Errata: x_1^* in the proof is x_1, and its factor 2 is not needed.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.

    Reference: Lemma [term-d-lemma] of the paper.

    """
    return 3.0 * diameter * lipschitz * math.sqrt(horizon)


def ftrl_regret(diameter: float, rates: ArrayLike, norms: ArrayLike) -> float:
    """The leader's regret: at most D^2/eta_T + (1/4) sum eta_{t-1} ||grad_t||^2.

    For the plays x*_t = argmin of <S_{t-1}, x> + ||x - x_1||^2/eta_{t-1}. Needs eta_t
    nonincreasing. Erratum: eta_0 is not defined; it is eta_1 here, since x*_1 = x_1 minimises
    with any rate.

    Args:
        diameter: D.
        rates: eta_1, ..., eta_T.
        norms: ||grad_1||, ..., ||grad_T||.

    Reference: Orabona, Corollary 7.9; Theorem [ftrl_bound] of the paper.

    """
    eta, size = as_array(rates, "rates"), as_array(norms, "norms")
    if (np.diff(eta) > 0.0).any():
        raise ValueError("rates must not increase; use the running maximum of the norms")
    before = np.append(eta[:1], eta[:-1])
    return float(diameter**2 / eta[-1] + 0.25 * np.sum(before * size**2))


def ocg_regret(
    diameter: float,
    lipschitz: float,
    horizon: float,
    log_growth: float = 0.0,
    largest_ratio: float = 1.0,
) -> float:
    """Theorem 2.1: 47 D L_T T^{3/4} sqrt(log(e T L_T/L_1)) (1 + rho/(376 sqrt T)).

    Bounds the regret of `AdaptiveOCG` with `PaperSteps` on convex losses, against every point of
    the set and every adversary. Needs L_t nondecreasing, at least the loss's Lipschitz constant,
    and known when eta_t is set: the running maximum of ||grad_t|| will do for linear losses.
    Errata: 47 and 376 are the proof's, 38 and 304 forget term D; "=" is "<="; L_0 = L_1.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        log_growth: log(L_T/L_1).
        largest_ratio: rho, the largest L_t/L_{t-1}.

    Reference: Theorem [ocg-reg-thm] of the paper.

    >>> round(ocg_regret(1.0, 1.0, 1e4) / 1e4, 1)  # above 1: says nothing yet
    15.0

    """
    first = 47.0 * diameter * lipschitz * horizon**0.75 * _root_log(horizon, log_growth)
    return float(first * (1.0 + largest_ratio / (376.0 * math.sqrt(horizon))))


def _root_log(horizon: float, log_growth: float) -> float:
    return math.sqrt(1.0 + math.log(horizon) + log_growth)
