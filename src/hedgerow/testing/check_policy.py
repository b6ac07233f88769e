"""The contract of a policy with first-order feedback."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.functions import Linear
from hedgerow.inputs import Vector, as_count
from hedgerow.protocols.parts import Policy
from hedgerow.testing.contract import Check, run_checks, same
from hedgerow.testing.player import (
    PLAYER_CHECKS,
    Game,
    Round,
    advance,
    assert_refused,
    look,
    store,
)
from hedgerow.testing.points import mixture


def check_policy(
    make: Callable[[], Policy[EvalGrad, Any]],
    seed: int = 0,
    rounds: int = 30,
    constraints: int | None = None,
) -> None:
    """Check that a policy keeps every promise of `Policy`; the first broken one is named.

    It plays a random linear game in which known points keep every round's constraint. Where the
    policy has a `certificate()`, that must bound the regret against each of these points.

    Args:
        make: returns a fresh policy, built alike each time, for at least `rounds` + 3 rounds.
        seed: of the game.
        rounds: how long to play, at least 4.
        constraints: left out, a round's constraint is told as one `EvalGrad`; else as a tuple of
            this many.

    Raises:
        AssertionError: with a sentence that names the check that failed.

    >>> from hedgerow.policies.paper import projection_free_coco
    >>> from hedgerow.sets.simplices import Simplex
    >>> check_policy(lambda: projection_free_coco(Simplex(3)))

    """
    as_count(rounds, "rounds", least=4)
    policy = make()
    rng = np.random.default_rng(seed)
    X, name = policy.decision_set, type(policy).__name__
    feasible = np.array([mixture(X, rng) for _ in range(2)])
    drawn = _linear_rounds(rng, np.zeros(X.dim), feasible, rounds, constraints)
    run_checks((*PLAYER_CHECKS, *POLICY_CHECKS), Game(make, list(drawn), feasible), name, seed)
    # Where costs and constraints lead to one vertex, the certificate is the regret against it.
    mean = 10.0 * rng.standard_normal(X.dim)
    best = X.lmo(mean).reshape(1, -1)
    drawn = _linear_rounds(rng, mean, best, rounds, constraints)
    run_checks((check_certificate,), Game(make, list(drawn), best), name, seed)


def check_declarations(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`oblivious_only` says whether the rounds may react to the plays."""
    policy: Any = game.make()
    assert isinstance(policy.oblivious_only, bool), "oblivious_only must be True or False"


def check_bad_values(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Values that are no finite number are refused, also a constraint's after a good cost."""
    policy = game.make()
    advance(policy, game.rounds[:2])
    for bad in BAD_VALUES:
        assert_refused(policy, game.rounds[2], f"the value {bad!r}", "value", bad)
    assert same(advance(policy, game.rounds[2:]), advance(game.make(), game.rounds)[2:]), (
        "a policy must play on after a refusal as if it had not been told"
    )


def check_oracle_calls(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`oracle_calls` is a whole number that never falls, and only `tell` changes it."""
    policy = game.make()
    before = policy.oracle_calls
    for functions in game.rounds:
        seen = look(functions, policy.ask())
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
    expected = advance(game.make(), game.rounds)
    regret, size = np.zeros(len(game.feasible)), 1.0
    for t, functions in enumerate(game.rounds, start=1):
        cost: Any = functions[0]
        x = policy.ask()
        policy.tell(*look(functions, x))
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


BAD_VALUES: tuple[Any, ...] = (math.nan, math.inf, -math.inf, 1j, "high", None)

POLICY_CHECKS: tuple[Check[Game], ...] = (
    check_declarations,
    check_bad_values,
    check_oracle_calls,
    check_certificate,
)


def _linear_rounds(
    rng: np.random.Generator, mean: Vector, feasible: Vector, rounds: int, constraints: int | None
) -> Iterator[Round]:
    """Draw linear rounds in which each of the `feasible` points keeps every constraint."""
    for t in range(rounds):
        gradient = mean + rng.standard_normal(mean.size)
        cost = Linear((t % 7 != 4) * gradient, rng.standard_normal())
        normals = mean + rng.standard_normal((constraints or 1, mean.size))
        parts = [Linear(b, -float((feasible @ b).max())) for b in normals]
        yield cost, parts if constraints else parts[0]
