"""Validate inputs: each wrong one gets one sentence, before anything changes."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.labels import Coordinates, HasCoordinates, Labels, in_order, labels_of, size_of

Vector = NDArray[np.float64]
FLOAT64 = np.dtype(np.float64)

LARGEST_GRADIENT = 1e150
"""Gradients above this norm are refused: their squares would leave float64."""
LARGEST_PART = 1e100
"""Costs and constraints above this are refused: weights have to fit float64 beside them."""
LARGEST_ENTRY = 1e300
"""Points to project with larger entries are refused: sums of these would leave float64."""
LARGEST_COUNT = 10**100
"""Counts above this are refused: no game is longer, and their squares still fit float64."""


class CopiedArrayWarning(UserWarning):
    """An array of another library was copied, to main memory or to contiguous float64."""


Size = int | HasCoordinates | None
"""How many coordinates there are, or what has them, such as a set; None where it is not known."""


def as_array(value: Any, name: str, of: Size = None) -> NDArray[np.float64]:
    """Return `value` as a contiguous float64 array of finite numbers.

    Arrays of other libraries that speak DLPack, such as torch, JAX and CuPy, are read without a
    copy where they lie in main memory as contiguous float64. Labels of a Series, a mapping or the
    columns of a frame are matched with those of the coordinates.
    """
    if _is_other_array(value):
        return _from_other(value, name)
    labels = labels_of(unmasked(value, name))
    if labels is not None and not (of is None and hasattr(value, "columns")):
        value = in_order(value, name, labels, getattr(of, "labels", None))
    given = np.asarray(value)
    if given.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must hold real numbers, got dtype {given.dtype}; convert it to float64 first"
        )
    array = np.asarray(given, dtype=np.float64, order="C")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, got {int((~np.isfinite(array)).sum())} NaN or infinite "
            f"entries of {array.size}; replace them before passing it on"
        )
    return array


def _is_other_array(value: Any) -> bool:
    """Whether this is an array of another library, which speaks DLPack."""
    return not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "__dlpack__")


def _from_other(value: Any, name: str) -> NDArray[np.float64]:
    """Return an array of another library, and warn where it had to be copied."""
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    moved = False
    try:
        try:
            given = np.from_dlpack(value)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            moved = True
            to_host = getattr(value, "cpu", None) or getattr(value, "get", None)
            given = np.asarray(value if to_host is None else to_host())
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(
            f"{name} cannot be read from a {kind} ({error}); pass a float64 array in main memory "
            "that tracks no gradients, such as `.detach().cpu()`"
        ) from None
    array = as_array(given, name)
    if moved or array is not given:
        where = f", {value.device}" if hasattr(value, "device") else ""
        warnings.warn(
            f"{name} was copied from a {kind} of {given.size} entries ({value.dtype}{where}) to "
            "float64 in main memory; pass contiguous float64 there to avoid the copy",
            CopiedArrayWarning,
            stacklevel=level_outside(),
        )
    return array


def unmasked(value: Any, name: str) -> Any:
    """Return `value`, or refuse it where it hides entries: numpy would drop the mask unasked."""
    rows = value if isinstance(value, (list, tuple)) else (value,)
    masked = [row for row in rows if isinstance(row, np.ma.MaskedArray)]
    hidden = sum(int(np.asarray(row.mask).sum()) for row in masked)
    if hidden:
        raise TypeError(
            f"{name} must not be masked, got {hidden} masked entries; fill them with numbers "
            "(`.filled(value)`) or leave them out (`.compressed()`)"
        )
    return value


def as_vector(value: Any, name: str, of: Size = None) -> Vector:
    """Return `value` as a contiguous float64 vector, or say why it cannot be.

    Args:
        value: an array, in the order of the coordinates; or a Series or mapping with their labels.
        name: of the value, for messages.
        of: how many entries it must have; or the set, whose labels are then matched.

    """
    dim = size_of(of)
    if fits(value, dim) and math.isfinite(squared_norm(value)):
        return value  # the hot path: nothing to convert, nothing to refuse
    array = as_array(value, name, of)
    if array.ndim != 1 or (dim is not None and array.size != dim):
        wanted = "one dimension" if dim is None else f"shape ({dim},)"
        raise ValueError(
            f"{name} must have {wanted}, got shape {array.shape}; flatten matrices row-major"
        )
    return array


def as_named_vector(value: Any, name: str) -> tuple[Vector, Labels | None]:
    """Return a vector in its own order, and its labels if it has some."""
    labels = labels_of(value)
    own = None if labels is None else Coordinates(len(labels), labels)
    return as_vector(value, name, own), labels


def as_direction(value: Any, of: int | HasCoordinates) -> Vector:
    """Return a direction for an oracle, rescaled by a power of two where sums could overflow."""
    if fits(value, size_of(of)) and 1e-250 < squared_norm(value) < 1e250:
        return value  # the hot path: no entry is so large or small that sums would suffer
    c = as_vector(value, "the direction", of)
    largest = _largest(c)
    if largest > 1e250 or 0.0 < largest < 1e-250:
        return np.ldexp(c, -math.frexp(largest)[1])
    return c


def as_gradient(
    value: Any, name: str, of: Size = None, largest: float = LARGEST_GRADIENT
) -> Vector:
    """Return a gradient whose norm is at most `largest`, so that its square fits float64."""
    if fits(value, size_of(of)) and squared_norm(value) <= largest**2:
        return value  # the hot path, as above
    grad = as_vector(value, name, of)
    if not squared_norm(grad) <= largest**2:
        raise ValueError(
            f"{name} has a norm above {largest:g}; measure the function in a larger unit"
        )
    return grad


def as_point(value: Any, name: str, of: int | HasCoordinates) -> Vector:
    """Return a point to project, of which sums can be taken."""
    point = as_vector(value, name, of)
    if not squared_norm(point) < 1e300 and _largest(point) > LARGEST_ENTRY:
        raise ValueError(
            f"{name} must have entries of at most {LARGEST_ENTRY:g} in size to be projected, got "
            f"{_largest(point):g}; bring it nearer to the set"
        )
    return point


def squared_norm(vector: Vector) -> float:
    """Return <vector, vector>, infinite where it leaves float64; vdot never warns of that."""
    return float(np.vdot(vector, vector))


def length(vector: Vector) -> float:
    """Return ||vector||; squares neither overflow nor vanish."""
    largest = _largest(vector) or 1.0
    return largest * math.sqrt(squared_norm(vector / largest))


def fits(value: ArrayLike, dim: int | None) -> TypeGuard[Vector]:
    """Whether `value` already is a contiguous float64 vector of that length."""
    return (
        type(value) is np.ndarray
        and value.dtype == FLOAT64
        and value.ndim == 1
        and value.flags.c_contiguous
        and (dim is None or len(value) == dim)
    )


def _largest(vector: Vector) -> float:
    """Return the largest absolute entry."""
    return max(float(vector.max()), -float(vector.min())) if vector.size else 0.0


def as_number(value: Any, name: str) -> float:
    """Return `value` as one finite float."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        if not _is_other_array(value) or getattr(value, "ndim", 1) > 0:
            raise TypeError(f"{name} must be one real number, got {value!r}")
        value = as_array(value, name)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(
            f"{name} must fit float64, got a whole number of {int(value).bit_length()} bits; "
            "measure in a larger unit"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def as_positive(value: Any, name: str) -> float:
    """Return `value` as one float above zero."""
    number = as_number(value, name)
    if number <= 0.0:
        raise ValueError(f"{name} must be above 0, got {number:g}")
    return number


def as_count(value: Any, name: str, least: int = 1) -> int:
    """Return `value` as a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        hint = "; choose one, such as 0: games are repeatable" if name == "seed" else ""
        raise TypeError(f"{name} must be a whole number, got {value!r}{hint}")
    if not -LARGEST_COUNT <= value <= LARGEST_COUNT:
        bits = int(value).bit_length()
        raise ValueError(f"{name} must be at most 1e100, got a whole number of {bits} bits")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


RNG = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator
"""What an argument `rng` may be, as SPEC 7 of Scientific Python names it."""


class _Unchosen(int):
    """The seed of a caller who chose none."""


DEFAULT_SEED = _Unchosen(0)


def as_seed(seed: int | None, rng: RNG | None = None) -> int:
    """Return the seed that was given as `seed` or as `rng`, which may be a generator.

    A whole number is the same seed through either. From a generator a seed is drawn, so that
    everything can be made again from it.

    >>> as_seed(3), as_seed(None, 3), as_seed(None, np.random.default_rng(0))
    (3, 3, 5874934615388537135)

    """
    if rng is None:
        return as_count(seed, "seed", least=0)
    if seed is not None and seed is not DEFAULT_SEED:
        raise TypeError(f"give seed or rng, not both; got seed={seed!r} and rng={rng!r:.60}")
    if isinstance(rng, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return int(np.random.default_rng(rng).integers(2**63))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(
            "rng must be a whole number, or a Generator, BitGenerator or SeedSequence of "
            f"numpy.random, got {rng!r:.60}"
        )
    return as_count(rng, "rng", least=0)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of `array` that cannot be written to."""
    copy = np.array(array, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def freeze(dataclass: object, **fields: Any) -> None:
    """Set fields of a frozen dataclass while it is made; arrays become read-only copies."""
    for name, value in fields.items():
        frozen = read_only(value) if isinstance(value, np.ndarray) else value
        object.__setattr__(dataclass, name, frozen)


def level_outside() -> int:
    """Return the `stacklevel` of the first caller outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_globals.get("__name__", "").partition(".")[0] == __package__ and frame.f_back:
        frame, level = frame.f_back, level + 1
    return level
