"""The contract that learners and policies share: ask, tell, state and restore."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from hedgerow.functions import Function, Linear
from hedgerow.inputs import Vector
from hedgerow.protocols.parts import Player
from hedgerow.snapshot import Snapshot
from hedgerow.testing.checks import Check, copies, inside, refuses, same
from hedgerow.testing.random_rounds import (
    Feedback,
    Observed,
    Round,
    arrays,
    invalid_variants,
    observe,
    scaled,
)


class TestedPlayer(Player, Protocol):
    """A learner or a policy; they differ in what `tell` takes."""

    @property
    def tell(self) -> Callable[..., None]:
        """Learn from the feedback of each function of the round."""
        ...


@dataclass(frozen=True, eq=False)
class Game:
    """How to build the player, the rounds to try it on, and how it observes them.

    `feasible` holds points that satisfy all constraints.
    """

    make: Callable[[], TestedPlayer]
    rounds: Sequence[Round]
    feedback: Feedback
    feasible: Sequence[Vector] | Vector = ()

    def observe(self, functions: Round, x: Vector) -> Observed:
        """Return the feedback of a round at x, in arrays that belong to the caller."""
        return observe(functions, x, self.feedback)

    def advance(self, player: TestedPlayer, rounds: Sequence[Round]) -> Vector:
        """Play some rounds and return the plays, with the one after the last round."""
        plays = []
        for functions in rounds:
            plays.append(player.ask())
            player.tell(*self.observe(functions, plays[-1]))
        return np.array([*plays, player.ask()])

    def plays(self) -> Vector:
        """Return what a fresh player plays undisturbed."""
        return self.advance(self.make(), self.rounds)


def store(player: TestedPlayer) -> str:
    """Write a snapshot as JSON text."""
    return json.dumps(player.state(), default=np.ndarray.tolist)


def check_declarations(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`oblivious_only` says whether the rounds may react to the plays."""
    assert isinstance(game.make().oblivious_only, bool), "oblivious_only must be True or False"


def check_determinism(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Two players that were built alike play alike, bit for bit, also by chance."""
    assert same(game.plays(), game.plays()), (
        "two fresh players must play the same rounds alike, bit for bit"
    )


def check_plays_inside(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """All plays are points of the set, as float64 vectors."""
    player = game.make()
    for t, x in enumerate(game.advance(player, game.rounds), start=1):
        assert x.dtype == np.float64, f"plays must be float64, got {x.dtype}"
        assert inside(player.decision_set, x), f"the play of round {t} must lie in the set"


def check_ask_is_pure(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`ask` gives the same point until `tell`, in arrays that belong to the caller."""
    expected, player = game.plays(), game.make()
    for t, functions in enumerate(game.rounds, start=1):
        x = player.ask()
        kept = x.copy()
        x[:] = np.nan
        assert same(player.ask(), kept), f"two ask() in round {t} must give equal fresh arrays"
        player.tell(*game.observe(functions, kept))
        assert same(player.ask(), expected[t]), f"ask() must change nothing, round {t} differs"


def check_zero_functions(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Rounds of zero functions are safe from the first round on, and play goes on after them."""
    player = game.make()
    zero = Linear(np.zeros(player.decision_set.dim))
    still: Round = tuple(
        zero if isinstance(f, Function) else [zero] * len(f) for f in game.rounds[0]
    )
    for x in game.advance(player, [still, still, *game.rounds, still]):
        assert inside(player.decision_set, x), "zero functions must not lead out of the set"


def check_feedback_is_not_kept(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`tell` neither changes the arrays it is given nor reads them later."""
    expected, player = game.plays(), game.make()
    for t, functions in enumerate(game.rounds, start=1):
        seen, untouched = (game.observe(functions, player.ask()) for _ in range(2))
        player.tell(*seen)
        for given, kept in zip(arrays(seen), arrays(untouched), strict=True):
            assert same(given, kept), "tell() must not change the arrays it is given"
            given[:] = np.nan
        assert same(player.ask(), expected[t]), (
            f"tell() must not keep the arrays it is given, round {t} differs"
        )


def check_state_is_pure(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Taking snapshots, and writing into them, changes nothing about later plays."""
    expected, player = game.plays(), game.make()
    for t, functions in enumerate(game.rounds, start=1):
        for snapshot in _nested(player.state()):
            snapshot["array"][:] = np.nan
            (snapshot["random"] or {}).clear()
        player.tell(*game.observe(functions, player.ask()))
        assert same(player.ask(), expected[t]), f"state() must change nothing, round {t} differs"


def check_copies(game: Game, rng: np.random.Generator) -> None:
    """Copies, by `copy` or `pickle`, are independent and play on bit for bit."""
    expected = game.plays()
    for t in (0, int(rng.integers(1, len(game.rounds))), len(game.rounds)):
        player = game.make()
        game.advance(player, game.rounds[:t])
        before = store(player)
        for how, twin in copies(player):
            assert store(twin) == before, f"{how} must keep the whole state of round {t}"
            assert same(game.advance(twin, game.rounds[t:]), expected[t:]), (
                f"what {how} returns after {t} rounds must play on bit for bit"
            )
            assert store(player) == before, f"what {how} returns must be independent"
        assert same(game.advance(player, game.rounds[t:]), expected[t:]), (
            "copying must not change the plays of the original"
        )


def check_restore(game: Game, rng: np.random.Generator) -> None:
    """A player restored from JSON plays on as the uninterrupted one does, bit for bit."""
    undisturbed = game.plays()
    for t in (0, int(rng.integers(1, len(game.rounds))), len(game.rounds)):
        stopped = game.make()
        game.advance(stopped, game.rounds[:t])
        text = store(stopped)
        expected = game.advance(stopped, game.rounds[t:])
        assert same(expected, undisturbed[t:]), f"state() in round {t} must change nothing"
        calls = stopped.oracle_calls
        for resumed in (game.make(), stopped):  # a fresh player, and one that goes back
            resumed.restore(json.loads(text))
            assert store(resumed) == text, f"restore() must take back the whole state of round {t}"
            assert same(game.advance(resumed, game.rounds[t:]), expected), (
                f"a player restored after {t} rounds must play on bit for bit; where it draws, "
                "the snapshot holds its random stream"
            )
            assert resumed.oracle_calls == calls, (
                "restore() must take back the count of oracle calls"
            )


def check_foreign_snapshots(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """A snapshot of another class, version, configuration, layout or size is refused, whole."""
    player = game.make()
    game.advance(player, game.rounds)
    good = json.loads(store(player))
    fresh = game.make()
    before = store(fresh)
    for place, own in enumerate(_nested(good)):
        for key, value in FOREIGN.items():
            if own.get(key) is None:
                continue  # no random stream
            snapshot = copy.deepcopy(good)
            part: Any = list(_nested(snapshot))[place]
            what = f"a snapshot of {part['part']} with another {key}"
            part[key] = value
            refuses(what, fresh.restore, snapshot)
            assert store(fresh) == before, f"{what} must be refused before anything changes"


FOREIGN: dict[str, Any] = {
    "part": "Stranger",
    "version": -1,
    "fingerprint": "0" * 32,
    "layout": {"unknown": 1},
    "checksum": "0" * 32,
    "array": [[0.0]],
    "random": {"bit_generator": "Stranger"},
}


def check_rejection(game: Game, rng: np.random.Generator) -> None:
    """Bad arrays and numbers, of whichever function, are refused before anything changes."""
    for t in (0, int(rng.integers(1, len(game.rounds)))):
        player, undisturbed = game.make(), game.make()
        game.advance(player, game.rounds[:t])
        game.advance(undisturbed, game.rounds[:t])
        before = store(player)
        expected = game.advance(undisturbed, game.rounds[t:])
        for what, invalid in invalid_variants(game.observe(game.rounds[t], player.ask())):
            refuses(f"{what} in the feedback", player.tell, *invalid)
            assert store(player) == before, f"{what} must be refused before anything changes"
        assert same(game.advance(player, game.rounds[t:]), expected), (
            "a player must play on after a refusal as if nothing had happened"
        )


def check_huge_values(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Feedback near the end of float64 is played, or refused before anything changes."""
    for size, t in product((1e60, 0.9e100, 1e140, 0.9e150, 1e200), (0, 2, 3)):
        player = game.make()
        game.advance(player, game.rounds[:t])
        before = store(player)
        huge = scaled(game.observe(game.rounds[t], player.ask()), size)
        try:
            player.tell(*huge)
        except ValueError:
            assert store(player) == before, (
                f"feedback of size {size:g} must be refused before anything changes"
            )
        for x in game.advance(player, game.rounds[t + 1 :]):
            assert inside(player.decision_set, x), (
                f"feedback of size {size:g} must not lead out of the set, also not later"
            )


def _nested(snapshot: Snapshot) -> Iterator[Snapshot]:
    yield snapshot
    for part in snapshot["parts"].values():
        yield from _nested(part)


PLAYER_CHECKS: tuple[Check[Game], ...] = (
    check_declarations,
    check_determinism,
    check_plays_inside,
    check_ask_is_pure,
    check_zero_functions,
    check_feedback_is_not_kept,
    check_state_is_pure,
    check_restore,
    check_foreign_snapshots,
    check_copies,
    check_rejection,
    check_huge_values,
)
