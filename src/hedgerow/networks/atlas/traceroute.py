"""Results of type traceroute."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.networks.atlas.fields import (
    Attempt,
    Record,
    address,
    check_errors,
    family,
    milliseconds,
    named,
    records,
    target,
)
from hedgerow.networks.rejections import Reason, Rejected


def traceroute_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt: the least time among the target's replies at the last hop that has any.

    Late packets carry no time and do not count; a reply of another address is no arrival.
    """
    if "result" not in result:
        raise Rejected(Reason.NO_REPLY)
    hops = records(result["result"], "result")
    for hop in hops:
        if "hop" not in hop:
            check_errors(hop)  # the whole traceroute failed
    found = target(result)
    for hop in reversed(hops):
        if "result" not in hop:
            continue
        replies = records(hop["result"], "a hop's result")
        timed = [milliseconds(reply, "rtt") for reply in replies if _is_from(reply, found)]
        arrived = [rtt for rtt in timed if rtt is not None]
        if arrived:
            yield Attempt(family(found), found, named(result), {"min": min(arrived)}, result)
            return
    if hops and all("error" in hop for hop in hops):
        raise Rejected(Reason.PROBE_ERROR)
    raise Rejected(Reason.NOT_REACHED)


def _is_from(reply: Record, found: str) -> bool:
    sender = reply.get("from")
    return sender == found or address(sender) == found
