"""Routes on measured series: any quantity as cost, any of them capped, played as measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from types import SimpleNamespace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.functions import Function, Linear
from hedgerow.inputs import (
    DEFAULT_SEED,
    RNG,
    Vector,
    as_count,
    as_number,
    as_positive,
    as_seed,
    as_vector,
    freeze,
    read_only,
)
from hedgerow.networks.network import Network
from hedgerow.problems.edge_quantities import (
    HOPS,
    EdgeQuantity,
    edge_quantity,
    lasting_outages,
    levels,
    quantity_name,
)
from hedgerow.problems.problem import GivenRound, RecordedProblem, Round
from hedgerow.problems.routes import Orientation, find_routes
from hedgerow.problems.variation import UniformScaling
from hedgerow.protocols.service_level import ServiceLevel, service_level
from hedgerow.protocols.trace import Trace
from hedgerow.sets.paths.dag_paths import DagPaths

Kind = Literal["cap", "floor", "capacity"]
SURE = 1e-9
"""A violation that is a smaller share of its level is rounding."""


@dataclass(frozen=True, eq=False)
class FullestLink:
    """How far the fullest link is over its capacity: max over edges of demand x_e - capacity_e.

    A path carries as much as its least link, so a split x of the demand fits if and only if this
    is at most 0. It is convex in x, a maximum of linear functions.

    >>> load = FullestLink([60.0, 100.0], demand=100.0)
    >>> load(np.array([0.7, 0.3])), load.grad(np.array([0.7, 0.3]))
    (10.0, array([100.,   0.]))
    """

    capacities: Vector
    demand: float

    def __init__(self, capacities: ArrayLike, demand: float):
        vector = as_vector(capacities, "the capacities")
        freeze(self, capacities=vector, demand=as_positive(demand, "demand"))

    def __call__(self, x: Vector) -> float:
        """Return the largest excess."""
        return float((self.demand * x - self.capacities).max())

    def grad(self, x: Vector) -> Vector:
        """Return the gradient of the first link with the largest excess."""
        slope = np.zeros(self.capacities.size)
        slope[int(np.argmax(self.demand * x - self.capacities))] = self.demand
        return slope


@dataclass(frozen=True, eq=False)
class Limit:
    """One constraint of every round.

    Attributes:
        quantity: what it is about.
        level: the bound.
        kind: "cap": the sum along a path is at most the level; "floor": it is at least that, as
            the paper sums bandwidth; "capacity": no link carries more than its quantity, where
            the level is the demand.

    """

    quantity: EdgeQuantity
    level: float
    kind: Kind

    def __str__(self) -> str:
        level = f"{self.level:g} {self.quantity.unit}".rstrip()
        return {
            "cap": f"{self.quantity.name} at most {level}",
            "floor": f"{self.quantity.name} at least {level}, summed along a path",
            "capacity": f"{level} fit on every link's {self.quantity.name}",
        }[self.kind]

    @property
    def name(self) -> str:
        """The constraint in words."""
        return str(self)

    @property
    def short(self) -> str:
        """The constraint in a sentence about it alone: the 120 ms limit."""
        if not self.unit:
            return f"the limit, {self}"
        what = "demand" if self.kind == "capacity" else "limit"
        return f"the {self.level:g} {self.unit} {what}"

    @property
    def unit(self) -> str:
        """The unit of its values, empty where it is not known."""
        return self.quantity.unit

    def at(self, t: int) -> Function:
        """Return the constraint of round t, from 0."""
        values = self.quantity.at(t)
        if self.kind == "capacity":
            return FullestLink(values, self.level)
        return Linear(values, -self.level) if self.kind == "cap" else Linear(-values, self.level)

    def least(self, X: DagPaths, t: int) -> float:
        """Return a lower bound of the constraint in round t over all actions.

        Exact for sums along paths. Of capacities only the links at both ends are looked at, all of
        which together must carry the demand.
        """
        values = self.quantity.at(t)
        if self.kind == "cap":
            return X.minimum(values) - self.level
        if self.kind == "floor":
            return self.level + X.minimum(-values)
        found = -float("inf")
        for end, node in ((0, X.source), (1, X.target)):
            cut = [e for e, edge in enumerate(X.edges) if edge[end] == node and X.live[e]]
            found = max(found, (self.level - float(values[cut].sum())) / len(cut))
        return found


def _outage_latency(given: float | None, latency: Vector, caps: Mapping[str, float]) -> Vector:
    """Return what an outage of each edge counts as, in ms: far above the cap, whatever the link."""
    if given is not None:
        return np.full(latency.size, as_number(given, "outage_latency"))
    cap = max((level for name, level in caps.items() if name == "latency"), default=0.0)
    return 10.0 * np.maximum(latency, cap)


class MeasuredRoutes(RecordedProblem):
    """Split one unit of traffic over routes of a network, in rounds as they were measured.

    f_t(x) = <c_t, x>, where c_t is any quantity of the edges: a price, the latency, 1 for each
    link. The constraints are any of: a cap on a sum along the path, such as latency or loss; a
    floor under it, as the paper sums bandwidth; a demand that must fit on each link. x_e is the
    share of the traffic on edge e, so sums along paths are means over the traffic.

    An objective that some rounds break whatever is done is accepted: `unkept` counts these rounds
    and `unavoidable` has by how much each of them is broken at least. `hindsight(problem,
    budget="minimum")` is the benchmark then.

    Args:
        network: a `Network`; its series are the rounds. Without any, its values are one round,
            which is played again and again.
        source: where routes begin, by name; the network's own source if left out.
        target: where they end.
        cost: the quantity that a round costs: "latency", "bandwidth", "hops" (1 for each link) or
            any other by name; the beginning of a name is enough where only one begins so.
        caps: most of a quantity, {"latency": 120.0}, or in words, "latency=120, loss=0.5".
        floors: least of a quantity, summed along a path.
        demands: {"bandwidth": 50.0}: every link must carry its share of 50.
        horizon: the number of rounds; as many as there are if left out. Longer games begin again.
        outage_latency: what an outage of a link counts as, in ms; left out, ten times the cap on
            latency or the link's own latency, whichever is larger. Its bandwidth is 0 then.
        scaling: laws of random factors by quantity, where measured rounds are not to be played
            as measured: {"latency": UniformScaling(0.5, 1.5)}.
        seed: fixes these factors.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        orientation: how edges are turned to form no cycle, as in `LatencyCap.from_network`.

    >>> series = np.array([[20.0, 30.0, 60.0], [90.0, 30.0, 60.0]])
    >>> network = Network(
    ...     ("s", "a", "t"), [(0, 1), (1, 2), (0, 2)], [20.0, 30.0, 60.0], "measured",
    ...     latency_series=series,
    ... )
    >>> problem = MeasuredRoutes(network, "s", "t", cost="hops", caps={"latency": 55.0})
    >>> problem.horizon, problem.unkept, problem.unavoidable
    (2, 1, array([0., 5.]))
    >>> print(problem.feasibility)
    In 1 of 2 rounds no route meets the 55 ms limit; the best route misses it by 5 ms.

    """

    limits: tuple[Limit, ...]

    def __init__(
        self,
        network: Network,
        source: str | int | None = None,
        target: str | int | None = None,
        *,
        cost: str = HOPS,
        caps: Mapping[str, float] | str | None = None,
        floors: Mapping[str, float] | str | None = None,
        demands: Mapping[str, float] | str | None = None,
        horizon: int | None = None,
        outage_latency: float | None = None,
        scaling: Mapping[str, UniformScaling] | None = None,
        seed: int = DEFAULT_SEED,
        rng: RNG | None = None,
        orientation: Orientation = "distance",
    ):
        self.network = network
        names = network.nodes
        ends = _ends(network, source, target)
        edges = [(names[a], names[b]) for a, b in network.edges.tolist()]
        links = SimpleNamespace(edges=edges, latency_ms=network.latency_ms)
        found = find_routes(links, *ends, orientation)
        self.kept, self.orientation, self.latency = found.kept, found.orientation, found.latency
        self.seed = as_seed(seed, rng)
        lengths = [
            len(series)
            for series in (
                network.latency_series,
                network.bandwidth_series,
                *(quantity.series for quantity in network.quantities.values()),
            )
            if series is not None
        ]
        self.measured_rounds = max(lengths, default=0)
        if horizon is None and not lengths:
            raise ValueError(
                "the network has no series, so its values make one round; give horizon=..., how "
                "often to play it, and perhaps scaling"
            )
        rounds = self.measured_rounds if horizon is None else as_count(horizon, "horizon")
        laws = {quantity_name(network, name): law for name, law in (scaling or {}).items()}
        unused = set(laws)
        kinds: dict[Kind, dict[str, float]] = {
            "cap": levels(caps, "caps"),
            "floor": levels(floors, "floors"),
            "capacity": levels(demands, "demands"),
        }
        outages = {
            "latency": _outage_latency(outage_latency, found.latency, kinds["cap"]),
            "bandwidth": np.zeros(found.kept.size),
        }

        def quantity(asked: str) -> EdgeQuantity:
            name = quantity_name(network, asked)
            unused.discard(name)
            # A stream of its own for each name: another limit leaves the draws of this one alone.
            return edge_quantity(
                network,
                name,
                found.kept,
                outage=outages.get(name),
                scaling=laws.get(name),
                rounds=rounds,
                rng=np.random.default_rng([self.seed, *name.encode()]),
            )

        self.cost = quantity(cost)
        self.limits = tuple(
            Limit(quantity(name), level, kind)
            for kind, given in kinds.items()
            for name, level in given.items()
        )
        if not self.limits:
            raise ValueError(
                "there is no constraint; give caps, floors or demands, as caps={'latency': 120.0}"
            )
        if unused:
            raise ValueError(
                f"scaling is given for {', '.join(sorted(unused))}, which is neither the cost nor "
                "in a constraint; leave it out"
            )
        super().__init__(found.paths, self._functions(rounds))

    def __iter__(self) -> Iterator[Round]:
        """Yield the rounds; several limits as their `Maximum`, since no list was given."""
        return self.rounds()

    def _functions(self, rounds: int) -> Iterator[GivenRound]:
        for t in range(rounds):
            yield Linear(self.cost.at(t)), [limit.at(t) for limit in self.limits]

    @property
    def price(self) -> Vector:
        """The cost of each edge, without rounds."""
        return self.cost.base

    @property
    def constraints(self) -> int | None:
        """How many constraints a round has, for the argument of policies; None for one."""
        return len(self.limits) if len(self.limits) > 1 else None

    @property
    def constraint_units(self) -> tuple[float, ...]:
        """The level of each limit, by which `hindsight` divides its violations to add them."""
        return tuple(abs(limit.level) or 1.0 for limit in self.limits)

    @property
    def round_minutes(self) -> float | None:
        """How many minutes a round takes, the median of the network's times; None without them."""
        times = self.network.times
        if times is None or len(times) < 2:
            return None
        return float(np.median(np.diff(times))) / 60.0

    @cached_property
    def unavoidable(self) -> Vector:
        """By how much each round is violated at least; of several limits, in units of the level.

        0 for rounds that some action may satisfy. One oracle call for each round and constraint,
        which is a lower bound where there are several: no action need be best for all.
        """
        least = self.unavoidable_each
        found: Vector = least[0] if len(least) == 1 else (least.T / self.constraint_units).max(1)
        return read_only(found)

    @cached_property
    def unavoidable_each(self) -> Vector:
        """By how much each limit is violated at least, a row for each, in its own unit."""
        X = self.decision_set
        assert isinstance(X, DagPaths)
        least = np.array(
            [[limit.least(X, t) for t in range(self.horizon)] for limit in self.limits]
        )
        sure = SURE * np.array([max(abs(limit.level), 1e-300) for limit in self.limits])
        return np.where(least > sure[:, None], least, 0.0)

    @property
    def unkept(self) -> int:
        """How many rounds no action satisfies, as far as `unavoidable` knows."""
        return int(np.count_nonzero(self.unavoidable))

    @property
    def feasibility(self) -> str:
        """In how many rounds no route meets the limits, and how far the best one misses them."""
        noun = "minute" if self.round_minutes == 1.0 else "round"
        several = len(self.limits) > 1
        if not self.unkept:
            what = "the limits, each by itself" if several else self.limits[0].short
            return f"In every {noun} some route meets {what}."
        often = f"In {self.unkept} of {self.horizon} {noun}s no route meets"
        if self.horizon == 1:
            often = "No route meets"
        parts = []
        for limit, least in zip(self.limits, self.unavoidable_each, strict=True):
            if missed := int(np.count_nonzero(least)):
                upto = "at least " if limit.kind == "capacity" else "up to " if missed > 1 else ""
                by = f"by {upto}{least.max():.3g} {limit.unit}".rstrip()
                parts.append(f"{limit} is missed in {missed}, {by}" if several else by)
        if several:
            return f"{often} all limits: {'; '.join(parts)}."
        return f"{often} {self.limits[0].short}; the best route misses it {parts[0]}."

    def service_levels(self, trace: Trace) -> tuple[ServiceLevel, ...]:
        """Return how well a game satisfied each constraint, in its unit and minutes."""
        rows = trace.violations[None, :] if trace.violations_each is None else trace.violations_each
        return tuple(
            service_level(
                row, str(limit), limit.quantity.unit, self.round_minutes, SURE * abs(limit.level)
            )
            for row, limit in zip(rows, self.limits, strict=True)
        )

    def service_level(self, trace: Trace) -> ServiceLevel:
        """Return how often and how long any constraint was violated; how far has no unit."""
        rows = trace.violations[None, :] if trace.violations_each is None else trace.violations_each
        scale = np.array([max(abs(limit.level), 1e-300) for limit in self.limits])
        relative: Vector = (rows / scale[:, None]).max(axis=0)
        return service_level(relative, "any constraint", "", self.round_minutes, SURE)

    def dead_links(self, dead_from: float | None = None) -> NDArray[np.bool_]:
        """Return by round and edge whether a link was dead.

        That is: its last reading up to that round was an outage, or it had a latency of at least
        `dead_from` ms; left out, of at least ten times the link's median.
        """
        median, network = self.network.latency_ms[self.kept], self.network
        level = 10.0 * median if dead_from is None else as_number(dead_from, "dead_from")
        if network.latency_series is None:
            return np.zeros((self.horizon, self.kept.size), np.bool_)
        dead = network.latency_series[:, self.kept] >= level  # false for NaN
        if (out := lasting_outages(network, self.kept)) is not None:
            dead |= out
        return dead[np.arange(self.horizon) % len(dead)]

    @property
    def missing(self) -> str:
        """How many readings of latency are missing in the links of the routes, as a sentence."""
        series, out = self.network.latency_series, self.network.outages
        if series is None:
            return ""
        gaps = int(np.isnan(series[:, self.kept]).sum())
        failed = 0 if out is None else int(out[:, self.kept].sum())
        size = series[:, self.kept].size
        if not gaps:
            return f"No reading of {size} is missing."
        parts = [f"{failed} of {size} readings are empty and count as outages"] if failed else []
        if gaps > failed:
            share = 100.0 * (gaps - failed) / size
            parts.append(
                f"{gaps - failed} ({share:.2g} %) were not made, and the last one counts there"
            )
        if not failed:
            parts[0] = f"Of {size} readings {parts[0]}"
        return f"{'; '.join(parts)}."

    @property
    def record(self) -> dict[str, str]:
        """What was chosen, what was measured and what was invented, for tables and plots."""
        total = len(self.network.edges)
        said = {
            "edges": f"{self.decision_set.dim} of {total}, {self.orientation}",
            "cost": f"{self.cost.name}: {self.cost.source}",
        }
        for limit in self.limits:
            said[str(limit)] = limit.quantity.source
        said["rounds that no action satisfies"] = str(self.unkept)
        return said


def _ends(network: Network, source: str | int | None, target: str | int | None) -> tuple[str, str]:
    """Return the names of both ends; an unknown one is answered with one that is like it."""
    found = []
    for role, given, own in (
        ("source", source, network.source),
        ("target", target, network.target),
    ):
        node = own if given is None else given
        if node is None:
            some = ", ".join(network.nodes[:8]) + (", ..." if len(network.nodes) > 8 else "")
            raise ValueError(
                f"the network names no {role}; give {role}=..., the name of a node, of {some}"
            )
        if isinstance(node, int):
            if not 0 <= node < len(network.nodes):
                raise ValueError(
                    f"the {role} must be a name or a number below {len(network.nodes)}, got {node}"
                )
            node = network.nodes[node]
        if node not in network.nodes:
            near = get_close_matches(node, network.nodes, 3, 0.5)
            lower = [name for name in network.nodes if node.lower() in name.lower()][:3]
            names = [*dict.fromkeys([*lower, *near])][:3] or sorted(network.nodes)[:8]
            words = "the nearest names are" if near or lower else "there are"
            listed = ", ".join(map(repr, names))
            more = ", ..." if not (near or lower) and len(network.nodes) > len(names) else ""
            raise ValueError(
                f"the network has no node {node!r:.80}, the {role}; {words} {listed}{more}"
            )
        found.append(node)
    if found[0] == found[1]:
        raise ValueError(f"source and target must be two nodes, both are {found[0]!r}")
    return found[0], found[1]
