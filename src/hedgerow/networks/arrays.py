"""Arrays in .npy and .npz files, read with care: sizes are checked before memory is taken."""

from __future__ import annotations

import hashlib
import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.data_error import DataError

MOST_NUMBERS = 1 << 25
"""In one array, unless more are allowed: 256 MiB as float64. A stack of 688 x 99 x 99 has 2**23."""
UNREADABLE = (
    ValueError, EOFError, KeyError, SyntaxError, NotImplementedError, RuntimeError, MemoryError,
    OverflowError, TypeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What readers of damaged arrays and archives raise."""


def read_npz(
    path: Path, wanted: Callable[[list[str]], list[str]], most_numbers: int = MOST_NUMBERS
) -> tuple[dict[str, NDArray[Any]], str]:
    """Return arrays of an .npz file and its SHA-256; pickled objects are refused.

    Args:
        path: the file.
        wanted: given the names of all arrays in it, returns those to read; it may refuse them.
        most_numbers: what one array may hold. A small file can unpack to a thousand times its
            size, so the size that an array declares is looked at before it is read.

    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            with zipfile.ZipFile(file) as archive:
                members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
                arrays = {}
                for name in wanted(list(members)):
                    with archive.open(members[name]) as stream:
                        held = members[name].file_size
                        arrays[name] = read_array(stream, held, f"array {name!r}", most_numbers)
    except DataError:
        raise
    except TooLargeError as error:
        raise DataError(path, "", str(error)) from None
    except UNREADABLE as error:
        words = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise DataError(path, "", f"is no readable .npz of numbers ({words.lower()})") from None
    except OSError as error:
        raise DataError(path, "", f"the file cannot be read: {error.strerror or error}") from None
    return arrays, digest


def pack_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of an .npz file; equal arrays give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
    return stream.getvalue()


class TooLargeError(ValueError):
    """An array declares more numbers than are allowed."""


def read_array(
    stream: IO[bytes], held: int, name: str, most_numbers: int = MOST_NUMBERS
) -> NDArray[Any]:
    """Return the array of numbers in a stream of .npy that holds so many octets.

    What the header declares is compared with `held` and `most_numbers` before anything is read.
    """
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"{name} has an array format other than 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in "fiu" or min(shape, default=0) < 0:
        raise ValueError(f"{name} holds {dtype}, not numbers")
    count = math.prod(shape)
    octets = count * dtype.itemsize
    if octets > held:
        raise ValueError(f"{name} declares more than it holds")
    if count > most_numbers:
        raise TooLargeError(
            f"{name} declares {count} numbers, {8 * count / 2**20:.0f} MiB as float64; at most "
            f"{most_numbers} are read unless most_numbers=... is raised"
        )
    data = stream.read(octets)
    if len(data) != octets:
        raise ValueError(f"{name} is cut off")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
