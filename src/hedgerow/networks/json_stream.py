"""JSON of many forms, read one value at a time; the json module reads whole files only.

A JSON array, JSON lines, an object keyed by probe (`latest`), or a wrapper such as
{"results": [...]}. The text is held only as far as the value that is being read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hedgerow.networks.errors import DataError

LARGEST_RESULT = 1 << 24
"""Characters in one result; the largest real ones have about a hundred thousand."""
WRAPPERS = ("results", "info")
ENVELOPE = (*WRAPPERS, "count", "next", "previous")
DEEPEST = 4

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_KEY = re.compile(r'\{[ \t\r\n]*"([^"\\]{0,64})"[ \t\r\n]*:')


def results(path: Path, chunks: Iterable[str]) -> Iterator[Any]:
    """Yield every result of a file, whatever its form; the caller checks what each one is.

    >>> list(results(Path("a.json"), ['{"6042": [{"a": 1}, ', '{"a": 2}]}']))
    [{'a': 1}, {'a': 2}]
    """
    scanner = _Scanner(path, chunks)
    for result in _values(scanner):
        if isinstance(result, dict) and _is_error(result):
            raise scanner.refusal(
                f"this is an error message of the service, not a result: {_message(result)}"
            )
        yield result


def records(path: Path, chunks: Iterable[str]) -> Iterator[Any]:
    """Yield every value of a file of JSON lines or arrays, also where it names an error."""
    return _values(_Scanner(path, chunks))


def _values(scanner: _Scanner) -> Iterator[Any]:
    while first := scanner.peek():
        if first == "[":
            found = scanner.elements()
        elif first == "{":
            found = _object(scanner, DEEPEST)
        else:
            raise scanner.refusal(f"results begin with [ or {{, this with {first!r}")
        yield from found


def _object(scanner: _Scanner, depth: int) -> Iterator[Any]:
    """Yield one result, or enter a wrapper and yield what is in it."""
    key = scanner.first_key()
    if key is None or not (key in ENVELOPE or key.isdecimal()):
        yield from _unwrapped(scanner.value())
        return
    if depth == 0:
        raise scanner.refusal("wrappers within wrappers; give the results themselves")
    for name in scanner.members():
        first = scanner.peek()
        holds = name in WRAPPERS or name.isdecimal()
        if holds and first == "[":
            yield from scanner.elements()
        elif holds and first == "{":
            yield from _object(scanner, depth - 1)
        else:
            value = scanner.value()
            if name == "error":
                yield {"error": value}


def _unwrapped(value: Any) -> Iterator[Any]:
    """Yield a result, or the results of a wrapper whose first key did not show it."""
    inside = [value[key] for key in WRAPPERS if isinstance(value.get(key), list)]
    if "prb_id" in value or not inside:
        yield value
    else:
        for held in inside:
            yield from held


def _is_error(value: dict[str, Any]) -> bool:
    return ("error" in value or "detail" in value) and not ("prb_id" in value or "type" in value)


def _message(value: dict[str, Any]) -> str:
    found = value.get("error", value.get("detail"))
    if isinstance(found, dict):
        found = " ".join(str(found[key]) for key in ("status", "title", "detail") if key in found)
    return str(found)[:200]


class _Scanner:
    """JSON values taken one at a time from a stream of text."""

    def __init__(self, path: Path, chunks: Iterable[str]):
        self.path = path
        self._chunks = iter(chunks)
        self._buffer = ""
        self._at = 0
        self._line, self._column = 1, 1  # of the buffer's first character

    def peek(self) -> str:
        """Return the next character that is not a space, or "" at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._grow():
                return ""

    def value(self) -> Any:
        """Return the next value."""
        while True:
            self.peek()
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # The value is cut off by the end of the buffer, or it is damaged.
                offset = error.pos - self._at
                cut = error.msg.startswith("Unterminated") or error.pos + 16 > len(self._buffer)
                if not (cut and self._grow()):
                    raise self._malformed(error.msg, offset) from None
                continue
            except RecursionError:
                raise self.refusal("values are nested too deeply for a result") from None
            except ValueError:  # a number of thousands of digits
                raise self.refusal("a number has too many digits") from None
            length = end - self._at
            if end == len(self._buffer) and self._grow():
                continue  # a number may continue
            self._at += length
            return value

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array that begins here."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self._take(",]") == "]":
                return

    def members(self) -> Iterator[str]:
        """Yield the keys of the object that begins here; the caller takes each value."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.refusal("a key of an object must be a string")
            self._take(":")
            yield key
            if self._take(",}") == "}":
                return

    def first_key(self) -> str | None:
        """Return the first key of the object that begins here, without taking it."""
        while True:
            match = _FIRST_KEY.match(self._buffer, self._at)
            if match:
                return match[1]
            if len(self._buffer) - self._at > 512 or not self._grow():
                return None

    def refusal(self, sentence: str, offset: int = 0) -> DataError:
        """Return the error, with the line and column."""
        end = self._at + offset
        line = self._line + self._buffer.count("\n", 0, end)
        newline = self._buffer.rfind("\n", 0, end)
        column = end - newline if newline >= 0 else self._column + end
        return DataError(self.path, f"line {line}, column {column}", sentence)

    def _malformed(self, message: str, offset: int) -> DataError:
        ended = not self._buffer[self._at + offset :].strip()
        if ended or message.startswith("Unterminated"):
            return self.refusal("the file ends in the middle of a value; fetch it again", offset)
        return self.refusal(f"the JSON is damaged here ({message.lower()})", offset)

    def _take(self, allowed: str) -> str:
        """Take one of the allowed characters."""
        found = self.peek()
        if not found:
            raise self.refusal("the file ends in the middle of a value; fetch it again")
        if found not in allowed:
            raise self.refusal(f"expected {' or '.join(allowed)}, got {found!r}")
        self._at += 1
        return found

    def _grow(self) -> bool:
        """Drop what was read and double the buffer; False at the end of the file."""
        self._line += self._buffer.count("\n", 0, self._at)
        newline = self._buffer.rfind("\n", 0, self._at)
        self._column = self._at - newline if newline >= 0 else self._column + self._at
        self._buffer, self._at = self._buffer[self._at :], 0
        held = len(self._buffer)
        if held > LARGEST_RESULT:
            raise self.refusal(f"one value is longer than {LARGEST_RESULT} characters")
        parts, more = [self._buffer], 0
        for chunk in self._chunks:
            parts.append(chunk)
            more += len(chunk)
            if more > held:
                break
        self._buffer = "".join(parts)
        return more > 0
