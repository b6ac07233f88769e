"""Compiled arithmetic; each module loads on first use. `hedgerow._engine` compiles it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.kernels import (
        atoms,
        ball_prox,
        balls,
        certificate,
        conditional_gradient,
        convex,
        falling_root,
        flow_newton,
        flows,
        frankwolfe,
        hedge,
        hulls,
        laplacians,
        loads,
        matchings,
        matroids,
        ocg,
        orders,
        packings,
        path_rounds,
        path_trees,
        paths,
        policy_tables,
        projected,
        pursuit,
        simplices,
        spectral,
        tangents,
        transport,
        vectors,
    )

__all__ = [
    "atoms",
    "ball_prox",
    "balls",
    "certificate",
    "conditional_gradient",
    "convex",
    "falling_root",
    "flow_newton",
    "flows",
    "frankwolfe",
    "hedge",
    "hulls",
    "laplacians",
    "loads",
    "matchings",
    "matroids",
    "ocg",
    "orders",
    "packings",
    "path_rounds",
    "path_trees",
    "paths",
    "policy_tables",
    "projected",
    "pursuit",
    "simplices",
    "spectral",
    "tangents",
    "transport",
    "vectors",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"hedgerow.kernels.{name}")
    raise AttributeError(f"hedgerow.kernels has no {name!r}; it has {', '.join(__all__)}")
