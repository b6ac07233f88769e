"""Names of methods in titles, legends and sentences, and the methods that stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from hedgerow.baselines.methods import METHODS, TODAY, installed_method
from hedgerow.policies.presets import Preset

OURS, PLAIN = "projection_free_coco", "projection_free_coco_plain"
SINHA, WANG, GARBER = "sinha_vaze_2024", "wang_2025", "garber_kretzu_2024_dpp"
HEADLINE = (OURS, PLAIN, SINHA, WANG, GARBER)
"""The methods of Sarkar et al. 2026 and the plain variant: the page always opens with them."""
OWN = {
    OURS: "Hedgerow (restricted master)",
    PLAIN: "Hedgerow, plain (Sarkar et al. 2026, Algorithm 2)",
    "projection_free_long_term": "Hedgerow, long-term constraints",
    "projection_free_bandit": "Sarkar et al. 2026, Algorithm 4, values only",
    "ftpl_coco": "Sarkar et al. 2026, Algorithm 7, perturbed leader",
    "follow_the_leader_feasible": "Follow the leader, feasible",
    "unconstrained": "Sarkar et al. 2026, Algorithm 1, unconstrained",
}
"""Methods whose name says more than their source; neutral, for anybody's paper."""
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


def work_note(method: str) -> str:
    """Return what a round of a method costs beside a linear minimisation; often nothing.

    >>> work_note("sinha_vaze_2024"), work_note("projection_free_coco")
    ('projects', '')
    """
    known = installed_method(method)
    if known is None or method in OWN:
        return ""
    return next((word for begin, word in WORK.items() if known.per_round.startswith(begin)), "")


class Names:
    """Names of the methods of one experiment.

    Args:
        experiment: the resolved experiment.
        labels: names to show instead, by method.
        highlight: the methods that stand out; the user's own if left out, else Hedgerow's.

    >>> names = Names({"methods": ["sinha_vaze_2024", "mine:fw"]}, {"mine:fw": "Ours"})
    >>> names.full("sinha_vaze_2024", "practical"), names.full("mine:fw", "practical")
    ('Sinha and Vaze 2024 (projects)', 'Ours')
    >>> names.full("garber_kretzu_2024_dpp", "practical"), names.highlighted
    ('Garber and Kretzu 2024, Algorithm 3 (reconstruction)', ('mine:fw',))

    """

    def __init__(
        self,
        experiment: Mapping[str, Any],
        labels: Mapping[str, str] | None = None,
        highlight: Sequence[str] = (),
    ):
        methods = list(experiment["methods"])
        for what, given in (("labels", labels or {}), ("highlight", highlight)):
            for name in given:
                if name not in methods:
                    near = get_close_matches(name, methods, n=1)
                    raise ValueError(
                        f"{what} names {name!r}, which the experiment does not have"
                        f"{f' (did you mean {near[0]!r}?)' if near else ''}; its methods are "
                        f"{', '.join(methods)}"
                    )
        self.labels = dict(labels or {})
        self._constants = experiment.get("constants", {})
        inside = {name: of["method"] for name, of in self._constants.items()}
        inside |= {name: of[0] for name, of in experiment.get("violated", {}).items()}
        fixed = experiment.get("fixed", {})
        own = [m for m in methods if m not in fixed and is_own(inside.get(m, m))]
        standing_out = list(highlight) or own or [m for m in methods if m == OURS]
        self.highlighted = tuple(dict.fromkeys(standing_out))

    def bare(self, method: str, preset: str) -> str:
        """Return a method's name without remarks."""
        if method in self.labels:
            return self.labels[method]
        if method == OURS and preset == "theory":
            return "Sarkar et al. 2026, Algorithm 2"
        known = installed_method(method)
        if method in OWN or known is None:
            return OWN.get(method, method)
        return method if is_own(method) or known.source == "not stated" else _source(known.source)

    def short(self, method: str, preset: str) -> str:
        """Return a method's name for the side of a figure: no remarks, nothing in brackets."""
        name = self.bare(method, preset)
        return name if method in self.labels else name.split(" (")[0]

    def full(self, method: str, preset: str) -> str:
        """Return a method's name with remarks such as "reconstruction"."""
        work = work_note(self._inside(method))
        return _with_remarks(self.bare(method, preset), work, self.remarks(method, preset))

    def in_code(self, method: str, preset: str) -> str:
        """Return a method's name in code, or its label, with remarks such as "reconstruction"."""
        return _with_remarks(self.labels.get(method, method), self.remarks(method, preset))

    def remarks(self, method: str, preset: str) -> str:
        """Return the remarks on a method's numbers, such as "reconstruction"; often nothing."""
        inside = self._inside(method)
        known = installed_method(inside)
        constants: Preset = "theory" if preset == "theory" else "practical"
        said = [known.remarks(constants)] if known else []
        if given := self._constants.get(method):
            values = ", ".join(f"{key} = {value}" for key, value in given["values"].items())
            said.append(values if inside == method else f"{inside} with {values}")
        return "; ".join(part for part in said if part)

    def _inside(self, method: str) -> str:
        """Return the method whose constants the user set, or the method itself."""
        return str(self._constants[method]["method"]) if method in self._constants else method


def _source(source: str) -> str:
    return source.split(";")[0]


def _with_remarks(name: str, *remarks: str) -> str:
    said = "; ".join(part for part in remarks if part)
    return f"{name} ({said})" if said else name
