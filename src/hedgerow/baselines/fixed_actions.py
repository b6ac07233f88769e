"""Current practice as policies: one action for ever, equal splits, yesterday's best, last matrices.

Learners are compared with these policies, which are not among their rivals: `METHODS` leaves them
out. Experiment files name them like any other method.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.baselines.cheapest_vertex import TIE, vertices_about
from hedgerow.baselines.simple_rule import SimpleRule
from hedgerow.feedback import Constraints, EvalGrad, Full, first_order, full_information, needs
from hedgerow.functions import parts_of
from hedgerow.inputs import Vector, as_count, as_vector, read_only
from hedgerow.problems.link_loads import LargestUtilisation, LinkUtilisation, SplitLoads
from hedgerow.problems.traffic_engineering import TrafficEngineering
from hedgerow.protocols.late_feedback import as_play, refuse_late
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.actions import coordinate_labels
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.graph import number_nodes
from hedgerow.sets.paths.unit_flow import UnitFlow
from hedgerow.snapshot import State, records_call
from hedgerow.surrogates.queued import checked, checked_each, most_violated

DAY = 1440
"""Rounds of one minute in a day."""


class FixedAction(StatefulPlayer):
    """Plays one fixed point, whatever the feedback.

    Args:
        decision_set: where it lies.
        x: the point.

    """

    oblivious_only = False
    oracle_calls = 0
    feedback = staticmethod(first_order)

    def __init__(self, decision_set: DecisionSet, x: ArrayLike):
        self.decision_set = decision_set
        self.x = read_only(as_vector(x, "the fixed action", decision_set.dim).copy())
        if not decision_set.contains(self.x, 1e-7):
            raise ValueError(
                "the fixed action lies outside of the decision set; give a point of it, such as "
                "decision_set.lmo(lengths)"
            )

    def ask(self) -> Vector:
        """Return the point."""
        return self.x.copy()

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Check the feedback, and learn nothing."""
        refuse_late(self, at)
        checked(cost, "cost", self.decision_set.dim)
        checked_each(constraint, self.decision_set.dim)


@records_call
def fixed(decision_set: DecisionSet, x: ArrayLike | Sequence[str] | str) -> FixedAction:
    """Always play the same action.

    Args:
        decision_set: where to play.
        x: the action, a point of the set; or a route, as the names of its nodes in order; or a
            vertex by its name, as `describe` writes it.

    >>> X = DagPaths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> fixed(X, ["a", "b", "c"]).ask()
    array([1., 1., 0.])
    >>> fixed(X, "a > c").ask()
    array([0., 0., 1.])

    """
    if isinstance(x, str):
        return FixedAction(decision_set, named_vertex(decision_set, x))
    if isinstance(x, (list, tuple)) and x and all(isinstance(node, str) for node in x):
        return FixedAction(decision_set, route(decision_set, x))
    return FixedAction(decision_set, x)


def named_vertex(decision_set: DecisionSet, name: str) -> Vector:
    """Return a vertex by its name: "a > b > c", a route; "a-b, c-d", "0, 3" or "0: 0.5, 3: 2".

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> named_vertex(Simplex(3), "1")
    array([0., 1., 0.])

    """
    if hasattr(decision_set, "source"):
        return route(decision_set, [node.strip() for node in name.replace(">", ",").split(",")])
    number = {name: i for i, name in enumerate(coordinate_labels(decision_set))}
    x = np.zeros(decision_set.dim)
    for part in name.split(","):
        label, _, value = (text.strip() for text in part.partition(":"))
        if label not in number:
            near = get_close_matches(label, number, n=1) or [next(iter(number))]
            raise ValueError(
                f"{type(decision_set).__name__} has no coordinate {label!r}; they are named as "
                f"{near[0]!r}"
            )
        try:
            x[number[label]] = float(value or 1.0)
        except ValueError:
            raise ValueError(
                f"the value of coordinate {label!r} must be a number, got {value!r}"
            ) from None
    return x


def route(decision_set: DecisionSet, nodes: Sequence[str]) -> Vector:
    """Return the route along these nodes as a point; a missing link is named."""
    edges = getattr(decision_set, "edges", None)
    if edges is None:
        raise ValueError(
            f"{type(decision_set).__name__} has no routes; give the action as a vector"
        )
    number = {(str(a), str(b)): e for e, (a, b) in enumerate(edges)}
    x = np.zeros(decision_set.dim)
    for a, b in pairwise(nodes):
        if (a, b) not in number:
            raise ValueError(
                f"there is no link from {a!r} to {b!r} on a route of this problem; check the names "
                "and the direction"
            )
        x[number[a, b]] = 1.0
    if not decision_set.contains(x):
        source, target = (getattr(decision_set, name, None) for name in ("source", "target"))
        raise ValueError(
            f"the route {' > '.join(nodes)} must lead from {source!r} to {target!r}; name every "
            "node in between"
        )
    return x


@records_call
def shortest_path(
    decision_set: DecisionSet, horizon: int | None = None, *, lengths: ArrayLike | None = None
) -> FixedAction:
    """Always play the vertex of least total length: static shortest-path routing.

    Args:
        decision_set: where to play.
        horizon: not used.
        lengths: of each coordinate; 1 each if left out, which are hops. In an experiment, the
            problem's base latencies.

    """
    del horizon
    return FixedAction(decision_set, decision_set.lmo(_lengths(decision_set, lengths)))


@records_call
def cheapest_path(
    decision_set: DecisionSet, horizon: int | None = None, *, prices: ArrayLike | None = None
) -> FixedAction:
    """Always play the vertex of least total price; in an experiment, by the problem's prices."""
    return shortest_path(decision_set, horizon, lengths=prices)


@records_call
def ecmp(
    decision_set: DecisionSet, horizon: int | None = None, *, metric: ArrayLike | None = None
) -> FixedAction:
    """Equal-cost multi-path routing: at every node an equal split over its shortest ways on.

    Args:
        decision_set: `DagPaths` or `UnitFlow`.
        horizon: not used.
        metric: of each edge, at least 0; 1 each if left out, with which routers begin.

    Reference: Hopps, Analysis of an equal-cost multi-path algorithm, RFC 2992 (2000).

    >>> X = DagPaths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], "a", "d")
    >>> ecmp(X).ask()
    array([0.5, 0.5, 0.5, 0.5])

    """
    del horizon
    if not isinstance(decision_set, (DagPaths, UnitFlow)):
        raise ValueError(
            f"ecmp splits traffic over paths, {type(decision_set).__name__} has none; use "
            "DagPaths or UnitFlow"
        )
    length = _lengths(decision_set, metric, "metric")
    if length.min() < 0.0:
        raise ValueError(f"metric must be at least 0, got {length.min():g}")
    return FixedAction(decision_set, _equal_split(decision_set, length))


def _equal_split(X: DagPaths | UnitFlow, length: Vector) -> Vector:
    """Return the split over edges that lie on a shortest way to the target."""
    from scipy.sparse import csgraph, csr_array

    tail, head, number = number_nodes(X.edges)
    nodes = len(number)
    # a length of 0 would be no edge to scipy, and make cycles of shortest ways
    tiny = TIE * max(1.0, float(length.max())) / nodes
    safe = np.maximum(length, tiny)
    graph = csr_array((safe, (head, tail)), shape=(nodes, nodes))
    left = np.asarray(csgraph.dijkstra(graph, indices=[number[X.target]])[0])
    tight = safe + left[head] <= left[tail] * (1.0 + TIE)
    share, x = np.zeros(nodes), np.zeros(X.dim)
    share[number[X.source]] = 1.0
    for node in np.argsort(-np.where(np.isfinite(left), left, -1.0), kind="stable"):
        out = np.flatnonzero(tight & (tail == node))
        if share[node] > 0.0 and out.size:
            x[out] = share[node] / out.size
            np.add.at(share, head[out], x[out])
    return x


class BestOfYesterday(SimpleRule):
    """Plays, for a window of rounds, the best vertex of the window before.

    Best is the cheapest vertex whose mean constraint was at most 0, or that with the least mean
    where there is none; by the Lagrangian method, which may miss a vertex inside the convex hull of
    others (`vertices_about`). The first window plays the set's start. Curved functions count by
    their tangents.

    Args:
        decision_set: where to play.
        window: how many rounds a window has.

    """

    feedback = staticmethod(first_order)

    def __init__(self, decision_set: DecisionSet, window: int = DAY):
        n = decision_set.dim
        super().__init__(decision_set, {"cost": n, "constraint": n, "offset": 1, "rounds": 1})
        self.window = as_count(window, "window")

    def tell(self, cost: EvalGrad, constraint: Constraints, *, at: Vector | None = None) -> None:
        """Add the round to the window; at its end choose a vertex.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        state, dim = self._state, self.decision_set.dim
        seen_at = state["x"] if at is None else as_play(at, self.decision_set, state["x"])
        cost, worst = checked(cost, "cost", dim), most_violated(constraint, dim)
        state["cost"][:] += cost.grad
        state["constraint"][:] += worst.grad
        state["offset"][0] += worst.value - float(worst.grad @ seen_at)
        state["rounds"][0] += 1.0
        if state["rounds"][0] >= self.window:
            state["x"][:] = self._choose()
            for name in ("cost", "constraint", "offset", "rounds"):
                state[name][:] = 0.0

    def _choose(self) -> Vector:
        """Return the cheapest vertex that satisfies the mean constraint, or the nearest to that."""
        state = self._state
        offset = float(state["offset"][0])
        return vertices_about(self._lmo, state["cost"], state["constraint"], offset)[1]


@records_call
def best_of_yesterday(
    decision_set: DecisionSet, horizon: int | None = None, *, window: int = DAY
) -> BestOfYesterday:
    """Play the best action of the window before; 1440 rounds of a minute are a day.

    Args:
        decision_set: where to play.
        horizon: not used.
        window: how many rounds a window has.

    """
    del horizon
    return BestOfYesterday(decision_set, window)


def _lengths(decision_set: DecisionSet, lengths: ArrayLike | None, name: str = "lengths") -> Vector:
    if lengths is None:
        return np.ones(decision_set.dim)
    return as_vector(lengths, name, decision_set.dim)


class FixedSplit(StatefulPlayer):
    """Plays one fixed split: shortest paths, ECMP, or any other.

    Args:
        decision_set: where to play.
        x: the point.

    """

    oblivious_only = False
    feedback = staticmethod(full_information)
    oracle_calls = 0

    def __init__(self, decision_set: DecisionSet, x: ArrayLike):
        self.decision_set = decision_set
        point = as_vector(x, "x", decision_set.dim)
        if not decision_set.contains(point):
            raise ValueError("x must lie in the decision set")
        self._state = State(x=decision_set.dim)
        self._state["x"][:] = point

    def ask(self) -> Vector:
        """Return the point."""
        return self._state["x"].copy()

    def tell(self, cost: Full, constraint: Full) -> None:
        """Learn nothing."""


class LastMatrix(StatefulPlayer):
    """Plays the best split for the last traffic matrix: what operators do every few minutes.

    One linear programme per round, which sees the whole matrix. Where no split satisfies the
    limit, it minimises the largest utilisation.

    Args:
        problem: what is known beforehand: set, latencies and limit, but not its demands.
        start: the first split; each pair on its shortest path if left out.
        rounds: plan for the mean of about this many last matrices instead, each new one counting
            1/rounds; None for the mean of all.

    """

    oblivious_only = False
    feedback = staticmethod(full_information)

    def __init__(
        self, problem: TrafficEngineering, start: ArrayLike | None = None, rounds: int | None = 1
    ):
        X = self.decision_set = problem.decision_set
        self.problem = problem
        self.rounds = None if rounds is None else as_count(rounds, "rounds")
        self._state = State(x=X.dim, demand=len(X.pairs), t=1)
        x1 = problem.shortest if start is None else as_vector(start, "start", X.dim)
        self._state["x"][:] = x1

    @property
    def oracle_calls(self) -> int:
        """How many linear programmes were solved."""
        return int(self._state["t"][0])

    def ask(self) -> Vector:
        """Return the split for what was seen."""
        return self._state["x"].copy()

    def tell(self, cost: Full, constraint: Full) -> None:  # noqa: ARG002 - the limit holds the matrix
        """Solve the linear programme of the matrix that was seen."""
        loads, demand = _matrix(constraint)
        self._state["t"][0] += 1.0
        self._state["demand"][:] = self._planned(demand)
        if self._state["demand"].any():
            self._state["x"][:] = self.problem.best_for(loads, self._state["demand"].copy())[0]

    def _planned(self, demand: Vector) -> Vector:
        """Return the demand to plan for, given the last one."""
        mean, t = self._state["demand"], float(self._state["t"][0])
        return mean + (demand - mean) / (t if self.rounds is None else min(t, self.rounds))

    @property
    def _configuration(self) -> object:
        return (self.problem.limit, self.rounds)


class MeanMatrix(LastMatrix):
    """Plays the best split for the mean of all traffic matrices so far.

    Args:
        problem: as `LastMatrix` has it.
        start: as `LastMatrix` has it.

    """

    def __init__(self, problem: TrafficEngineering, start: ArrayLike | None = None):
        super().__init__(problem, start, rounds=None)


def _matrix(constraint: Any) -> tuple[SplitLoads, Vector]:
    """Return the links and the demands of a round."""
    needs(Full, constraint, "this policy", "constraint")
    first = parts_of(constraint.function)[0]
    if not isinstance(first, (LargestUtilisation, LinkUtilisation)):
        raise TypeError(
            "this policy reads the demands off a limit on link utilisation, got a "
            f"{type(first).__name__}; play it on TrafficEngineering"
        )
    return first.loads, first.demand
