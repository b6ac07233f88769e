"""What Python puts into a table is what kernels read."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

from hedgerow._engine import table as table_file
from hedgerow._engine.kernel import COMPILED
from hedgerow.kernels.policy_tables import set_table

SOURCE = """
import numpy as np
from numba import types
from hedgerow._engine.kernel import function, index, kernel, nothing, number, read, whole, write
from hedgerow._engine.table import TableType

CHANGE = (number, write, number)
inner_table = TableType("Inner", {"scale": number, "seen": write})
outer_table = TableType(
    "Outer",
    {
        "yes": types.boolean,
        "change": function(*CHANGE),
        "space": types.Tuple((index, read, write)),
        "count": whole,
        "inner": inner_table,
        "no": types.boolean,
        "numbers": read,
    },
)
row_table = TableType("Row", {"tables": types.Array(inner_table, 1, "C", readonly=True)})

@kernel(*CHANGE)
def add(a, b):
    for i in range(len(a)):
        a[i] += b
    return a[0]

@kernel(*CHANGE)
def divide(a, b):
    return b / a[0]

@kernel(number, number)
def alone(a):
    return a

@kernel(number, function(*CHANGE), write)
def handed(change, a):
    return change(a, 2.0)

@kernel(nothing, outer_table, write)
def read_all(table, found):
    at, numbers, scratch = table.space
    found[0] = table.yes
    found[1] = table.no
    found[2] = table.count
    found[3] = table.inner.scale
    found[4] = len(at) + 10 * len(numbers) + 100 * len(scratch) + 1000 * len(table.numbers)
    found[5] = at[1]
    found[6] = numbers[-1]
    found[7] = table.numbers[:2][1]
    found[8] = table.change(table.inner.seen, 0.5)
    scratch[0] = 7.0

@kernel(number, row_table)
def total(row):
    sum = 0.0
    for k in range(len(row.tables)):
        table = row.tables[k]
        sum += table.scale * table.seen[0]
    return sum

def fields():
    seen = np.array([1.0, 2.0])
    return {
        "yes": True,
        "change": add,
        "space": (np.array([3, 4], np.uint32), np.array([0.0, 1.0, 2.5]), np.zeros(4)),
        "count": -5,
        "inner": inner_table.filled(scale=0.1, seen=seen),
        "no": False,
        "numbers": np.array([8.0, 9.0, 10.0, 11.0, 12.0]),
    }, seen

def everything():
    values, seen = fields()
    found = np.zeros(9)
    read_all(outer_table.filled(**values), found)
    return [*found.tolist(), *seen.tolist(), *values["space"][2].tolist(), handed(add, seen)]
"""
EXPECTED = [1.0, 0.0, -5.0, 0.1, 5432.0, 4.0, 2.5, 9.0, 1.5, 1.5, 2.5, 7.0, 0.0, 0.0, 0.0, 3.5]

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "made_tables.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def made(file):
    spec = spec_from_file_location("made_tables", file)
    module = sys.modules["made_tables"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["made_tables"]


def test_every_kind_of_field_arrives_and_vectors_are_views(made):
    assert made.everything() == EXPECTED


LATER = "import numba; numba.version_info = numba.version_info._replace(short=(99, 0))"


@pytest.mark.parametrize(
    ("begin", "variables"),
    [("pass", {}), (LATER, {}), ("pass", {"NUMBA_DISABLE_JIT": "1"})],
    ids=["from the cache", "a later numba", "interpreted"],
)
def test_so_they_do_in_another_process(file, made, tmp_path, begin, variables):
    assert made.everything() == EXPECTED
    if begin == LATER:  # compiled anew
        file = tmp_path / file.name
        file.write_text(SOURCE)
        variables = {"NUMBA_CACHE_DIR": str(tmp_path)}
    path = os.pathsep.join([str(file.parent), *(p for p in sys.path if p)])
    given = {"PYTHONPATH": path} | variables
    code = f"{begin}\nimport made_tables\nfrom hedgerow._engine import kernel as jit\n"
    code += "print(jit.KNOWN, jit.COMPILED, made_tables.everything())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    way = f"{begin != LATER} {'NUMBA_DISABLE_JIT' not in variables}"
    assert done.stdout.strip() == f"{way} {EXPECTED}"


@compiled_only
def test_a_table_keeps_what_was_put_in(made):
    seen = np.array([1.0, 2.0])
    before = sys.getrefcount(seen)
    inner = made.inner_table.filled(scale=2.0, seen=seen)
    outer = made.outer_table.filled(**(made.fields()[0] | {"inner": inner}))
    assert sys.getrefcount(seen) == before + 1
    del inner
    gc.collect()
    found = np.zeros(9)
    for k in range(1, 20):
        filler = [np.full(size, np.nan) for size in range(1, 30)]
        made.read_all(outer, found)
        assert seen.tolist() == [1.0 + 0.5 * k, 2.0 + 0.5 * k]
        assert found.tolist() == [*EXPECTED[:3], 2.0, *EXPECTED[4:8], seen[0]]
    assert sys.getrefcount(seen) == before + 1  # reading counts nothing
    del outer, filler
    assert sys.getrefcount(seen) == before


@compiled_only
def test_a_copy_of_a_table_has_copies_of_its_vectors(made):
    values, seen = made.fields()
    table = made.outer_table.filled(**values)
    found = np.zeros(9)
    for duplicate in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        made.read_all(duplicate, found)
        assert found[8] == 1.5
    assert seen.tolist() == [1.0, 2.0]


@compiled_only
def test_a_row_of_tables_is_read_by_place(made):
    tables = [made.inner_table.filled(scale=float(k), seen=np.array([10.0**k])) for k in range(4)]
    assert made.total(made.row_table.filled(tables=tables)) == 3210.0
    assert made.total(made.row_table.filled(tables=[])) == 0.0


@compiled_only
def test_what_does_not_fit_is_refused(made):
    fill, seen = made.inner_table.filled, np.zeros(4)
    sealed = np.zeros(4)
    sealed.setflags(write=False)
    wanted = "Inner takes a writeable contiguous vector of float64 here, got a "
    for bad, what in {
        "float32 array of shape (2,) with strides (4,)": np.zeros(2, np.float32),
        "int64 array of shape (2,) with strides (8,)": np.zeros(2, np.int64),
        "float64 array of shape (2, 2) with strides (16, 8)": np.zeros((2, 2)),
        "float64 array of shape (2,) with strides (16,)": seen[::2],
        "read-only float64 array of shape (4,) with strides (32,)": sealed,
    }.items():
        message = wanted + bad.replace("(32,)", "(8,)")
        with pytest.raises(TypeError) as refused:
            fill(scale=1.0, seen=what)
        assert str(refused.value) == message
    values, _ = made.fields()
    with pytest.raises(TypeError, match=r"Outer.change takes a Handed\[.*\], got "):
        made.outer_table.filled(**(values | {"change": made.alone}))
    other = made.row_table.filled(tables=[])
    with pytest.raises(TypeError, match=r"Outer\.inner takes a Inner-"):
        made.outer_table.filled(**(values | {"inner": other}))
    with pytest.raises(ValueError, match="zip"):
        made.outer_table.filled(**(values | {"space": values["space"][:2]}))
    with pytest.raises(KeyError, match="scale"):
        fill(seen=seen)
    with pytest.raises(TypeError, match="No matching definition"):
        made.total(made.inner_table.filled(scale=1.0, seen=seen))
    with pytest.raises(TypeError, match="No matching definition"):
        made.handed(made.alone, seen)


@compiled_only
def test_an_error_in_a_kernel_that_was_handed_over_is_raised(made):
    values, seen = made.fields()
    table = made.outer_table.filled(**(values | {"change": made.divide}))
    seen[0] = 0.0
    with pytest.raises(ZeroDivisionError):
        made.read_all(table, np.zeros(9))
    with pytest.raises(ZeroDivisionError):
        made.handed(made.divide, seen)


@compiled_only
def test_types_with_other_fields_are_other_types():
    kind = type(set_table)
    one, other = (kind("Some", {"a": field}) for field in (set_table, set_table.fields["oracle"]))
    assert one != other
    assert one is kind("Some", {"a": set_table})
    assert pickle.loads(pickle.dumps(one)) is one


def test_a_function_of_python_in_a_table_lets_its_kernels_run_in_python(made):
    """The same lines run, tables inside that are compiled are read by name, and so are rows."""
    values, seen = made.fields()
    called = []

    def change(*arguments):
        called.append(len(arguments))
        return made.add(*arguments)

    table = made.outer_table.filled(**(values | {"change": change}))
    assert table.in_python
    found = np.zeros(9)
    made.read_all(table, found)
    given = values["space"][2].tolist()
    assert [*found.tolist(), *seen.tolist(), *given, made.handed(made.add, seen)] == EXPECTED
    assert called
    mixed = [made.inner_table.filled(scale=1.0, seen=np.array([3.0])) for _ in range(2)]
    mixed.append(table_file.PlainTable(True, {"scale": 2.0, "seen": np.array([3.0])}))
    rows = made.row_table.filled(tables=mixed)
    assert rows.in_python
    assert made.total(rows) == 12.0


def test_both_ways_to_an_address_agree():
    """One asks NumPy; the other knows where an array has it."""
    whole = np.arange(12.0)
    frozen = whole.copy()
    frozen.flags.writeable = False
    for one in (whole, whole[3:7], whole[:0], frozen, np.zeros(3, np.uint32), np.zeros((2, 2))[1]):
        assert table_file.address_in(one) == table_file._by_numpy(one) == one.ctypes.data
