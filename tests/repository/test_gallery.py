"""Every example of the gallery runs, uses public names alone and ends in a labelled picture."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without windows

import hedgerow as hr

GALLERY = sorted((Path(__file__).parents[2] / "examples/gallery").glob("*.py"))


def hidden(code):
    """Return the names in a program that the package does not list."""
    tree, found = ast.parse(code), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hedgerow"):
            found.add(node.module)
        match node:
            case ast.Attribute(ast.Name("hr"), name) if name not in hr.__all__:
                found.add(name)
            case ast.Attribute(ast.Attribute(ast.Name("hr"), module), name):
                listed = getattr(getattr(hr, module), "__all__", None)
                if isinstance(listed, list) and name not in listed:
                    found.add(f"{module}.{name}")
    return found


def test_there_are_twelve():
    assert len(GALLERY) >= 12


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_examples_end_in_a_picture(path, monkeypatch, capsys):
    assert hidden(path.read_text(encoding="utf-8")) == set()
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(path))
    capsys.readouterr()
    figure = plt.gcf()
    assert figure.axes
    for axes in figure.axes:
        assert axes.get_ylabel(), f"{path.name}: an axis has no name"
        assert axes.get_xlabel() or axes.get_label() == "<colorbar>", f"{path.name}: no name"
    figure.canvas.draw()
    plt.close("all")


def test_hidden_names_are_noticed():
    assert hidden("import hedgerow as hr\nhr.sets.Simplex(3); hr.Trace.of") == set()
    assert hidden("hr.inputs.as_count") == {"inputs"}
    assert hidden("hr.sets.simplices") == {"sets.simplices"}
    assert hidden("from hedgerow.games.linear_game import ccv") == {"hedgerow.games.linear_game"}
