"""Which packages took part."""

from __future__ import annotations

import importlib.metadata

PACKAGES = (
    "hedgerow", "numpy", "scipy", "numba", "networkx", "igraph", "rustworkx", "highspy", "piqp",
    "osqp", "quadprog",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the version of every package that takes part."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
