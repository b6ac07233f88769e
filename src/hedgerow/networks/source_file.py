"""One input file: unpacked, decoded and hashed in a single pass."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hedgerow.networks.data_error import DataError

CHUNK = 1 << 16
LONGEST_LINE = 1 << 20


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
        """The hash of the file as it lies on disk, once all of it was read."""
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
                while buffered.read(CHUNK):  # what may follow a bzip2 stream is hashed too
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
            if error.errno is None:  # bz2 reports damage so
                raise self._unreadable(position, error) from None
            reason = (error.strerror or str(error)).lower()
            raise DataError(self.path, "", f"the file cannot be read: {reason}") from None

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
        """Yield the lines of the text, with their ends; one that never ends is refused.

        Args:
            text: the text in chunks, where its beginning was looked at already.

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
