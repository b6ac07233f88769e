"""The JSON of requests and answers, as pydantic models."""

from __future__ import annotations

import difflib
import reprlib
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    Tag,
    ValidationError,
)

from hedgerow.feedback import EvalGrad
from hedgerow.live.session import LONGEST_KEY, MOST

Numbers = Annotated[list[FiniteFloat], Field(fail_fast=True)]
"""A list of finite numbers; validation stops at the first that is not one."""


class Message(BaseModel):
    """A JSON object with these keys and no others, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


M = TypeVar("M", bound=Message)


IN_ORDER, BY_NAME = "numbers in order", "numbers by name"


def _how_given(given: Any) -> str:
    return BY_NAME if isinstance(given, dict) else IN_ORDER


class Seen(Message):
    """The value and the gradient of a function at the action of a decision.

    The gradient is a list in the order of the coordinates, or an object with a number for each by
    the name that it has in the session.
    """

    value: FiniteFloat
    gradient: Annotated[
        Annotated[Numbers, Tag(IN_ORDER)]
        | Annotated[dict[str, FiniteFloat], Field(fail_fast=True), Tag(BY_NAME)],
        Discriminator(_how_given),
    ]

    def feedback(self) -> EvalGrad:
        """Return it as `first_order` does."""
        gradient: Any = self.gradient
        if not isinstance(gradient, dict):
            gradient = np.array(gradient, dtype=np.float64)
        return EvalGrad(self.value, gradient)


Key = Annotated[str, Field(max_length=LONGEST_KEY)]


class Ask(Message):
    """A request for a decision; without names its answer has the action alone."""

    key: Key | None = None
    advice: dict[Key, Numbers] | None = None
    names: bool = True


class AskMany(Message):
    """A request for several decisions: how many, or their keys."""

    names: bool = True
    count: Annotated[int, Field(ge=1, le=MOST)] = 1
    keys: Annotated[list[Key], Field(min_length=1, max_length=MOST, fail_fast=True)] | None = None


ONE, SEVERAL = "one constraint", "several constraints"


def _how_many(given: Any) -> str:
    return SEVERAL if isinstance(given, list) else ONE


class Feedback(Message):
    """Feedback on a decision that the address names."""

    cost: Seen
    constraint: Annotated[
        Annotated[Seen, Tag(ONE)]
        | Annotated[list[Seen], Field(min_length=1, max_length=1000, fail_fast=True), Tag(SEVERAL)],
        Discriminator(_how_many),
    ]

    def of(self, decision: str) -> tuple[str, EvalGrad, EvalGrad | list[EvalGrad]]:
        """Return the arguments of `Session.tell`."""
        if isinstance(self.constraint, list):
            return decision, self.cost.feedback(), [part.feedback() for part in self.constraint]
        return decision, self.cost.feedback(), self.constraint.feedback()


class Tell(Feedback):
    """Feedback on the decision `id`."""

    id: Key


class TellMany(Message):
    """Feedback on several decisions."""

    feedback: Annotated[list[Tell], Field(min_length=1, max_length=MOST, fail_fast=True)]


class Made(Message):
    """A decision; `named` has the coordinates that are not zero, `routes` their shares."""

    id: str
    round: int
    action: list[float]
    named: dict[str, float] = {}
    routes: dict[str, float] = {}
    time: float


class HistoryQuery(BaseModel):
    """Which rounds to return, and whether with their actions."""

    model_config = ConfigDict(extra="forbid")
    first: Annotated[int, Field(ge=0, lt=10**15)] = 1
    actions: bool = False


class PageQuery(BaseModel):
    """What the page shows, and what it has already drawn."""

    model_config = ConfigDict(extra="forbid")
    session: str | None = None
    other: str | None = None
    window: str = "200"
    seen: str = ""


class NotJsonError(ValueError):
    """The body of a request is not JSON."""


def parse(model: type[M], body: bytes) -> M:
    """Return the message in a body, or refuse it in one sentence."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise NotJsonError(f"the body must be JSON: {first['ctx']['error']}") from None
        raise ValueError(sentence_of(first, tuple(model.model_fields))) from None


def sentence_of(error: Any, known: tuple[str, ...] = ()) -> str:
    """Return what is wrong with a message, from the first error that pydantic found.

    Args:
        error: as `ValidationError.errors()` has it.
        known: the keys of the message, to suggest one for an unknown key.

    """
    path = [part for part in error["loc"] if part not in (ONE, SEVERAL, IN_ORDER, BY_NAME)]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    where = f"`{where.removeprefix('.')[:80]}`" if path else "the body"
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), known, 1) if len(path) == 1 else []
        return f"unknown key {where}" + (
            f"; did you mean `{near[0]}`?" if near else "; leave it out"
        )
    if error["type"] == "missing":
        return f"the key {where} is missing; give it"
    what, given = error["msg"], reprlib.repr(error["input"])[:80]
    if what.startswith("Input "):
        return f"{where} {what.removeprefix('Input ')}, got {given}"
    return f"{where}: {what}, got {given}"


def plain(array: Any) -> Any:
    """Return an array as lists; null where a number is not known."""
    if array.dtype.kind == "f":
        known: Any = np.where(np.isfinite(array), array, None)
        return known.tolist()
    return array.tolist()
