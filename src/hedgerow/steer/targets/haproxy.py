"""Weights set by HAProxy's runtime socket, read back and verified."""

from __future__ import annotations

import re

import numpy as np

from hedgerow.experiments.validation import shown
from hedgerow.steer.haproxy_socket import HaproxyError, ask_haproxy, check_names
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import HaproxyTable
from hedgerow.steer.targets import TargetError
from hedgerow.steer.weights import Weights

WEIGHT = re.compile(r"(\d+) \(initial \d+\)")


class HaproxyTarget:
    """Sets the weights of the servers of one backend, all in one line.

    Servers have the names of the file's backends. HAProxy forgets weights when it is restarted;
    they are read in every interval and written again.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: HaproxyTable = settings.target
        check_names(self._table.backend, settings.names)
        self._path = settings.path(self._table.socket)
        self._servers = [f"{self._table.backend}/{name}" for name in settings.names]

    def read(self) -> Weights:
        """Return the weights of the servers."""
        answer = self._ask("; ".join(f"get weight {server}" for server in self._servers))
        lines = [line for line in answer.splitlines() if line.strip()]
        found = [WEIGHT.fullmatch(line.strip()) for line in lines]
        if len(found) != len(self._servers) or None in found:
            wrong = next((line for line, one in zip(lines, found, strict=True) if not one), answer)
            raise TargetError(f"HAProxy does not tell its weights: {shown(wrong.strip())}")
        return np.array([int(one[1]) for one in found if one], dtype=np.int64)

    def write(self, weights: Weights) -> None:
        """Set the weights, and read them back."""
        pairs = zip(self._servers, weights.tolist(), strict=True)
        answer = self._ask("; ".join(f"set server {server} weight {w}" for server, w in pairs))
        if answer.strip():
            raise TargetError(f"HAProxy refused the weights: {shown(answer.strip())}")
        found = self.read()
        if not np.array_equal(found, weights):
            raise TargetError(
                f"HAProxy has the weights {found.tolist()}, not {weights.tolist()} as written"
            )

    def _ask(self, command: str) -> str:
        try:
            return ask_haproxy(self._path, command, self._table.timeout)
        except HaproxyError as error:
            raise TargetError(str(error)) from None
