"""A policy made of a learner and a surrogate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeVar

from hedgerow.inputs import Vector, as_number
from hedgerow.kernels.certificate import is_play_left
from hedgerow.policies.summary import Summary, summary_of
from hedgerow.policies.theorem import Theorem
from hedgerow.protocols.late_feedback import takes_late
from hedgerow.protocols.parts import Learner, Surrogate
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State, Stateful, states
from hedgerow.surrogates.ranges import WorstCaseRanges

SeenCost = TypeVar("SeenCost")
SeenConstraint = TypeVar("SeenConstraint", contravariant=True)


def check_parts(learner: object, surrogate: object) -> None:
    """Check that these are a learner and a surrogate."""
    if not (hasattr(learner, "ask") and hasattr(learner, "tell")):
        raise TypeError(
            f"learner must be a learner, with ask and tell, got a {type(learner).__name__}; "
            "the learner comes first, then the surrogate"
        )
    if not (hasattr(surrogate, "tell") and hasattr(surrogate, "price")):
        raise TypeError(
            f"surrogate must be a surrogate, such as CurrentSurrogate(potential), got a "
            f"{type(surrogate).__name__}; the learner comes first, then the surrogate"
        )


class Composition(Stateful, Generic[SeenCost, SeenConstraint]):
    """The surrogate makes one loss per round, and the learner learns from it.

    Args:
        learner: plays one sequence of losses.
        surrogate: turns cost and constraint into the loss.
        theorems: what is proved of the pair.
        numbers: names and sizes of the state after the play; `mixed_units` is one of them.

    """

    def __init__(
        self,
        learner: Learner[SeenCost],
        surrogate: Surrogate[SeenCost, SeenConstraint],
        theorems: tuple[Theorem, ...],
        numbers: dict[str, int],
    ):
        check_parts(learner, surrogate)
        if any(ranges.learner is not learner for ranges in _learnt(surrogate)):
            raise ValueError(
                "the surrogate's ranges measure another learner's plays; build WorstCaseRanges "
                "with the learner of this policy"
            )
        self.learner = learner
        self.surrogate = surrogate
        self._theorems = tuple(theorems)
        self._sees_point = takes_late(surrogate)
        self._charged = [state.array for state in states(surrogate)]  # to take back a refused round
        self._state = State(left=learner.decision_set.dim, **numbers)  # left by the last round
        self._state["left"][:] = learner.ask()

    @property
    def decision_set(self) -> DecisionSet:
        """The learner's."""
        return self.learner.decision_set

    @property
    def oracle_calls(self) -> int:
        """The learner's and the surrogate's."""
        return self.learner.oracle_calls + self.surrogate.oracle_calls

    @property
    def projections(self) -> int:
        """The learner's projections onto the set; 0 where it never projects."""
        return int(getattr(self.learner, "projections", 0))

    @property
    def oblivious_only(self) -> bool:
        """Whether the learner's guarantee fails against an adversary that reacts."""
        return self.learner.oblivious_only

    def ask(self) -> Vector:
        """Return the learner's play."""
        return self.learner.ask()

    def guarantees(self) -> tuple[Theorem, ...]:
        """Return what was proved of it beforehand; `explain` computes the bounds."""
        return self._theorems

    @property
    def weight(self) -> float | None:
        """The last weight on the constraint; None where each of several has one."""
        return getattr(self.surrogate, "weight", None)

    def take_units(self, one_unit: bool) -> None:
        """Remember whether all constraints of a round have one unit, for `summary`.

        A game reports what its problem says. Once units may differ they do for good. A policy with
        a queue for each constraint adds none of them, whatever their units.
        """
        if not one_unit and "ccv_each" not in self._state.layout:
            self._state["mixed_units"][0] = 1.0

    def summary(self) -> Summary:
        """Return the totals of the rounds so far; `print` shows them in a few lines."""
        weights = self.weight, self.surrogate.largest_weight
        summary = summary_of(self._state, weights, self.oracle_calls, self.projections)
        if "ccv_each" not in self._state.layout:
            return summary.of_several() if self._state["mixed_units"][0] else summary
        # Neither violations of several constraints nor weights on them have a common unit.
        return replace(
            summary,
            ccv=None,
            ccv_each=tuple(self._state["ccv_each"].tolist()),
            largest_weight=None,
            largest_weight_each=tuple(
                float(queue.largest_weight)
                for queue in self.surrogate.surrogates  # type: ignore[attr-defined]
            ),
        )

    @contextmanager
    def _taken_back(self) -> Iterator[None]:
        """Restore the surrogate if its loss is refused, so that a refusal changes nothing."""
        saved = [array.copy() for array in self._charged]
        try:
            yield
        except Exception:
            for array, before in zip(self._charged, saved, strict=True):
                array[:] = before
            raise

    def _make_loss(
        self, cost: SeenCost, constraint: SeenConstraint, at: Vector | None = None
    ) -> SeenCost:
        """Return the surrogate's loss of a round; `at` is where late feedback was seen."""
        surrogate: Any = self.surrogate
        late = {"at": at} if at is not None and self._sees_point else {}
        loss: SeenCost = surrogate.tell(cost, constraint, **late)
        as_number(surrogate.price, "the weighed violation")
        return loss

    def _check_left(self) -> None:
        """Refuse to go on unless the learner's play is the one that the last round left."""
        if not is_play_left(self._state.array, self.learner.ask()):
            raise RuntimeError(
                "the learner has moved without its policy, so that nothing could be proved about "
                "their rounds; give every policy a learner of its own, and tell the policy alone"
            )

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"learner": self.learner, "surrogate": self.surrogate}


def _learnt(part: object) -> Iterator[WorstCaseRanges]:
    """Yield the ranges in a surrogate that are learnt from a learner's rounds."""
    if isinstance(part, WorstCaseRanges):
        yield part
    elif isinstance(part, Stateful):
        for inner in part._parts.values():
            yield from _learnt(inner)
