"""From an experiment file to a checked experiment: nothing is played before all of it is right."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from hedgerow.baselines.fixed_actions import fixed as fixed_action
from hedgerow.baselines.methods import METHODS, find_method, method_names
from hedgerow.experiments import schema
from hedgerow.experiments.config import Experiment, FixedPlay, ProblemSpec, Tuning
from hedgerow.experiments.fingerprints import code_of, sha256
from hedgerow.experiments.problems import KINDS, find_kind, kind_names
from hedgerow.experiments.set_specs import read_set
from hedgerow.imports import as_name, is_path
from hedgerow.sets.decision_set import DecisionSet

PRESETS = ("practical", "theory")
GRID = tuple(2.0**k for k in range(-3, 4))
"""Eagerness that `hedgerow tune` tries, for every method: 1/8 to 8."""
RULES = ("sum", "target")
LARGEST_FILE = 1 << 24
LONGEST_PATH = 100
"""Characters of an import path: it becomes a part of the names of files."""
FIXED = "fixed"
"""The key of actions that are played for ever, and the name of one that has no other."""
Found = TypeVar("Found")


def load_experiment(
    path: Path | str | Mapping[str, Any], network: Path | None = None
) -> Experiment:
    """Read and check an experiment.

    Args:
        path: the file, or the name of a shipped experiment; or a dict of what a file would say,
            in which functions and classes may stand for their import paths.
        network: a network file for every problem that needs one and names none.

    """
    if isinstance(path, Mapping):
        table, base, where = copy.deepcopy(dict(path)), Path.cwd(), ""
    else:
        path = find_experiment(path)
        table, base, where = _parsed(path), path.resolve().parent, f"{path}: "
    if network is not None:
        _fill_network(table, network)
    try:
        return read_experiment(table, base)
    except ValueError as error:
        raise ValueError(f"{where}{error}") from None


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
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ValueError(f"{path}: this is no TOML ({error})") from None


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
    """Check a parsed experiment; `base` is the folder that file names are relative to."""
    schema.check_keys(
        table,
        "the experiment",
        ("name", "problems", "methods", "horizons", "seeds"),
        ("about", "without", "presets", "eagerness", "eager", "fixed", "few", "many", "tune"),
    )
    name = schema.short(table["name"], "name")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"name must be of letters, digits, - and _, got {name!r}")
    horizons = schema.distinct(table["horizons"], schema.horizon, "horizons")
    fixed = _fixed(table["fixed"]) if "fixed" in table else {}
    methods = _methods(table, fixed)
    experiment = Experiment(
        name=name,
        about=schema.checked(table.get("about", name), str, "about"),
        problems=_problems(table["problems"], horizons, base),
        methods=methods,
        presets=schema.distinct(
            table.get("presets", ["practical"]), schema.among(PRESETS), "presets"
        ),
        eagerness=schema.distinct(table.get("eagerness", [1.0]), schema.positive, "eagerness"),
        eager=schema.distinct(table.get("eager", list(methods)), schema.among(methods), "eager"),
        seeds=schema.seeds(table["seeds"], "seeds"),
        tuning=_tuning(table["tune"]) if "tune" in table else None,
        code=tuple(
            (name, code)
            for name in methods
            if name not in fixed and (code := code_of(find_method(name).build))
        ),
        fixed=tuple(fixed.items()),
        few=schema.count(table["few"], "few") if "few" in table else None,
        many=_many(table, methods),
    )
    _build_each(experiment)
    return experiment


def _fixed(given: Any) -> dict[str, FixedPlay]:
    """Return the actions that are played for ever, by name: one, or a table of them."""
    table = given if isinstance(given, Mapping) else {FIXED: given}
    found: dict[str, FixedPlay] = {}
    for name, action in table.items():
        where = FIXED if table is not given else f"{FIXED}.{name}"
        if is_path(schema.short(name, where)) or name in method_names():
            raise ValueError(f"{where} has the name of a method, or a colon in it; give another")
        if isinstance(action, str) and action:
            found[name] = action
        elif isinstance(action, list) and action and all(isinstance(v, str) for v in action):
            found[name] = tuple(action)
        elif isinstance(action, list) and action and not any(isinstance(v, str) for v in action):
            found[name] = tuple(schema.number(v, f"{where}[{i}]") for i, v in enumerate(action))
        else:
            raise ValueError(
                f"{where} must be an action: a list of numbers, a list of the nodes of a route, or "
                f"the name of a vertex such as 'a > b > c', got {action!r:.60}"
            )
    return found


def _methods(table: Mapping[str, Any], fixed: Mapping[str, FixedPlay]) -> tuple[str, ...]:
    """Return the methods: a list, or "all" of the library's without a few and the fixed actions."""
    given = table["methods"]
    if given != "all":
        if "without" in table:
            raise ValueError("without goes with methods = 'all'; leave it out of a list instead")
        if isinstance(given, str):
            raise ValueError(f"methods must be a list of names or 'all', got {given!r}")
        methods = schema.distinct(
            given, lambda value, where: _method(value, where, fixed), "methods"
        )
        if idle := [name for name in fixed if name not in methods]:
            raise ValueError(f"the fixed action {idle[0]!r} does not play; name it in methods, too")
        return methods
    left_out: tuple[str, ...] = ()
    if "without" in table:
        left_out = schema.distinct(table["without"], schema.among(METHODS), "without")
    return (*(name for name in METHODS if name not in left_out), *fixed)


def _many(table: Mapping[str, Any], methods: tuple[str, ...]) -> tuple[str, ...]:
    """Return the methods that play every seed, where a few are enough for the others."""
    if ("few" in table) != ("many" in table):
        raise ValueError(
            "few (how many seeds are enough) and many (the methods that play all) go together; "
            f"got {'few' if 'few' in table else 'many'} alone"
        )
    return schema.distinct(table["many"], schema.among(methods), "many") if "many" in table else ()


def _method(value: Any, where: str, fixed: Mapping[str, FixedPlay]) -> str:
    """Return the name of a method: of the library, a package, a fixed action, or a path."""
    if isinstance(value, str) and value in fixed:
        return value
    if value == FIXED:
        raise ValueError(
            f'{where} is {FIXED!r}, which needs its action; give it as {FIXED} = ["a", "b"]'
        )
    return _looked_up(value, where, METHODS, method_names, find_method).name


def _looked_up(
    value: Any,
    where: str,
    ours: Collection[str],
    names: Callable[[], list[str]],
    find: Callable[[str], Found],
) -> Found:
    """Return what a name or an import path stands for, or a function that is given itself."""
    if callable(value):
        try:
            value = as_name(value)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    if not isinstance(value, str) or not (value in ours or is_path(value)):
        schema.one_of(value, names(), where)
    if len(value) > LONGEST_PATH:
        raise ValueError(
            f"{where} must have at most {LONGEST_PATH} characters, got {len(value)}: {value!r}"
        )
    try:
        return find(value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _problems(given: Any, horizons: tuple[int, ...], base: Path) -> tuple[ProblemSpec, ...]:
    if not isinstance(given, list) or not given:
        raise ValueError("problems must be one or more [[problems]] tables")
    found = tuple(
        _problem(table, f"problems[{i}]", horizons, base) for i, table in enumerate(given)
    )
    labels = [problem.label for problem in found]
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise ValueError(f"problems[{i}] is {label!r} again; tell them apart by a key `label`")
    return found


def _problem(table: Any, where: str, horizons: tuple[int, ...], base: Path) -> ProblemSpec:
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError(f"{where} lacks the key 'kind'; give one of {', '.join(KINDS)}")
    kind = _looked_up(table["kind"], f"{where}.kind", KINDS, kind_names, find_kind)
    known = kind.parameters
    required = ["kind", *(name for name, p in known.items() if p.required)]
    optional = ["label", "horizons", *(name for name, p in known.items() if not p.required)]
    if "network" in required and "network" not in table:
        raise ValueError(f"{where} lacks the key 'network'; give it, or network=FILE")
    schema.check_keys(table, where, required, optional)
    values, hashes = {}, {}
    for name, parameter in known.items():
        if name not in table:
            values[name] = parameter.default
            continue
        if parameter.is_set:
            values[name] = read_set(table[name], f"{where}.{name}")
            continue
        values[name] = schema.checked(table[name], parameter.type, f"{where}.{name}")
        if parameter.is_file:
            hashes[name] = _digest(base / values[name], f"{where}.{name}")
    if "horizons" in table:
        horizons = schema.distinct(table["horizons"], schema.horizon, f"{where}.horizons")
    label = schema.short(table.get("label", kind.name), f"{where}.label")
    return ProblemSpec(
        label,
        kind.name,
        tuple(sorted((name, value) for name, value in values.items() if value is not None)),
        tuple(sorted(hashes.items())),
        horizons,
        str(base),
        code_of(kind.build),
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
    except ValueError:  # told when the problem is read
        return False


def _digest(path: Path, where: str) -> str:
    try:
        return sha256(path)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _tuning(table: Any) -> Tuning:
    optional = ("seeds", "rounds", "eagerness", "widen", "ccv_target")
    schema.check_keys(table, "tune", ("rule",), optional)
    if ("seeds" in table) == ("rounds" in table):
        raise ValueError(
            "tune needs seeds, the training ones, or rounds, how many of recorded data are for "
            f"training; got {'both' if 'seeds' in table else 'neither'}"
        )
    rule = schema.one_of(table["rule"], RULES, "tune.rule")
    if (rule == "target") != ("ccv_target" in table):
        raise ValueError(
            "tune.ccv_target goes with rule = 'target' and with no other; "
            f"got rule = {rule!r} and {'a' if 'ccv_target' in table else 'no'} ccv_target"
        )
    target = table.get("ccv_target")
    return Tuning(
        schema.seeds(table["seeds"], "tune.seeds") if "seeds" in table else (0,),
        schema.distinct(table.get("eagerness", list(GRID)), schema.positive, "tune.eagerness"),
        rule,
        None if target is None else schema.positive(target, "tune.ccv_target"),
        schema.count(table["widen"], "tune.widen") if "widen" in table else 0,
        schema.count(table["rounds"], "tune.rounds") if "rounds" in table else None,
    )


def _build_each(experiment: Experiment) -> None:
    """Build every problem once, so that a wrong number is refused before anything is played."""
    sets = []
    for i, problem in enumerate(experiment.problems):
        for horizon in problem.horizons:
            try:
                built = problem.build(horizon, experiment.seeds[0])
                if built.adaptive and not find_kind(problem.kind).reacts:
                    raise ValueError(
                        f"{problem.kind} reacts to the plays; declare it with "
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


def _check_fits(name: str, action: FixedPlay, sets: list[DecisionSet]) -> None:
    """Refuse an action that no problem has; where only some have it, others refuse its run."""
    why = ""
    for X in sets:
        try:
            fixed_action(X, action)
            return
        except (ValueError, TypeError) as error:
            why = str(error)
    raise ValueError(f"the fixed action {name!r}: {why}")
