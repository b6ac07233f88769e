"""The contract of a learner with first-order feedback."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.functions import Linear, Quadratic
from hedgerow.inputs import as_count
from hedgerow.protocols.parts import Learner
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.testing.contract import run_checks
from hedgerow.testing.player import PLAYER_CHECKS, Game, Round, advance
from hedgerow.testing.points import mixture


def check_learner(
    make: Callable[[], Learner[EvalGrad]],
    seed: int = 0,
    rounds: int = 30,
    oracle_calls_per_round: int = 1,
) -> None:
    """Check that a learner keeps every promise of `Learner`; the first broken one is named.

    Args:
        make: returns a fresh learner, built alike each time, for at least `rounds` + 3 rounds.
        seed: of the losses: linear ones of several magnitudes, quadratic ones, and zero.
        rounds: how long to play, at least 4.
        oracle_calls_per_round: what `oracle_calls` must count.

    Raises:
        AssertionError: with a sentence that names the check that failed.

    >>> from hedgerow.learners.adaptive_ocg import AdaptiveOCG
    >>> from hedgerow.learners.steps import RmsSteps
    >>> from hedgerow.sets.simplices import Simplex
    >>> check_learner(lambda: AdaptiveOCG(Simplex(3), RmsSteps()))

    """

    def check_oracle_calls(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
        learner = game.make()
        for t, functions in enumerate(game.rounds):
            counted, declared = learner.oracle_calls, t * oracle_calls_per_round
            assert counted == declared, (
                f"after {t} rounds there must be {declared} oracle calls, got {counted}"
            )
            advance(learner, [functions])

    as_count(rounds, "rounds", least=4)
    learner = make()
    losses = _losses(learner.decision_set, np.random.default_rng(seed), rounds)
    game = Game(make, losses)
    run_checks((*PLAYER_CHECKS, check_oracle_calls), game, type(learner).__name__, seed)


def _losses(X: DecisionSet, rng: np.random.Generator, rounds: int) -> list[Round]:
    """Draw losses of which every third is quadratic, and every seventh zero."""
    losses: list[Round] = []
    for t in range(rounds):
        factor = 10.0 ** rng.uniform(-2.0, 2.0) * (t % 7 != 4)
        if t % 3 == 1:
            losses.append((Quadratic.distance(mixture(X, rng), factor),))
        else:
            losses.append((Linear(factor * rng.standard_normal(X.dim)),))
    return losses
