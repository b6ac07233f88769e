"""A problem: a decision set and the rounds that are played on it, drawn or given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.display import ShortRepr
from hedgerow.functions import Function, Linear, Maximum, in_order, labels_in, parts_of
from hedgerow.inputs import Vector, as_count, read_only
from hedgerow.labels import Labels
from hedgerow.problems.compiled_rounds import CompiledChunk, linear_rows, packed_chunks
from hedgerow.protocols.limits import LimitName, NamedLimit, as_limits, have_one_unit
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet

Round = tuple[Function, Function]
CHUNK = 256
"""Rounds that are drawn at a time where nothing else is asked for."""


class LinearChunk(NamedTuple):
    """k linear rounds as arrays: f_t(x) = <costs[t], x> + cost_offsets[t], and so for g_t."""

    costs: Vector
    cost_offsets: Vector
    constraints: Vector
    constraint_offsets: Vector

    @classmethod
    def of(
        cls,
        costs: Vector,
        constraints: Vector,
        constraint_offsets: float | Vector = 0.0,
        cost_offsets: float | Vector = 0.0,
    ) -> LinearChunk:
        """Return a chunk of coefficients, by round or of one round; a number is every offset."""
        costs, constraints = np.atleast_2d(costs, constraints)
        k = len(costs)
        return cls(costs, np.full(k, cost_offsets), constraints, np.full(k, constraint_offsets))

    @classmethod
    def stack(cls, costs: Sequence[Linear], constraints: Sequence[Linear]) -> LinearChunk:
        """Return linear functions as arrays."""
        a, c = (np.array([f.coefficients for f in part]) for part in (costs, constraints))
        b, d = (np.array([f.offset for f in part]) for part in (costs, constraints))
        return cls(a, b, c, d)

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds one by one."""
        for a, b, c, d in zip(*self, strict=True):
            yield Linear(a, float(b)), Linear(c, float(d))

    def compiled(self) -> CompiledChunk:
        """Return the rounds as functions with kernels, for policies that need them so."""
        costs, constraints = linear_rows(*self[:2]), linear_rows(*self[2:])
        return CompiledChunk(len(self.costs), costs, constraints, self._round)

    def _round(self, r: int, _: Vector) -> Round:
        (functions,) = LinearChunk(*(part[r : r + 1] for part in self)).rounds()
        return functions


class Problem(ShortRepr, ABC):
    """A sequence of rounds (cost, constraint), drawn from one seed or made by an adversary.

    An oblivious problem yields the same rounds every time. The rounds of an adaptive problem depend
    on the next decision of a policy, which must be given.

    Attributes:
        decision_set: where the game is played.
        horizon: the number of rounds.
        limits: the constraints of a round, each with `name` and `unit`; empty where there is one,
            or where they have no names.

    """

    decision_set: DecisionSet
    horizon: int
    limits: Sequence[NamedLimit] = ()

    @property
    def one_unit(self) -> bool:
        """Whether violations of a round's constraints may be added.

        A function is one constraint, a `Maximum` too: its parts have one unit, or none would be the
        largest. A problem whose constraints differ says so by the units of its `limits`.
        """
        return not self.limits or have_one_unit(self.limits)

    @property
    def adaptive(self) -> bool:
        """Whether the rounds react to the decisions."""
        return False

    @abstractmethod
    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Yield (cost, constraint) for each round; an adaptive problem needs the policy."""

    def compiled_rounds(self, size: int = CHUNK) -> Iterator[CompiledChunk] | None:
        """Return the rounds for the compiled loop, `size` at a time; None where it has no kernel.

        Linear and quadratic functions and maxima of such have one. A problem that reacts to the
        plays may return the kernel of its rule here.
        """
        return None if self.adaptive else packed_chunks(self.rounds(), self.decision_set.dim, size)

    def _in_short(self) -> str:
        return f"{self.horizon} rounds on {self.decision_set!r}"

    def __iter__(self) -> Iterator[Round]:
        if self.adaptive:
            raise TypeError(
                f"{type(self).__name__} reacts to the plays, so it cannot be iterated alone; "
                "use play(policy, problem)"
            )
        return self.rounds()


class LinearProblem(Problem):
    """An oblivious problem whose rounds are linear and come in chunks of arrays."""

    @abstractmethod
    def chunks(self, size: int = CHUNK) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time; the rounds are the same for every size."""

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds one by one."""
        for chunk in self.chunks():
            yield from chunk.rounds()


def chunk_slices(horizon: int, size: int) -> Iterator[slice]:
    """Yield the rounds of each chunk, counted from 0.

    >>> list(chunk_slices(7, 3))
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    size = as_count(size, "the chunk size")
    for begin in range(0, horizon, size):
        yield slice(begin, min(begin + size, horizon))


def needs_policy(policy: Policy[Any, Any] | None, problem: Problem) -> Policy[Any, Any]:
    """Return the policy that an adaptive problem reacts to, or say that it is missing."""
    if policy is None:
        raise TypeError(
            f"{type(problem).__name__} reacts to the plays; use rounds(policy) or "
            "play(policy, problem)"
        )
    return policy


class EnvelopedProblem(LinearProblem):
    """A linear problem on nonnegative points whose coefficients stay between two known rounds.

    If c <= c_t <= C in every coordinate and x >= 0, then <c, x> <= <c_t, x> <= <C, x>, so four
    oracle calls bound all rounds at all points. The bounds are those of the law or of the data,
    not of one draw.

    Attributes:
        feasible: a point that satisfies every round's constraint.

    """

    @property
    @abstractmethod
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """Two rounds (chunks of one) with every round between them, offsets included."""

    @cached_property
    def feasible(self) -> Vector:
        """The vertex that satisfies the upper envelope of the constraints with the most slack."""
        return read_only(self.decision_set.lmo(self.envelope[1].constraints[0]))

    @property
    def cost_lipschitz(self) -> float:
        """A bound of the norms of all gradients of costs."""
        low, high = self.envelope
        return _longest(low.costs, high.costs)

    @property
    def constraint_lipschitz(self) -> float:
        """A bound of the norms of all gradients of constraints."""
        low, high = self.envelope
        return _longest(low.constraints, high.constraints)

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two, at every point of the set."""
        low, high = self.envelope
        least = self.decision_set.minimum(low.costs[0]) + float(low.cost_offsets[0])
        return least, float(high.cost_offsets[0]) - self.decision_set.minimum(-high.costs[0])

    @cached_property
    def violation_range(self) -> float:
        """No constraint has a larger value anywhere in the set."""
        high = self.envelope[1]
        largest = -self.decision_set.minimum(-high.constraints[0])
        return largest + float(high.constraint_offsets[0])


def _longest(low: Vector, high: Vector) -> float:
    return float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))


GivenRound = tuple[Function, Function | Sequence[Function]]
"""A cost, and a constraint or several."""


class RecordedProblem(Problem):
    """A problem made of given rounds: your own data, or a game recorded earlier.

    Args:
        decision_set: where the game is played.
        rounds: pairs (cost, constraint) of convex functions. Several constraints may be given as a
            sequence of functions: a policy sees their `Maximum`, which keeps the parts, and
            iterating gives back the sequence. Functions made of a Series are matched with the
            labels of the set, which takes theirs if it has none.
        limits: the name and the unit of each of several constraints, {"latency": "ms", "share":
            ""}. Violations are added only where all have the same unit, which is not assumed of
            a sequence without names. A `Maximum` of yours is one constraint in one unit.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> problem = RecordedProblem(Simplex(2), [(Linear([1.0, 0.0]), Linear([0.0, 1.0], -0.5))])
    >>> problem.horizon
    1
    >>> caps = [Linear([1.0, 0.0], -0.7), Linear([0.0, 1.0], -0.6)]
    >>> ((_, constraints),) = RecordedProblem(Simplex(2), [(Linear([1.0, 0.0]), caps)])
    >>> constraints == caps
    True
    >>> RecordedProblem(Simplex(2), [(Linear([1.0, 0.0]), caps)]).one_unit
    False
    >>> same = {"first": "share", "second": "share"}
    >>> RecordedProblem(Simplex(2), [(Linear([1.0, 0.0]), caps)], limits=same).one_unit
    True

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        rounds: Iterable[GivenRound],
        *,
        limits: Mapping[str, str] | None = None,
    ):
        if not hasattr(decision_set, "lmo"):
            raise TypeError(
                f"decision_set must be a set, such as Simplex(3), got {decision_set!r:.60}"
            )
        if not isinstance(rounds, Iterable):
            raise TypeError(f"rounds must be pairs (cost, constraint), got {rounds!r:.60}")
        given = [_checked(pair, t) for t, pair in enumerate(rounds, start=1)]
        if not given:
            raise ValueError("there are no rounds; give at least one pair (cost, constraint)")
        self.decision_set = _named_set(decision_set, given)
        labels = getattr(self.decision_set, "labels", None)
        self._given = tuple(_in_order(pair, labels, t) for t, pair in enumerate(given, start=1))
        self._rounds = tuple((cost, _one(constraint)) for cost, constraint in self._given)
        self.horizon = len(self._rounds)
        # A problem whose rounds are recorded knows whether its maxima are of one constraint.
        one_unit = not isinstance(rounds, Problem) or rounds.one_unit
        self._one_unit = one_unit and not any(_is_several(constraint) for _, constraint in given)
        if limits is not None:
            self.limits = _named(as_limits(limits), self._rounds)
        elif isinstance(rounds, Problem):
            self.limits = rounds.limits

    @property
    def one_unit(self) -> bool:
        """Whether violations of a round's constraints may be added.

        That is where each round has one, or where `limits` has one unit for all.
        """
        return have_one_unit(self.limits) if self.limits else self._one_unit

    def chunks(self, size: int = CHUNK) -> Iterator[LinearChunk] | None:
        """Return the rounds as arrays, `size` at a time, or None if one is not linear."""
        if not all(isinstance(f, Linear) for pair in self._rounds for f in pair):
            return None
        rounds = cast(Sequence[tuple[Linear, Linear]], self._rounds)
        parts = (rounds[rows] for rows in chunk_slices(self.horizon, size))
        return (LinearChunk.stack(*zip(*part, strict=True)) for part in parts)

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the given rounds; several constraints as their `Maximum`."""
        return iter(self._rounds)

    def __iter__(self) -> Iterator[Any]:
        """Yield the rounds as they were given, several constraints as a sequence."""
        return iter(self._given)


def _checked(given: Any, t: int) -> GivenRound:
    """Return a round that was given, or refuse what is none."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        entries = f"{len(given)} entries" if isinstance(given, list | tuple) else repr(given)[:60]
        raise TypeError(
            f"round {t} must be a pair (cost, constraint), got {entries}; several constraints are "
            "one sequence: (cost, [first, second])"
        )
    cost, constraint = given
    each = constraint if isinstance(constraint, list | tuple) else (constraint,)
    for name, function in (("cost", cost), *(("constraint", one) for one in each)):
        if not (callable(function) and hasattr(function, "grad")):  # a Function, found faster
            raise TypeError(
                f"the {name} of round {t} must be a function with a value f(x) and a subgradient "
                f"f.grad(x), such as Linear(coefficients), got {function!r:.60}"
            )
    if not each:
        raise ValueError(
            f"round {t} has an empty sequence of constraints; give at least one function, one that "
            "is zero where there is no constraint"
        )
    return cost, constraint


def _named_set(decision_set: DecisionSet, rounds: Sequence[GivenRound]) -> DecisionSet:
    """Return the set with the labels of the first function that has some, if it has none."""
    if getattr(decision_set, "labels", None) is not None:
        return decision_set
    functions = (f for cost, given in rounds for f in (cost, *_each(given)))
    found = next((labels for f in functions if (labels := labels_in(f)) is not None), None)
    return decision_set if found is None else decision_set.named(found)


def _in_order(given: GivenRound, labels: Labels | None, t: int) -> GivenRound:
    """Return a round whose functions have the coordinates of the set, in their order."""
    cost, constraint = given
    if all(labels_in(f) is None for f in (cost, *_each(constraint))):
        return given
    name = f"the constraint of round {t}"
    each = [in_order(f, labels, name) for f in _each(constraint)]
    several = isinstance(constraint, list | tuple)
    return in_order(cost, labels, f"the cost of round {t}"), each if several else each[0]


def _each(constraint: Function | Sequence[Function]) -> Sequence[Function]:
    return constraint if isinstance(constraint, list | tuple) else [cast(Function, constraint)]


def _is_several(constraint: Function | Sequence[Function]) -> bool:
    """Whether a round's constraint was given as a sequence of several."""
    return isinstance(constraint, list | tuple) and len(constraint) > 1


def _named(limits: tuple[LimitName, ...], rounds: Sequence[Round]) -> tuple[LimitName, ...]:
    """Check that each round has as many constraints as there are names."""
    for t, (_, constraint) in enumerate(rounds, start=1):
        if (count := len(parts_of(constraint))) != len(limits):
            raise ValueError(
                f"limits names {len(limits)} constraints, round {t} has {count}; name each "
                "constraint, always as many"
            )
    return limits


def _one(constraint: Function | Sequence[Function]) -> Function:
    """Return a round's constraint as one function."""
    each = _each(constraint)
    return each[0] if len(each) == 1 else Maximum(each)


class MappedRounds(LinearProblem):
    """The rounds of a linear problem, as `store_rounds` wrote them.

    Args:
        decision_set: where the game is played.
        horizon: the number of rounds.
        folder: holds one .npy file for each field of `LinearChunk`.

    """

    def __init__(self, decision_set: DecisionSet, horizon: int, folder: Path):
        self.decision_set, self.horizon, self.folder = decision_set, horizon, folder

    def chunks(self, size: int = CHUNK) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time; nothing is copied."""
        files = (np.load(path, mmap_mode="r") for path in _files(self.folder))
        whole = [np.asarray(part) for part in files]
        for rows in chunk_slices(self.horizon, size):
            yield LinearChunk(*(part[rows] for part in whole))


def store_rounds(problem: LinearProblem, folder: Path) -> MappedRounds:
    """Draw all rounds of a problem into files of a new folder."""
    folder.mkdir()
    T, n = problem.horizon, problem.decision_set.dim
    shapes: tuple[tuple[int, ...], ...] = (T, n), (T,), (T, n), (T,)
    whole = [
        np.lib.format.open_memmap(path, "w+", np.float64, shape)
        for path, shape in zip(_files(folder), shapes, strict=True)
    ]
    for rows, chunk in zip(chunk_slices(T, CHUNK), problem.chunks(CHUNK), strict=True):
        for part, drawn in zip(whole, chunk, strict=True):
            part[rows] = drawn
    return MappedRounds(problem.decision_set, T, folder)


def _files(folder: Path) -> list[Path]:
    return [folder / f"{name}.npy" for name in LinearChunk._fields]
