"""Results of a public measurement, fetched from RIPE Atlas into a file of JSON lines.

The service streams the results of a span of time, one on a line. A long span is requested window by
window; a note beside the file says what is complete, so that an interrupted fetch continues.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hedgerow.files import replace_files
from hedgerow.inputs import as_count
from hedgerow.networks.errors import DataError
from hedgerow.networks.timestamps import format_time, parse_duration, parse_time

if TYPE_CHECKING:
    import httpx

SERVICE = "https://atlas.ripe.net/api/v2"
WINDOW = "6h"
"""Of one request; also what is fetched again after a lost connection."""
PAUSE = 1.0
"""Seconds between two requests."""
TRIES = 6
LONGEST_WAIT = 300.0
"""Seconds between two attempts, even if the service asks for more."""
AGAIN = (429, 500, 502, 503, 504)
"""Status codes after which the same request may succeed."""
LONGEST_LINE = 1 << 24
Progress = Callable[[int, int, int], None]
"""Called with the seconds of the span that are complete, those of all, and the results so far."""
_log = logging.getLogger("hedgerow")


@dataclass(frozen=True)
class Fetched:
    """A file of results.

    Attributes:
        path: the file.
        results: how many it holds.
        kept: how many of them an earlier fetch had left.

    """

    path: Path
    results: int
    kept: int


def fetch_atlas(
    measurement: int,
    start: str,
    stop: str,
    path: Path | str,
    *,
    window: str = WINDOW,
    service: str = SERVICE,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch the results of a public measurement; the same call continues an interrupted one.

    One request at a time, with a pause between two. A request that fails on the way, or is answered
    429 or 5xx, is sent again after 1, 2, 4, ... seconds, or when the service says. Until the fetch
    is complete, results are in `path` with ".part" behind it; ".fetch" is the note of its progress.

    Args:
        measurement: its number.
        start: the first moment, RFC 3339 with its zone.
        stop: the end, not included; not in the future.
        path: the file to write, JSON lines as `read_atlas` reads them.
        window: the span of one request, as "6h".
        service: the address of the API.
        progress: is called after each window.

    """
    span = parse_duration(window, "window")
    file = _File(
        Path(path),
        {
            "measurement": as_count(measurement, "measurement"),
            "start": parse_time(start, "start"),
            "stop": parse_time(stop, "stop"),
            "service": service.rstrip("/"),
        },
    )
    begin, end = file.asked["start"], file.asked["stop"]
    if begin >= end:
        raise ValueError(f"start must lie before stop, got {start} and {stop}")
    if end > time.time():
        raise ValueError(
            f"stop must not lie in the future, where there are no results yet, got {stop}"
        )
    if not service.startswith(("http://", "https://")):
        raise ValueError(f"service must be an address as {SERVICE}, got {service!r}")
    kept = file.resume()
    if file.whole:
        return Fetched(file.path, file.results, kept)
    with _client() as http, file.opened() as part:
        while file.done < end:
            _take_window(http, file, part, min(end, file.done + max(1, round(span))))
            if progress is not None:
                progress(file.done - begin, end - begin, file.results)
            if file.done < end:
                time.sleep(PAUSE)
        part.truncate(file.octets)
    file.part.replace(file.path)
    return Fetched(file.path, file.results, kept)


class _File:
    """The file being fetched, and the note of what is complete."""

    def __init__(self, path: Path, asked: dict[str, Any]):
        self.path, self.asked = path, asked
        self.part, self.note = (path.with_name(path.name + end) for end in (".part", ".fetch"))
        self.done, self.octets, self.results = int(asked["start"]), 0, 0

    @property
    def whole(self) -> bool:
        """Whether the fetch is complete, as `resume` found."""
        return self.path.exists()

    def resume(self) -> int:
        """Read the note of an earlier fetch, and return how many of its results are kept."""
        noted = self._noted()
        if noted is None and self.path.exists():
            raise ValueError(f"{self.path} is there already; give another name")
        if noted is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.part.touch()
            self.keep(self.done, 0, 0)
            return 0
        for name, value in self.asked.items():
            if noted.get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another fetch, whose {name} was {noted.get(name)!r} "
                    f"and not {value!r}; give another name"
                )
        if self.path.exists():
            whole = noted["done"] == self.asked["stop"] and not self.part.exists()
            if not whole or self.path.stat().st_size != noted["octets"]:
                raise ValueError(
                    f"{self.path} is not as it was fetched; remove it, to fetch it again"
                )
        elif not self.part.exists() or self.part.stat().st_size < noted["octets"]:
            self.part.touch()
            return 0
        self.done, self.octets, self.results = (noted[k] for k in ("done", "octets", "results"))
        return self.results

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the partial file, locked for this process where the system has locks."""
        with self.part.open("r+b") as part:
            try:
                import fcntl

                fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:
                pass
            except BlockingIOError:
                raise ValueError(
                    f"{self.path} is being fetched by another process; wait, or give another name"
                ) from None
            yield part

    def _noted(self) -> dict[str, Any] | None:
        if not self.note.exists():
            return None
        try:
            noted = json.loads(self.note.read_bytes())
            if all(isinstance(noted[key], int) for key in ("done", "octets", "results")):
                return dict(noted)
        except (ValueError, KeyError, TypeError):
            pass
        raise DataError(self.note, "", "this is not a note of a fetch; remove it to fetch again")

    def keep(self, done: int, octets: int, results: int) -> None:
        """Note that all results before a moment are in the first octets of the partial file."""
        self.done, self.octets, self.results = done, octets, results
        note = {**self.asked, "done": done, "octets": octets, "results": results}
        replace_files({self.note: (json.dumps(note, indent=1) + "\n").encode()})


def _client() -> httpx.Client:
    try:
        import httpx
    except ModuleNotFoundError:
        raise ImportError('fetching needs httpx; install it with: pip install ".[data]"') from None
    from hedgerow import __version__

    return httpx.Client(timeout=60.0, headers={"User-Agent": f"hedgerow/{__version__}"})


class _LostError(Exception):
    """The same request may succeed later, after `wait` seconds if the service says so."""

    def __init__(self, what: str, wait: float = 0.0):
        super().__init__(what)
        self.wait = wait


def _take_window(http: httpx.Client, file: _File, part: IO[bytes], last: int) -> None:
    """Append the results up to a moment, in several attempts if needed."""
    for trial in range(1, TRIES + 1):
        try:
            part.truncate(file.octets)
            part.seek(file.octets)
            count = 0
            for line in _lines_of(http, file.asked, file.done, last):
                part.write(line + b"\n")
                count += 1
            part.flush()
            os.fsync(part.fileno())
        except _LostError as lost:
            host = file.asked["service"]
            if trial == TRIES:
                raise ConnectionError(
                    f"{host}: {lost}, {TRIES} times in a row; the results before "
                    f"{format_time(file.done)} are kept, and the same command goes on from there"
                ) from None
            wait = min(LONGEST_WAIT, max(2.0 ** (trial - 1), lost.wait))
            _log.info("%s: %s; trying again in %.3g s", host, lost, wait)
            time.sleep(wait)
        else:
            file.keep(last, part.tell(), file.results + count)
            return


def _lines_of(http: httpx.Client, asked: dict[str, Any], begin: int, end: int) -> Iterator[bytes]:
    """Yield the results from a moment until before another, each once.

    The service is asked for a second more on each side: whether its limits are included makes no
    difference then.
    """
    import httpx

    service = httpx.URL(asked["service"])
    page: httpx.URL | None = httpx.URL(
        f"{service}/measurements/{asked['measurement']}/results/",
        params={"format": "txt", "start": begin - 1, "stop": end},
    )
    seen: set[bytes] = set()
    while page is not None:
        if (page.scheme, page.host, page.port) != (service.scheme, service.host, service.port):
            raise ValueError(f"{service} leads on to another server, {page}; that is not followed")
        here, page = page, None
        for line in _lines(http, here, asked):
            record = _parsed(line)
            if isinstance(record.get("results"), list):  # a page of a list, which names the next
                page = here.join(record["next"]) if record.get("next") else None
                found = [(_compact(one), one) for one in record["results"]]
            else:
                found = [(line, record)]
            for text, result in found:
                digest = blake2b(text, digest_size=16).digest()
                if begin <= _timestamp(result, here) < end and digest not in seen:
                    seen.add(digest)
                    yield text
        if page is not None:
            time.sleep(PAUSE)


def _lines(http: httpx.Client, page: httpx.URL, asked: dict[str, Any]) -> Iterator[bytes]:
    """Yield the lines of an answer as they come in."""
    import httpx

    try:
        with http.stream("GET", page) as answer:
            _check(answer, asked)
            rest = b""
            for chunk in answer.iter_bytes():
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (line.strip() for line in lines if line.strip())
                if len(rest) > LONGEST_LINE:
                    raise DataError(str(page), "", f"one line is longer than {LONGEST_LINE} bytes")
            if rest.strip():
                yield rest.strip()
    except httpx.RequestError as error:
        raise _LostError(
            f"no connection, or it was lost ({str(error) or type(error).__name__})"
        ) from None


def _check(answer: httpx.Response, asked: dict[str, Any]) -> None:
    """Refuse an answer that is not a stream of results, with what the service says of it."""
    if answer.status_code == 200:
        return
    said = f"the service answered {answer.status_code} {answer.reason_phrase}".rstrip()
    if answer.status_code in AGAIN:
        after = answer.headers.get("Retry-After", "")
        raise _LostError(said, float(after) if after.isdecimal() else 0.0)
    if answer.status_code == 404:
        raise ValueError(
            f"there is no measurement {asked['measurement']} at {asked['service']}; "
            "check its number"
        )
    if answer.status_code in (401, 403):
        raise ValueError(
            f"measurement {asked['measurement']} is not public ({said}); "
            "only public ones are fetched"
        )
    raise ValueError(f"{answer.url}: {said}; check the address and the options")


def _parsed(line: bytes) -> dict[str, Any]:
    """Return an object; a line that was cut off counts as a lost connection."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _LostError(f"a line is not JSON: {line[:40]!r}") from None
    if not isinstance(record, dict):
        raise _LostError(f"a line is not an object: {line[:40]!r}")
    return record


def _timestamp(result: Any, page: httpx.URL) -> float:
    found = result.get("timestamp") if isinstance(result, dict) else None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise DataError(
            str(page), "", f"this is not a result, it has no timestamp: {str(result)[:80]}"
        )
    return float(found)


def _compact(record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
