"""Sets whose oracle and tangent norm can run inside compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector

Index = NDArray[np.uint32]
NO_INDEX = np.zeros(0, np.uint32)
NO_NUMBERS = np.zeros(0)
NO_SPACE = (NO_INDEX, NO_NUMBERS, NO_INDEX, NO_NUMBERS)
"""For an oracle that is never called."""
EMPTY_SPACE = (*NO_SPACE, NO_INDEX, NO_NUMBERS)
"""The same, without labels."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """A set's kernels and what they read; nothing here is ever written to.

    Args:
        oracle: a kernel with the signature of `kernels/oracles.py`.
        measure: a kernel with the signature of `kernels/tangents.py`.
        index: the whole numbers that the oracle reads, 32 bits each: up to 4e9 edges.
        numbers: the numbers that the oracle reads.
        links: how many whole numbers the oracle needs to work in.
        scratch: how many numbers the oracle needs to work in.
        label: what `measure` knows of each coordinate.
        members: how many coordinates have each label.
        project: a kernel with the oracle's signature that projects, for the sets that have one; it
            reads what the oracle reads.
        load_project: returns it, in place of `project`, where it takes seconds to compile: it is
            loaded on the first projection.
        separate: a kernel with the oracle's signature that writes a direction which separates a
            point from the set, 0 if it is inside; for sets that separate otherwise than by their
            projection.
        list_ones: a kernel with the oracle's signature that writes to `links` how many ones the
            vertex has, and where; for sets whose vertices are zeros and few ones.

    """

    oracle: Callable[..., None]
    measure: Callable[..., float]
    index: Index = field(default_factory=lambda: NO_INDEX)
    numbers: Vector = field(default_factory=lambda: NO_NUMBERS)
    links: int = 0
    scratch: int = 0
    label: Index = field(default_factory=lambda: NO_INDEX)
    members: Vector = field(default_factory=lambda: NO_NUMBERS)
    project: Callable[..., None] | None = None
    load_project: Callable[[], Callable[..., None]] | None = None
    separate: Callable[..., None] | None = None
    list_ones: Callable[..., None] | None = None

    @cached_property
    def projection(self) -> Callable[..., None] | None:
        """The kernel that projects, loaded if need be."""
        return self.project if self.load_project is None else self.load_project()

    def tangent_norm2(self, c: Vector) -> tuple[float, float]:
        """Return the squared tangent norm and ||c||^2."""
        plain2 = kernels.vectors.dot(c, c)
        return self.measure(self.label, self.members, c, plain2), plain2

    def tangent(self, c: Vector) -> Vector:
        """Return the component of c along the set."""
        t = np.empty(c.size)
        kernels.tangents.along(self.label, self.members, c, t)
        return t


class KernelWorkspace:
    """The memory in which one learner's oracle or projection works."""

    def __init__(self, compiled: Compiled):
        self.compiled = compiled
        links, scratch = np.zeros(compiled.links, np.uint32), np.zeros(compiled.scratch)
        self.arrays: tuple[Index, Vector, Index, Vector] = (
            compiled.index,
            compiled.numbers,
            links,
            scratch,
        )

    @cached_property
    def table(self) -> Any:
        """The set's kernels and this memory, as other kernels take them."""
        from hedgerow.kernels.policy_tables import set_table

        compiled = self.compiled
        space = (*self.arrays, compiled.label, compiled.members)
        return set_table.filled(space=space, measure=compiled.measure, oracle=compiled.oracle)

    def lmo(self, c: Vector) -> Vector:
        """Return the oracle's vertex."""
        return self._answer(self.compiled.oracle, c)

    def project(self, y: Vector) -> Vector:
        """Return the nearest point, on a set whose projection is a kernel."""
        assert self.compiled.projection is not None
        return self._answer(self.compiled.projection, y)

    def _answer(self, kernel: Callable[..., None], c: Vector) -> Vector:
        v = np.empty(c.size)
        index, numbers, links, scratch = self.arrays
        kernel(index, numbers, c, links, scratch, v)
        return v


def python_set(lmo: Callable[[Vector], Vector], norm2: Callable[[Vector], float]) -> Any:
    """Return the table of a set whose oracle is Python; kernels that take it run in Python.

    Args:
        lmo: the oracle, or the projection in its place.
        norm2: the squared norm along the set.

    """
    from hedgerow.kernels.policy_tables import set_table

    def oracle(index: Any, numbers: Any, c: Vector, links: Any, scratch: Any, v: Vector) -> None:  # noqa: ARG001
        v[:] = lmo(c)

    def measure(label: Any, members: Any, c: Vector, plain2: float) -> float:  # noqa: ARG001
        return norm2(c)

    return set_table.filled(space=EMPTY_SPACE, measure=measure, oracle=oracle)


def kernel_matches(part: object, method: str, kernel: str = "compiled") -> bool:
    """Whether the kernel still does what the method does: no subclass changed the method alone."""
    return _matches(type(part).__mro__, method, kernel)


@lru_cache(maxsize=1024)
def _matches(mro: tuple[type, ...], method: str, kernel: str) -> bool:
    methods, kernels = ([name in vars(c) for c in mro] for name in (method, kernel))
    return True in kernels and kernels.index(True) <= methods.index(True)


def not_overridden(part: object, base: type, *methods: str) -> bool:
    """Whether neither a subclass nor the object itself replaces these methods of the base."""
    return not any(
        getattr(type(part), name) is not getattr(base, name) or name in vars(part)
        for name in methods
    )


def free_mask(free: NDArray[np.bool_]) -> Index:
    """Return the labels of a set's coordinates: 1 for those that move, 0 for the others."""
    return free.astype(np.uint32)


def pack_uint32(*parts: Any) -> Index:
    """Return whole numbers and arrays of them, one after the other."""
    return np.concatenate([np.atleast_1d(np.asarray(part, np.uint32)) for part in parts])
