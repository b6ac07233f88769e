"""A public name in backquotes leads to its entry in the reference, on every page."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import api_pages

NAME = re.compile(r"(?:hr\.)?([A-Za-z_][\w.]*)(?:\(.*\))?")


def targets() -> dict[str, str]:
    """Return the entry that a name in a text leads to, where only one can be meant."""
    meant: dict[str, set[str]] = {}
    for full, home in api_pages.homes().items():
        parts = full.split(".")
        for k in range(len(parts)):
            meant.setdefault(".".join(parts[k:]), set()).add(home)
    return {short: homes.pop() for short, homes in meant.items() if len(homes) == 1}


class LinkNames(SphinxTransform):
    """Turn literals that are public names into references, and lead annotations to entries."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Replace the literals of one page."""
        known = self.app.public_names  # type: ignore[attr-defined]
        modules = {full.rpartition(".")[2]: full for full in api_pages.modules()}
        for annotation in list(self.document.findall(pending_xref)):
            if annotation.get("refdomain") != "py":
                continue
            target = annotation["reftarget"]
            short = target.rpartition(".")[2]
            if home := known.get(target) or known.get(short) or modules.get(short):
                annotation["reftarget"] = home
            else:
                annotation.replace_self(annotation.children)
        for literal in list(self.document.findall(nodes.literal)):
            name = NAME.fullmatch(literal.astext())
            if name is None or name[1] not in known or _is_part_of_another(literal):
                continue
            reference = pending_xref(
                "",
                literal.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=known[name[1]],
                refdoc=self.env.docname,
                refwarn=True,
            )
            literal.replace_self(reference)


def _is_part_of_another(node: nodes.Node) -> bool:
    kinds = (nodes.reference, pending_xref, nodes.title, desc_signature)
    while (node := node.parent) is not None:
        if isinstance(node, kinds):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Read the names once, and link them on every page."""
    app.public_names = targets()  # type: ignore[attr-defined]
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
