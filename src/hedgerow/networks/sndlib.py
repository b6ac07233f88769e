"""Networks and demand matrices of SNDlib, in XML."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET

import numpy as np

from hedgerow.networks.errors import DataError, unreadable
from hedgerow.networks.topology import (
    CAPACITY,
    KM_PER_MS,
    Topology,
    both_ways,
    great_circle_km,
    merged,
)

LARGEST_XML = 1 << 26
"""Bytes; the largest network of SNDlib has a hundredth of this."""


def read_sndlib(path: Path | str) -> Topology:
    """Read a network; its demands, if any, become `matrix`.

    Links that never come in both directions are taken to run both ways. The capacity is the
    installed one, else the largest module, else 10 Gbit/s, as `source` then says. Coordinates are
    longitudes and latitudes.

    Args:
        path: the XML file.

    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            root = _parsed(file, path, path.name)
    except OSError as error:
        raise unreadable(path, error) from None
    names, spots = [], []
    for node in root.iter("node"):
        names.append(_id(node, path))
        place = node.find("coordinates")
        spots.append((_number(place, "x", path), _number(place, "y", path)))
    if not names:
        raise DataError(path, "", "has no nodes; give a network, not a demand matrix")
    number = {name: k for k, name in enumerate(names)}
    ends, capacity, assumed = [], [], 0
    for link in root.iter("link"):
        ends.append(_ends(link, number, path))
        found = _capacity(link)
        assumed += found is None
        capacity.append(CAPACITY if found is None else found)
    if not ends:
        raise DataError(path, "", "has no links")
    km = [great_circle_km(spots[u], spots[v]) for u, v in ends]
    known = set(ends)
    directed = any((v, u) in known for u, v in ends)
    edges, length, total = (merged if directed else both_ways)(ends, km, capacity)
    matrix = _demands(root, number, path)
    note = f", {assumed} capacities assumed" if assumed else ""
    return Topology(
        path.stem,
        tuple(names),
        np.array(spots),
        edges,
        length / KM_PER_MS,
        total,
        f"SNDlib {path.name}; latency from distances{note}",
        matrix if matrix.any() else None,
    )


def sndlib_matrices(path: Path | str, nodes: tuple[str, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (file name, matrix) of every XML file in a folder or tar archive, by file name.

    Args:
        path: a folder, or a `.tgz`, `.tar.gz` or `.tar` archive.
        nodes: the nodes of the network; a demand of any other node is refused.

    """
    path = Path(path)
    number = {name: k for k, name in enumerate(nodes)}
    if path.is_dir():
        for file in sorted(path.rglob("*.xml")):
            with file.open("rb") as stream:
                yield file.stem, _demands(_parsed(stream, path, file.name), number, file)
        return
    try:
        with tarfile.open(path) as archive:
            members = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".xml")]
            for member in sorted(members, key=lambda m: m.name):
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                root = _parsed(content, path, member.name)
                yield Path(member.name).stem, _demands(root, number, path)
    except (tarfile.TarError, EOFError) as error:
        raise DataError(path, "", f"is not a readable archive ({str(error).lower()})") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _parsed(stream: IO[bytes], path: Path, name: str) -> ET.Element:
    """Return the root, with plain tags; entities are refused, as they can expand without end."""
    content = stream.read(LARGEST_XML + 1)
    if len(content) > LARGEST_XML:
        raise DataError(path, name, f"has more than {LARGEST_XML} bytes")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataError(path, name, "declares a document type; SNDlib's files have none")
    try:
        root = ET.fromstring(content)  # noqa: S314 - no entities are left
    except ET.ParseError as error:
        raise DataError(path, name, f"is not XML ({error})") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _id(element: ET.Element, path: Path) -> str:
    name = element.get("id")
    if not name:
        raise DataError(path, f"a {element.tag}", "has no id")
    return name


def _number(element: ET.Element | None, tag: str, path: Path) -> float:
    text = None if element is None else element.findtext(tag)
    try:
        number = float(text or "")
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise DataError(path, f"<{tag}>", f"must hold a number, got {text!r}")
    return number


def _ends(element: ET.Element, number: dict[str, int], path: Path) -> tuple[int, int]:
    names = [(element.findtext(tag) or "").strip() for tag in ("source", "target")]
    for name in names:
        if name not in number:
            raise DataError(
                path, f"{element.tag} {element.get('id')}", f"names the unknown node {name!r}"
            )
    return number[names[0]], number[names[1]]


def _capacity(link: ET.Element) -> float | None:
    installed = link.findtext("preInstalledModule/capacity")
    modules = [m.text for m in link.iterfind("additionalModules/addModule/capacity")]
    for found in ([installed] if installed else [], modules):
        sizes = [float(text) for text in found if text]
        if sizes and max(sizes) > 0.0:
            return max(sizes)
    return None


def _demands(root: ET.Element, number: dict[str, int], path: Path) -> np.ndarray:
    matrix = np.zeros((len(number), len(number)))
    for demand in root.iter("demand"):
        value = _number(demand, "demandValue", path)
        if value < 0.0:
            raise DataError(
                path, f"demand {demand.get('id')}", f"must be at least 0, got {value:g}"
            )
        matrix[_ends(demand, number, path)] += value
    return matrix
