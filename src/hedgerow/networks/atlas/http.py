"""Results of type http: one attempt for each address that was tried."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.networks.atlas.fields import (
    Attempt,
    Record,
    check_errors,
    family,
    records,
    target,
    times,
)
from hedgerow.networks.numbers import parse_number
from hedgerow.networks.rejections import Reason, Rejected


def http_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempts. The clock starts after name resolution and stops with the last byte.

    Firmware 0 and 1 wrote one string, with the time in seconds:
    "GET4 193.0.6.139 0.042268 200 263 1406".
    """
    answer = result.get("result", result.get("src_addr"))
    if isinstance(answer, str):
        answer = [_from_words(answer)]
    if answer is None:
        raise Rejected(Reason.PROBE_ERROR)
    entries = records(answer, "result")
    if not entries:
        raise Rejected(Reason.NO_REPLY)
    for entry in entries:
        try:
            check_errors(entry)
            found = target(entry, result)
            timed = times(entry, "rt", "ttc", "ttfb")
            name = result.get("uri")
            yield Attempt(family(found), found, name if isinstance(name, str) else "", timed, entry)
        except Rejected as left:
            yield left


def _from_words(line: str) -> Record:
    words = line.split()
    if len(words) != 6 or not words[0].startswith(("GET", "HEAD", "POST")):
        return {"err": line}
    try:
        rt = 1000.0 * parse_number(words[2])
    except ValueError:
        raise Rejected(
            Reason.WRONG_FIELD, f"the time in result must be a number, got {words[2][:40]!r}"
        ) from None
    return {"dst_addr": words[1], "rt": rt, "res": words[3], "hsize": words[4], "bsize": words[5]}
