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

import hedgerow as hr
from hedgerow._engine.compiler import is_plain, kernel_target
from hedgerow._engine.kernel import COMPILED, Kernel

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

SOURCE = """
import numpy as np
from numba import types
from hedgerow._engine.kernel import flags, index, kernel, nothing, number, read, whole, write

pair = types.UniTuple(number, 2)
vectors = types.UniTuple(write, 2)

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

@kernel(whole, read, whole, whole, write)
def cut(a, i, j, out):
    part = a[i:j]
    for k in range(len(part)):
        out[k] = part[k]
    return len(part)

@kernel(whole, read, whole)
def lengths(a, i):
    return len(a[i:]) + 100 * len(a[:i]) + 10000 * len(a[:-1]) + 1000000 * len(a[1:])

@kernel(number, read, index, whole, whole)
def picked(a, at, k, i):
    return a[at[k]] + 10.0 * a[i] + 100.0 * a[-1]

@kernel(nothing, write, flags, whole, number)
def put(a, seen, i, value):
    a[i] = value
    a[-1] += 1
    seen[i] = True

@kernel(nothing, write, whole, whole, whole)
def visits(counts, start, stop, step):
    for i in range(stop):
        counts[i] += 1.0
    for i in range(start, stop):
        counts[i] += 10.0
    for i in range(start, stop, step):
        counts[i] += 100.0
    chosen = range(stop) if start > 1 else range(start, stop)
    for i in chosen:
        counts[i] += 1000.0

@kernel(vectors, write)
def halves(a):
    middle = len(a) // 2
    return a[:middle], a[middle:]

@kernel(number, write)
def last_of_first(a):
    first, second = halves(a)
    rows = (first, *halves(second))
    return rows[0][-1] + rows[2][0]

@kernel(number, write)
def borrowing(a):
    return last_of_first(a)

@kernel(write, whole)
def fresh(n):
    a = np.zeros(n)
    for i in range(n):
        a[i] = float(i)
    return halves(a)[1]

@kernel(number, whole)
def total_of_fresh(n):
    total = 0.0
    for _ in range(3):
        a = fresh(n)
        for i in range(len(a)):
            total += a[i]
    return total

@kernel(number, read)
def total_of_fancy(a):
    return a[a > 1.0][0]

@kernel(number, read, flags, index, whole)
def inverse(a, felt, at, i):
    return 1.0 / a[at[i]] if felt[i] else 0.0

@kernel(number, read, flags, index)
def inverses(a, felt, at):
    total = 0.0
    for i in range(len(at)):
        total += inverse(a[1:], felt, at, i)
    return total

@kernel(number, read, index, whole)
def last_but(a, at, k):
    if k > 0:
        found = at[len(at) - k]
        if a[found] > 0.0:
            bonus = 10.0
        else:
            bonus = -10.0
        return a[found] + bonus
    return 0.5
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", "")  # compiled code is kept beside its source
        yield tmp_path_factory.mktemp("kernels")


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
    assert ours.templates == theirs.templates
    njitted = numba.njit(lambda a, b: max(a, b))
    assert njitted(1.0, 2.0) == 2.0
    assert not isinstance(njitted, Kernel)
    assert type(njitted.overloads[numba.float64, numba.float64].library).__name__ != "KernelLibrary"


def test_entries_and_slices_are_those_of_python(made):
    ends = range(-7, 8)
    for n in range(5):
        a, out = np.arange(1.0, n + 1), np.zeros(n)
        for i, j in itertools.product(ends, repeat=2):
            assert out[: made.cut(a, i, j, out)].tolist() == a[i:j].tolist()
        for i in ends:
            sizes = (len(a[i:]), len(a[:i]), len(a[:-1]), len(a[1:]))
            assert made.lengths(a, i) == sum(100**k * size for k, size in enumerate(sizes))
    a, at = np.array([1.0, 2.0, 3.0]), np.array([2, 0], dtype=np.uint32)
    for k, i in itertools.product(range(-2, 2), range(-3, 3)):
        assert made.picked(a, at, k, i) == a[at[k]] + 10.0 * a[i] + 100.0 * a[-1]
    seen = np.zeros(3, dtype=bool)
    made.put(a, seen, -2, 7.5)
    assert (a.tolist(), seen.tolist()) == ([1.0, 7.5, 4.0], [False, True, False])


def test_loops_over_ranges_are_those_of_python(made):
    for start, stop, step in itertools.product(range(5), range(5), (1, 2, 7, -1, -2)):
        counts, expected = np.zeros((2, 8))
        made.visits(counts, start, stop, step)
        made.visits.py_func(expected, start, stop, step)
        assert counts.tolist() == expected.tolist(), (start, stop, step)
    made.visits(counts, 0, -3, 1)
    assert counts.tolist() == expected.tolist()
    with pytest.raises(ValueError, match="must not be zero"):
        made.visits(counts, 0, 3, 0)


def test_kernels_that_make_no_arrays_borrow_them(made):
    a = np.arange(8.0)
    before = sys.getrefcount(a)
    assert [made.borrowing(a) for _ in range(5)] == [9.0] * 5
    assert sys.getrefcount(a) == before
    assert made.last_of_first.borrows
    assert made.halves.borrows
    assert made.total_of_fresh(6) == 36.0
    assert not made.fresh.borrows


def test_what_a_kernel_returns_outlives_what_it_was_given(made):
    parts = [made.halves(np.full(1000, float(k))) for k in range(20)]
    parts += [(made.fresh(2000), None) for _ in range(20)]
    for k, (part, other) in enumerate(parts[:20]):
        assert part.tolist() == other.tolist() == [float(k)] * 500
    for part, _ in parts[20:]:
        assert part.tolist() == list(range(1000, 2000))
    a = np.array([0.5, 2.0, 3.0])
    before = sys.getrefcount(a)
    assert made.total_of_fancy(a) == 2.0
    assert sys.getrefcount(a) == before


def test_an_error_goes_up_through_all_kernels(made):
    felt, at = np.array([True, False, True]), np.array([0, 1, 2], np.uint32)
    assert made.inverses(np.array([0.0, 2.0, 0.0, 4.0]), felt, at) == 0.75
    zero = np.array([1.0, 2.0, 0.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        made.inverses(zero, felt, at)
    inner = made.inverses

    @numba.njit
    def forgiving(a, felt, at):
        try:
            return inner(a, felt, at)
        except Exception:
            return -1.0

    for array in (zero, at):
        array.setflags(write=False)
    assert forgiving(zero, felt, at) == -1.0
    zero = np.array([0.0, 2.0, 0.0, 4.0])
    zero.setflags(write=False)
    assert forgiving(zero, felt, at) == 0.75


def test_variables_of_several_branches_are_those_of_python(made):
    a, at = np.array([3.0, -4.0]), np.array([1, 0], np.uint32)
    for k in range(3):
        assert made.last_but(a, at, k) == made.last_but.py_func(a, at, k)


LATER = """
import numba, numpy as np
numba.version_info = numba.version_info._replace(short=(99, 0))
numba.__version__ = "99.0.1"
import hedgerow as hr
from hedgerow._engine import kernel
assert not kernel.KNOWN
problem = hr.problems.IidSimplex(n=5, horizon=40, seed=3)
policy = hr.projection_free_coco(problem.decision_set, tracking=False)
trace = hr.simulate(policy, problem)
assert trace.compiled
policy.tell(hr.feedback.EvalGrad(1.0, np.ones(5)), hr.feedback.EvalGrad(0.5, np.arange(5.0)))
print(*(float(number).hex() for number in (*trace.costs, *trace.violations, *policy.ask())))
"""


def test_a_whole_policy_plays_the_same_with_an_unknown_numba(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", LATER]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    problem = hr.problems.IidSimplex(n=5, horizon=40, seed=3)
    policy = hr.projection_free_coco(problem.decision_set, tracking=False)
    trace = hr.simulate(policy, problem)
    policy.tell(hr.feedback.EvalGrad(1.0, np.ones(5)), hr.feedback.EvalGrad(0.5, np.arange(5.0)))
    expected = (*trace.costs, *trace.violations, *policy.ask())
    assert done.stdout.split() == [float(number).hex() for number in expected]
    [warning] = done.stderr.splitlines()
    assert warning.startswith("numba 99.0.1 is not one of the versions that are supported in full")
    assert "0.63 to 0.68" in warning
