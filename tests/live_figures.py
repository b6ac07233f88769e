"""The live figures of a page, read from its file and watched in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def items(page: Path) -> dict[str, Any]:
    """Return the figures of a page as it holds them, by the place where they are drawn."""
    found = re.findall(
        r'id="([^"]+)"></div><script type="application/json">(.*?)</script>', page.read_text()
    )
    return {name: json.loads(text) for name, text in found}


def renderers(item: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the method, the kind of glyph and the columns of everything that a plot draws."""
    (root,) = item["doc"]["roots"]
    for renderer in root["attributes"]["renderers"]:
        at = renderer["attributes"]
        entries = at["data_source"].get("attributes", {}).get("data", {}).get("entries", [])
        columns = {name: column(values) for name, values in entries}
        yield at["tags"][0], at["glyph"]["name"], columns


def column(values: Any) -> Any:
    if isinstance(values, dict) and values.get("type") == "ndarray":
        packed = base64.b64decode(values["array"]["data"])
        return np.frombuffer(gzip.decompress(packed), values["dtype"])
    return values


def wait_until(view: Any, condition: str) -> None:
    """Wait as Playwright does, but where a page lets no string become a program."""
    for _ in range(600):
        if view.evaluate(condition):
            return
        view.wait_for_timeout(100)
    raise AssertionError(f"never true: {condition}")
