"""How figures of the gallery look."""

from __future__ import annotations

import matplotlib as mpl

from hedgerow.report.picture import COLOURS


def style_gallery(_conf: dict[str, object], _example: str) -> None:
    """Give the gallery the colours of reports, and letters that can be read in a thumbnail."""
    mpl.rcdefaults()
    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=COLOURS)
    mpl.rcParams.update({"font.size": 11, "lines.linewidth": 2, "axes.spines.top": False})
    mpl.rcParams.update({"axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25})
