"""All figures that the results allow, as PNG and PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hedgerow.report.curve_figure import curve_figure
from hedgerow.report.files import save_figure
from hedgerow.report.growth_figure import Rate, growth_figure
from hedgerow.report.picture import Picture
from hedgerow.report.plane_figure import plane_figure
from hedgerow.report.sensitivity_figure import sensitivity_figure
from hedgerow.report.summary import Summary

UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "png": {"Software": None}}


def draw_all(summary: Summary, rates: Sequence[Rate], folder: Path) -> list[Picture]:
    """Draw every figure that the results allow, as PNG and PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for picture, figure in _figures(summary, rates):
        for suffix, metadata in UNDATED.items():
            save_figure(figure, folder / f"{picture.name}.{suffix}", 160, metadata)
        pictures.append(picture)
    return pictures


def _figures(summary: Summary, rates: Sequence[Rate]) -> Iterator[tuple[Picture, Any]]:
    for preset in summary.presets:
        for place in summary.places:
            if rows := summary.at(place, preset):
                yield curve_figure(summary, place, preset, rows)
        yield plane_figure(summary, preset)
    for drawn in (growth_figure(rates), sensitivity_figure(summary)):
        if drawn is not None:
            yield drawn
