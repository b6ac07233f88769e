"""The attempts in a result: one reader for http, sslcert, ping and traceroute each."""

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
    number,
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


def sslcert_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt. An alert is an answer too: the connection was made and timed.

    `ttc` is one round trip (the TCP connection), `rt` about two (until the certificates came).
    Firmware before 4540 wrote neither.
    """
    check_errors(result)
    found = target(result)
    yield Attempt(family(found), found, named(result), times(result, "ttc", "rt"), result)


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
