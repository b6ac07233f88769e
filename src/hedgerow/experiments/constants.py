"""What is found out before a game: the constants of a problem, and which methods are compiled."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hedgerow.functions import Linear
from hedgerow.games.simulation import simulate
from hedgerow.inputs import Vector
from hedgerow.policies.method import Constants, Method
from hedgerow.policies.without_constraint import unconstrained
from hedgerow.problems.problem import LinearChunk, LinearProblem, Problem, RecordedProblem, Round
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths

SAMPLED_ROUNDS = 512
SAMPLED_VERTICES = 8
"""How many rounds and random vertices are sampled if nothing is exact or declared."""


EXACT = "exact: all rounds"
SAMPLED = (
    f"sampled at {SAMPLED_VERTICES} vertices in at most {SAMPLED_ROUNDS} rounds, others may exceed "
    "them"
)


class Known(NamedTuple):
    """The constants of a problem and how they were found."""

    constants: Constants
    how: str

    @property
    def exact(self) -> bool:
        """Whether they hold in all rounds; sampled ones may be exceeded."""
        return self.how == EXACT

    def record(self) -> dict[str, Any]:
        """Return constants and how they were found as plain data, for the record of a run."""
        return {
            "lipschitz": list(self.constants.lipschitz),
            "bound": list(self.constants.bound),
            "how": self.how,
        }


def known_constants(problem: Problem) -> Known:
    """Return pairs (costs, constraints): the largest gradient norm, the largest absolute value.

    Linear rounds, recorded ones too: exact, the maximum over all rounds, values by two oracle
    calls for each function. Otherwise gradients as the problem declares them (`cost_lipschitz`,
    `constraint_lipschitz`) where it does, and the rest sampled at vertices: convex functions
    are largest at vertices, but only some vertices and some rounds are sampled. A method that
    sees values alone refuses a round that exceeds the constants during the game; `how` says that
    they were sampled.
    """
    chunks = _chunks(problem)
    if chunks is not None:
        return Known(_exact_constants(problem.decision_set, chunks), EXACT)
    sampled = _sampled_constants(problem)
    declared = [getattr(problem, f"{name}_lipschitz", None) for name in ("cost", "constraint")]
    if None in declared:
        return Known(sampled, SAMPLED)
    lipschitz = float(declared[0] or 0.0), float(declared[1] or 0.0)
    return Known(Constants(lipschitz, sampled.bound), f"gradients declared, values {SAMPLED}")


def _chunks(problem: Problem) -> Iterator[LinearChunk] | None:
    """Return the rounds as arrays if all are linear and fixed in advance."""
    if problem.adaptive or not isinstance(problem, (LinearProblem, RecordedProblem)):
        return None
    return problem.chunks()


def _exact_constants(X: DecisionSet, chunks: Iterator[LinearChunk]) -> Constants:
    largest = np.zeros(4)
    for chunk in chunks:
        for i, (rows, offsets) in enumerate(
            (
                (chunk.costs, chunk.cost_offsets),
                (chunk.constraints, chunk.constraint_offsets),
            )
        ):
            longest = np.linalg.norm(rows, axis=1).max()
            value = max(_largest_value(X, c, float(b)) for c, b in zip(rows, offsets, strict=True))
            largest[[i, 2 + i]] = np.maximum(largest[[i, 2 + i]], (longest, value))
    return _constants(largest)


def _largest_value(X: DecisionSet, c: Vector, offset: float) -> float:
    return max(abs(X.minimum(c) + offset), abs(offset - X.minimum(-c)))


def _sampled_constants(problem: Problem) -> Constants:
    X, rng = problem.decision_set, np.random.default_rng(0)
    vertices = [X.lmo(rng.standard_normal(X.dim)) for _ in range(SAMPLED_VERTICES)]
    largest = np.zeros(4)
    for functions in itertools.islice(_rounds(problem), SAMPLED_ROUNDS):
        for x in vertices:
            norms = [float(np.linalg.norm(f.grad(x))) for f in functions]
            values = [abs(f(x)) for f in functions]
            largest = np.maximum(largest, norms + values)
    return _constants(largest)


def _rounds(problem: Problem) -> Iterator[Round]:
    """Yield the rounds; an adaptive problem sees the same point in every round."""
    return problem.rounds(unconstrained(problem.decision_set) if problem.adaptive else None)


def _constants(largest: Vector) -> Constants:
    a, b, c, d = (max(float(value), 1e-300) for value in largest)  # a theorem divides by them
    return Constants((a, b), (c, d))


EDGES = [(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)]
HORIZON = 10**6
"""What the methods are built for; two rounds are played."""


def is_compiled(method: Method) -> bool | None:
    """Play two linear rounds on a small graph; None for a method that cannot be built for it.

    Whether a game is compiled also depends on the set and the rounds; see `Trace.compiled`.
    """
    X = DagPaths(EDGES, 0, 3)
    problem = RecordedProblem(X, [(Linear(np.ones(X.dim)), Linear(np.ones(X.dim), -1.5))] * 2)
    known = Constants((3.0, 3.0), (3.0, 3.0))
    base = {"lengths": np.ones(X.dim), "prices": np.ones(X.dim)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            policy = method.policy(X, HORIZON, 0, "practical", known, edges=base)
        except (TypeError, ValueError):
            return None
        feedback = getattr(policy, "feedback", None) or method.feedback(known)
        return simulate(policy, problem, feedback).compiled
