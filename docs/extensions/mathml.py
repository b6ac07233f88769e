"""Mathematics as MathML, made while the site is built: nothing is loaded when it is read."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _inline(visitor: Any, node: nodes.Element) -> None:
    visitor.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(visitor: Any, node: nodes.Element) -> None:
    formula = convert(node.astext(), display="block")
    visitor.body.append(f'<div class="math">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the renderer under the name that html_math_renderer has."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
