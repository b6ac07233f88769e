"""Methods and problems in words, for titles, legends and sentences; tables have the code names."""

from __future__ import annotations

from hedgerow.baselines.methods import installed_method

OURS, PLAIN = "projection_free_coco", "projection_free_coco_plain"
SINHA, WANG, GARBER = "sinha_vaze_2024", "wang_2025", "garber_kretzu_2024_dpp"
HEADLINE = (OURS, PLAIN, SINHA, WANG, GARBER)
"""The paper's four methods and the plain variant of ours: whom the page opens with."""
OWN = {
    OURS: "Algorithm 2, our default",
    PLAIN: "Algorithm 2, our plain variant",
    "projection_free_long_term": "Algorithm 2 for long-term constraints",
    "projection_free_cbco": "Algorithm 4, values only",
    "ftpl_coco": "Algorithm 7, perturbed leader",
    "follow_the_leader_feasible": "Follow the leader, feasible",
    "unconstrained": "Algorithm 1, blind to the constraint",
}
"""Methods of the paper or of this library, which the page need not attribute to others."""
WORK = {
    "1 projection": "projects",
    "1 convex programme": "solves a programme",
    "1 linear programme": "solves a programme",
}
"""What a round costs beside a linear minimisation, as `Method.per_round` begins."""


def in_words(method: str) -> str:
    """Return what a method is called in titles and legends.

    >>> in_words("sinha_vaze_2024")
    'Sinha and Vaze 2024 (projects)'
    >>> in_words("of_tomorrow")
    'of_tomorrow'
    """
    known = installed_method(method)
    if method in OWN:
        return OWN[method]
    if known is None or known.source == "not stated":
        return method
    work = [word for begin, word in WORK.items() if known.per_round.startswith(begin)]
    return f"{known.source.split(';')[0]}{f' ({work[0]})' if work else ''}"
