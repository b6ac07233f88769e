"""Mathematics as MathML, made while the site is built: nothing is loaded when it is read."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

TIGHT = {sign: f"<mo>&#x{sign};</mo>" for sign in ("0007C", "02016", "0002F")}
"""Bars, and slashes: browsers stretch the former and set wide spaces around the latter."""


def mathml(formula: str, display: str) -> str:
    """Return a formula of LaTeX as MathML."""
    made = str(convert(formula, display=display))
    for sign, element in TIGHT.items():
        made = made.replace(element, f'<mo stretchy="false" lspace="0" rspace="0">&#x{sign};</mo>')
    return made


def _inline(visitor: Any, node: nodes.Element) -> None:
    visitor.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _display(visitor: Any, node: nodes.Element) -> None:
    visitor.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the renderer under the name that html_math_renderer has."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
