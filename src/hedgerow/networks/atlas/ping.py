"""Results of type ping."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.networks.atlas.fields import (
    Attempt,
    Record,
    check_errors,
    family,
    milliseconds,
    named,
    number,
    records,
    target,
)
from hedgerow.networks.rejections import Reason, Rejected


def ping_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt: the least and the mean of the replies, duplicates not counted.

    The replies themselves decide. Firmware 0 and 1 sent only `min` and `avg`; the platform writes
    -1 there when no reply came.
    """
    if "result" in result:
        replies = records(result["result"], "result")
        rtts = [milliseconds(reply, "rtt") for reply in replies if "dup" not in reply]
        timed = [rtt for rtt in rtts if rtt is not None]
        if not timed:
            for reply in replies:
                check_errors(reply)
            raise Rejected(Reason.NO_REPLY)
        summary = {"min": min(timed), "avg": sum(timed) / len(timed)}
    else:
        check_errors(result)
        if number(result, "min") in (None, -1.0):
            raise Rejected(Reason.NO_REPLY)
        given = {key: milliseconds(result, key) for key in ("min", "avg")}
        summary = {key: value for key, value in given.items() if value is not None}
    found = target(result)
    yield Attempt(family(found), found, named(result), summary, result)
