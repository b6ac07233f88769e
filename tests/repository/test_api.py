"""The public surface: small at the top, complete in its modules, documented, quick to import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import hedgerow
from hedgerow.protocols.rounds import CompiledRounds

NAMES = {
    "audit", "explain", "hindsight", "play", "simulate",
    "ftpl_coco", "projection_free_bandit", "projection_free_coco", "projection_free_long_term",
    "semi_bandit_coco", "unconstrained",
    "ConstrainedPolicy", "ConstrainedBandit", "LazySampled", "Sampled",
    "bandit", "first_order", "semi_bandit",
    "Linear", "Maximum", "Quadratic",
    "Benchmark", "RecordedProblem", "ShortestPath", "Step", "Trace",
    "DecisionSet", "Function", "Learner", "Policy", "Problem", "ResumablePolicy",
    "Surrogate",
    "DataError", "VacuousConstantsWarning",
}  # fmt: skip
FOLDERS = set(hedgerow.__all__) - NAMES
LAYERS = ("baselines", "learners", "policies", "problems", "surrogates")
INTERNAL = {
    "Accuracy", "Affine", "Block", "BlockConditionalGradient",
    "BlockConstraints", "Bounds", "Composition", "Directions", "Dual", "FeasibleFollower",
    "FunctionRounds", "Halfspaces", "HullCoordinates", "Links", "LooBlock", "MappedRounds",
    "MeasuredLinks", "Penalised", "Projected", "ProjectedDescent", "ProjectedPoint",
    "Queued", "Routes", "Seeded", "Seen", "SeparationDescent", "ShrunkHull", "StepKernels",
    "Stepping", "StepRule", "CertificateSteps", "PaperSteps", "RmsSteps", "ScheduleSteps",
    "UniversalSteps",
    "Values", "Voices", "WeibelSteps", "KernelSchedule", "ProjectedStep", "RecentRounds", "Scale",
    "ShareMethod", "WeightOfSums", "SimpleRule", "check_preset", "priced", "stand_alone", "Around",
}  # fmt: skip
"""Classes and functions that are parts of others, and the step rules, which have a module."""


def test_the_top_is_small():
    assert set(hedgerow.__all__) >= NAMES
    assert len(NAMES) == 35
    assert set(dir(hedgerow)) == set(hedgerow.__all__)
    for name in NAMES:
        assert getattr(hedgerow, name).__doc__, f"{name} has no docstring"


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_every_folder_lists_what_it_has(folder):
    module = getattr(hedgerow, folder)
    assert inspect.ismodule(module), f"{folder} is not a module"
    assert module.__doc__, f"{folder} has no docstring"
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        assert value.__doc__, f"{folder}.{name} has no docstring"
        assert not (inspect.isclass(value) and value.__doc__.startswith(f"{name}(")), name


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_a_folder_shows_its_own_names_alone(folder):
    module = getattr(hedgerow, folder)
    assert sorted(dir(module)) == sorted(module.__all__)
    own = [getattr(getattr(module, name), "__module__", "") for name in module.__all__]
    assert not {"numpy", "typing", "dataclasses"} & {name.partition(".")[0] for name in own}


def test_no_name_hides_a_module():
    """`import hedgerow.x.y as z` gives a module for every file and folder of the package."""
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        above, name = module.name.rsplit(".", 1)
        found = importlib.import_module(module.name)
        assert getattr(importlib.import_module(above), name, found) is found, module.name


def _builds_a_policy(value: object) -> bool:
    return inspect.isfunction(value) and "preset" in inspect.signature(value).parameters


def test_folders_are_complete():
    """Each folder exports its sets, its concrete classes and its policies."""
    missing = set()
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        folder = module.name.split(".")[1]
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.name:
                continue
            concrete = inspect.isclass(value) and not inspect.isabstract(value)
            concrete = concrete and not issubclass(value, CompiledRounds)  # `simulate` makes them
            if (
                (concrete and folder == "sets" and issubclass(value, hedgerow.DecisionSet))
                or (concrete and folder in LAYERS)
                or (folder in ("policies", "baselines") and _builds_a_policy(value))
            ) and name not in getattr(hedgerow, folder).__all__:
                missing.add(name)
    new, gone = sorted(missing - INTERNAL), sorted(INTERNAL - missing)
    assert not new, f"export {new} in __init__.pyi of the folder, or name them in INTERNAL here"
    assert not gone, f"{gone} are exported or do not exist; take them out of INTERNAL here"


def test_import_loads_nothing_heavy():
    code = "import sys, hedgerow; print([m for m in sys.modules if m.split('.')[0] in HEAVY])"
    code = f"HEAVY = ('numba', 'matplotlib', 'rich', 'typer', 'networkx', 'scipy'); {code}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
