"""The variable that names the measured files: what is wrong with it is said in a sentence."""

from __future__ import annotations

import pytest

from measured import VARIABLE, data, drawn_or, measured_folder


def test_no_variable_no_folder(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    assert measured_folder() is None
    monkeypatch.delenv(VARIABLE)
    assert measured_folder() is None


def test_a_variable_that_names_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    words = r"HEDGEROW_DATA must name a folder of measured files, got '.*none', which is none"
    with pytest.raises(pytest.UsageError, match=words):
        measured_folder()


def test_a_file_that_the_folder_lacks_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "there.csv").touch()
    assert data("there.csv") == tmp_path / "there.csv"
    with pytest.raises(FileNotFoundError, match=r"HEDGEROW_DATA=.* has no a/b.csv; add it"):
        data("a/b.csv")


def test_the_drawn_file_comes_first_and_bears_no_mark():
    first, second = drawn_or("a.csv")
    assert first == "drawn"
    assert [mark.name for mark in second.marks] == ["measured"]
