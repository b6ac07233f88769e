"""Kernels are compiled by a shorter way than numba's own; what they compute is the same."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

from hedgerow import kernels
from hedgerow.kernels.jit import COMPILED, Kernel
from hedgerow.kernels.pipeline import is_plain, kernel_target

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

SOURCE = """
import numpy as np
from numba import types
from hedgerow.kernels.jit import kernel, number, read, whole, write

pair = types.UniTuple(number, 2)

@kernel(number, number, number)
def larger(a, b):
    return max(a, b)

@kernel(number, number, number)
def smaller(a, b):
    return min(a, b)

@kernel(number, whole, number)
def mixed(a, b):
    return max(a, b)

@kernel(number, number, number, number)
def middle(a, b, c):
    return min(max(a, b), max(b, c), max(a, c))

@kernel(whole, number)
def towards_zero(a):
    return int(a)

@kernel(number, read)
def largest_of(a):
    return max(a[0], np.max(a))

@kernel(number, read)
def squares(a):
    return sum([x * x for x in a])

@kernel(number, number)
def refuses(a):
    if a < 0.0:
        raise ValueError("negative")
    return a ** 0.5

@kernel(write, read, read)
def fused(a, b):
    return a + 2.0 * b

@kernel(pair, read)
def ends(a):
    return a[0], a[-1]

@kernel(number, read)
def span(a):
    first, last = ends(a)
    return larger(first, last) - smaller(first, last)

@kernel(number, read)
def twice_span(a):
    return span(a) + span(a)
"""


def load(folder, name="made"):
    """Import the kernels anew from a file in this folder."""
    file = folder / f"{name}.py"
    if not file.exists():
        file.write_text(SOURCE)
    spec = spec_from_file_location(name, file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def made(folder):
    return load(folder)


def test_smallest_and_largest_are_those_of_python(made):
    numbers = (-0.0, 0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)
    for a, b in itertools.product(numbers, repeat=2):
        for kernel, python in ((made.larger, max), (made.smaller, min)):
            got, expected = kernel(a, b), python(a, b)
            assert np.float64(got).tobytes() == np.float64(expected).tobytes(), (kernel, a, b)
    assert (made.mixed(3, 2.5), made.mixed(2, 2.5)) == (3.0, 2.5)
    assert made.middle(3.0, 1.0, 2.0) == 2.0
    assert [made.towards_zero(a) for a in (2.9, -2.9, 0.0)] == [2, -2, 0]
    assert made.largest_of(np.array([1.0, 4.0, 2.0])) == 4.0


def test_what_the_short_way_leaves_out_goes_the_long_way(made):
    plain = {
        name: is_plain(kernel.py_func)
        for name, kernel in vars(made).items()
        if isinstance(kernel, Kernel)
    }
    assert {name for name, is_one in plain.items() if not is_one} == {"squares", "refuses"}
    a = np.array([3.0, 4.0])
    assert made.squares(a) == 25.0
    assert made.refuses(4.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        made.refuses(-1.0)
    np.testing.assert_array_equal(made.fused(a, a), [9.0, 12.0])


def test_a_kernel_deep_down_is_linked_into_kernels_and_into_other_code(made):
    a = np.array([1.0, 5.0, 3.0])
    inner = made.twice_span

    @numba.njit
    def caller(a):
        return inner(a) + 1.0

    assert made.twice_span(a) == 4.0
    a.setflags(write=False)
    assert caller(a) == 5.0


def test_parts_that_were_kept_are_linked_again(folder, made):
    a = np.array([1.0, 5.0, 3.0])
    assert made.twice_span(a) == 4.0  # which keeps it and its parts
    kept = folder / "__pycache__"
    [whole] = [p for p in kept.glob("made.twice_span-*") if "inner" not in p.name]
    whole.unlink()
    parts = {p: p.stat().st_mtime_ns for p in kept.glob("made.*inner*")}
    assert parts
    again = load(folder)
    assert again.twice_span(a) == 4.0
    assert whole.exists()
    assert parts == {p: p.stat().st_mtime_ns for p in kept.glob("made.*inner*")}


def test_other_code_in_the_process_is_compiled_as_ever(made):
    assert made.larger(1.0, 2.0) == 2.0
    assert kernel_target.typing_context is not cpu_target.typing_context
    theirs, ours = (
        target.typing_context.resolve_value_type(max) for target in (cpu_target, kernel_target)
    )
    assert ours.templates[1:] == theirs.templates
    njitted = numba.njit(lambda a, b: max(a, b))
    assert njitted(1.0, 2.0) == 2.0
    assert not isinstance(njitted, Kernel)
    assert type(njitted.overloads[numba.float64, numba.float64].library).__name__ != "KernelLibrary"


LATER = """
import numba, numpy as np
numba.version_info = numba.version_info._replace(short=(99, 0))
from hedgerow.kernels import jit, ocg
assert not jit.KNOWN
d, x, v = np.random.default_rng(0).standard_normal((3, 21))
print(*(float(number).hex() for number in ocg.gap_and_distance(d, x, v)))
"""


def test_a_numba_whose_insides_are_not_known_compiles_kernels_by_itself(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", LATER]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    d, x, v = np.random.default_rng(0).standard_normal((3, 21))
    known = kernels.ocg.gap_and_distance(d, x, v)
    assert done.stdout.split() == [float(number).hex() for number in known]
