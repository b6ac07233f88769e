"""The tasks of an experiment, benchmarks and runs, each with a unique name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hedgerow.baselines.methods import constants_method, find_method, fixed_method, share_method
from hedgerow.experiments.experiment import Experiment, ProblemSpec, plain, plain_constants
from hedgerow.experiments.fingerprints import check_code
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.records import Place
from hedgerow.experiments.validation import Action, GivenConstants
from hedgerow.policies.method import Method
from hedgerow.policies.presets import Preset
from hedgerow.problems.problem import Problem


@dataclass(frozen=True)
class BenchmarkTask:
    """Find the best fixed action of one problem, horizon and seed."""

    problem: ProblemSpec
    horizon: int
    seed: int

    @property
    def place(self) -> Place:
        """The folder of its record, inside that of the results."""
        return "benchmarks"

    @property
    def id(self) -> str:
        """The name of its files without suffix, the same in every process."""
        return _named(self.key(), self.problem.label, f"T{self.horizon}", f"s{self.seed}")

    def key(self) -> dict[str, Any]:
        """Return what identifies it, as plain data."""
        problem = self.problem.resolved()
        label = problem.pop("label")
        return {"problem": label, **problem, "horizon": self.horizon, "seed": self.seed}

    def check_code(self) -> None:
        """Refuse code from outside of the library if this process has another version or none."""
        self.problem.check_code()

    def build(self) -> Problem:
        """Build the problem."""
        return self.problem.build(self.horizon, self.seed)


@dataclass(frozen=True)
class RunTask:
    """Play one method on one problem.

    Attributes:
        game: the problem with horizon and seed; recorded data always have seed 0 here.
        method: the method, by name or by import path.
        preset: its constants.
        eagerness: its one tuned factor, where it has one.
        seed: the repetition; it also fixes the method's own draws.
        code: the SHA-256 of the file that defines a method from outside of the library.
        action: the action of a method that plays the same one in every round.
        violated: of a method with an allowed share of violated rounds, the method inside and p.
        constants: of a method with constants of the user's, the method inside and the constants.
        chunks: the folder for chunks of long games, if any; it does not identify a run.

    """

    game: BenchmarkTask
    method: str
    preset: str
    eagerness: float
    seed: int
    code: str = ""
    action: Action | None = None
    violated: tuple[str, float] | None = None
    constants: GivenConstants | None = None
    chunks: str = ""

    @property
    def place(self) -> Place:
        """The folder of its record, inside that of the results."""
        return "runs"

    @property
    def id(self) -> str:
        """The name of its files without suffix, the same in every process."""
        parts = (
            self.game.problem.label,
            self.method,
            self.preset,
            f"e{self.eagerness:g}",
            f"T{self.game.horizon}",
            f"s{self.seed}",
        )
        return _named(self.key(), *parts)

    def key(self) -> dict[str, Any]:
        """Return what identifies it, as plain data."""
        return {
            **self.game.key(),
            "method": self.method,
            "preset": self.preset,
            "eagerness": self.eagerness,
            "seed": self.seed,
            **({"method_code": self.code} if self.code else {}),
            **({"action": plain(self.action)} if self.action is not None else {}),
            **({"violated": list(self.violated)} if self.violated is not None else {}),
            **({"constants_given": plain_constants(self.constants)} if self.constants else {}),
        }

    def check_code(self) -> None:
        """Refuse code from outside of the library if this process has another version or none."""
        self.game.check_code()
        inside, *_ = self.violated or self.constants or (self.method,)
        check_code(find_method, inside, self.code)

    def method_and_preset(self) -> tuple[Method, Preset]:
        """Return the method, and the preset of its constants."""
        method = _method(self.method, self.action, self.violated, self.constants)
        return method, cast(Preset, self.preset)

    def policy_seed(self) -> int:
        """Return the seed of the method's own draws, independent of the problem's.

        Methods, presets and horizons share it: their runs of one seed are paired.
        """
        stream = np.random.SeedSequence(self.seed, spawn_key=(POLICY_STREAM,))
        return int(stream.generate_state(1)[0])


Task = BenchmarkTask | RunTask

POLICY_STREAM = 7
"""Problems draw from SeedSequence([seed, 0..2]); a spawn key is apart from all of these."""


def plan(experiment: Experiment) -> list[Task]:
    """Return all tasks of an experiment: the benchmark of each game, then its runs.

    An adaptive problem has no benchmark of its own: each run makes one.
    """
    tasks: list[Task] = []
    for game in games(experiment):
        seeds = experiment.seeds if not _seeded(game) else (game.seed,)
        runs = [run for seed in seeds for run in _runs(experiment, game, seed)]
        if runs and not find_kind(game.problem.kind).reacts:
            tasks.append(game)
        tasks.extend(runs)
    return tasks


def games(experiment: Experiment) -> Iterator[BenchmarkTask]:
    """Yield every problem with horizon and seed; recorded data once, with seed 0."""
    for problem in experiment.problems:
        for horizon in problem.horizons:
            seeds = experiment.seeds if find_kind(problem.kind).seeded else (0,)
            yield from (BenchmarkTask(problem, horizon, seed) for seed in seeds)


def eagerness_of(method: Method, preset: str, asked: tuple[float, ...]) -> tuple[float, ...]:
    """Return the eagerness values that a method can take; theorems have only 1."""
    return asked if preset == "practical" and method.takes("eagerness") else (1.0,)


def _runs(experiment: Experiment, game: BenchmarkTask, seed: int) -> Iterator[RunTask]:
    """Yield the runs of one game; a method without draws plays recorded data once."""
    code, fixed = dict(experiment.code), dict(experiment.fixed)
    shares, constants = dict(experiment.violated), dict(experiment.constants)
    longest = game.horizon == max(game.problem.horizons)
    for name in experiment.methods:
        given = constants.get(name)
        method = _method(name, fixed.get(name), shares.get(name), given)
        if not _seeded(game) and not method.takes("seed") and seed != experiment.seeds[0]:
            continue
        for preset in experiment.presets if method.takes("preset") else ("practical",):
            asked = experiment.eagerness if name in experiment.eagerness_methods else (1.0,)
            if given is not None and "eagerness" in dict(given[1]):
                asked = (float(dict(given[1])["eagerness"]),)
            for eagerness in eagerness_of(method, preset, asked):
                if experiment.plays(name, eagerness, longest, seed):
                    yield RunTask(
                        game,
                        name,
                        preset,
                        eagerness,
                        seed,
                        code.get(name, ""),
                        fixed.get(name),
                        shares.get(name),
                        given,
                    )


def _method(
    name: str,
    action: Action | None,
    violated: tuple[str, float] | None,
    constants: GivenConstants | None,
) -> Method:
    if constants is not None:
        return constants_method(name, constants[0], dict(constants[1]))
    if violated is not None:
        return share_method(name, *violated)
    return find_method(name) if action is None else fixed_method(name, action)


def _seeded(game: BenchmarkTask) -> bool:
    return find_kind(game.problem.kind).seeded


def _named(key: dict[str, Any], *parts: str) -> str:
    """Return a readable name, made unique by a digest of the whole key."""
    text = json.dumps(key, sort_keys=True, allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", "-".join(parts)) + f"-{digest}"
