"""Input files, read with care: packed or plain text with its hash, and arrays in .npy and .npz."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.errors import DataError, unreadable

CHUNK = 1 << 16
LONGEST_LINE = 1 << 20
MOST_NUMBERS = 1 << 25
"""The most numbers of an array, by default: 256 MiB as float64."""
UNREADABLE = (
    ValueError, EOFError, KeyError, SyntaxError, NotImplementedError, RuntimeError, MemoryError,
    OverflowError, TypeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""Exceptions that readers of damaged arrays and archives raise."""


def parse_number(text: str) -> float:
    """Return a number in ASCII digits, as other programs read it; `float` also takes 1_000.

    >>> parse_number(" 1e3"), parse_number("-.5")
    (1000.0, -0.5)
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)


class SourceFile:
    """A file that is read once, in chunks; gzip and bzip2 are known by their first bytes.

    Args:
        path: the file.

    """

    def __init__(self, path: Path):
        self.path = path
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The hash of the file on disk, once all of it was read."""
        return self._digest.hexdigest()

    def bytes(self) -> Iterator[bytes]:
        """Yield the unpacked content."""
        position = 0
        try:
            with _Hashed(self.path.open("rb", buffering=0), self._digest) as raw:
                buffered = io.BufferedReader(raw, CHUNK)
                unpacked = _unpack(buffered)
                while chunk := unpacked.read(CHUNK):
                    yield chunk
                    position += len(chunk)
                while buffered.read(CHUNK):  # data after a bzip2 stream are hashed too
                    pass
        except EOFError:
            raise DataError(
                self.path,
                f"byte {position} of the unpacked content",
                "the compressed file is cut off; fetch it again",
            ) from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise self._unreadable(position, error) from None
        except OSError as error:
            if error.errno is None:  # how bz2 reports damage
                raise self._unreadable(position, error) from None
            raise unreadable(self.path, error) from None

    def text(self) -> Iterator[str]:
        """Yield the content as text, which must be UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        position = 0
        try:
            for chunk in self.bytes():
                yield decoder.decode(chunk)
                position += len(chunk)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise DataError(
                self.path,
                f"near byte {max(0, position + error.start)} of the unpacked content",
                "the text is not UTF-8; is it a measurement file?",
            ) from None

    def lines(self, text: Iterable[str] | None = None) -> Iterator[str]:
        """Yield the lines of the text, with their ends; one over `LONGEST_LINE` is refused.

        Args:
            text: the text in chunks, where its beginning was read already.

        """
        rest = ""
        for chunk in self.text() if text is None else text:
            *whole, rest = (rest + chunk).split("\n")
            for line in whole:
                yield line + "\n"
            if len(rest) > LONGEST_LINE:
                raise DataError(self.path, "", f"a line has more than {LONGEST_LINE} characters")
        if rest:
            yield rest

    def _unreadable(self, position: int, error: Exception) -> DataError:
        return DataError(
            self.path,
            f"byte {position} of the unpacked content",
            f"the compressed data are damaged ({str(error).lower()}); fetch the file again",
        )


class _Hashed(io.RawIOBase):
    """A raw file whose bytes are hashed as they pass."""

    def __init__(self, file: io.FileIO, digest: Any):
        self._file, self._digest = file, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer) or 0
        self._digest.update(memoryview(buffer)[:count])
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _unpack(buffered: io.BufferedReader[Any]) -> io.BufferedIOBase:
    magic = buffered.peek(3)[:3]
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=buffered)
    if magic == b"BZh":
        return bz2.BZ2File(buffered)
    return buffered


def read_npz(
    path: Path, wanted: Callable[[list[str]], list[str]], most_numbers: int = MOST_NUMBERS
) -> tuple[dict[str, NDArray[Any]], str]:
    """Return arrays of an .npz file and its SHA-256; pickled objects are refused.

    Args:
        path: the file.
        wanted: given the names of all arrays in it, returns those to read; it may refuse them.
        most_numbers: what one array may hold. A small file can unpack to a thousand times its
            size, so the size that an array declares is checked before it is read.

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
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise DataError(path, "", f"is not a readable .npz of numbers ({reason.lower()})") from None
    except OSError as error:
        raise unreadable(path, error) from None
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
    """Return the array of numbers in a stream of .npy with `held` octets.

    The size in the header is compared with `held` and `most_numbers` before memory is taken.
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
