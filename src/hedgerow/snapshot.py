"""State and snapshots: what a part has learnt, saved, restored and copied bit for bit."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.display import short_repr
from hedgerow.files import Snapshot, read_snapshot, write_snapshot
from hedgerow.inputs import RNG, as_seed
from hedgerow.release import this_release

__all__ = [
    "Call",
    "Restorable",
    "Snapshot",
    "State",
    "Stateful",
    "fingerprint",
    "records_call",
    "states",
]

VERSION = 6
LINE_NUMBERS = 8
"""Numbers in a cache line of 64 bytes, which a kernel loads at once."""


class Call(NamedTuple):
    """A call of a function or class: the arguments that were given, and the defaults of all."""

    name: str
    arguments: dict[str, Any]
    defaults: dict[str, Any]


Build = TypeVar("Build", bound=Callable[..., Any])


def aligned_zeros(count: int) -> NDArray[np.float64]:
    """Return zeros that begin on a cache line.

    NumPy begins where the system does, mostly in the middle of a line; then eight numbers lie on
    two lines, and a round on 1200 edges takes a tenth longer.

    >>> aligned_zeros(3)
    array([0., 0., 0.])
    """
    memory = np.zeros(count + LINE_NUMBERS - 1)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory.data))
    skipped = -begin // memory.itemsize % LINE_NUMBERS
    return memory[skipped : skipped + count]


class State:
    """One float64 array with named parts: kernels change it, a snapshot copies it.

    The array may be given, as a part of the memory in which some kernel works.

    >>> state = State(x=2, t=1)
    >>> state["x"][:] = 3.0
    >>> state.array
    array([3., 3., 0.])
    """

    def __init__(self, array: NDArray[np.float64] | None = None, /, **sizes: int):
        self.layout = sizes
        self.array = aligned_zeros(sum(sizes.values())) if array is None else array
        self._views: dict[str, NDArray[np.float64]] = {}
        begin = 0
        for name, size in sizes.items():
            self._views[name] = self.array[begin : begin + size]
            begin += size

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._views[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return _filled, (self.layout, self.array)  # a copy's parts are views of its own array


def _filled(layout: dict[str, int], array: NDArray[np.float64]) -> State:
    state = State(**layout)
    state.array[:] = array
    return state


class Restorable(Protocol):
    """What can be saved and restored."""

    def state(self) -> Snapshot:
        """Return a snapshot; taking one changes nothing."""
        ...

    def restore(self, snapshot: Snapshot, /) -> None:
        """Go back to a snapshot; one that does not fit changes nothing."""
        ...


class Stateful:
    """Base class of parts with a state, which can be saved, restored, copied and pickled.

    A subclass keeps what it learns in `_state`, names the parts that learn beside it in `_parts`,
    and keeps its random stream, if it draws, in `_rng`. Scratch memory is anything else. A copy,
    by `copy` or by `pickle`, is built from the same arguments and restored from a snapshot: it
    is independent, and plays on bit for bit.
    """

    _state = State()
    _made_of: tuple[tuple[Any, ...], dict[str, Any]]
    _call: Call | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments, of which a copy is built."""
        self = super().__new__(cls)
        if kwargs.get("rng") is not None:
            args, kwargs = _seeded(_signature(cls), args, kwargs)
        named = {name: _own(value) for name, value in kwargs.items()}
        self._made_of = tuple(map(_own, args)), named
        return self

    def _seed(self, seed: int | None, rng: RNG | None) -> int:
        """Return the seed of this part, drawn once where `rng` is a generator."""
        return as_seed(seed) if rng is None else int(self._made_of[1]["seed"])

    def made_by(self) -> Call:
        """Return the call that made it: of a preset such as `projection_free_coco`, or its own."""
        if self._call is None:
            return _called(type(self).__qualname__, _signature(type(self)), *self._made_of)
        return self._call

    @property
    def _parts(self) -> Mapping[str, Restorable]:
        """The parts whose state belongs to this one's."""
        return {}

    @property
    def _configuration(self) -> object:
        """What a snapshot must agree on: the arguments, parts apart, which know their own."""
        arguments = _signature(type(self)).bind(*self._made_of[0], **self._made_of[1])
        arguments.apply_defaults()
        return [(name, value) for name, value in arguments.arguments.items() if name != "rng"]

    @property
    def _stream(self) -> np.random.Generator | None:
        return getattr(self, "_rng", None)

    @functools.cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self._configuration)

    def state(self) -> Snapshot:
        """Return a snapshot; taking one changes nothing."""
        rng = self._stream
        snapshot = Snapshot(
            part=type(self).__qualname__,
            version=VERSION,
            fingerprint=self._fingerprint,
            layout=dict(self._state.layout),
            array=self._state.array.copy(),
            random=None if rng is None else dict(rng.bit_generator.state),
            parts={name: part.state() for name, part in self._parts.items()},
            checksum="",
        )
        snapshot["checksum"] = _checksum(snapshot)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot; one that does not fit changes nothing."""
        array = self._numbers_of(snapshot)
        own, parts, rng = self._state.array.copy(), self._parts, self._stream
        stream = None if rng is None else rng.bit_generator.state
        before: list[tuple[Restorable, Snapshot]] = []
        try:
            if rng is not None:
                rng.bit_generator.state = snapshot["random"] or {}
            for name, part in parts.items():
                before.append((part, part.state()))
                part.restore(snapshot["parts"][name])
            self._state.array[:] = array
            self._restored()
        except (KeyError, TypeError, ValueError):
            for part, old in before:
                part.restore(old)
            if rng is not None and stream is not None:
                rng.bit_generator.state = stream
            self._state.array[:] = own
            raise

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot to a file, without pickle; a file of that name is replaced whole."""
        write_snapshot(path, self.state())

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go back to a snapshot in a file; one that does not fit changes nothing."""
        snapshot = read_snapshot(path)
        try:
            self.restore(snapshot)
        except (KeyError, TypeError, ValueError) as error:
            wrote = snapshot.get("release", this_release())
            by = f" (hedgerow {wrote} wrote it)" if wrote != this_release() else ""
            raise ValueError(f"{path} cannot be loaded: {error}{by}") from None

    def _restored(self) -> None:
        """Follow a restored state with what is derived from it; refuse one that cannot be."""

    def _numbers_of(self, snapshot: Snapshot) -> NDArray[np.float64]:
        """Return the snapshot's numbers, or say why it cannot restore this part."""
        name = type(self).__qualname__
        given: object = snapshot  # anything may come from a user
        missing = _KEYS - set(given) if isinstance(given, Mapping) else _KEYS
        if missing == _KEYS:
            raise ValueError(
                f"{name} is restored from a snapshot, as its state() returns it, got "
                f"{snapshot!r:.60}; a file is read by load(path)"
            )
        if missing:
            raise ValueError(
                f"a snapshot of {name} has {', '.join(sorted(_KEYS))}; this one lacks "
                f"{', '.join(sorted(missing))}; take one with state()"
            )
        if snapshot["part"] != name:
            raise ValueError(f"this snapshot is of {snapshot['part']}, it cannot restore {name}")
        if snapshot["version"] != VERSION:
            raise ValueError(
                f"this snapshot has version {snapshot['version']}, this release reads {VERSION}; "
                "restore it with the release that wrote it"
            )
        if snapshot["fingerprint"] != self._fingerprint or self._state.layout != dict(
            snapshot["layout"]
        ):
            raise ValueError(
                f"this snapshot comes from a {name} built with other arguments; "
                "build it with the same ones, then restore"
            )
        array = np.asarray(snapshot["array"], dtype=np.float64)
        if array.shape != self._state.array.shape:
            raise ValueError(
                f"this snapshot of {name} must hold {self._state.array.size} numbers, its array "
                f"has shape {array.shape}; it was changed or cut after it was written"
            )
        if snapshot["checksum"] != _checksum(snapshot) or np.isnan(array).any():
            raise ValueError(
                f"this snapshot of {name} was changed after it was written: its checksum does not "
                "fit its numbers; use an undamaged one"
            )
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return _built, (type(self), *self._made_of, self._call), self.state()

    def __setstate__(self, snapshot: Snapshot) -> None:
        self.restore(snapshot)

    def __copy__(self) -> Self:
        import copy

        return copy.deepcopy(self)  # a copy that shared its learner would be a second player of it

    def __repr__(self) -> str:
        if self._call is not None:  # by a preset, whose call says more than the parts
            given = [
                short_repr(value) if i == 0 else f"{name}={short_repr(value)}"
                for i, (name, value) in enumerate(self._call.arguments.items())
            ]
            return f"{self._call.name}({', '.join(given)})"
        args, kwargs = self._made_of
        named = (f"{name}={short_repr(value)}" for name, value in kwargs.items())
        return f"{type(self).__name__}({', '.join([*map(short_repr, args), *named])})"


_KEYS = frozenset(Snapshot.__annotations__)


def fingerprint(value: object) -> str:
    """Hash a configuration: numbers, strings, arrays, tuples and dataclasses of them."""
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()[:32]


def records_call(build: Build) -> Build:
    """Let what a function builds remember the user's call, for `made_by`.

    >>> @records_call
    ... def eager(size, *, speed=1.0):
    ...     return Stateful()
    >>> eager(3).made_by()
    Call(name='eager', arguments={'size': 3}, defaults={'speed': 1.0})
    """

    @functools.cache
    def signature() -> inspect.Signature:
        return inspect.signature(build)

    @functools.wraps(build)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _seeded(signature(), args, kwargs)
        made = build(*args, **kwargs)
        if isinstance(made, Stateful):
            made._call = _called(build.__qualname__, signature(), args, kwargs)
        return made

    return cast(Build, recorded)


def _called(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call:
    given = signature.bind(*args, **kwargs).arguments
    every = signature.parameters.values()
    defaults = {
        one.name: one.default
        for one in every
        if one.default is not one.empty and one.name not in ("rng", "seed")  # a seed has no default
    }
    return Call(name, {key: _own(value) for key, value in given.items()}, defaults)


def _seeded(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Replace an argument `rng` by the seed that it stands for: a generator can draw only once."""
    if kwargs.get("rng") is None or "rng" not in signature.parameters:
        return args, kwargs
    given = signature.bind_partial(*args, **kwargs).arguments
    named = {name: value for name, value in kwargs.items() if name != "rng"}
    return args, named | {"seed": as_seed(given.get("seed"), kwargs["rng"])}


def _built(
    kind: type[Stateful], args: tuple[Any, ...], kwargs: dict[str, Any], call: Call | None = None
) -> Stateful:
    made = kind(*args, **kwargs)
    made._call = call
    return made


def _own(argument: Any) -> Any:
    """Keep an argument as it is now: arrays may be written to later."""
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _signature(kind: Any) -> inspect.Signature:
    """Return the signature of a class's `__init__`, without self."""
    whole = inspect.signature(kind.__init__)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def states(part: object) -> Iterator[State]:
    """Yield the state of a part and those of the parts in it."""
    if isinstance(part, Stateful):
        yield part._state
        for inner in part._parts.values():
            yield from states(inner)


def _checksum(snapshot: Snapshot) -> str:
    """Hash a snapshot without its checksum; those of its parts are hashed instead of them."""
    digest = hashlib.sha256()
    header = {name: snapshot[name] for name in ("part", "version", "fingerprint", "layout")}
    parts = {name: part["checksum"] for name, part in snapshot["parts"].items()}
    digest.update(_plain([header, snapshot["random"], parts]).encode())
    digest.update(np.asarray(snapshot["array"], dtype=np.float64).tobytes())
    return digest.hexdigest()[:32]


def _listed(value: Any) -> Any:
    """Return an array of a random stream as a file has it: as a list."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


_plain = json.JSONEncoder(sort_keys=True, default=_listed).encode


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
    else:  # a part, or a user's own object or function: its name is all that is known of it
        digest.update(getattr(value, "__qualname__", type(value).__qualname__).encode())


def __dir__() -> list[str]:
    return __all__
