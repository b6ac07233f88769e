"""Arrays in .npz files, read with care: sizes are checked before memory is taken."""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.network.data_error import DataError

LARGEST_FILE = 1 << 30
LARGEST_ARRAY = 1 << 32
"""Octets: a stack of 688 x 99 x 99 in float64 takes 2**26."""


def read_npz(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """Return the arrays of an .npz file and its SHA-256; pickled objects are refused."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(path, "", f"is larger than {LARGEST_FILE} octets")
        content = path.read_bytes()
    except OSError as error:
        raise DataError(path, "", f"the file cannot be read: {error.strerror or error}") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            arrays = {m.filename.removesuffix(".npy"): _read(archive, m) for m in members}
    except (
        zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, KeyError, SyntaxError,
        NotImplementedError, RuntimeError, MemoryError, OverflowError, TypeError, UnicodeError,
    ) as error:  # fmt: skip
        words = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise DataError(path, "", f"is no readable .npz of numbers ({words.lower()})") from None
    return arrays, hashlib.sha256(content).hexdigest()


def pack_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of an .npz file; equal arrays give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
    return stream.getvalue()


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{member.filename} has an array format other than 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        octets = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "fiu" or min(shape, default=0) < 0:
            raise ValueError(f"{member.filename} holds {dtype}, not numbers")
        if octets > min(LARGEST_ARRAY, member.file_size):
            raise ValueError(f"{member.filename} declares more than it holds")
        data = stream.read(octets)
    if len(data) != octets:
        raise ValueError(f"{member.filename} is cut off")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
