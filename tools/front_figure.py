"""The picture of the front page: that of the gallery's first example."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl

from tables import ROOT

EXAMPLE = ROOT / "examples" / "gallery" / "plot_01_paper_figure.py"


def draw_front(path: Path) -> None:
    """Run the example and save what it draws."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    runpy.run_path(str(EXAMPLE))
    plt.gcf().savefig(path, dpi=150)
    plt.close("all")
