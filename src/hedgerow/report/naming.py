"""Full names of methods, for titles, legends and sentences."""

from __future__ import annotations

from hedgerow.baselines.methods import METHODS, TODAY, installed_method
from hedgerow.policies.presets import Preset

OURS, PLAIN = "projection_free_coco", "projection_free_coco_plain"
SINHA, WANG, GARBER = "sinha_vaze_2024", "wang_2025", "garber_kretzu_2024_dpp"
HEADLINE = (OURS, PLAIN, SINHA, WANG, GARBER)
"""The paper's four methods and the plain variant of ours: the page always opens with them."""
OWN = {
    OURS: "Algorithm 2, our default",
    PLAIN: "Algorithm 2, our plain variant",
    "projection_free_long_term": "Algorithm 2 for long-term constraints",
    "projection_free_bandit": "Algorithm 4, values only",
    "ftpl_coco": "Algorithm 7, perturbed leader",
    "follow_the_leader_feasible": "Follow the leader, feasible",
    "unconstrained": "Algorithm 1, unconstrained",
}
"""Methods of the paper or of this library, which the page need not attribute to others."""
WORK = {
    "1 projection": "projects",
    "1 convex programme": "solves a programme",
    "1 linear programme": "solves a programme",
}
"""What a round costs beside a linear minimisation, as `Method.per_round` begins."""


def is_own(method: str) -> bool:
    """Whether a method is the user's own: the library has none of this name.

    >>> is_own("my_methods:cautious"), is_own("sinha_vaze_2024")
    (True, False)
    """
    return method not in METHODS and method not in TODAY


def full_name(method: str, preset: str) -> str:
    """Return a method's full name, with remarks such as "reconstruction".

    Args:
        method: its name in code.
        preset: the constants that it was played with.

    >>> full_name("sinha_vaze_2024", "practical")
    'Sinha and Vaze 2024 (projects)'
    >>> full_name("garber_kretzu_2024_dpp", "practical")
    'Garber and Kretzu 2024, Algorithm 3 (reconstruction)'
    >>> full_name("of_tomorrow", "practical")
    'of_tomorrow'

    """
    if method == OURS and preset == "theory":
        return "Algorithm 2, as in the paper"
    known = installed_method(method)
    if known is None:
        return OWN.get(method, method)
    name, notes = OWN.get(method), []
    if name is None:
        unnamed = is_own(method) or known.source == "not stated"
        name = method if unnamed else known.source.split(";")[0]
        notes = [word for begin, word in WORK.items() if known.per_round.startswith(begin)][:1]
    notes.append(remarks_of(method, preset))
    remarks = "; ".join(note for note in notes if note)
    return f"{name} ({remarks})" if remarks else name


def remarks_of(method: str, preset: str) -> str:
    """Return the remarks on a method's numbers, such as "reconstruction"; often nothing."""
    known = installed_method(method)
    constants: Preset = "theory" if preset == "theory" else "practical"
    return known.remarks(constants) if known else ""
