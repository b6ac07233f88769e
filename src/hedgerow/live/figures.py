"""The figures of one session: the same in the dashboard and in the service's page."""

from __future__ import annotations

from typing import Any

import bokeh.models
from bokeh.core.properties import value
from bokeh.plotting import figure

from hedgerow.live.observed import SOURCES, TOP, Observed

models: Any = bokeh.models  # whose types are not all declared
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SHARES = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F3C8D",
    "#11A579", "#3969AC", "#F2B701", "#E73F74", "#999999",
)  # fmt: skip
DARK = """
const paint = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches
  const ink = dark ? "#e6e8ea" : "#1b1f23", paper = dark ? "#14171a" : "#ffffff"
  for (const f of figures) {
    f.title.text_color = ink
    f.background_fill_color = paper; f.border_fill_color = paper
    for (const axis of [...f.below, ...f.left]) {
      if (!("axis_label_text_color" in axis)) continue
      axis.axis_label_text_color = ink; axis.major_label_text_color = ink
      axis.axis_line_color = ink; axis.major_tick_line_color = ink
    }
    for (const legend of [...f.center, ...f.above, ...f.right, ...f.below]) {
      if ("label_text_color" in legend) legend.label_text_color = ink
    }
  }
}
paint()
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint)
"""


class Figures:
    """Seven figures, empty until something is shown.

    Attributes:
        sources: the tables of numbers, by name.
        items: of the legend of shares.
        legend: of the shares.
        all: the figures.

    """

    def __init__(self) -> None:
        self.sources: dict[str, Any] = {
            name: models.ColumnDataSource({column: [] for column in columns}, name=name)
            for name, columns in SOURCES.items()
        }
        rounds, told, proved = (self.sources[name] for name in ("rounds", "told", "proved"))
        cost = _figure("Cost per round", "round")
        cost.line("round", "cost", source=rounds, color=BLUE, line_width=1.5)
        violation = _figure("Violation per round", "round")
        violation.line("round", "violation", source=rounds, color=ORANGE, line_width=1.5)
        violation.line("round", "zero", source=self.sources["zero"], color="#888888",
                       line_dash="dashed")  # fmt: skip
        ccv = _figure("CCV: sum of violations", "feedback")
        ccv.line("told", "ccv", source=told, color=ORANGE, line_width=2)
        weight = _figure("Weight on the constraint", "round")
        weight.line("round", "weight", source=rounds, color=GREEN, line_width=1.5)
        proof = _figure("Certificate: the regret is at most", "feedback")
        proof.line("told", "certificate", source=proved, color=BLUE, line_width=2)
        versus = _figure("Total cost, best fixed action", "feedback")
        versus.line("told", "cost", source=told, color=BLUE, line_width=2,
                    legend_label="this session")  # fmt: skip
        versus.line("told", "best", source=proved, color=GREEN, line_width=2,
                    line_dash="dashed", legend_label="best fixed action, at least")  # fmt: skip
        versus.legend.location = "top_left"
        _clear(versus.legend[0])
        shares = _figure("Action, as shares", "round", height=460)
        shares.css_classes = ["shares"]
        names = [f"share{i}" for i in range(TOP + 1)]
        areas = shares.varea_stack(names, x="round", source=self.sources["shares"], color=SHARES)
        self.items = [models.LegendItem(label=value(""), renderers=[area])
                      for area in areas]  # fmt: skip
        self.legend = models.Legend(items=self.items, orientation="horizontal", ncols=2)
        _clear(self.legend)
        shares.add_layout(self.legend, "below")
        self.all = [cost, violation, ccv, weight, proof, versus, shares]

    def show(self, observed: Observed) -> None:
        """Draw what was observed."""
        for name, columns in observed.sources.items():
            self.sources[name].data = columns
        for item, word in zip(self.items, observed.labels, strict=True):
            item.label = value(word)
            item.visible = bool(word)


def _figure(title: str, x_label: str, height: int = 260) -> Any:
    plot: Any = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_label=x_label,
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll=None,
        toolbar_location="right",
        outline_line_color="#888888",
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.grid.grid_line_color = "#888888"
    plot.grid.grid_line_alpha = 0.35
    plot.title.text_font_size = "15px"
    for axis in plot.axis:
        axis.major_label_text_font_size = "13px"
        axis.axis_label_text_font_size = "13px"
    return plot


def _clear(legend: Any) -> None:
    legend.background_fill_alpha = 0.0
    legend.border_line_alpha = 0.0
    legend.label_text_font_size = "13px"
