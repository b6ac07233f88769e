"""The public surface: flat, sorted, complete, typed, documented, quick to import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import hedgerow

PUBLIC_LAYERS = (
    "feedback", "functions", "learners", "policies", "potentials", "problems", "protocols",
    "surrogates",
)  # fmt: skip
INTERNAL = {
    "Accuracy", "Advance", "Affine", "Atoms", "Block", "BlockConstraints", "Bounds", "Charge",
    "CompiledGame", "CompiledLearner", "CompiledSurrogate", "Composition",
    "ConditionalGradient", "Dual", "HullCoordinates", "Links", "LooBlock", "MeasuredLinks",
    "Penalised", "Projected", "ProjectedDescent", "ProjectedPoint", "Projecting", "Pursuer",
    "Queued", "Routes", "Seen", "SeparationDescent", "ShrunkHull", "StepKernels", "Stepping",
    "check_preset", "priced", "stand_alone", "units",
}  # fmt: skip
"""Classes and functions that are parts of others, not for users."""


def test_all_is_importable_and_documented():
    """Its order is kept by ruff."""
    names = hedgerow.__all__
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(hedgerow, name).__doc__, f"{name} has no docstring"


def _builds_a_policy(value: object) -> bool:
    return inspect.isfunction(value) and "preset" in inspect.signature(value).parameters


def test_all_is_complete():
    """Every set, every concrete class of the public layers and every policy is in the flat API."""
    missing = set()
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        layer = module.name.split(".")[1]
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.name:
                continue
            concrete = inspect.isclass(value) and not inspect.isabstract(value)
            if (
                (concrete and issubclass(value, hedgerow.DecisionSet))
                or (concrete and layer in PUBLIC_LAYERS)
                or (layer == "policies" and _builds_a_policy(value))
            ):
                missing.add(name)
    missing -= set(hedgerow.__all__)
    assert missing == INTERNAL


def test_import_loads_nothing_heavy():
    code = "import sys, hedgerow; print([m for m in sys.modules if m.split('.')[0] in HEAVY])"
    code = f"HEAVY = ('numba', 'matplotlib', 'rich', 'typer', 'networkx', 'scipy'); {code}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
