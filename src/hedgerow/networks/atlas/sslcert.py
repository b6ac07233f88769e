"""Results of type sslcert: flat, errors at the top level."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.networks.atlas.fields import (
    Attempt,
    Record,
    check_errors,
    family,
    named,
    target,
    times,
)
from hedgerow.networks.rejections import Rejected


def sslcert_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt. An alert is an answer too: the connection was made and timed.

    `ttc` is one round trip (the TCP connection), `rt` about two (until the certificates came).
    Firmware before 4540 wrote neither.
    """
    check_errors(result)
    found = target(result)
    yield Attempt(family(found), found, named(result), times(result, "ttc", "rt"), result)
