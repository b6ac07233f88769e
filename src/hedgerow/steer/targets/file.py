"""Weights in a file that is replaced whole: plain JSON, Envoy's endpoints, an HTTPRoute.

JSON is also YAML, so that `kubectl` and Envoy read these files by either name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.files import replace_files
from hedgerow.steer.settings import Settings
from hedgerow.steer.tables import FileTable
from hedgerow.steer.targets import TargetError
from hedgerow.steer.weights import Weights

ASSIGNMENT = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"


class FileTarget:
    """Writes weights to a file and reads them back.

    - `json`: `{"weights": {"eu-1": 120, ...}}`; the file may be missing at first.
    - `envoy`: a `ClusterLoadAssignment` for file-based endpoint discovery (`path_config_source`).
      Envoy needs weights of at least 1, so a backend of weight 0 is left out.
    - `httproute`: an `HTTPRoute` of the Gateway API; the file must be there, and the weights of
      the `backendRefs` of one rule are replaced.

    Args:
        settings: the file.

    """

    def __init__(self, settings: Settings):
        self._table: FileTable = settings.target
        self._names, self._path = settings.names, settings.path(self._table.path)
        if not self._path.parent.is_dir():
            raise ValueError(f"there is no folder {self._path.parent} for target.path; make it")
        if self._table.format == "httproute":
            list(self._references(self._load()))  # refuse a file that lacks one

    def read(self) -> Weights | None:
        """Return the weights of the file, None where there is none yet."""
        if not self._path.exists() and self._table.format != "httproute":
            return None
        content = self._load()
        try:
            if self._table.format == "json":
                found = content["weights"]
            elif self._table.format == "envoy":
                entries = content["resources"][0]["endpoints"][0]["lb_endpoints"]
                addresses = {address: name for name, address in self._table.endpoints.items()}
                found = {addresses[_address(one)]: one["load_balancing_weight"] for one in entries}
            else:
                found = {one["name"]: one.get("weight", 1) for one in self._references(content)}
            weights = [int(found.get(name, 0)) for name in self._names]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise TargetError(f"{self._path} does not hold weights as steer writes them") from None
        return np.array(weights, dtype=np.int64)

    def write(self, weights: Weights) -> None:
        """Replace the file, whole or not at all."""
        found = dict(zip(self._names, weights.tolist(), strict=True))
        if self._table.format == "json":
            content: Any = {"weights": found}
        elif self._table.format == "envoy":
            content = self._assignment(found)
        else:
            content = self._load()
            for one in self._references(content):
                one["weight"] = found[one["name"]]
        try:
            replace_files({self._path: (json.dumps(content, indent=2) + "\n").encode()})
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise TargetError(f"{self._path} cannot be written: {why}") from None

    def _load(self) -> Any:
        try:
            return json.loads(self._path.read_bytes())
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise TargetError(f"{self._path} cannot be read: {why}") from None
        except (ValueError, RecursionError):
            raise TargetError(f"{self._path} must hold JSON, which is also YAML") from None

    def _assignment(self, weights: dict[str, int]) -> dict[str, Any]:
        """Return the weights as Envoy's endpoint discovery reads them."""
        entries = []
        for name, weight in weights.items():
            host, _, port = self._table.endpoints[name].rpartition(":")
            address = {"socket_address": {"address": host, "port_value": int(port)}}
            if weight > 0:
                entries.append({"endpoint": {"address": address}, "load_balancing_weight": weight})
        assignment = {
            "@type": ASSIGNMENT,
            "cluster_name": self._table.cluster,
            "endpoints": [{"lb_endpoints": entries}],
        }
        return {"resources": [assignment]}

    def _references(self, route: Any) -> Iterator[dict[str, Any]]:
        """Yield the references of an HTTPRoute to the backends of the file."""
        try:
            references = route["spec"]["rules"][self._table.rule]["backendRefs"]
            known = {one["name"]: one for one in references}
        except (KeyError, IndexError, TypeError):
            raise TargetError(
                f"{self._path} must hold an HTTPRoute with spec.rules[{self._table.rule}]"
                ".backendRefs"
            ) from None
        for name in self._names:
            if name not in known:
                raise TargetError(f"{self._path} has no backendRef {name!r} in that rule")
            yield known[name]


def _address(entry: dict[str, Any]) -> str:
    address = entry["endpoint"]["address"]["socket_address"]
    return f"{address['address']}:{address['port_value']}"
