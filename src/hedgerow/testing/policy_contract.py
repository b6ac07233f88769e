"""The contract of a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.games.simulation import feedback_of
from hedgerow.inputs import as_count
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.testing.checks import mixture, run_checks, same
from hedgerow.testing.player_contract import PLAYER_CHECKS, Game, store
from hedgerow.testing.random_rounds import Feedback, RandomRounds


def check_policy(
    make: Callable[[], ResumablePolicy[Any, Any]],
    seed: int = 0,
    rounds: int = 30,
    constraints: int | None = None,
    feedback: Feedback | None = None,
) -> None:
    """Check a policy against the contract of `ResumablePolicy`; the first failure is reported.

    It plays a random linear game in which known points satisfy every round's constraint. Where the
    policy has a `certificate()`, that must bound the regret against each of these points.

    Args:
        make: returns a fresh policy, built alike each time, for at least `rounds` + 3 rounds.
        seed: of the game.
        rounds: how long to play, at least 4.
        constraints: left out, a round's constraint is one function; else as a tuple of
            this many.
        feedback: what the policy observes of cost and constraint; left out, `policy.feedback`. The
            rounds stay within the Lipschitz constant and bound that it declares.

    Raises:
        AssertionError: with a sentence that names the check that failed.

    >>> import hedgerow as hr
    >>> check_policy(lambda: hr.projection_free_coco(hr.sets.Simplex(3)))
    >>> check_policy(lambda: hr.Sampled(hr.projection_free_coco(hr.sets.Simplex(3)), seed=0))

    """
    as_count(rounds, "rounds", least=4)
    policy = make()
    X, name = policy.decision_set, type(policy).__name__
    observe = feedback_of(policy) if feedback is None else feedback
    draws = RandomRounds(X, observe, seed)
    feasible = np.array([mixture(X, draws.rng) for _ in range(2)])
    drawn = list(draws.games(np.zeros(X.dim), feasible, rounds, constraints))
    game = Game(make, drawn, observe, feasible)
    run_checks((*PLAYER_CHECKS, check_oracle_calls, check_certificate), game, name, seed)
    # Where costs and constraints lead to one vertex, the certificate is the regret against it.
    mean = 10.0 * draws.rng.standard_normal(X.dim)
    best = X.lmo(mean).reshape(1, -1)
    drawn = list(draws.games(mean, best, rounds, constraints))
    run_checks((check_certificate,), Game(make, drawn, observe, best), name, seed)


def check_oracle_calls(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`oracle_calls` is a whole number that never falls, and only `tell` changes it."""
    policy = game.make()
    before = policy.oracle_calls
    for functions in game.rounds:
        seen = game.observe(functions, policy.ask())
        policy.state()
        assert policy.oracle_calls == before, "ask() and state() must not count as oracle calls"
        policy.tell(*seen)
        after = policy.oracle_calls
        assert isinstance(after, int), f"oracle_calls must be a whole number, got {after!r}"
        assert after >= before, f"oracle_calls must not fall, went from {before} to {after}"
        before = after


def check_certificate(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`certificate` bounds the regret against every feasible point, and changes nothing."""
    policy: Any = game.make()
    if not hasattr(policy, "certificate"):
        return
    expected = game.plays()
    regret, size = np.zeros(len(game.feasible)), 1.0
    for t, functions in enumerate(game.rounds, start=1):
        cost: Any = functions[0]
        x = policy.ask()
        policy.tell(*game.observe(functions, x))
        values = np.array([cost(p) for p in game.feasible])
        regret += cost(x) - values
        size += abs(cost(x)) + float(np.abs(values).max())
        before = store(policy)
        bound = policy.certificate()
        assert bound == policy.certificate(), "certificate() must give the same bound twice"
        assert store(policy) == before, "certificate() must change nothing"
        assert regret.max() <= bound + 1e-9 * (size + abs(bound)), (
            f"the regret after {t} rounds is {regret.max():.10g}, above the certificate "
            f"{bound:.10g}"
        )
        assert same(policy.ask(), expected[t]), f"certificate() changes the play of round {t + 1}"
