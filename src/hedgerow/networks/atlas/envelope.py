"""What every result has: the type, the measurement, the probe and the time."""

from __future__ import annotations

from typing import Any, NamedTuple

from hedgerow.networks.atlas.fields import LARGEST_ID, LAST_TIMESTAMP, Record, address, whole
from hedgerow.networks.rejections import Reason, Rejected

REQUIRED = ("type", "msm_id", "prb_id", "timestamp")
NODE_KEYS = ("prb_id", "from", "src_addr")


class Envelope(NamedTuple):
    """The common part of a result; the probe, never its address, is a node's identity."""

    type: str
    measurement: int
    probe: int
    timestamp: int


def envelope(result: Any) -> Envelope:
    """Return the common part of a result.

    >>> envelope({"type": "ping", "msm_id": 1, "prb_id": "7", "timestamp": 1574867159})
    Envelope(type='ping', measurement=1, probe=7, timestamp=1574867159)
    """
    if not isinstance(result, dict) or any(key not in result for key in REQUIRED):
        raise Rejected(Reason.NOT_A_RESULT)
    if not isinstance(result["type"], str):
        raise Rejected(Reason.WRONG_FIELD, "type must be a string")
    return Envelope(
        result["type"],
        whole(result, "msm_id", LARGEST_ID),
        whole(result, "prb_id", LARGEST_ID),
        whole(result, "timestamp", LAST_TIMESTAMP),
    )


def node_name(result: Record, probe: int, key: str) -> str:
    """Return the name of the node that measured."""
    if key == "prb_id":
        return str(probe)
    if found := address(result.get(key)):
        return found
    raise Rejected(Reason.NO_NODE)
