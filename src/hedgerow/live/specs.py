"""A policy from JSON, with the keys of experiment files: nothing is imported, no file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from hedgerow import sets
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments import schema
from hedgerow.experiments.problems import KINDS
from hedgerow.live.messages import Message, parse
from hedgerow.live.schema import EVERY
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Label = Annotated[str, Field(max_length=80)]


class Spec(Message):
    """What a session decides with: a method, and a set or the decision set of a problem."""

    method: str
    set: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    preset: Literal["practical"] = "practical"
    eagerness: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    horizon: Annotated[int, Field(ge=1, le=schema.LARGEST_COUNT)] = 1000
    seed: Annotated[int, Field(ge=0, le=schema.LARGEST_COUNT)] = 0
    labels: list[Label] | None = None
    every: Annotated[int, Field(ge=1, lt=2**31)] = EVERY

    def given(self) -> dict[str, Any]:
        """Return the keys that were given, to store or to compare."""
        return self.model_dump(include=set(Spec.model_fields), exclude_unset=True)


class Begin(Spec):
    """A new session."""

    name: str


def _whole(value: Any, where: str) -> Any:
    return schema.count(value, where)


def _numbers(value: Any, where: str) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where} must be a list of numbers")
    return [schema.number(entry, f"{where}[{i}]") for i, entry in enumerate(value)]


def _node(value: Any, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{where} must name nodes by strings or integers, got {value!r:.60}")
    return value


def _edges(value: Any, where: str) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where} must be a list of pairs of nodes")
    for edge in value:
        if not isinstance(edge, list) or len(edge) != 2:
            raise ValueError(f"{where} must be a list of pairs of nodes")
    return [tuple(_node(end, where) for end in edge) for edge in value]


Check = Callable[[Any, str], Any]
PATHS: dict[str, Check] = {"edges": _edges, "source": _node, "target": _node}
BALL: dict[str, Check] = {"n": _whole, "radius": schema.positive}
SETS: dict[str, dict[str, Check]] = {
    "Simplex": {"n": _whole, "total": schema.positive},
    "KSubsets": {"n": _whole, "k": _whole},
    "Box": {"lower": _numbers, "upper": _numbers},
    "L1Ball": BALL,
    "L2Ball": BALL,
    "LinfBall": BALL,
    "Birkhoff": {"n": _whole},
    "Permutahedron": {"weights": _numbers},
    "UnitFlow": PATHS,
    "DagPaths": PATHS,
    "SpanningTrees": {"edges": _edges},
}
"""Sets that JSON may name, and their keys."""
DEFAULTS = ("total", "radius")


def check_spec(spec: Spec, largest: int) -> None:
    """Refuse a specification from which no policy can be built.

    Args:
        spec: what was given.
        largest: the largest dimension that is allowed.

    """
    if (spec.set is None) == (spec.problem is None):
        raise ValueError("give either `set` or `problem`, the decision set of a kind of problem")
    if spec.set is not None:
        _check_size(_set_size(spec.set), largest)
    method = schema.one_of(spec.method, METHODS, "method")
    if METHODS[method].sees != "gradients":
        raise ValueError(
            f"{method} does not learn from values and gradients, which is what comes over HTTP; "
            "serve it from Python with live.open"
        )
    _check_size(policy_of(spec).decision_set.dim, largest)


def stored_spec(text: str, name: str) -> Spec:
    """Return what a session was begun with, as the store has it."""
    try:
        return parse(Spec, text.encode())
    except ValueError as error:
        raise ValueError(
            f"the stored settings of session {name!r} are damaged ({error}); restore an undamaged "
            "copy of the store"
        ) from None


def policy_of(spec: Spec) -> ResumablePolicy[Any, Any]:
    """Build the policy of a specification."""
    X = _set_of(spec.set) if spec.set is not None else _problem_set(spec.problem, spec.seed)
    method = METHODS[spec.method]
    return method.policy(X, spec.horizon, spec.seed, "practical", eagerness=spec.eagerness)


def _set_of(table: Any) -> DecisionSet:
    kind, keys = _keys_of(table)
    given = {key: keys[key](value, f"set.{key}") for key, value in table.items() if key != "kind"}
    built: DecisionSet = getattr(sets, kind)(**given)
    return built


def _set_size(table: Any) -> int:
    """Return the dimension of a set before it is built."""
    kind, _ = _keys_of(table)
    if "n" in table:
        n = schema.count(table["n"], "set.n")
        return n * n if kind == "Birkhoff" else n
    return max((len(value) for value in table.values() if isinstance(value, list)), default=0)


def _keys_of(table: Any) -> tuple[str, dict[str, Check]]:
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError(f"set lacks the key 'kind'; give one of {', '.join(SETS)}")
    kind = str(schema.one_of(table["kind"], SETS, "set.kind"))
    keys = SETS[kind]
    required = ["kind", *(key for key in keys if key not in DEFAULTS)]
    schema.check_keys(table, "set", required, [key for key in keys if key in DEFAULTS])
    return kind, keys


def _problem_set(table: Any, seed: int) -> DecisionSet:
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError("problem lacks the key 'kind'; `hedgerow list` shows all kinds")
    kind = KINDS[schema.one_of(table["kind"], KINDS, "problem.kind")]
    known = kind.parameters
    if any(parameter.is_file for parameter in known.values()):
        raise ValueError(f"problem.kind {kind.name!r} reads a file, which is not done over HTTP")
    if any(parameter.is_set for parameter in known.values()):
        raise ValueError(f"problem.kind {kind.name!r} takes a set; give `set` instead of `problem`")
    schema.check_keys(table, "problem", ("kind",), list(known))
    given = {
        key: schema.checked(value, known[key].type, f"problem.{key}")
        for key, value in table.items()
        if key != "kind"
    }
    for key, value in given.items():
        if isinstance(value, int):
            _check_size(value, 10**5, f"problem.{key}")
    # The set does not depend on the number of rounds, and some kinds draw all rounds at once.
    return kind.build(1, seed, **given).decision_set


def _check_size(dim: int, largest: int, what: str = "the dimension") -> None:
    if dim > largest:
        raise ValueError(f"{what} may be at most {largest}, got {dim}; serve a smaller set")
