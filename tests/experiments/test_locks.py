"""Folders on file systems that know no locks: nobody is alone, and everything else is the same."""

from __future__ import annotations

import errno
import sys

import pytest
from small_experiment import TEXT, results_of, small

from hedgerow.experiments.executors import find_joblib, serial
from hedgerow.experiments.folder import folder_lock
from hedgerow.experiments.sweeps import sweep

fcntl = pytest.importorskip("fcntl")
TINY = TEXT.replace("[60]", "[10]").replace("[20, 21]", "[20]").replace(', "theory"', "")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS])
def test_a_file_system_without_locks(number, tmp_path, monkeypatch):
    asked = []

    def unsupported(_, operation):
        asked.append(operation)
        raise OSError(number, "no locks here")

    sweep(small(tmp_path, TINY), tmp_path / "quiet", serial)
    half = tmp_path / "out/partial/0.part"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"perhaps of somebody else")
    monkeypatch.setattr(fcntl, "flock", unsupported)
    with folder_lock(tmp_path / "out") as alone:
        assert not alone
    tally = sweep(small(tmp_path, TINY), tmp_path / "out", serial)
    assert tally.ran == tally.total
    assert asked, "a lock was asked for"
    assert half.exists(), "nothing is swept up"
    assert results_of(tmp_path / "out") == results_of(tmp_path / "quiet")


def test_a_lock_that_is_held_is_shared(tmp_path):
    (tmp_path / "partial").mkdir()
    with folder_lock(tmp_path) as first, folder_lock(tmp_path) as second:
        assert (first, second) == (True, False)
    with folder_lock(tmp_path) as again:
        assert again


def test_a_system_without_locks(tmp_path, monkeypatch):
    (tmp_path / "partial").mkdir()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with folder_lock(tmp_path) as alone:
        assert not alone


def test_joblib_comes_with_the_command_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ValueError, match=r'several workers need joblib; .*"\.\[cli\]"'):
        find_joblib()
