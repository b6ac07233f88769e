"""Pydantic models of experiment files; every error of theirs becomes one sentence.

A validator that raises a ValueError writes only what follows the name of the key, such as
" must be above 0, got -1": `parse` puts the path of the key in front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FiniteFloat,
    NonNegativeInt,
    PlainValidator,
    PositiveInt,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from hedgerow.baselines.methods import METHODS, constant_names, find_method, method_names
from hedgerow.imports import as_name, is_path

T = TypeVar("T")

LONGEST_NAME = 60
"""Characters: names become parts of the names of files."""
LONGEST_PATH = 100
"""Characters of an import path: it becomes a part of the names of files."""
LARGEST_COUNT = 2**63 - 1
"""What an array can be indexed with."""
LONGEST_HORIZON = 10**9
"""Rounds of one game: hours, and 16 GB for what each of them costs and violates."""
MOST_SEEDS = 100_000
"""Of one experiment: each is a file for every method, problem and horizon."""
GRID = tuple(2.0**k for k in range(-3, 4))
"""Eagerness that `hedgerow tune` tries, for every method: 1/8 to 8."""
NOT_EMPTY = "be a list of one or more entries"
FIXED = "fixed"
"""The key of actions that are played in every round, and the name of one that has no other."""
Action = tuple[float, ...] | tuple[str, ...] | str
"""An action as a file names it: a point, the nodes of a route, or a vertex by name."""
GivenConstants = tuple[str, tuple[tuple[str, Any], ...]]
"""A method, and the constants that a file sets for it, sorted by name."""


def parse(model: Any, given: object, where: str = "", *, root: str | None = None) -> Any:
    """Validate a value by a model or a type; raise a ValueError of one sentence.

    Args:
        model: a pydantic model, or any type that pydantic validates.
        given: the value.
        where: the path of its key.
        root: what a sentence calls the value itself, where it has no key.

    """
    try:
        return _adapter(model).validate_python(given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # an unknown key comes before a missing one: it may be the same key, misspelt
        found.sort(key=lambda e: (*UNKNOWN, "missing", e["type"]).index(e["type"]))
        text = f"{where}{_sentence(found[0], model)}"
        if root is not None:
            text = f"{root}{text}" if text.startswith(" ") else text.removeprefix(".")
        raise ValueError(text) from None


@contextmanager
def errors_after(prefix: str) -> Iterator[None]:
    """Put a prefix, such as the path of a key, before the sentence of a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{prefix}{error}") from None


def parse_keys(
    keys: Mapping[str, Any], required: Collection[str], given: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Validate a table, given the types of its keys and which of them it must have."""
    for key in given:
        if key not in keys:
            raise ValueError(where + _unknown_key(key, keys, required))
    for key in required:
        if key not in given:
            raise ValueError(where + _missing_key(key))
    return {key: parse(keys[key], value, f"{where}.{key}") for key, value in given.items()}


UNKNOWN = ("extra_forbidden", "invalid_key")
"""Types of pydantic's errors for a key that is not in the model, and one that is not a text."""


@lru_cache(maxsize=256)
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _sentence(error: Any, model: Any) -> str:
    """Return an error of pydantic as a sentence that begins after the path of the model."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]]
    where, table, kind = "".join(steps), "".join(steps[:-1]), error["type"]
    if kind == "value_error":
        return f"{where}{error['ctx']['error']}"
    if kind in UNKNOWN:
        fields = model.model_fields
        required = [name for name, field in fields.items() if field.is_required()]
        return table + _unknown_key(error["loc"][-1], fields, required)
    if kind == "missing":
        return table + _missing_key(error["loc"][-1])
    demand = error["msg"].removeprefix("Input ")
    demand = {"list_type": f"must {NOT_EMPTY}", "model_type": "must be a table"}.get(kind, demand)
    return f"{where} {demand}, got {shown(error['input'])}"


def _unknown_key(key: Any, keys: Collection[str], required: Collection[str]) -> str:
    allowed = [*required, *(name for name in keys if name not in required)]
    return f" has an unknown key {shown(key)}{hint(key, allowed)}; allowed are {', '.join(allowed)}"


def _missing_key(key: Any) -> str:
    return f" lacks the key {key!r}; give it"


def hint(given: Any, allowed: Collection[str]) -> str:
    """Return the name that was probably meant, as a question."""
    is_short = isinstance(given, str) and len(given) <= LONGEST_NAME
    near = get_close_matches(given, list(allowed), n=1) if is_short else []
    return f" (did you mean {near[0]!r}?)" if near else ""


def shown(value: object) -> str:
    """Return a value, short enough for a sentence."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        text = f"a value of type {type(value).__name__} that is too large to show"
    return text if len(text) <= 60 else text[:57] + "..."


def one_of(value: Any, allowed: Collection[str], where: str = "") -> str:
    """Return a value that is one of a few texts."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(map(repr, allowed))
        raise ValueError(
            f"{where} must be one of {names}; got {shown(value)}{hint(value, allowed)}"
        )
    return value


def distinct(entries: list[T]) -> list[T]:
    """Refuse a list that has an entry twice."""
    seen: set[T] = set()
    for i, entry in enumerate(entries):
        if entry in seen:
            raise ValueError(f"[{i}] is {shown(entry)} again; give each entry once")
        seen.add(entry)
    return entries


def must(demand: str) -> WrapValidator:
    """Describe what the type and the constraints before it in an annotation demand."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise ValueError(f" must {demand}, got {shown(value)}") from None

    return WrapValidator(validate)


def needs(holds: Callable[[Any], bool], demand: str, advice: str = "") -> AfterValidator:
    """Refuse a value of the right type for which a condition does not hold."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(f" must {demand}, got {shown(value)}{advice}")
        return value

    return AfterValidator(check)


def among(*names: str) -> BeforeValidator:
    """Demand one of a few texts."""
    return BeforeValidator(partial(one_of, allowed=names))


def _check_length(text: str) -> str:
    if len(text) > LONGEST_NAME:
        raise ValueError(
            f" must have at most {LONGEST_NAME} characters, got {len(text)}: {shown(text)}"
        )
    return text


FILLED = StringConstraints(strict=True, min_length=1)
SMALL = needs(lambda number: number <= LARGEST_COUNT, f"be at most {LARGEST_COUNT}")
Text = Annotated[str, FILLED, must("be a text")]
ShortText = Annotated[Text, AfterValidator(_check_length)]
FileName = Annotated[str, FILLED, must("be the path of a file")]
Whole = Annotated[PositiveInt, Strict(), must("be a whole number of at least 1")]
Count = Annotated[Whole, SMALL]
Seed = Annotated[NonNegativeInt, Strict(), must("be a whole number of at least 0"), SMALL]
Horizon = Annotated[
    Whole,
    needs(
        lambda rounds: rounds <= LONGEST_HORIZON,
        f"be at most {LONGEST_HORIZON} rounds",
        "; give fewer, or play a longer game in parts with hedgerow.games.simulate_chunks",
    ),
]
Number = Annotated[FiniteFloat, Strict(), must("be a finite number")]
Positive = Annotated[Number, needs(lambda number: number > 0.0, "be above 0")]
Filled = Annotated[list[T], needs(bool, NOT_EMPTY)]
Distinct = Annotated[Filled[T], AfterValidator(distinct)]
Name = Annotated[
    ShortText,
    needs(
        lambda name: name.replace("-", "").replace("_", "").isalnum(),
        "be of letters, digits, - and _",
    ),
]


class Table(BaseModel):
    """A table of a file: these keys and no others, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SeedRange(Table):
    """Seeds as `{first = 20, count = 30}`."""

    first: Seed
    count: Count


def _expand_seeds(given: Any) -> Any:
    """Return the list that a `SeedRange` stands for; refuse too many seeds."""
    span = parse(SeedRange, given) if isinstance(given, Mapping) else None
    many = len(given) if isinstance(given, list) else span.count if span else 0
    if many > MOST_SEEDS:
        raise ValueError(f" may name {MOST_SEEDS} seeds at most, got {many}; ask for fewer")
    if span is None:
        return given
    if span.first + many > LARGEST_COUNT:
        end = span.first + many
        raise ValueError(f" must end below {LARGEST_COUNT}, got first + count = {end}")
    return list(range(span.first, span.first + many))


Seeds = Annotated[Distinct[Seed], BeforeValidator(_expand_seeds)]


class TuneTable(Table):
    """How `hedgerow tune` chooses the eagerness of each method."""

    rule: Annotated[str, among("sum", "target")]
    seeds: Seeds | None = None
    rounds: Count | None = None
    eagerness: Distinct[Positive] = list(GRID)
    widen: Count = 0
    ccv_target: Positive | None = None

    @model_validator(mode="after")
    def _check_together(self) -> TuneTable:
        if (self.seeds is None) == (self.rounds is None):
            raise ValueError(
                " needs seeds, the training ones, or rounds, how many of recorded data are for "
                f"training; got {'neither' if self.seeds is None else 'both'}"
            )
        if (self.rule == "target") != (self.ccv_target is not None):
            raise ValueError(
                ".ccv_target goes with rule = 'target' and with no other; got rule = "
                f"{self.rule!r} and {'no' if self.ccv_target is None else 'a'} ccv_target"
            )
        return self


def look_up(
    value: Any,
    ours: Collection[str],
    names: Callable[[], Collection[str]],
    find: Callable[[str], T],
    where: str = "",
) -> T:
    """Find what a name, an import path or a function itself stands for.

    Args:
        value: the name, the path or the function.
        ours: the names of the library; installed packages are searched for others only.
        names: returns the names of the library and of installed packages.
        find: returns what a name or a path stands for.
        where: the path of the key.

    """
    with errors_after(f"{where}: "):
        name = as_name(value) if callable(value) else value
    if not isinstance(name, str) or not (name in ours or is_path(name)):
        one_of(name, names(), where)
    if len(name) > LONGEST_PATH:
        raise ValueError(
            f"{where} must have at most {LONGEST_PATH} characters, got {len(name)}: {name!r}"
        )
    with errors_after(f"{where}: "):
        return find(name)


def _fixed_actions(given: Any) -> dict[str, Action]:
    """Return the actions that are played in every round, by name: one, or a table of them."""
    table = given if isinstance(given, Mapping) else {FIXED: given}
    found: dict[str, Action] = {}
    for name, action in table.items():
        where = "" if table is not given else f".{name}"
        parse(ShortText, name, where)
        if is_path(name) or name in method_names():
            raise ValueError(f"{where} has the name of a method, or a colon in it; give another")
        if isinstance(action, str) and action:
            found[name] = action
        elif isinstance(action, list) and action and all(isinstance(v, str) for v in action):
            found[name] = tuple(action)
        elif isinstance(action, list) and action and not any(isinstance(v, str) for v in action):
            found[name] = tuple(parse(list[Number], action, where))
        else:
            raise ValueError(
                f"{where} must be an action: a list of numbers, a list of the nodes of a route, or "
                f"the name of a vertex such as 'a > b > c', got {shown(action)}"
            )
    return found


class ShareTable(Table):
    """A method with an allowed share of violated rounds."""

    method: str
    share: Annotated[Number, needs(lambda share: 0.0 <= share < 1.0, "be at least 0 and below 1")]


def _share_methods(given: Any) -> dict[str, tuple[str, float]]:
    """Return the methods with a share of violated rounds: by name, the method and the share."""
    if not isinstance(given, Mapping):
        raise ValueError(f" must be a table of methods by name, got {shown(given)}")
    found: dict[str, tuple[str, float]] = {}
    for name, entry in given.items():
        where = f".{name}"
        parse(ShortText, name, where)
        if is_path(name) or name in method_names():
            raise ValueError(f"{where} has the name of a method, or a colon in it; give another")
        table: ShareTable = parse(ShareTable, entry, where)
        method = look_up(table.method, METHODS, method_names, find_method, f"{where}.method")
        if method.sees not in ("gradients", "parts"):
            raise ValueError(
                f"{where}.method is {table.method!r}, which does not learn from values and "
                "gradients; choose one that does"
            )
        found[name] = table.method, table.share
    return found


def _given_constants(given: Any) -> dict[str, GivenConstants]:
    """Return the constants that a file sets, by the name of the method in tables."""
    if not isinstance(given, Mapping):
        raise ValueError(f" must be a table of methods by name, got {shown(given)}")
    found: dict[str, GivenConstants] = {}
    for name, entry in given.items():
        where = f".{name}"
        if not isinstance(entry, Mapping):
            raise ValueError(f"{where} must be a table of constants, got {shown(entry)}")
        inside = entry.get("method", name)
        if inside != name:
            parse(ShortText, name, where)
            if is_path(name) or name in method_names():
                raise ValueError(
                    f"{where} has the name of a method, or a colon in it; give another, or leave "
                    "out its key 'method'"
                )
        key = f"{where}.method" if "method" in entry else where
        method = look_up(inside, METHODS, method_names, find_method, key)
        values = {key: value for key, value in entry.items() if key != "method"}
        allowed = constant_names(method)
        for key, value in values.items():
            if allowed is not None and key not in allowed:
                raise ValueError(
                    f"{where} has an unknown constant {shown(key)}{hint(key, allowed)}; "
                    f"{method.name} takes {', '.join(allowed) or 'none'}"
                )
            values[key] = _constant(value, f"{where}.{key}", key)
        if not values:
            raise ValueError(f"{where} sets no constant; give one, or leave the table out")
        found[name] = method.name, tuple(sorted(values.items()))
    return found


def _constant(value: Any, where: str, key: str) -> Any:
    """Return a constant as it can be hashed and stored: a number, a text, or tuples of them."""
    if key == "eagerness":
        return parse(Positive, value, where)
    if isinstance(value, list | tuple):
        return tuple(_constant(entry, f"{where}[{i}]", "") for i, entry in enumerate(value))
    if isinstance(value, bool | int | str):
        return value
    return parse(Number, value, where)


def _all_methods(given: Any, info: ValidationInfo) -> Any:
    """Return a list in which "all" is replaced by the library's methods and the file's own."""
    if isinstance(given, str) and given != "all":
        raise ValueError(f" must be a list of names or 'all', got {given!r}")
    if given != "all" and not (isinstance(given, list | tuple) and "all" in given):
        return given
    data, found = info.data, []
    named = (*data.get("fixed", ()), *data.get("violated", ()), *data.get("constants", ()))
    every = [name for name in METHODS if name not in (data.get("without") or ())]
    for entry in ("all",) if given == "all" else given:
        found += [*every, *named] if isinstance(entry, str) and entry == "all" else [entry]
    return list(dict.fromkeys(found))


def _method(value: Any, info: ValidationInfo) -> str:
    """Return the name of a method: of the library, a package, a fixed action, or a path."""
    named = {*info.data.get("fixed", ()), *info.data.get("violated", ())}
    if isinstance(value, str) and value in named | {*info.data.get("constants", ())}:
        return value
    if value == FIXED:
        raise ValueError(f' is {FIXED!r}, which needs its action; give it as {FIXED} = ["a", "b"]')
    return look_up(value, METHODS, method_names, find_method).name


def _among_methods(value: Any, info: ValidationInfo) -> str:
    return one_of(value, info.data.get("methods", [value]))


MethodName = Annotated[str, PlainValidator(_method)]
PlayingMethod = Annotated[str, BeforeValidator(_among_methods)]


class ExperimentFile(Table):
    """An experiment as its file has it; `hedgerow.experiments.reading` reads the problems.

    `without`, `fixed`, `violated` and `constants` come first, because the validation of `methods`
    reads them.
    """

    without: Distinct[Annotated[str, among(*METHODS)]] | None = None
    fixed: Annotated[dict[str, Action], PlainValidator(_fixed_actions)] = {}
    violated: Annotated[dict[str, tuple[str, float]], PlainValidator(_share_methods)] = {}
    constants: Annotated[dict[str, GivenConstants], PlainValidator(_given_constants)] = {}
    name: Name
    problems: Annotated[Filled[Any], must("be one or more [[problems]] tables")]
    methods: Annotated[Distinct[MethodName], BeforeValidator(_all_methods)]
    horizons: Distinct[Horizon]
    seeds: Seeds
    about: Text | None = None
    presets: Distinct[Annotated[str, among("practical", "theory")]] = ["practical"]
    eagerness: Distinct[Positive] = [1.0]
    eagerness_methods: Distinct[PlayingMethod] | None = None
    common_seeds: Count | None = None
    all_seeds: Distinct[PlayingMethod] | None = None
    tune: Annotated[TuneTable, PlainValidator(partial(parse, TuneTable))] | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_without(cls, given: Any) -> Any:
        methods = given.get("methods", "all")
        if "without" in given and methods != "all" and "all" not in methods:
            raise ValueError(".without goes with methods = 'all'; leave it out of a list instead")
        return given

    @model_validator(mode="after")
    def _check_together(self) -> ExperimentFile:
        if idle := [name for name in self.fixed if name not in self.methods]:
            raise ValueError(f"the fixed action {idle[0]!r} does not play; name it in methods, too")
        if idle := [name for name in self.violated if name not in self.methods]:
            raise ValueError(f".violated.{idle[0]} does not play; name it in methods, too")
        if twice := [name for name in self.violated if name in self.fixed]:
            raise ValueError(f".violated.{twice[0]} has the name of a fixed action; give another")
        if idle := [name for name in self.constants if name not in self.methods]:
            raise ValueError(f".constants.{idle[0]} does not play; name it in methods, too")
        if twice := [n for n in self.constants if n in self.fixed or n in self.violated]:
            raise ValueError(f".constants.{twice[0]} has the name of another method; give another")
        if self.tune and any("eagerness" in dict(of) for _, of in self.constants.values()):
            raise ValueError("constants may not set eagerness, which tune chooses; leave it out")
        if (self.common_seeds is None) != (self.all_seeds is None):
            raise ValueError(
                ".common_seeds (how many seeds every method plays) and all_seeds (the methods "
                f"that play all) go together; got "
                f"{'all_seeds' if self.common_seeds is None else 'common_seeds'} alone"
            )
        return self


def key_type(annotation: Any) -> Any:
    """Return the type that validates a parameter of type int, float, str, Path or Literal.

    Whole numbers are counts, so they are at least 1. None is dropped: a file has no null.
    """
    if NoneType in get_args(annotation):
        (annotation,) = (kind for kind in get_args(annotation) if kind is not NoneType)
    if get_origin(annotation) is Literal:
        return Annotated[str, among(*get_args(annotation))]
    return {int: Count, float: Number, str: Text, Path: FileName}.get(annotation, Any)
