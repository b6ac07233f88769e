"""Flows on a network: what paths in a DAG and unit flows on any digraph share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_point, as_vector
from hedgerow.sets.actions import Actions
from hedgerow.sets.decision_set import ProjectableSet, Rows, Workspace
from hedgerow.sets.paths.graph import FlowNetwork
from hedgerow.sets.projections.frank_wolfe import minimum_norm_point
from hedgerow.snapshot import State

STUCK = 1e-12
"""An edge whose unit vector is this near the rows of conservation never changes its flow."""


class FlowPolytope(ProjectableSet):
    """Flows in a network whose edges can all be strictly between their bounds; the rest is fixed.

    Projection: the nearest flow by Newton's method on the node potentials, whose Jacobian is the
    Laplacian of the edges strictly inside their bounds; a workspace starts from the last
    potentials. Conservation holds to 1e-10, mostly to 1e-12. Where Newton stalls it starts again
    from the potentials of the best vertex; should that fail, the oracle-only method answers.

    Reference for the projection: Qi and Sun, A nonsmooth version of Newton's method (1993).
    """

    zero_one = True

    _network: FlowNetwork  # the edges that can change
    _base: Vector  # what the other edges carry

    @property
    def pyramidal_width(self) -> float:
        """At least 1 / sqrt(edges that can change).

        The slacks x_e and 1 - x_e are whole at the vertices, and no face has both of one edge.
        """
        return 1.0 / math.sqrt(self._network.edge.size) if self.diameter > 0.0 else 0.0

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x satisfies its bounds and every node passes on what it receives."""
        x = as_vector(x, "x", self)
        outside, excess = self._violations(x)
        return bool(max(np.abs(outside).max(), np.abs(excess).max(initial=0.0)) <= tol)

    def _violations(self, x: Vector) -> tuple[Vector, Vector]:
        """Return how far each edge is off its bounds and each node off its balance."""
        network = self._network
        outside = x - self._base
        flow = outside[network.edge]
        outside[network.edge] -= np.clip(flow, 0.0, network.upper)
        return outside, network.excess(flow)

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the bound or balance that y breaks most, or None within 1e-9 of all of them."""
        outside, excess = self._violations(as_vector(y, "y", self))
        a, i = np.zeros(self.dim), int(np.argmax(np.abs(outside)))
        unbalanced = np.abs(excess).max(initial=0.0)
        if max(abs(outside[i]), unbalanced) <= 1e-9:
            return None
        if abs(outside[i]) >= unbalanced:
            a[i] = np.sign(outside[i])
            return a
        network, v = self._network, int(np.argmax(np.abs(excess)))
        a[network.edge] = (network.head == v) * np.sign(excess[v])
        a[network.edge] -= (network.tail == v) * np.sign(excess[v])
        return a

    def routes(self, x: ArrayLike) -> Actions:
        """Return a point as shares of named routes, the largest first."""
        return self.describe(x)

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest flow."""
        return self.workspace().project(as_point(y, "y", self))

    def rows(self) -> Rows:
        """Return conservation, one balance of each component left out, and the bounds."""
        from scipy import sparse

        network, upper = self._network, self._base.copy()
        upper[network.edge] = 1.0
        balances, supply = network.balances()
        spread = sparse.coo_array(
            (np.ones(network.edge.size), (np.arange(network.edge.size), network.edge)),
            shape=(network.edge.size, self.dim),
        )
        A_eq = sparse.csr_array(balances @ sparse.csr_array(spread))
        return Rows(self._base.copy(), upper, A_eq=A_eq, b_eq=supply)

    @cached_property
    def _cycles(self) -> tuple[tuple[Vector, Vector], Vector]:
        """The balances, dense, and an orthonormal basis of the circulations."""
        sparse_balances, supply = self._network.balances()
        balances = sparse_balances.toarray()
        q = np.linalg.qr(balances.T, mode="complete")[0]
        return (balances, supply), q[:, supply.size :]

    def hull(self) -> tuple[Vector, Vector]:
        """Return a flow and a basis of the circulations; dense, O(edges^3) once."""
        circulations = self._cycles[1]
        basis = np.zeros((self.dim, circulations.shape[1]))
        basis[self._network.edge] = circulations
        return self.start(), basis

    def ball(self) -> tuple[Vector, float]:
        """Return the largest ball: an LP for the centre, then the distance to the nearest bound.

        Inside the hull the bound x_e = 0 is x_e / ||P u_e|| away, P the projector on circulations
        and u_e the edge's unit vector. A set of one point has r = 0.
        """
        from scipy import optimize

        network, (balances, supply), circulations = self._network, *self._cycles
        tilt = np.linalg.norm(circulations, axis=1)
        moving = tilt > STUCK
        if not moving.any():
            return self.start(), 0.0
        # Variables: the flow, then r. Edges that move stay r times their tilt off their bounds.
        below = np.column_stack([-np.eye(tilt.size), tilt])[moving]
        above = np.column_stack([np.eye(tilt.size), tilt])[moving]
        bounded = math.isfinite(network.upper)
        found = optimize.linprog(
            np.append(np.zeros(tilt.size), -1.0),
            A_ub=np.vstack([below, above]) if bounded else below,
            b_ub=np.repeat([0.0, network.upper], len(below)) if bounded else np.zeros(len(below)),
            A_eq=np.column_stack([balances, np.zeros(supply.size)]),
            b_eq=supply,
        )
        # The solver's flow is balanced to 1e-7 only; circulations keep the start's exact balance.
        centre = self.start()
        flow = centre[network.edge]
        flow = flow + circulations @ (circulations.T @ (np.asarray(found.x)[:-1] - flow))
        centre[network.edge] = flow
        distance = np.minimum(flow, network.upper - flow)[moving]
        return centre, float((distance / tilt[moving]).min())


class FlowWorkspace(Workspace, ABC):
    """The node potentials of the last projection, in the memory that a compiled loop works in."""

    def __init__(self, flows: FlowPolytope):
        super().__init__(flows)
        self._flows, nodes = flows, flows._network.nodes
        memory = None if self.space is None else self.space.arrays[-1][nodes : 2 * nodes + 1]
        self._state = State(memory, potential=nodes, warm=1)  # after the oracle's own memory

    def project(self, y: Vector) -> Vector:
        """Run Newton's method from the last potentials, or from those of an oracle call."""
        network, x = self._flows._network, self._flows._base.copy()
        flow = np.empty(network.edge.size)
        if self._nearest(y, flow) <= kernels.flow_newton.ENOUGH:
            x[network.edge] = flow
            return x
        self.clear()
        flows = self._flows  # the oracle-only method cannot stall
        return minimum_norm_point(flows.lmo, y, 1e-10 * flows.diameter, 1000 + 20 * flows.dim).x

    @abstractmethod
    def _nearest(self, y: Vector, flow: Vector) -> float:
        """Write the flow of the edges that can change; return the largest imbalance."""


class OracleFlowWorkspace(FlowWorkspace):
    """The same where potentials come from an oracle in Python.

    Args:
        flows: the set.
        potentials: returns potentials that prove that the cheapest flow for c is the cheapest one.

    """

    def __init__(self, flows: FlowPolytope, potentials: Callable[[Vector], Vector]):
        super().__init__(flows)
        self._potentials = potentials

    def _nearest(self, y: Vector, flow: Vector) -> float:
        network, newton, worst = self._flows._network, kernels.flow_newton, math.inf
        if np.abs(y).max() > newton.FAR:
            y = self._nearby_point(y)
        starts = self._starts(y, 1.0 + float(np.abs(y).max()))
        for potential, damping in starts:
            flow[:] = y[network.edge]
            worst = newton.project(
                *(network.tail, network.head, network.supply, network.upper),
                *(damping, potential, flow),
            )
            if worst <= newton.ENOUGH:
                self._state["potential"][:], self._state["warm"][0] = potential, 1.0
                np.clip(flow, 0.0, network.upper, out=flow)
                break
        return worst

    def _nearby_point(self, y: Vector) -> Vector:
        """Return y' with entries of at most nodes + 1 and the same projection.

        The proof is in `draw_near` of `kernels/flow_newton.py`.
        """
        network, rest = self._flows._network, y.copy()
        edge, head, tail = network.edge, network.head, network.tail
        for _ in range(kernels.flow_newton.PASSES):
            potential = self._potentials(-rest)
            rest[edge] += potential[head] - potential[tail]
            if np.abs(potential).max(initial=0.0) <= 1.0:
                break
        return np.clip(rest, -network.nodes - 1.0, network.nodes + 1.0)

    def _starts(self, y: Vector, size: float) -> Iterator[tuple[Vector, float]]:
        """Yield potentials to begin with, and the damping of Newton's method."""
        last, newton = self._state["potential"].copy(), kernels.flow_newton
        first, *others = newton.DAMPING
        if self._state["warm"][0] and np.abs(last).max(initial=0.0) <= newton.STALE * size:
            yield last, first
        elif size <= newton.FAR:
            yield np.zeros(self._flows._network.nodes), first
        for damping in others:
            yield self._potentials(-y), damping
