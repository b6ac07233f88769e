"""Refresh what the documents generate, tables and pictures: python tools/make_docs.py."""

from __future__ import annotations

from figures import draw_eagerness, draw_front
from idea_figures import draw_ideas
from litellm_replay import draw_litellm
from parts import PARTS, renewed
from rates_figure import draw_rates
from scale_figure import draw_scale
from sets_picture import picture
from share_figure import draw_shares
from shown_output import renew_all
from steer_figure import draw_steer
from tables import DOCS
from tutorial import renew_tutorial


def main() -> None:
    """Write tables and printed lines into their pages, and the pictures beside them."""
    for name in PARTS:
        page = DOCS / name
        try:
            page.write_text(renewed(name, page.read_text(encoding="utf-8")), encoding="utf-8")
        except Exception as error:
            error.add_note(f"docs/{name} was not renewed; tools/parts.py says what makes it")
            raise
    renew_all()
    renew_tutorial()
    picture(DOCS / "reference/sets.png")
    draw_front(DOCS / "front.png")
    draw_eagerness(DOCS / "how-to/eagerness.png")
    draw_rates(DOCS / "explanation/rates.png")
    draw_scale(DOCS / "how-to/scale.png")
    draw_shares(DOCS / "how-to/violated-share.png")
    draw_ideas(DOCS / "explanation")
    draw_litellm(DOCS / "how-to/litellm.png")
    draw_steer(DOCS / "appendix/steer.png")


if __name__ == "__main__":
    main()
