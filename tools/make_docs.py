"""Refresh what the documents generate, tables and pictures: python tools/make_docs.py."""

from __future__ import annotations

from beyond_figure import draw
from eagerness_figure import draw_eagerness
from front_figure import draw_front
from parts import PARTS, renewed
from sets_picture import picture
from tables import DOCS


def main() -> None:
    """Write the tables into their pages, and the pictures beside them."""
    for name in PARTS:
        page = DOCS / name
        page.write_text(renewed(name, page.read_text(encoding="utf-8")), encoding="utf-8")
    picture(DOCS / "reference/sets.png")
    draw(DOCS / "appendix/beyond.png")
    draw_front(DOCS / "front.png")
    draw_eagerness(DOCS / "explanation/eagerness.png")


if __name__ == "__main__":
    main()
