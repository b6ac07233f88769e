"""The contract that learners and policies share: whoever is asked, told, stored and resumed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgerow.feedback import EvalGrad, first_order
from hedgerow.functions import Function, Linear
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot
from hedgerow.testing.contract import Check, bad_vectors, refuses, same
from hedgerow.testing.points import inside

Round = tuple[Function | Sequence[Function], ...]
Seen = EvalGrad | tuple[EvalGrad, ...]


class Player(Protocol):
    """What a learner and a policy have in common; they differ in what `tell` takes."""

    @property
    def decision_set(self) -> DecisionSet:
        """Where it plays."""
        ...

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for."""
        ...

    def ask(self) -> Vector:
        """Return the point to play now."""
        ...

    @property
    def tell(self) -> Callable[..., None]:
        """Take in what was seen of each function of the round."""
        ...

    def state(self) -> Snapshot:
        """Return a snapshot."""
        ...

    def restore(self, snapshot: Snapshot, /) -> None:
        """Go back to a snapshot."""
        ...


@dataclass(frozen=True, eq=False)
class Game:
    """How to build the player, the rounds to try it on, and points that keep all constraints."""

    make: Callable[[], Player]
    rounds: Sequence[Round]
    feasible: Sequence[Vector] | Vector = ()


def look(functions: Round, x: Vector) -> tuple[Seen, ...]:
    """Look at each function of a round, in arrays that belong to the caller."""
    return tuple(
        _copied(first_order(f, x))
        if isinstance(f, Function)
        else tuple(_copied(first_order(part, x)) for part in f)
        for f in functions
    )


def _copied(seen: EvalGrad) -> EvalGrad:
    return seen._replace(grad=seen.grad.copy())


def advance(player: Player, rounds: Sequence[Round]) -> Vector:
    """Play some rounds and return the plays, with the one after the last round."""
    plays = []
    for functions in rounds:
        plays.append(player.ask())
        player.tell(*look(functions, plays[-1]))
    return np.array([*plays, player.ask()])


def store(player: Player) -> str:
    """Write a snapshot as JSON text."""
    return json.dumps(player.state(), default=np.ndarray.tolist)


def check_plays_inside(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """All plays are points of the set, as float64 vectors."""
    player = game.make()
    for t, x in enumerate(advance(player, game.rounds), start=1):
        assert x.dtype == np.float64, f"plays must be float64, got {x.dtype}"
        assert inside(player.decision_set, x), f"the play of round {t} must lie in the set"


def check_ask_is_pure(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`ask` gives the same point until `tell`, in arrays that belong to the caller."""
    expected = advance(game.make(), game.rounds)
    player = game.make()
    for t, functions in enumerate(game.rounds, start=1):
        x = player.ask()
        kept = x.copy()
        x[:] = np.nan
        assert same(player.ask(), kept), f"two ask() in round {t} must give equal fresh arrays"
        player.tell(*look(functions, kept))
        assert same(player.ask(), expected[t]), f"ask() must change nothing, round {t} differs"


def check_determinism(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Two players that were built alike play alike, bit for bit."""
    first, second = advance(game.make(), game.rounds), advance(game.make(), game.rounds)
    assert same(first, second), "two fresh players must play the same rounds alike, bit for bit"


def check_zero_gradients(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Rounds of zero gradients are safe from the first round on, and play goes on after them."""
    player = game.make()
    zero = Linear(np.zeros(player.decision_set.dim))
    still: Round = tuple(
        zero if isinstance(f, Function) else [zero] * len(f) for f in game.rounds[0]
    )
    for x in advance(player, [still, still, *game.rounds, still]):
        assert inside(player.decision_set, x), "zero gradients must not lead out of the set"


def check_feedback_is_not_kept(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """`tell` neither changes the gradients it is given nor looks at them later."""
    expected = advance(game.make(), game.rounds)
    player = game.make()
    for t, functions in enumerate(game.rounds, start=1):
        seen, untouched = (look(functions, player.ask()) for _ in range(2))
        player.tell(*seen)
        for given, kept in zip(_each(seen), _each(untouched), strict=True):
            assert same(given.grad, kept.grad), "tell() must not change the gradients it is given"
            given.grad[:] = np.nan
        assert same(player.ask(), expected[t]), (
            f"tell() must not keep the gradients it is given, round {t} differs"
        )


def check_state_is_pure(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Taking snapshots, and writing into them, changes nothing about later plays."""
    expected = advance(game.make(), game.rounds)
    player = game.make()
    for t, functions in enumerate(game.rounds, start=1):
        for snapshot in _nested(player.state()):
            snapshot["array"][:] = np.nan
        player.tell(*look(functions, player.ask()))
        assert same(player.ask(), expected[t]), f"state() must change nothing, round {t} differs"


def check_restore(game: Game, rng: np.random.Generator) -> None:
    """A player restored from JSON plays on as the uninterrupted one does, bit for bit."""
    player = game.make()
    expected = advance(player, game.rounds)
    for t in (0, int(rng.integers(1, len(game.rounds))), len(game.rounds)):
        stopped = game.make()
        advance(stopped, game.rounds[:t])
        text = store(stopped)
        advance(stopped, game.rounds[t:])
        for resumed in (game.make(), stopped):  # a fresh player, and one that goes back
            resumed.restore(json.loads(text))
            assert store(resumed) == text, f"restore() must take back the whole state of round {t}"
            assert same(advance(resumed, game.rounds[t:]), expected[t:]), (
                f"a player restored after {t} rounds must play on bit for bit"
            )
            assert resumed.oracle_calls == player.oracle_calls, (
                "restore() must take back the count of oracle calls"
            )


def check_foreign_snapshots(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """A snapshot of another class, version, configuration or layout is refused, whole."""
    player = game.make()
    advance(player, game.rounds)
    good = json.loads(store(player))
    fresh = game.make()
    before = store(fresh)
    for place, _ in enumerate(_nested(good)):
        for key, value in FOREIGN.items():
            snapshot = copy.deepcopy(good)
            part: Any = list(_nested(snapshot))[place]
            what = f"a snapshot of {part['part']} with another {key}"
            part[key] = value
            refuses(what, fresh.restore, snapshot)
            assert store(fresh) == before, f"{what} must be refused before anything changes"


FOREIGN = {"part": "Stranger", "version": -1, "fingerprint": "0" * 32, "layout": {"unknown": 1}}


def check_rejection(game: Game, rng: np.random.Generator) -> None:
    """Bad gradients are refused before anything changes, whichever function they come from."""
    expected = advance(game.make(), game.rounds)
    for t in (0, int(rng.integers(1, len(game.rounds)))):
        player = game.make()
        advance(player, game.rounds[:t])
        for what, bad in bad_vectors(player.decision_set.dim):
            assert_refused(player, game.rounds[t], what, "grad", bad)
        assert same(advance(player, game.rounds[t:]), expected[t:]), (
            "a player must play on after a refusal as if it had not been told"
        )


def assert_refused(player: Player, functions: Round, what: str, field: str, bad: Any) -> None:
    """Assert that feedback with one bad field, in any part, is refused and changes nothing."""
    before = store(player)
    for told in _spoilt(look(functions, player.ask()), {field: bad}):
        refuses(f"{what} in the feedback", player.tell, *told)
        assert store(player) == before, f"{what} must be refused before anything changes"


def _spoilt(seen: tuple[Seen, ...], bad: dict[str, Any]) -> Iterator[tuple[Seen, ...]]:
    """Yield the feedback with each of its parts made bad in turn, the others good."""
    for i, one in enumerate(seen):
        if isinstance(one, EvalGrad):
            yield (*seen[:i], one._replace(**bad), *seen[i + 1 :])
            continue
        for j, part in enumerate(one):
            yield (*seen[:i], (*one[:j], part._replace(**bad), *one[j + 1 :]), *seen[i + 1 :])


def check_huge_gradients(game: Game, rng: np.random.Generator) -> None:  # noqa: ARG001
    """Gradients near the end of float64 are played, or refused before anything changes."""
    for factor in (1e60, 0.9e100, 1e140, 0.9e150, 1e200):
        player = game.make()
        advance(player, game.rounds[:2])
        before = store(player)
        seen = look(game.rounds[2], player.ask())
        told = tuple(
            _scaled(one, factor)
            if isinstance(one, EvalGrad)
            else tuple(_scaled(part, factor) for part in one)
            for one in seen
        )
        try:
            player.tell(*told)
        except ValueError:
            assert store(player) == before, (
                f"gradients of size {factor:g} must be refused before anything changes"
            )
        assert inside(player.decision_set, player.ask()), (
            f"gradients of size {factor:g} must not lead out of the set"
        )


def _scaled(seen: EvalGrad, factor: float) -> EvalGrad:
    """Give the gradient the norm `factor`, and the value the same unit."""
    norm = float(np.linalg.norm(seen.grad)) or 1.0
    return seen._replace(value=seen.value / norm * factor, grad=seen.grad / norm * factor)


def _each(seen: tuple[Seen, ...]) -> Iterator[EvalGrad]:
    for one in seen:
        yield from (one,) if isinstance(one, EvalGrad) else one


def _nested(snapshot: Snapshot) -> Iterator[Snapshot]:
    yield snapshot
    for part in snapshot["parts"].values():
        yield from _nested(part)


PLAYER_CHECKS: tuple[Check[Game], ...] = (
    check_determinism,
    check_plays_inside,
    check_ask_is_pure,
    check_zero_gradients,
    check_feedback_is_not_kept,
    check_state_is_pure,
    check_restore,
    check_foreign_snapshots,
    check_rejection,
    check_huge_gradients,
)
