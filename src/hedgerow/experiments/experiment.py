"""An experiment as it is run: problems, methods, horizons and seeds, all defaults resolved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.experiments.fingerprints import check_code, check_sha256
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.registry import find_set
from hedgerow.experiments.validation import Action, GivenConstants
from hedgerow.problems.problem import Problem
from hedgerow.sets.decision_set import DecisionSet

FORMAT = 1
"""Of result files; a change makes older folders unreadable."""


def plain(value: Any) -> Any:
    """Return a value with lists in place of tuples, as JSON has them."""
    return [plain(entry) for entry in value] if isinstance(value, tuple) else value


def plain_constants(given: GivenConstants) -> dict[str, Any]:
    """Return the constants of a method as plain data."""
    method, constants = given
    return {"method": method, "values": {key: plain(value) for key, value in constants}}


@dataclass(frozen=True)
class SetSpec:
    """A decision set as a file names it.

    Attributes:
        kind: its name in the library or in an installed package, or its import path.
        arguments: what it is built with, sorted by name.
        code: the SHA-256 of the file that defines a kind from outside of the library.

    """

    kind: str
    arguments: tuple[tuple[str, Any], ...]
    code: str = ""

    def build(self) -> DecisionSet:
        """Build the set."""
        made = find_set(self.kind).build(**dict(self.arguments))
        if not isinstance(made, DecisionSet):
            raise TypeError(f"{self.kind} must return a DecisionSet, got {type(made).__name__}")
        return made

    def resolved(self) -> dict[str, Any]:
        """Return what identifies the set, as plain data."""
        code = {"code": self.code} if self.code else {}
        arguments = {name: plain(value) for name, value in self.arguments}
        return {"kind": self.kind, "arguments": arguments, **code}


@dataclass(frozen=True)
class ProblemSpec:
    """One problem of an experiment, before horizon and seed.

    Attributes:
        label: its name in tables, unique in the experiment.
        kind: its name in the catalogue, or its import path.
        parameters: every parameter that is set, by the file or by default, sorted by name.
        files: the SHA-256 of each file among them.
        horizons: the numbers of rounds.
        base: the folder that file names are relative to; where it is makes no difference.
        code: the SHA-256 of the file that defines a kind from outside of the library.

    """

    label: str
    kind: str
    parameters: tuple[tuple[str, Any], ...]
    files: tuple[tuple[str, str], ...]
    horizons: tuple[int, ...]
    base: str
    code: str = ""

    def build(self, horizon: int, seed: int) -> Problem:
        """Return the problem; its files must be those that the experiment was read with."""
        given = dict(self.parameters)
        for name, expected in self.files:
            given[name] = Path(self.base, given[name])
            check_sha256(given[name], expected)
        given |= {name: value.build() for name, value in self.sets}
        problem = find_kind(self.kind).build(horizon, seed, **given)
        if not isinstance(problem, Problem):
            raise TypeError(f"{self.kind} must return a Problem, got {type(problem).__name__}")
        return problem

    @property
    def sets(self) -> tuple[tuple[str, SetSpec], ...]:
        """The sets among the parameters."""
        return tuple((name, v) for name, v in self.parameters if isinstance(v, SetSpec))

    def check_code(self) -> None:
        """Refuse code from outside of the library if this process has another version or none."""
        check_code(find_kind, self.kind, self.code)
        for _, of in self.sets:
            check_code(find_set, of.kind, of.code)

    def resolved(self) -> dict[str, Any]:
        """Return what identifies the problem, as plain data."""
        hashes = dict(self.files)
        return {
            "label": self.label,
            "kind": self.kind,
            "parameters": {
                name: Path(value).name if name in hashes else value
                for name, value in self.parameters
                if not isinstance(value, SetSpec)
            }
            | {name: of.resolved() for name, of in self.sets},
            "sha256": hashes,
            **({"code": self.code} if self.code else {}),
        }


@dataclass(frozen=True)
class Tuning:
    """How `hedgerow tune` chooses the eagerness of each method; see `hedgerow.experiments.tuning`.

    Attributes:
        seeds: the training seeds; none of them is reported.
        eagerness: the grid, the same for every method.
        rule: "sum" or "target".
        ccv_target: for "target": the CCV allowed, as a share of the unconstrained action's.
        widen: how often the grid of a method may be continued beyond an end that was chosen.
        rounds: of recorded data: the number of first rounds for training; later ones are reported.

    """

    seeds: tuple[int, ...]
    eagerness: tuple[float, ...]
    rule: str
    ccv_target: float | None
    widen: int = 0
    rounds: int | None = None


@dataclass(frozen=True)
class Experiment:
    """A checked experiment file.

    Attributes:
        name: of the experiment, also of its default folder.
        about: a sentence for tables.
        problems: the problems.
        methods: the methods, by name or by import path.
        presets: the sets of constants.
        eagerness: of the practical presets; a theory preset always has 1.
        eagerness_methods: the methods that play every eagerness; all others play 1.
        seeds: one repetition each.
        tuning: of `hedgerow tune`, or None.
        code: the SHA-256 of the file of each method from outside of the library, by its name.
        fixed: the methods that play the same action in every round, with their actions.
        violated: the methods with an allowed share of violated rounds: the method inside, and p.
        common_seeds: how many seeds every method plays, the first ones; None: all of them.
        all_seeds: the methods that play every seed, with eagerness 1 and at the longest horizon
            of each problem. They alone play shorter horizons, with a few seeds.
        constants: the methods with constants of the user's: the method inside, and its constants.

    """

    name: str
    about: str
    problems: tuple[ProblemSpec, ...]
    methods: tuple[str, ...]
    presets: tuple[str, ...]
    eagerness: tuple[float, ...]
    eagerness_methods: tuple[str, ...]
    seeds: tuple[int, ...]
    tuning: Tuning | None = None
    code: tuple[tuple[str, str], ...] = ()
    fixed: tuple[tuple[str, Action], ...] = ()
    violated: tuple[tuple[str, tuple[str, float]], ...] = ()
    common_seeds: int | None = None
    all_seeds: tuple[str, ...] = ()
    constants: tuple[tuple[str, GivenConstants], ...] = ()

    def plays(self, method: str, eagerness: float, longest: bool, seed: int) -> bool:
        """Whether a method plays a seed with this eagerness, at the longest horizon or not."""
        if self.common_seeds is None:
            return True
        much, early = (
            method in self.all_seeds and eagerness == 1.0,
            seed in self.seeds[: self.common_seeds],
        )
        return (much or early) if longest else (much and early)

    def resolved(self) -> dict[str, Any]:
        """Return the experiment as plain data, with every default written out."""
        from hedgerow import __version__

        tuning = self.tuning and {key: plain(value) for key, value in vars(self.tuning).items()}
        return {
            "format": FORMAT,
            "hedgerow": __version__,
            "name": self.name,
            "about": self.about,
            "problems": [
                {**problem.resolved(), "horizons": list(problem.horizons)}
                for problem in self.problems
            ],
            "methods": list(self.methods),
            "presets": list(self.presets),
            "eagerness": list(self.eagerness),
            "eagerness_methods": list(self.eagerness_methods),
            "seeds": list(self.seeds),
            "tune": tuning,
            **({"code": dict(self.code)} if self.code else {}),
            **({"fixed": {name: plain(x) for name, x in self.fixed}} if self.fixed else {}),
            **(
                {"violated": {name: list(entry) for name, entry in self.violated}}
                if self.violated
                else {}
            ),
            **(
                {"common_seeds": self.common_seeds, "all_seeds": list(self.all_seeds)}
                if self.common_seeds is not None
                else {}
            ),
            **(
                {"constants": {name: plain_constants(entry) for name, entry in self.constants}}
                if self.constants
                else {}
            ),
        }
