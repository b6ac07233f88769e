"""Snapshots: plain data from which a stateful part resumes bit for bit."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

VERSION = 1


class Snapshot(TypedDict):
    """Plain data; `json.dumps(snapshot, default=numpy.ndarray.tolist)` keeps every bit."""

    part: str
    version: int
    fingerprint: str
    layout: dict[str, int]
    array: NDArray[np.float64]
    random: dict[str, Any] | None
    parts: dict[str, Snapshot]


class State:
    """One float64 array with named parts: kernels change it, a snapshot copies it.

    >>> state = State(x=2, t=1)
    >>> state["x"][:] = 3.0
    >>> state.array
    array([3., 3., 0.])
    """

    def __init__(self, **sizes: int):
        self.layout = sizes
        self.array = np.zeros(sum(sizes.values()))
        self._views: dict[str, NDArray[np.float64]] = {}
        begin = 0
        for name, size in sizes.items():
            self._views[name] = self.array[begin : begin + size]
            begin += size

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._views[name]

    def snapshot(
        self,
        owner: object,
        configuration: Sequence[object] = (),
        *,
        rng: np.random.Generator | None = None,
        parts: Mapping[str, Stateful] | None = None,
    ) -> Snapshot:
        """Copy the state of `owner` and its parts, with a fingerprint of what it was built from."""
        return Snapshot(
            part=type(owner).__qualname__,
            version=VERSION,
            fingerprint=fingerprint(configuration),
            layout=dict(self.layout),
            array=self.array.copy(),
            random=None if rng is None else dict(rng.bit_generator.state),
            parts={name: part.state() for name, part in (parts or {}).items()},
        )

    def restore(
        self,
        owner: object,
        snapshot: Snapshot,
        configuration: Sequence[object] = (),
        parts: Mapping[str, Stateful] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Take back the state, also of all `parts`; what does not fit changes nothing."""
        self._check(owner, snapshot, configuration)
        before: list[tuple[Stateful, Snapshot]] = []
        stream = None if rng is None else rng.bit_generator.state
        try:
            if rng is not None:
                rng.bit_generator.state = snapshot["random"] or {}
            for name, part in (parts or {}).items():
                before.append((part, part.state()))
                part.restore(snapshot["parts"][name])
        except (KeyError, TypeError, ValueError):
            for part, own in before:
                part.restore(own)
            if rng is not None and stream is not None:
                rng.bit_generator.state = stream
            raise
        self.array[:] = np.asarray(snapshot["array"], dtype=np.float64)

    def _check(self, owner: object, snapshot: Snapshot, configuration: Sequence[object]) -> None:
        name = type(owner).__qualname__
        if snapshot["part"] != name:
            raise ValueError(f"this snapshot is of {snapshot['part']}, it cannot restore {name}")
        if snapshot["version"] != VERSION:
            raise ValueError(
                f"this snapshot has version {snapshot['version']}, this release reads {VERSION}; "
                "restore it with the release that wrote it"
            )
        if snapshot["fingerprint"] != fingerprint(configuration) or self.layout != dict(
            snapshot["layout"]
        ):
            raise ValueError(
                f"this snapshot comes from a {name} built with other arguments; "
                "build it with the same ones, then restore"
            )
        shape = np.asarray(snapshot["array"], dtype=np.float64).shape
        if shape != self.array.shape:
            raise ValueError(
                f"this snapshot of {name} must hold {self.array.size} numbers, its array has shape "
                f"{shape}; it was changed or cut after it was written"
            )


class Stateful(Protocol):
    """What can be saved and restored."""

    def state(self) -> Snapshot:
        """Return a snapshot."""
        ...

    def restore(self, snapshot: Snapshot, /) -> None:
        """Go back to a snapshot; one that does not fit changes nothing."""
        ...


def fingerprint(value: object) -> str:
    """Hash a configuration: numbers, strings, arrays, tuples and dataclasses of them."""
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()[:32]


def _feed(digest: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        digest.update(f"array{value.shape}{value.dtype}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        digest.update(type(value).__qualname__.encode())
        for field in dataclasses.fields(value):
            if field.init:
                digest.update(field.name.encode())
                _feed(digest, getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        digest.update(f"{len(value)}items".encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, (str, int, float, bool, type(None), np.generic)):
        digest.update(f"{type(value).__name__}:{value!r};".encode())
    else:  # a user's own object or function: its name is all that is known of it
        digest.update(getattr(value, "__qualname__", type(value).__qualname__).encode())
