"""Network files: readable JSON, and an .npz for series; both are written, or neither."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.files import replace_files
from hedgerow.networks.errors import DataError, unreadable
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import Quantity
from hedgerow.networks.source_files import MOST_NUMBERS, pack_npz, read_npz

FORMAT = "hedgerow.networks"
VERSION = 1
KEYS = (
    "format", "version", "nodes", "edges", "hub", "source", "target", "latency_label",
    "bandwidth_label", "latency_ms", "bandwidth_mbps", "series", "choices", "provenance",
)  # fmt: skip
OPTIONAL = ("coordinates", "quantities")
"""Written only where there are any; the series of quantities are in the .npz, too."""
SERIES = ("latency_series", "bandwidth_series", "times", "outages")
OF_QUANTITY = "quantity_series_"


def save_network(network: Network, path: Path) -> Path:
    """Write the files and return the path of the JSON; equal networks give equal bytes."""
    series = {name: getattr(network, name) for name in SERIES}
    series = {name: values for name, values in series.items() if values is not None}
    for i, quantity in enumerate(network.quantities.values()):
        if quantity.series is not None:
            series[f"{OF_QUANTITY}{i}"] = quantity.series
    if network.outages is not None:
        series["outages"] = network.outages.astype(np.uint8)
    beside = path.with_suffix(".npz")
    if series and beside == path:
        raise ValueError(f"{path} must not end in .npz; the series go there, give a .json name")
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    for name in KEYS[2:]:
        value = getattr(network, name, None)
        data[name] = value.tolist() if isinstance(value, np.ndarray) else value
    if network.coordinates is not None:
        data["coordinates"] = [_known(place.tolist()) for place in network.coordinates]
    if network.quantities:
        data["quantities"] = {
            name: {"label": quantity.label, "values": _known(quantity.values.tolist())}
            for name, quantity in network.quantities.items()
        }
    packed = b""
    if series:
        packed = pack_npz(series)
        data["series"] = {"file": beside.name, "sha256": hashlib.sha256(packed).hexdigest()}
    text = _layout(data).encode()
    contents = ({beside: packed} if packed else {}) | {path: text}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_files(contents)
    except OSError as error:
        why = error.strerror or error
        raise DataError(path, "", f"cannot be written: {why}; what was there is kept") from None
    return path


def load_network(path: Path, most_numbers: int = MOST_NUMBERS) -> Network:
    """Read and check a network file; a series may hold at most `most_numbers` numbers."""
    data = _read(path)
    series: dict[str, Any] = {}
    if data["series"] is not None:
        series = _read_series(path, data["series"], most_numbers)
    for name in ("latency_ms", "bandwidth_mbps"):
        _check_numbers(path, name, data[name])
    for name in ("choices", "provenance"):
        if not isinstance(data[name], dict):
            raise DataError(path, f"key {name!r}", "must be an object")
    given = {key: data[key] for key in KEYS[2:] if key != "series"}
    if data.get("coordinates") is not None:
        given["coordinates"] = _coordinates(path, data["coordinates"])
    try:
        given["quantities"] = _quantities(path, data.get("quantities", {}), series)
        return Network(**given, **series)
    except DataError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(path, "", str(error)) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from None
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise DataError(path, position, f"the JSON is damaged here ({error.msg.lower()})") from None
    except (ValueError, RecursionError):
        raise DataError(path, "", "this is not a network file, it is not JSON in UTF-8") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DataError(
            path, "", "this is not a network file; make one with `hedgerow ingest` first"
        )
    if data.get("version") != VERSION:
        raise DataError(
            path,
            "key 'version'",
            f"is {data.get('version')!r}, this release reads {VERSION}; "
            "read it with the release that wrote it",
        )
    missing = [key for key in KEYS if key not in data]
    unknown = [key for key in data if key not in (*KEYS, *OPTIONAL)]
    if missing or unknown:
        what = f"lacks {missing[0]!r}" if missing else f"has {unknown[0][:40]!r}, which is unknown"
        raise DataError(
            path, "", f"the network {what}; its keys are {', '.join((*KEYS, *OPTIONAL))}"
        )
    return data


def _known(values: list[float]) -> list[float | None]:
    """Replace NaN by None, as JSON has no NaN."""
    return [None if value != value else value for value in values]


def _coordinates(path: Path, rows: Any) -> NDArray[np.float64]:
    """Return rows of latitude and longitude, NaN where they are null."""
    if not isinstance(rows, list):
        raise DataError(path, "key 'coordinates'", "must be a list of [latitude, longitude]")
    for i, row in enumerate(rows):
        _check_numbers(path, "coordinates", row, f", entry {i}", gaps=True)
        if len(row) != 2:
            raise DataError(path, f"key 'coordinates', entry {i}", "must be [latitude, longitude]")
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _quantities(path: Path, entries: Any, series: dict[str, Any]) -> dict[str, Quantity]:
    """Return the quantities, and take their series out of `series`."""
    if not isinstance(entries, dict):
        raise DataError(path, "key 'quantities'", "must be an object")
    found = {}
    for i, (name, entry) in enumerate(entries.items()):
        where = f", {name[:40]!r}"
        if not isinstance(entry, dict) or set(entry) != {"label", "values"}:
            raise DataError(path, f"key 'quantities'{where}", "must have 'label' and 'values'")
        _check_numbers(path, "quantities", entry["values"], where, gaps=True)
        values = np.array(entry["values"], dtype=np.float64)
        found[name] = Quantity(values, entry["label"], series.pop(f"{OF_QUANTITY}{i}", None))
    return found


def _check_numbers(
    path: Path, name: str, values: Any, where: str = "", *, gaps: bool = False
) -> None:
    """Name the entry that is not a number, before NumPy infers one type for all."""
    if values is None and name == "bandwidth_mbps":
        return
    if not isinstance(values, list):
        raise DataError(path, f"key {name!r}{where}", "must be a list of numbers")
    for i, value in enumerate(values):
        if gaps and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DataError(
                path, f"key {name!r}{where}, entry {i}", f"must be a number, got {value!r}"
            )


def _read_series(path: Path, entry: Any, most_numbers: int) -> dict[str, NDArray[np.float64]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise DataError(path, "key 'series'", "must be an object with 'file' and 'sha256'")
    name = entry["file"]
    if not name or not name.isprintable() or Path(name).name != name:
        raise DataError(path, "key 'series'", "its file must lie beside the network file")
    beside = path.with_name(name)

    def known(names: list[str]) -> list[str]:
        for name in names:
            if name not in SERIES and not name.startswith(OF_QUANTITY):
                raise DataError(beside, f"array {name[:40]!r}", f"is unknown; it holds {SERIES}")
        return names

    arrays, sha256 = read_npz(beside, known, most_numbers)
    if sha256 != entry.get("sha256"):
        raise DataError(
            beside, "", f"does not belong to {path.name}: its SHA-256 is another; save both again"
        )
    return arrays


def _layout(data: dict[str, Any]) -> str:
    """Return JSON with one key on a line, so that files can be compared by eye and by diff."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, allow_nan=False, ensure_ascii=False)}"
        for key, value in data.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
