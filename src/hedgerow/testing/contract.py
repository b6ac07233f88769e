"""What all contracts share: how checks are run, and which inputs must be refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from hedgerow.inputs import Vector

Subject = TypeVar("Subject")
Check = Callable[[Subject, np.random.Generator], None]


def copies(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield a copy of the part by each of Python's ways, with its name.

    `pickle` is left out where it cannot find by name what the part is made of: a lambda, or a
    class that was defined inside a function.
    """
    yield "copy.copy", copy.copy(part)
    yield "copy.deepcopy", copy.deepcopy(part)
    try:
        text = pickle.dumps(part)
    except (AttributeError, pickle.PicklingError):
        return
    yield "pickle", pickle.loads(text)  # noqa: S301 - its own bytes


def run_checks(
    checks: Iterable[Check[Subject]], subject: Subject, name: str, seed: int, trials: int = 1
) -> None:
    """Run each check `trials` times with its own random numbers; say which one failed."""
    for check in checks:
        rng = np.random.default_rng(seed)
        for trial in range(trials):
            try:
                check(subject, rng)
            except Exception as failure:
                reason = str(failure)
                if not isinstance(failure, AssertionError):
                    reason = f"{type(failure).__name__}: {reason}"
                raise AssertionError(
                    f"{name} fails {check.__name__} (seed {seed}, trial {trial}): {reason}"
                ) from failure


def bad_vectors(dim: int) -> Iterator[tuple[str, Any]]:
    """Yield everything that is no finite real vector of length `dim`, each with its name."""
    for value in (np.nan, np.inf, -np.inf) if dim else ():
        vector = np.zeros(dim)
        vector[-1] = value
        yield f"a vector with {value}", vector
    for shape in ((dim + 1,), (dim, 1), (1, dim), ()):
        yield f"an array of shape {shape}", np.zeros(shape)
    for kind in (complex, object, str):
        yield f"a vector of dtype {kind.__name__}", np.zeros(dim).astype(kind)


def bad_numbers() -> Iterator[tuple[str, Any]]:
    """Yield everything that is no finite real number, each with its name."""
    for value in (np.nan, np.inf, -np.inf, 1j, "high", None):
        yield repr(value), value
    yield "an array", np.zeros(1)


def refuses(what: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Assert that a call raises ValueError or TypeError with a sentence."""
    sentence = None
    try:
        call(*arguments)
    except (ValueError, TypeError) as refusal:
        sentence = str(refusal)
    assert sentence is not None, (
        f"{what} must be refused with ValueError or TypeError; as_direction, as_vector and "
        "as_number of hedgerow.inputs do"
    )
    assert " " in sentence, f"{what} must be refused in a sentence, got {sentence!r}"


def same(a: Vector, b: Vector) -> bool:
    """Whether two arrays are equal bit for bit, signs of zeros apart."""
    return a.shape == b.shape and bool(np.array_equal(a, b))
