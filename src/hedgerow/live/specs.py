"""Build policies from JSON with the keys of experiment files, without imports and files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictInt, StrictStr

from hedgerow import sets
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.problems import KINDS
from hedgerow.experiments.validation import (
    LARGEST_COUNT,
    Count,
    Filled,
    Number,
    Positive,
    key_type,
    must,
    one_of,
    parse_keys,
)
from hedgerow.experiments.validation import parse as parse_value
from hedgerow.live.messages import Message, parse
from hedgerow.live.schema import EVERY
from hedgerow.policies.violated_share import ViolatedShare
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Label = Annotated[str, Field(max_length=80)]


class Spec(Message):
    """The settings of a session: a method, and a set or the decision set of a problem."""

    method: str
    set: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    preset: Literal["practical"] = "practical"
    eagerness: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    horizon: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] = 1000
    seed: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] = 0
    violated: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] | None = None
    advisers: Annotated[list[Label], Field(min_length=1, max_length=16)] | None = None
    labels: list[Label] | None = None
    every: Annotated[int, Field(ge=1, lt=2**31)] = EVERY

    def given(self) -> dict[str, Any]:
        """Return the keys that were given, to store or to compare."""
        return self.model_dump(include=set(Spec.model_fields), exclude_unset=True)


class Begin(Spec):
    """A new session."""

    name: str


def _pairs(edges: list[Any]) -> list[Any]:
    if not all(isinstance(edge, list) and len(edge) == 2 for edge in edges):
        raise ValueError
    return edges


def _nodes(edges: list[Any]) -> list[Any]:
    return [tuple(edge) for edge in parse_value(list[list[Node]], edges)]


Node = Annotated[StrictInt | StrictStr, must("name nodes by strings or integers")]
Edges = Annotated[
    Filled[Any],
    AfterValidator(_pairs),
    must("be a list of pairs of nodes"),
    AfterValidator(_nodes),
]
Numbers = Annotated[
    Filled[Any],
    must("be a list of numbers"),
    AfterValidator(partial(parse_value, list[Number])),
]
PATHS = {"edges": Edges, "source": Node, "target": Node}
BALL = {"n": Count, "radius": Positive}
SETS: dict[str, dict[str, Any]] = {
    "Simplex": {"n": Count, "total": Positive},
    "KSubsets": {"n": Count, "k": Count},
    "Box": {"lower": Numbers, "upper": Numbers},
    "L1Ball": BALL,
    "L2Ball": BALL,
    "LinfBall": BALL,
    "Birkhoff": {"n": Count},
    "Permutahedron": {"weights": Numbers},
    "UnitFlow": PATHS,
    "DagPaths": PATHS,
    "SpanningTrees": {"edges": Edges},
}
"""Sets that JSON may name, and the types of their keys."""
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
    method = one_of(spec.method, METHODS, "method")
    if METHODS[method].sees not in ("gradients", "parts"):
        raise ValueError(
            f"{method} does not learn from values and gradients, which is what comes over HTTP; "
            "serve it from Python with live.open_session"
        )
    _check_size(policy_of(spec).decision_set.dim, largest)


def stored_spec(text: str, name: str) -> Spec:
    """Return the settings of a session from the store."""
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
    if spec.advisers is None:
        policy = method.policy(X, spec.horizon, spec.seed, "practical", eagerness=spec.eagerness)
    elif method.takes("advisers"):
        policy = method.build(X, eagerness=spec.eagerness, advisers=spec.advisers)
    else:
        raise ValueError(f"{method.name} takes no advice; leave `advisers` out")
    return policy if spec.violated is None else ViolatedShare(policy, spec.violated)


def _set_keys(table: Any) -> dict[str, Any]:
    """Return the validated keys of a set."""
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError(f"set lacks the key 'kind'; give one of {', '.join(SETS)}")
    keys = SETS[one_of(table["kind"], SETS, "set.kind")]
    required = ["kind", *(key for key in keys if key not in DEFAULTS)]
    return parse_keys({"kind": str, **keys}, required, table, "set")


def _set_of(table: Any) -> DecisionSet:
    keys = _set_keys(table)
    built: DecisionSet = getattr(sets, keys.pop("kind"))(**keys)
    return built


def _set_size(table: Any) -> int:
    """Return the dimension of a set before it is built."""
    keys = _set_keys(table)
    if "n" in keys:
        n: int = keys["n"]
        return n * n if keys["kind"] == "Birkhoff" else n
    return max((len(value) for value in keys.values() if isinstance(value, list)), default=0)


def _problem_set(table: Any, seed: int) -> DecisionSet:
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ValueError("problem lacks the key 'kind'; `hedgerow list` shows all kinds")
    kind = KINDS[one_of(table["kind"], KINDS, "problem.kind")]
    known = kind.parameters
    if any(parameter.is_file for parameter in known.values()):
        raise ValueError(f"problem.kind {kind.name!r} reads a file, which is not done over HTTP")
    if any(parameter.is_set for parameter in known.values()):
        raise ValueError(f"problem.kind {kind.name!r} takes a set; give `set` instead of `problem`")
    keys = {name: key_type(parameter.type) for name, parameter in known.items()}
    given = parse_keys({"kind": str, **keys}, ["kind"], table, "problem")
    del given["kind"]
    for key, value in given.items():
        if isinstance(value, int):
            _check_size(value, 10**5, f"problem.{key}")
    # The set does not depend on the number of rounds, and some kinds draw all rounds at once.
    return kind.build(1, seed, **given).decision_set


def _check_size(dim: int, largest: int, what: str = "the dimension") -> None:
    if dim > largest:
        raise ValueError(f"{what} may be at most {largest}, got {dim}; serve a smaller set")
