"""Kernels compile wherever the library runs, and are kept where that is possible."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import cold_starts
import hedgerow
from hedgerow import kernels
from hedgerow._engine import sources
from hedgerow._engine.cache import KernelCache
from hedgerow._engine.sources import fingerprint
from hedgerow.kernels import policy_tables as tables

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 12345
"""No such user: no name, no home."""
SAID = (
    "compiled kernels cannot be kept, every process compiles its own: set NUMBA_CACHE_DIR to a "
    "folder that only you can write to"
)

# what is set, where FOLDER has a writable home and given, a file and a sealed folder;
# whether the package can be written to; where the kernel is then kept
ENVIRONMENTS = {
    "all is well": ({"HOME": "FOLDER/home"}, True, "package/__pycache__"),
    "a folder is given": (
        {"HOME": "FOLDER/home", "NUMBA_CACHE_DIR": "FOLDER/given/new"}, True, "given/new/hedgerow",
    ),
    "a file is given": (
        {"HOME": "FOLDER/home", "NUMBA_CACHE_DIR": "FOLDER/file"}, True, "package/__pycache__",
    ),
    "no home, own package": ({}, True, "package/__pycache__"),
    "sealed package": ({"HOME": "FOLDER/home"}, False, "home/.cache/hedgerow"),
    "sealed package, given is sealed": (
        {"HOME": "FOLDER/home", "NUMBA_CACHE_DIR": "FOLDER/sealed"}, False, "home/.cache/hedgerow",
    ),
    "the desktop's cache": (
        {"HOME": "/nonexistent", "XDG_CACHE_HOME": "FOLDER/given"}, False, "given/hedgerow",
    ),
    "a relative cache is none": (
        {"HOME": "FOLDER/home", "XDG_CACHE_HOME": "here"}, False, "home/.cache/hedgerow",
    ),
    "no home": ({}, False, None),
    "no home, a folder is given": ({"NUMBA_CACHE_DIR": "FOLDER/given"}, False, "given/hedgerow"),
    "no home, given is sealed": ({"NUMBA_CACHE_DIR": "FOLDER/sealed"}, False, None),
    "home is the root": ({"HOME": "/"}, False, None),
    "home is missing": ({"HOME": "/nonexistent"}, False, None),
    "home is a file": ({"HOME": "FOLDER/file"}, False, None),
    "home is sealed": ({"HOME": "FOLDER/sealed"}, False, None),
    "home is empty": ({"HOME": ""}, False, None),
    "home is relative": ({"HOME": "."}, False, None),
}  # fmt: skip


@pytest.fixture(scope="module")
def place():
    """A folder that every user can reach, unlike `tmp_path`, and TMPDIR in a closed folder."""
    folder = Path(tempfile.mkdtemp(dir="/tmp" if ROOT else None))
    folder.chmod(0o755)
    yield folder
    for sealed in folder.rglob("*"):
        if sealed.is_dir():
            sealed.chmod(0o755)
    shutil.rmtree(folder)


def environment(folder: Path, variables: dict[str, str], writable: bool = True):
    """Build the environment, of another user if this one could write anywhere."""
    for name in ("package", "cwd", "home", "given", "sealed"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o755)
        if ROOT:
            os.chown(folder / name, NOBODY, NOBODY)
    (folder / "file").touch()
    (folder / "package" / "tiny.py").write_text(cold_starts.TINY)
    for name in ("sealed",) if writable else ("sealed", "package"):
        (folder / name).chmod(0o555)
    variables = {k: v.replace("FOLDER", str(folder)) for k, v in variables.items()}
    return {"folder": str(folder), "variables": variables, "uid": NOBODY if ROOT else None}


@pytest.fixture(scope="module")
def library(place):
    """Copy the library: another user may not be able to read this clone, as in root's own home."""
    copied = place / "library"
    shutil.copytree(
        Path(hedgerow.__file__).parent,
        copied / "hedgerow",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for path in (copied, *copied.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copied


@pytest.fixture(scope="module")
def starts(library):
    """A function that starts processes at the same time and returns their reports."""
    command = [sys.executable, cold_starts.__file__]
    path = os.pathsep.join((str(library), *(p for p in sys.path if p)))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, **pipes) as program:

        def start(*environments):
            program.stdin.write(json.dumps(environments) + "\n")
            program.stdin.flush()
            return json.loads(program.stdout.readline())

        yield start


def kept_files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and p.name not in ("file", "tiny.py")]


def test_a_kernel_compiles_in_every_environment_and_is_kept_where_it_should(place, starts):
    homeless = {name for name, (given, _, _) in ENVIRONMENTS.items() if "HOME" not in given}
    for name, (variables, writable, where) in ENVIRONMENTS.items():
        if name in homeless and not ROOT:
            continue
        folder = place / name
        [report] = starts(environment(folder, variables, writable))
        assert "error" not in report, f"{name}: {report['error']}"
        assert (report["answer"], report["misses"]) == (42.0, 1), name
        assert report["kept"] == (where and str(folder / where)), name
        assert [p.parent for p in kept_files(folder)] == ([folder / where] if where else []), name
        assert report["said"] == ([] if where else [SAID]), name
        assert report["untouched"], name
    if not ROOT:
        pytest.skip(f"needs root to drop privileges: {', '.join(sorted(homeless))}")


def test_what_was_compiled_into_a_sealed_package_is_used(place, starts):
    """As in an image that was warmed up when it was built, and is read-only when it runs."""
    image = environment(place / "image", {})
    [built] = starts(image)
    for folder in ("package/__pycache__", "package"):
        (place / "image" / folder).chmod(0o555)
    [used] = starts(image | {"variables": {"HOME": "/nonexistent"}})
    assert (built["misses"], used["misses"], used["said"]) == (1, 0, [])
    assert used["kept"] == str(place / "image" / "package" / "__pycache__")


def test_a_file_cut_short_is_made_again(place, starts):
    whole = environment(place / "cut", {})
    starts(whole)
    [file] = kept_files(place / "cut")
    good = file.read_bytes()
    file.write_bytes(good[:-100])
    (damaged,), (repaired,) = starts(whole), starts(whole)
    assert (damaged["answer"], damaged["misses"], repaired["misses"]) == (42.0, 1, 0)
    assert len(file.read_bytes()) == len(good)


def test_processes_that_start_together_share_a_cache(place, starts):
    together = environment(place / "together", {"NUMBA_CACHE_DIR": "FOLDER/given"})
    reports = starts(*[together] * 3) + starts(together)
    assert [report["answer"] for report in reports] == [42.0] * 4
    assert reports[3]["misses"] == 0
    assert len(kept_files(place / "together")) == 1


THREADS = """
import importlib, json, sys, threading, warnings
import numba
import scipy.linalg  # numba imports it late, and it sets a filter of its own
from hedgerow._engine import kernel
names = [f"kernels_{i}" for i in range(8)]
barrier, answers, products = threading.Barrier(8), [], []
def load(first):
    barrier.wait()
    modules = [importlib.import_module(names[(first + i) % 8]) for i in range(8)]
    answers.append([module.f(1.0) for module in modules])
    products.append([module.g(1.0) for module in modules])
before = numba.config.CACHE_DIR, list(warnings.filters)
threads = [threading.Thread(target=load, args=(first,)) for first in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
kernels = [k for name in names for k in (sys.modules[name].f, sys.modules[name].g)]
print(json.dumps({
    "answers": [sorted(answer) for answer in answers],
    "products": [sorted(product) for product in products],
    "misses": [sum(k.stats.cache_misses.values()) for k in kernels],
    "untouched": before == (numba.config.CACHE_DIR, list(warnings.filters)),
}))
"""


def test_threads_that_load_kernels_together_leave_nothing_behind(tmp_path):
    package, cwd = tmp_path / "package", tmp_path / "cwd"
    package.mkdir()
    cwd.mkdir()
    for i in range(8):
        other = f"kernels_{i - 1} import f" if i % 2 else "math import fabs"
        (package / f"kernels_{i}.py").write_text(
            f"from {other} as other\nfrom hedgerow._engine.kernel import kernel, number\n"
            f"@kernel(number, number)\ndef f(a):\n    return other(a) + {i}\n"
            f"@kernel(number, number)\ndef g(a):\n    return f(a) * {i}\n"
        )
    path = os.pathsep.join([str(package), *(p for p in sys.path if p)])
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "given")},
    )
    assert done.returncode == 0, done.stderr
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["answers"] == [sorted([1.0, 2.0, 3.0, 6.0, 5.0, 10.0, 7.0, 14.0])] * 8
    assert report["products"] == [sorted([0.0, 2.0, 6.0, 18.0, 20.0, 50.0, 42.0, 98.0])] * 8
    assert report["misses"] == [1] * 16
    assert report["untouched"]
    assert list(cwd.iterdir()) == []
    assert len(kept_files(tmp_path / "given" / "hedgerow")) == 24  # f also as its callers have it


def put(folder: Path, **modules: str) -> dict[str, str]:
    """Write modules of kernels; return the environment of a process that imports them."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    path = os.pathsep.join([str(folder), *(p for p in sys.path if p)])
    kept = {"NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    return os.environ | {"PYTHONPATH": path} | kept


def answer(variables: dict[str, str]) -> tuple[float, int]:
    """Return what kernel `own.g` answers in a new process, and whether it was compiled there."""
    code = "import own; print(own.g(1.0), sum(own.g.stats.cache_misses.values()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    found, misses = done.stdout.split()
    return float(found), int(misses)


HEADER = "from hedgerow._engine.kernel import kernel, number\n"
DEEP = HEADER + "@kernel(number, number)\ndef deep(a):\n    return {} * a\n"
MIDDLE = HEADER + "import deep\n@kernel(number, number)\ndef f(a):\n    return deep.deep(a) + 1.0\n"
RATES = "RATE = {}\nPAIR = (1.0, {})\n"
OWN = HEADER + (
    "import rates as numbers\nfrom middle import f as inner\nfrom rates import RATE as rate\n"
    "@kernel(number, number)\ndef g(a):\n    return inner(a) + rate + 100.0 * numbers.PAIR[1]\n"
)


def test_a_change_in_what_a_users_kernel_imports_compiles_it_again(tmp_path):
    variables = put(
        tmp_path, deep=DEEP.format(2.0), middle=MIDDLE, rates=RATES.format(10.0, 1.0), own=OWN
    )
    assert [answer(variables), answer(variables)] == [(113.0, 1), (113.0, 0)]
    put(tmp_path, deep=DEEP.format(3.0))
    assert answer(variables) == (114.0, 1)
    put(tmp_path, rates=RATES.format(20.0, 1.0))
    assert answer(variables) == (124.0, 1)
    put(tmp_path, rates=RATES.format(20.0, 2.0))
    assert answer(variables) == (224.0, 1)
    put(tmp_path, rates=RATES.format(20.0, 2.0) + "UNUSED = 1\n")
    assert answer(variables) == (224.0, 0)


def test_the_hash_of_a_kernel_covers_its_callees(monkeypatch):
    hash_code, read = sources._hash_code, []
    monkeypatch.setattr(
        sources, "_hash_code", lambda one: read.append(one.__name__) or hash_code(one)
    )
    sources._parts.cache_clear()
    fingerprint(tables.tell_learner.py_func)
    sources._parts.cache_clear()
    assert {"tell_learner", "oracle_step", "dot", "hsum"} <= set(read)


def test_code_that_changed_on_disk_is_not_taken_for_what_was_imported(tmp_path):
    """A process that compiles after an editor or an upgrade wrote its source keeps the old code."""
    variables = put(tmp_path, own=DEEP.format(2.0).replace("deep", "g"))
    code = (
        "import own, pathlib; path = pathlib.Path(own.__file__); "
        "path.write_text(path.read_text().replace('2.0', '3.0')); print(own.g(1.0))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
    assert done.stdout == "2.0\n"
    assert answer(variables) == (3.0, 1)


def test_a_kernel_depends_on_all_that_compiles_it(tmp_path, monkeypatch):
    """Or an old one would be called in the way of new ones."""
    shutil.copytree(sources.ENGINE, tmp_path / "engine", ignore=lambda *_: ["__pycache__"])
    monkeypatch.setattr(sources, "ENGINE", tmp_path / "engine")
    kernel = kernels.paths.cheapest

    def kept():
        monkeypatch.setattr(sources, "_ENGINE_HASH", sources._hash_engine())
        return KernelCache(kernel.py_func)._file(kernel.signature, kernel.targetctx)

    seen = {kept(), kept()}
    assert len(seen) == 1
    for file in (tmp_path / "engine").glob("*.py"):
        file.write_text(file.read_text() + "#\n")
        assert kept() not in seen, file
        seen.add(kept())


@pytest.fixture
def one_file(tmp_path, monkeypatch):
    """A cache with one file in one folder, and what loads it."""
    kernel, cache = kernels.paths.cheapest, KernelCache(kernels.paths.cheapest.py_func)
    folder = tmp_path / "kept"
    monkeypatch.setattr(cache, "_places", [folder], raising=False)
    cache.save(kernel.signature, kernel.targetctx, ("data", 1.0))
    [file] = folder.iterdir()
    return file, lambda: cache.load(kernel.signature, kernel.targetctx)


def test_no_damaged_byte_is_loaded(one_file):
    """A flipped byte of machine code would end the process."""
    file, load = one_file
    good = file.read_bytes()
    assert load() == ("data", 1.0)
    for place in range(len(good)):
        file.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        assert load() is None, place
    for length in range(len(good)):
        file.write_bytes(good[:length])
        assert load() is None, length
    file.write_bytes(good)
    assert load() == ("data", 1.0)


def test_a_damaged_file_is_made_again_and_ends_no_process(place, starts):
    whole = environment(place / "damaged", {})
    starts(whole)
    [file] = kept_files(place / "damaged")
    good = file.read_bytes()
    for part in range(0, len(good), len(good) // 12):
        file.write_bytes(good[:part] + bytes([good[part] ^ 0xFF]) + good[part + 1 :])
        [report] = starts(whole)
        assert (report.get("answer"), report.get("misses")) == (42.0, 1), (part, report)
        assert starts(whole)[0]["misses"] == 0
        good = file.read_bytes()


class Planted:
    """What runs a command where it is unpickled."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the modes of POSIX")
@pytest.mark.parametrize("way", ["everybody", "group", "file", "owner", "file's owner"])
def test_a_file_that_others_could_have_written_is_not_loaded(one_file, tmp_path, caplog, way):
    file, load = one_file
    if "owner" in way and not ROOT:
        pytest.skip("needs root to give a file away")
    data = pickle.dumps(Planted(tmp_path / "ran"))
    file.write_bytes(hashlib.sha256(data).digest() + data)
    match way:
        case "everybody":
            file.parent.chmod(0o757)
        case "group":
            file.parent.chmod(0o775)
        case "file":
            file.chmod(0o666)
        case "owner":
            os.chown(file.parent, NOBODY, -1)
        case "file's owner":
            os.chown(file, NOBODY, -1)
    assert load() is None
    assert load() is None
    assert not (tmp_path / "ran").exists()
    [said] = [r.getMessage() for r in caplog.records]
    assert said.startswith(f"compiled kernels in {file.parent} are not used, because others could")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the modes of POSIX")
def test_kernels_are_kept_in_a_private_folder_where_the_first_is_open(place, starts):
    given = environment(
        place / "open", {"HOME": "FOLDER/home", "NUMBA_CACHE_DIR": "FOLDER/given"}, writable=False
    )
    opened = place / "open" / "given" / "hedgerow"
    opened.mkdir()
    opened.chmod(0o777)
    (first,), (second,) = starts(given), starts(given)
    assert (first["misses"], second["misses"]) == (1, 0)
    assert first["kept"] == second["kept"] == str(place / "open" / "home" / ".cache" / "hedgerow")
    [said] = first["said"]
    assert said.startswith(f"compiled kernels in {opened} are not used")
    assert second["said"] == []


def test_a_shared_folder_of_bytecode_is_passed_over_in_silence(place, starts):
    """Python makes it by the umask, with which the group may write in many homes."""
    given = environment(place / "umask", {"HOME": "FOLDER/home"})
    (place / "umask" / "package" / "__pycache__").mkdir()
    (place / "umask" / "package" / "__pycache__").chmod(0o775)
    [report] = starts(given)
    assert report["kept"] == str(place / "umask" / "home" / ".cache" / "hedgerow")
    assert report["said"] == []


def test_only_what_is_called_is_compiled(tmp_path):
    (tmp_path / "three.py").write_text(
        "from hedgerow._engine.kernel import kernel, number\n"
        "@kernel(number, number)\ndef leaf(a):\n    return a + 1.0\n"
        "@kernel(number, number)\ndef root(a):\n    return leaf(a) * 2.0\n"
        "@kernel(number, number)\ndef idle(a):\n    return leaf(a) * 3.0\n"
    )
    code = "import three; print(three.root(1.0), [sum(k.stats.cache_misses.values()) for k in "
    code += "(three.leaf, three.root, three.idle)])"
    path = os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])
    variables = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    command = [sys.executable, "-c", code]
    for misses in ([0, 1, 0], [0, 0, 0]):
        done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
        assert done.stdout.split(maxsplit=1) == ["4.0", f"{misses}\n"]
    names = {file.name.partition(".")[2][:4] for file in kept_files(tmp_path / "kept")}
    assert names == {"leaf", "root"}


def test_a_kernel_is_pickled_and_copied_by_name():
    kernel = kernels.paths.cheapest
    assert pickle.loads(pickle.dumps(kernel)) is kernel
    assert copy.deepcopy(kernel) is kernel


def test_a_kernel_that_is_compiled_anew_clears_away_its_old_files(tmp_path, monkeypatch):
    cache = KernelCache(kernels.paths.cheapest.py_func)
    monkeypatch.setattr(cache, "_places", [tmp_path], raising=False)
    signature, context = kernels.paths.cheapest.signature, kernels.paths.cheapest.targetctx
    old = tmp_path / "paths.cheapest-7.0123456789abcdef.nbc"
    recent, other = old.with_stem("paths.cheapest-7.fedcba9876543210"), tmp_path / "paths.x-7.0.nbc"
    long_ago = time.time() - 31 * 24 * 3600
    for path in (old, recent, other):
        path.write_bytes(b"")
    for path in (old, other):
        os.utime(path, (long_ago, long_ago))
    cache.save(signature, context, ())
    kept = tmp_path / cache._file(signature, context)
    assert set(tmp_path.iterdir()) == {recent, other, kept}
