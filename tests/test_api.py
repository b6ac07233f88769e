"""The public surface: flat, sorted, complete, typed, documented, quick to import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import hedgerow

PRIVATE = ("cli", "report", "kernels", "inputs", "snapshot", "testing")


def test_all_is_sorted_and_importable():
    names = hedgerow.__all__
    assert names == sorted(set(names))
    for name in names:
        assert getattr(hedgerow, name).__doc__, f"{name} has no docstring"


def test_all_is_complete():
    """Every public class and function of the layers below is in the flat API, or named here."""
    helpers = {
        "Affine", "Queued", "StepKernels", "check_preset", "checked", "chunk_lengths",
        "given_ratio", "needed_horizon", "needed_lipschitz", "needs_policy", "paper_potential",
        "refuse_in_theory",
    }  # fmt: skip
    missing = set()
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        if module.name.split(".")[1] in PRIVATE:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            own = inspect.isclass(value) or inspect.isfunction(value)
            if own and not name.startswith("_") and value.__module__ == module.name:
                missing |= {name} - set(hedgerow.__all__)
    assert missing == helpers


def test_import_loads_nothing_heavy():
    code = "import sys, hedgerow; print([m for m in sys.modules if m.split('.')[0] in HEAVY])"
    code = f"HEAVY = ('numba', 'matplotlib', 'rich', 'typer', 'networkx', 'scipy'); {code}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
