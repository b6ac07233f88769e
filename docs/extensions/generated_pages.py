"""Links to sources of generated pages lead to the pages: an example, or the list of a module.

On a code host `../examples/gallery/plot_10_drift.py` is the program and
`../src/hedgerow/sets/__init__.pyi` the list of names; here they are `gallery/plot_10_drift` and
`reference/api/hedgerow.sets`.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


def page_of(path: str) -> str | None:
    """Return the page that is made from a file of the repository, or None.

    >>> page_of("examples/gallery/GALLERY_HEADER.rst"), page_of("src/hedgerow/sets/__init__.pyi")
    ('gallery/index', 'reference/api/hedgerow.sets')
    """
    if path.endswith(("examples/gallery/GALLERY_HEADER.rst", "examples/gallery/GALLERY_HEADER")):
        return "gallery/index"
    if found := re.fullmatch(r"examples/gallery/(\w+)\.py", path):
        return f"gallery/{found[1]}"
    if found := re.fullmatch(r"src/((?:\w+/)+)__init__\.pyi", path):
        return "reference/api/" + found[1].rstrip("/").replace("/", ".")
    return None


class LinkPages(SphinxTransform):
    """Turn links to such files into references to pages; MyST takes .rst for a page by itself."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Replace the links of one page."""
        folder = posixpath.join("docs", posixpath.dirname(self.env.docname))
        links = self.document.findall(lambda n: isinstance(n, (download_reference, pending_xref)))
        for link in list(links):
            path = posixpath.normpath(posixpath.join(folder, link["reftarget"]))
            if (page := page_of(path)) is None:
                continue
            shown = nodes.inline("", link.astext(), classes=["doc"])
            link.replace_self(
                pending_xref(
                    "",
                    shown,
                    refdomain="std",
                    reftype="doc",
                    reftarget=f"/{page}",
                    refdoc=self.env.docname,
                    refexplicit=True,
                    refwarn=True,
                )
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Link pages on every page."""
    app.add_transform(LinkPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
