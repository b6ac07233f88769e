"""Read an experiment file; all of it is validated before anything is played."""

from __future__ import annotations

import copy
import inspect
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from hedgerow.baselines.fixed_actions import fixed as fixed_action
from hedgerow.baselines.methods import find_method
from hedgerow.experiments.experiment import Experiment, ProblemSpec, SetSpec, Tuning
from hedgerow.experiments.fingerprints import code_of, sha256
from hedgerow.experiments.problems import KINDS, find_kind, kind_names
from hedgerow.experiments.registry import find_set
from hedgerow.experiments.validation import (
    Action,
    Distinct,
    ExperimentFile,
    Horizon,
    ShortText,
    TuneTable,
    errors_after,
    key_type,
    look_up,
    parse,
    parse_keys,
)
from hedgerow.imports import as_name, search_in
from hedgerow.sets.decision_set import DecisionSet

LARGEST_FILE = 1 << 24


def load_experiment(
    path: Path | str | Mapping[str, Any], network: Path | None = None
) -> Experiment:
    """Read and check an experiment.

    Args:
        path: the file, the name of a shipped experiment, or a dict with the keys of a file, in
            which functions and classes may replace their import paths.
        network: a network file for every problem that needs one and names none.

    """
    if isinstance(path, Mapping):
        table, base, where = copy.deepcopy(dict(path)), Path.cwd(), ""
    else:
        path = find_experiment(path)
        table, base, where = _parsed(path), path.resolve().parent, f"{path}: "
        search_in(base)  # methods of your own lie beside the file
    if network is not None:
        _fill_network(table, network)
    with errors_after(where):
        return read_experiment(table, base)


def _parsed(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    if len(content) > LARGEST_FILE:
        raise ValueError(
            f"{path}: the file has {len(content)} bytes, at most {LARGEST_FILE} are read"
        )
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError(f"{path}: lists and tables are nested too deeply; flatten them") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise ValueError(f"{path}: this is not TOML ({error})") from None


def shipped() -> dict[str, Path]:
    """Return the experiments that come with the library, by name."""
    folder = Path(str(files("hedgerow.experiments") / "shipped"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_experiment(path: Path | str) -> Path:
    """Return where an experiment file is; a bare name may be a shipped one."""
    path, known = Path(path), shipped()
    if path.is_file():
        return path
    if str(path) in known:
        return known[str(path)]
    raise ValueError(
        f"there is no experiment file {path}, and no shipped experiment of that name; "
        f"shipped are {', '.join(known)}"
    )


def read_experiment(table: Mapping[str, Any], base: Path) -> Experiment:
    """Validate a parsed experiment; `base` is the folder that file names are relative to."""
    file: ExperimentFile = parse(ExperimentFile, table, root="the experiment")
    inside = {name: method for name, (method, _) in (file.violated | file.constants).items()}
    code = {
        name: code_of(find_method(inside.get(name, name)).build)
        for name in file.methods
        if name not in file.fixed
    }
    experiment = Experiment(
        name=file.name,
        about=file.about or file.name,
        problems=_problems(file, base),
        methods=tuple(file.methods),
        presets=tuple(file.presets),
        eagerness=tuple(file.eagerness),
        eagerness_methods=tuple(file.eagerness_methods or file.methods),
        seeds=tuple(file.seeds),
        tuning=_tuning(file.tune) if file.tune else None,
        code=tuple((name, digest) for name, digest in code.items() if digest),
        fixed=tuple(file.fixed.items()),
        violated=tuple(file.violated.items()),
        constants=tuple(file.constants.items()),
        common_seeds=file.common_seeds,
        all_seeds=tuple(file.all_seeds or ()),
    )
    _build_each(experiment)
    return experiment


def _tuning(table: TuneTable) -> Tuning:
    return Tuning(
        tuple(table.seeds or (0,)),
        tuple(table.eagerness),
        table.rule,
        table.ccv_target,
        table.widen,
        table.rounds,
    )


def _problems(file: ExperimentFile, base: Path) -> tuple[ProblemSpec, ...]:
    found: dict[str, ProblemSpec] = {}
    for i, table in enumerate(file.problems):
        problem = _problem(table, f"problems[{i}]", tuple(file.horizons), base)
        if problem.label in found:
            raise ValueError(
                f"problems[{i}] is {problem.label!r} again; tell them apart by a key `label`"
            )
        found[problem.label] = problem
    return tuple(found.values())


def _problem(table: Any, where: str, horizons: tuple[int, ...], base: Path) -> ProblemSpec:
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError(f"{where} lacks the key 'kind'; give one of {', '.join(KINDS)}")
    kind = look_up(table["kind"], KINDS, kind_names, find_kind, f"{where}.kind")
    known = kind.parameters
    if "network" in known and known["network"].required and "network" not in table:
        raise ValueError(f"{where} lacks the key 'network'; give it, or network=FILE")
    keys = {"kind": Any, "label": ShortText, "horizons": Distinct[Horizon]}
    keys |= {name: key_type(parameter.type) for name, parameter in known.items()}
    required = ["kind", *(name for name, parameter in known.items() if parameter.required)]
    given = parse_keys(keys, required, table, where)
    values = {name: given.get(name, parameter.default) for name, parameter in known.items()}
    hashes = {}
    for name in known.keys() & given.keys():
        if known[name].is_set:
            values[name] = _set(given[name], f"{where}.{name}")
        elif known[name].is_file:
            with errors_after(f"{where}.{name}: "):
                hashes[name] = sha256(base / given[name])
    return ProblemSpec(
        given.get("label") or parse(ShortText, kind.name, f"{where}.label"),
        kind.name,
        tuple(sorted((name, value) for name, value in values.items() if value is not None)),
        tuple(sorted(hashes.items())),
        tuple(given.get("horizons", horizons)),
        str(base),
        code_of(kind.build),
    )


def _set(value: Any, where: str) -> SetSpec:
    """Validate a set: its name, or a table with its `kind` and its keys."""
    table = value if isinstance(value, Mapping) else {"kind": value}
    if "kind" not in table:
        raise ValueError(f"{where} lacks the key 'kind', the name of a set; give it")
    with errors_after(f"{where}.kind: "):
        kind = find_set(as_name(table["kind"]))
    given = {name: _argument(v, f"{where}.{name}") for name, v in table.items() if name != "kind"}
    try:
        inspect.signature(kind.build).bind(**given)
    except TypeError as error:
        raise ValueError(
            f"{where}: {kind.name} does not take these keys ({error}); its keys are "
            f"{', '.join(inspect.signature(kind.build).parameters) or 'none'}"
        ) from None
    return SetSpec(kind.name, tuple(sorted(given.items())), code_of(kind.build))


def _argument(value: Any, where: str) -> Any:
    """Return a key of a set as it can be hashed and stored: a number, a text, or tuples of them."""
    if isinstance(value, list | tuple):
        return tuple(_argument(entry, f"{where}[{i}]") for i, entry in enumerate(value))
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{where} must be a number, a text or a list of them, got {type(value).__name__}; build "
        "other sets in a function of your own, and name it by its import path"
    )


def _fill_network(table: dict[str, Any], network: Path) -> None:
    problems = table.get("problems")
    lacking = [
        problem
        for problem in (problems if isinstance(problems, list) else [])
        if isinstance(problem, dict)
        and _takes_network(str(problem.get("kind")))
        and "network" not in problem
    ]
    if not lacking:
        raise ValueError(
            "no problem of this experiment lacks a network file; leave out network=..."
        )
    for problem in lacking:
        problem["network"] = str(network.resolve())


def _takes_network(kind: str) -> bool:
    try:
        return "network" in find_kind(kind).parameters
    except ValueError:  # reported when the problem is read
        return False


def _build_each(experiment: Experiment) -> None:
    """Build every problem once, so that an invalid number is refused before anything is played."""
    sets = []
    for i, problem in enumerate(experiment.problems):
        for horizon in problem.horizons:
            try:
                built = problem.build(horizon, experiment.seeds[0])
                if built.adaptive and not find_kind(problem.kind).reacts:
                    raise ValueError(
                        f"{problem.kind} reacts to the decisions; declare it with "
                        "@problem_kind(reacts=True)"
                    )
            except (ValueError, TypeError) as error:
                raise ValueError(f"problems[{i}] ({problem.label}): {error}") from None
            except (MemoryError, OverflowError):
                raise ValueError(
                    f"problems[{i}] ({problem.label}) with {horizon} rounds does not fit in "
                    "memory; choose smaller numbers"
                ) from None
            sets.append(built.decision_set)
    for name, action in experiment.fixed:
        _check_fits(name, action, sets)


def _check_fits(name: str, action: Action, sets: list[DecisionSet]) -> None:
    """Refuse an action that no problem has; where only some have it, others refuse its run."""
    why = ""
    for X in sets:
        try:
            fixed_action(X, action)
            return
        except (ValueError, TypeError) as error:
            why = str(error)
    raise ValueError(f"the fixed action {name!r}: {why}")
