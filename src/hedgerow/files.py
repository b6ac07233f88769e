"""Files that are replaced whole or not at all, and snapshots in such files.

A snapshot is one zip of a JSON header and an array, without pickle. The last 64 bytes, the zip's
comment, are the SHA-256 of all others: a file that was cut or changed anywhere is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from hedgerow.release import this_release

HEADER, NUMBERS = "hedgerow-snapshot.json", "numbers.npy"
DIGEST = 64
UNREADABLE = (
    *(KeyError, TypeError, ValueError, AttributeError, RecursionError, EOFError, OverflowError),
    *(NotImplementedError, RuntimeError, zipfile.BadZipFile),
)
"""What readers of a wrong archive, header or array raise."""
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the same snapshot makes the same file


class Snapshot(TypedDict):
    """Plain data; `json.dumps(snapshot, default=numpy.ndarray.tolist)` keeps every bit.

    `checksum` covers everything else, the parts included.
    """

    part: str
    version: int
    fingerprint: str
    layout: dict[str, int]
    array: NDArray[np.float64]
    random: dict[str, Any] | None
    parts: dict[str, Snapshot]
    checksum: str


def replace_files(contents: Mapping[Path, bytes], parts: Path | None = None) -> None:
    """Write all files under other names, then rename them; a failure leaves what was there.

    Args:
        contents: what each file is to hold.
        parts: the folder for unfinished files, on the same file system; if left out, each is
            written beside its file.

    """
    unfinished = {path: (parts or path.parent) / f".{uuid.uuid4().hex}.part" for path in contents}
    try:
        for path, content in contents.items():
            with unfinished[path].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, part in unfinished.items():
            part.replace(path)
    finally:
        for part in unfinished.values():
            with contextlib.suppress(OSError):
                part.unlink()


class SavedSnapshot(Snapshot, total=False):
    """A snapshot in a file, with the release that wrote it; files of 0.2 and earlier have none."""

    release: str


def write_snapshot(path: str | os.PathLike[str], snapshot: Snapshot) -> None:
    """Write a snapshot to a file, which is replaced whole or not at all."""
    saved: SavedSnapshot = {**snapshot, "release": this_release()}
    replace_files({Path(path): pack_snapshot(saved)})


def read_snapshot(path: str | os.PathLike[str]) -> SavedSnapshot:
    """Return the snapshot in a file, or refuse a file that is none or was damaged."""
    return unpack_snapshot(Path(path).read_bytes(), path)


def add_digest(body: bytes) -> bytes:
    """Return the bytes of a file, followed by their SHA-256."""
    return body + hashlib.sha256(body).hexdigest().encode()


def without_digest(content: bytes) -> bytes | None:
    """Return the bytes before the digest; None if they were cut or changed."""
    body = content[:-DIGEST]
    return body if add_digest(body) == content else None


def unpack_snapshot(content: bytes, path: str | os.PathLike[str]) -> SavedSnapshot:
    """Return the snapshot in the bytes of a file, or refuse them; `path` names them."""
    if without_digest(content) is None:
        ours = HEADER.encode() in content[:DIGEST]
        why = "was cut or changed after it was written" if ours else "is no snapshot of hedgerow"
        raise ValueError(f"{path} {why}; use a file that save() wrote, as it wrote it")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            header = json.loads(_member(parts, HEADER))
            numbers = _numbers(_member(parts, NUMBERS))
        arrays = np.split(numbers, np.cumsum(list(_sizes(header)))[:-1])
        snapshot: SavedSnapshot = _filled(header, iter(arrays))
    except UNREADABLE as error:
        raise ValueError(
            f"{path} does not hold a snapshot that this release reads ({error}); "
            "use a file that save() wrote"
        ) from None
    return snapshot


def _member(parts: zipfile.ZipFile, name: str) -> bytes:
    """Return a member of the file; it must be stored as it is, so that no few bytes become many."""
    if parts.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"its part {name!r} is compressed, which save() never does")
    return parts.read(name)


def _numbers(content: bytes) -> NDArray[np.float64]:
    """Return the array in the bytes of a .npy, whose declared size must be the size it has."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("its numbers are in an array format other than 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    held = len(content) - stream.tell()
    if dtype != np.float64 or len(shape) != 1 or 8 * shape[0] != held:
        raise ValueError(f"it declares an array of {dtype} of shape {shape} and holds {held} bytes")
    return np.frombuffer(stream.read(), np.float64).copy()


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """Return the bytes of a file; the same snapshot makes the same bytes."""
    numbers = io.BytesIO()
    np.lib.format.write_array(numbers, np.concatenate(list(_arrays(snapshot))), allow_pickle=False)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as parts:
        text = json.dumps(_header(snapshot), default=np.ndarray.tolist)
        parts.writestr(zipfile.ZipInfo(HEADER, WRITTEN), text)
        parts.writestr(zipfile.ZipInfo(NUMBERS, WRITTEN), numbers.getvalue())
        parts.comment = b"0" * DIGEST
    return add_digest(packed.getvalue()[:-DIGEST])


def _header(snapshot: Snapshot) -> dict[str, Any]:
    """Return the snapshot with its number of entries instead of its array, and so its parts."""
    parts = {name: _header(part) for name, part in snapshot["parts"].items()}
    return {**snapshot, "array": int(np.size(snapshot["array"])), "parts": parts}


def _arrays(snapshot: Snapshot) -> Iterator[NDArray[np.float64]]:
    yield np.asarray(snapshot["array"], dtype=np.float64)
    for part in snapshot["parts"].values():
        yield from _arrays(part)


def _sizes(header: dict[str, Any]) -> Iterator[int]:
    yield header["array"]
    for part in header["parts"].values():
        yield from _sizes(part)


def _filled(header: dict[str, Any], arrays: Iterator[NDArray[np.float64]]) -> Any:
    """Return the header with its arrays back in place, in the order in which they were written."""
    array = next(arrays)
    parts = {name: _filled(part, arrays) for name, part in header["parts"].items()}
    return {**header, "array": array, "parts": parts}
