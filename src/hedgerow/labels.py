"""Names of coordinates: read from Series, data frames and mappings, and matched by name.

Labels are compared as texts, those of an edge (a, b) as "a - b". Whatever has `index` or `columns`
and `to_numpy` counts as a Series or a frame: pandas itself is never imported here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Labels = tuple[str, ...]
SHOWN = 6
"""Labels in a message; of more, the first ones."""


class HasCoordinates(Protocol):
    """A set, or anything else whose coordinates are counted and perhaps named."""

    @property
    def dim(self) -> int:
        """How many there are."""

    @property
    def labels(self) -> Labels | None:
        """Their names, in order; None where they have none."""


class Coordinates(NamedTuple):
    """So many coordinates, and their names."""

    dim: int
    labels: Labels | None = None


class Labelled:
    """Something whose coordinates may have names; they belong to no dataclass field."""

    _labels: Labels | None = None

    @property
    def labels(self) -> Labels | None:
        """The names of the coordinates, in order; None where they have none."""
        return self._labels


def label_text(label: object) -> str:
    """Return a label as it is compared and shown.

    >>> label_text(("Lisbon", "Madrid")), label_text(3)
    ('Lisbon - Madrid', '3')
    """
    return " - ".join(map(str, label)) if isinstance(label, tuple | list) else str(label)


def as_labels(given: Iterable[object], dim: int) -> Labels:
    """Return labels as texts, one for each of `dim` coordinates, or refuse them."""
    labels = tuple(map(label_text, given))
    if len(labels) != dim:
        raise ValueError(
            f"there must be one label for each of {dim} coordinates, got {len(labels)}"
        )
    _check_unique(labels, "the labels")
    return labels


def labels_of(value: Any) -> Labels | None:
    """Return the labels of a Series, a mapping or the columns of a frame; None where none are.

    An index 0, 1, 2, ... is that of an array without labels.

    >>> labels_of({"a": 1.0, "b": 2.0}), labels_of([1.0, 2.0])
    (('a', 'b'), None)
    """
    if isinstance(value, np.ndarray | list | tuple):
        return None
    if isinstance(value, Mapping):
        return tuple(map(label_text, value))
    if not hasattr(value, "to_numpy"):
        return None
    index = getattr(value, "columns", None)
    if index is None:
        index = getattr(value, "index", None)
    if index is None or callable(index):
        return None
    entries = index.tolist() if hasattr(index, "tolist") else [*index]
    return None if entries == [*range(len(entries))] else tuple(map(label_text, entries))


def without_labels(value: Any) -> Any:
    """Return the entries of a Series, a mapping or a frame, in their own order."""
    if isinstance(value, Mapping):
        return list(value.values())
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def with_labels_of(x: Any, entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return entries in the order of x with its labels, or as they are where it has none."""
    if isinstance(x, np.ndarray) or labels_of(x) is None:
        return entries
    if isinstance(x, Mapping):
        labelled: Any = dict(zip(x, entries.tolist(), strict=True))
    else:
        labelled = type(x)(entries, index=x.index)
    found: NDArray[np.float64] = labelled  # accepted wherever an array is
    return found


def size_of(of: int | HasCoordinates | None) -> int | None:
    """Return how many coordinates something has; a number is that already."""
    anything: Any = of
    dim: int | None = getattr(anything, "dim", anything)
    return dim


def in_order(value: Any, name: str, given: Labels, labels: Labels | None) -> Any:
    """Return the entries of a labelled value in the order of the coordinates.

    Args:
        value: a Series, a mapping, or a frame with a column for each coordinate.
        name: of the value, for messages.
        given: its labels, as `labels_of` returns them.
        labels: of the coordinates; None where they have none, which is refused.

    """
    if labels is None:
        raise TypeError(
            f"{name} has labels ({_shown(given)}), and the coordinates here have none; name them, "
            "X = X.named([...]), or pass an array in the order of the coordinates"
        )
    entries = np.asarray(without_labels(value))
    return entries if given == labels else entries[..., order_of(given, name, labels)]


def order_of(given: Labels, name: str, labels: Labels) -> NDArray[np.intp]:
    """Return where each coordinate stands among the given labels; refuse others than these."""
    _check_unique(given, name)
    place = {label: k for k, label in enumerate(given)}
    unknown = [label for label in given if label not in set(labels)]
    if unknown:
        near = difflib.get_close_matches(unknown[0], labels, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; they are {_shown(labels)}"
        raise ValueError(f"{name} has the label {unknown[0]!r}, which no coordinate has{hint}")
    missing = [label for label in labels if label not in place]
    if missing:
        raise ValueError(
            f"{name} has no entry for {_shown(missing)}; give one for each of {len(labels)} "
            "coordinates"
        )
    return np.array([place[label] for label in labels], dtype=np.intp)


def _check_unique(labels: Labels, name: str) -> None:
    if len(set(labels)) < len(labels):
        twice = next(label for k, label in enumerate(labels) if label in labels[:k])
        raise ValueError(f"{name} must name each coordinate once, got {twice!r} twice")


def _shown(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    return ", ".join(map(repr, labels[:SHOWN])) + more
