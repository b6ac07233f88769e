"""The contract of a learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.feedback import first_order
from hedgerow.inputs import as_count
from hedgerow.protocols.parts import Learner
from hedgerow.testing.checks import run_checks
from hedgerow.testing.player_contract import PLAYER_CHECKS, Game
from hedgerow.testing.random_rounds import Feedback, RandomRounds


def check_learner(
    make: Callable[[], Learner[Any]],
    seed: int = 0,
    rounds: int = 30,
    oracle_calls_per_round: int | None = 1,
    feedback: Feedback = first_order,
) -> None:
    """Check a learner against the contract of `Learner`; the first failure is reported.

    Args:
        make: returns a fresh learner, built alike each time, for at least `rounds` + 3 rounds.
        seed: of the losses: linear ones of several magnitudes, quadratic ones, and zero.
        rounds: how long to play, at least 4.
        oracle_calls_per_round: what `oracle_calls` must count, from where it starts; None where
            calls come in bursts, at most one per round on average.
        feedback: what the learner observes of a loss, as in `hedgerow.play`. Losses are linear
            where it takes no others, within the Lipschitz constant and bound that it declares.

    Raises:
        AssertionError: with a sentence that names the check that failed.

    >>> from functools import partial
    >>> import hedgerow as hr
    >>> from hedgerow import learners, sets
    >>> check_learner(lambda: learners.AdaptiveOCG(sets.Simplex(3), learners.steps.RmsSteps()))
    >>> blocks = learners.PracticalBlocks(horizon=40)
    >>> check_learner(
    ...     lambda: learners.BlockBandit(sets.L2Ball(3), blocks, seed=0),
    ...     oracle_calls_per_round=None,
    ...     feedback=partial(hr.bandit, lipschitz=2.0, bound=1.0),
    ... )

    """

    def check_oracle_calls(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
        learner = game.make()
        begin = learner.oracle_calls
        for t, functions in enumerate(game.rounds):
            calls = learner.oracle_calls - begin
            if oracle_calls_per_round is None:
                right, declared = 0 <= calls <= t, f"at most {t}"
            else:
                declared = str(t * oracle_calls_per_round)
                right = calls == t * oracle_calls_per_round
            assert right, f"{t} rounds must take {declared} oracle calls, got {calls}"
            game.advance(learner, [functions])

    as_count(rounds, "rounds", least=4)
    learner = make()
    losses = list(RandomRounds(learner.decision_set, feedback, seed).losses(rounds))
    game = Game(make, losses, feedback)
    run_checks((*PLAYER_CHECKS, check_oracle_calls), game, type(learner).__name__, seed)
