"""Audits: every number of a record is recomputed from the rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad, each_seen, first_order_each
from hedgerow.functions import Function, parts_of
from hedgerow.games.simulation import feedback_of, play
from hedgerow.inputs import Vector
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import Feedback, ResumablePolicy
from hedgerow.protocols.trace import Step, Trace
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.ranges import FixedRanges
from hedgerow.testing.multipliers import Multipliers, has_proof

__all__ = [
    "AuditReport",
    "Failure",
    "audit",
]

MEMBERSHIP = 1e-9
"""A play may be outside by this much, in units of its largest entry or 1."""
SLACK = 1e-9
"""Sums over rounds may differ by this share of the sum of absolute terms."""


class Failure(NamedTuple):
    """What is wrong in one round; round 0 is the whole record."""

    round: int
    what: str

    def __str__(self) -> str:
        return f"round {self.round}: {self.what}" if self.round else self.what


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes:
        rounds: how many were checked.
        checks: what was checked.
        failures: what does not hold, in the order of rounds.

    """

    rounds: int
    checks: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.failures

    def __str__(self) -> str:
        head = f"{self.rounds} rounds, {', '.join(self.checks)}: "
        if self.ok:
            return head + "all hold"
        return head + "; ".join(str(failure) for failure in self.failures)


def audit(
    record: Trace | Iterable[Step],
    problem: Problem,
    *,
    trace: Trace | None = None,
    policy: ResumablePolicy[Any, Any] | None = None,
    feedback: Feedback | None = None,
    benchmark: Benchmark | None = None,
    rounding: float = 0.0,
) -> AuditReport:
    """Recompute every number of a record, and report which rounds fail and why.

    For each step it checks the round number, that the decision is a point of the set, the cost and
    the violation. With a fresh `policy`, built as the one that played, it checks that the decisions
    are the same. For a `Fallback` or a `ConstrainedPolicy` it also recomputes the certificate, and
    with a `benchmark` that satisfies all rounds it checks that the regret is below the certificate
    and that Phi(Q(t)) + Regret_t <= Phi(Q(0)) + Regret'_t in every round (a `CurrentSurrogate` in
    known ranges).

    Costs, violations and plays are compared exactly, because the same arithmetic is repeated. A
    record from another machine may differ in the last digit; `rounding` allows for that.

    Args:
        record: the steps that `play` yielded; or a trace, which has no plays and needs the policy.
        problem: the rounds; one that reacts is given the recorded plays.
        trace: a trace to be compared with the steps.
        policy: a fresh policy, to play again.
        feedback: what that policy sees; left out, `policy.feedback`.
        benchmark: an action to compare with, as from `hindsight`.
        rounding: the relative difference that is accepted; 0 is exact.

    >>> from hedgerow.games import play
    >>> from hedgerow.policies.without_constraint import unconstrained
    >>> from hedgerow.problems.synthetic import IidSimplex
    >>> problem = IidSimplex(n=3, horizon=20, seed=0)
    >>> steps = list(play(unconstrained(problem.decision_set), problem))
    >>> audit(steps, problem).ok
    True
    >>> steps[6] = steps[6]._replace(cost=steps[6].cost * (1 + 3e-16))
    >>> [failure.round for failure in audit(steps, problem).failures]
    [7]

    """
    if isinstance(record, Trace):
        if policy is None:
            raise TypeError(
                "a trace holds no plays; audit the steps that play() yields, or give a fresh "
                "policy=... built as the one that played"
            )
        if trace is not None:
            raise TypeError("give one trace, either as the record or as trace=...")
        start = policy.state()
        steps: Iterable[Step] = list(play(policy, problem, feedback))
        policy.restore(start)
        trace = record
    else:
        steps = record
    return _Auditor(problem, trace, policy, feedback, benchmark, rounding).report(steps)


class _Replay:
    """Plays what was recorded: a problem that reacts asks it for the recorded decision.

    It has `ask` and `tell` alone, so mypy also checks here that `Policy` needs no more.
    """

    def __init__(self, x: Vector):
        self.x = x

    def ask(self) -> Vector:
        return self.x.copy()

    def tell(self, cost: object, constraint: object, /) -> None:
        """Learn nothing."""


class _Auditor:
    def __init__(
        self,
        problem: Problem,
        trace: Trace | None,
        policy: ResumablePolicy[Any, Any] | None,
        feedback: Feedback | None,
        benchmark: Benchmark | None,
        rounding: float,
    ):
        self.problem, self.trace, self.policy = problem, trace, policy
        self.feedback, self.rounding = feedback, rounding
        self.failures: list[Failure] = []
        self.checks = ["costs", "violations", "membership"]
        self.checks += ["the trace"] * (trace is not None) + ["the plays"] * (policy is not None)
        self.proof = None
        if has_proof(policy):
            self.proof = _Proof(policy, benchmark)
            self.checks += self.proof.checks

    def fail(self, t: int, what: str) -> None:
        self.failures.append(Failure(t, what))

    def same(self, t: int, name: str, found: float, computed: float) -> None:
        if not (
            found == computed or abs(found - computed) <= self.rounding * abs(computed)
        ):  # NaN fails
            self.fail(t, f"the {name} is {found!r}, the round gives {computed!r}")

    def report(self, steps: Iterable[Step]) -> AuditReport:
        t = 0
        for step, functions in self.pairs(steps):
            t += 1
            if step is None or functions is None:
                more = "the problem" if step is None else "the record"
                self.fail(0, f"{more} goes on after round {t - 1}, the other does not")
                t -= 1
                break
            self.check(t, step, functions)
        if self.trace is not None and self.trace.costs.size != t:
            self.fail(0, f"the trace has {self.trace.costs.size} rounds, the steps {t}")
        if self.proof is not None:
            for what in self.proof.end():
                self.fail(0, what)
        return AuditReport(t, tuple(self.checks), tuple(self.failures))

    def pairs(self, steps: Iterable[Step]) -> Iterator[tuple[Step | None, Round | None]]:
        """Yield steps beside rounds; the recorded play is in place before its round is made."""
        replay = _Replay(self.problem.decision_set.start())

        def shown() -> Iterator[Step]:
            for step in steps:
                if np.shape(step.x) == replay.x.shape:
                    replay.x = np.asarray(step.x, dtype=np.float64)
                yield step

        yield from zip_longest(shown(), self.problem.rounds(replay))

    def check(self, t: int, step: Step, functions: Round) -> None:
        cost, constraint = functions
        if step.t != t:
            self.fail(t, f"the step says it is round {step.t}")
        x = np.asarray(step.x, dtype=np.float64)
        X = self.problem.decision_set
        if x.shape != (X.dim,) or not np.isfinite(x).all():
            self.fail(t, f"the play must be {X.dim} finite numbers, got shape {x.shape}")
            return
        if not X.contains(x, MEMBERSHIP * max(1.0, float(np.abs(x).max(initial=0.0)))):
            self.fail(t, "the play is outside the set")
        f, g = cost(x), constraint(x)
        self.same(t, "cost", step.cost, f)
        self.same(t, "violation", step.violation, g)
        if self.trace is not None and t <= self.trace.costs.size:
            self.same(t, "trace's cost", float(self.trace.costs[t - 1]), f)
            self.same(t, "trace's violation", float(self.trace.violations[t - 1]), g)
        self.check_each(t, step, [part(x) for part in parts_of(constraint)])
        if self.policy is None:
            return
        again = self.policy.ask()
        if not np.allclose(x, again, rtol=self.rounding, atol=0.0):
            far = float(np.abs(x - again).max())
            self.fail(t, f"the policy plays another point, {far:.2g} away in one entry")
        observe = feedback_of(self.policy) if self.feedback is None else self.feedback
        seen = observe(constraint, again)
        if self.proof is not None:
            self.proof.see(seen, constraint, again)
        self.policy.tell(observe(cost, again), seen)
        if self.proof is not None:
            self.proof.round(t, again, functions)

    def check_each(self, t: int, step: Step, values: list[float]) -> None:
        """Compare the value of each of several constraints, where it was recorded."""
        rows = None if self.trace is None else self.trace.violations_each
        column = rows[:, t - 1] if rows is not None and t <= rows.shape[1] else None
        for name, recorded in (("violation", step.each), ("trace's violation", column)):
            if recorded is None:
                continue
            if len(recorded) != len(values):
                self.fail(t, f"it has {len(recorded)} values as {name}, the round {len(values)}")
                continue
            for i, (found, value) in enumerate(zip(recorded, values, strict=True)):
                self.same(t, f"{name} of constraint {i}", float(found), value)


class _Proof:
    """The certificate and the decomposition, made again from the rounds."""

    def __init__(self, policy: Any, benchmark: Benchmark | None):
        self.policy, self.surrogate = policy, getattr(policy, "surrogate", None)
        self.benchmark = None
        self.checks = ["the certificate"]
        if benchmark is not None and benchmark.status == "optimal":
            self.benchmark = benchmark
            self.checks += ["the regret against it"]
        self.decomposes = (
            self.benchmark is not None
            and isinstance(self.surrogate, CurrentSurrogate)
            and isinstance(self.surrogate.ranges, FixedRanges)
        )
        self.checks += ["the decomposition"] * self.decomposes
        self.multipliers = Multipliers(policy)
        self.played: list[tuple[Vector, Function, Sequence[EvalGrad]]] = []
        self.parts: Sequence[EvalGrad] = ()
        self.size = self.regret = self.of_losses = self.excess = 0.0
        self.broken = 0

    def see(self, seen: Constraints, constraint: Function, x: Vector) -> None:
        """Take in what the policy is about to be told of a round's constraint."""
        parts = first_order_each(constraint, x)
        self.parts = each_seen(parts)
        self.multipliers.see(seen, parts)

    def round(self, t: int, x: Vector, functions: Round) -> None:
        """Take in a round that the policy was told."""
        self.multipliers.add()
        self.played.append((x, functions[0], self.parts))
        if self.benchmark is not None:
            self.regret += functions[0](x) - functions[0](self.benchmark.x)
        if self.decomposes:
            self.compare(t, x, functions[1], self.multipliers.of(t).get(0, 0.0))

    def compare(self, t: int, x: Vector, g: Function, w: float) -> None:
        """Check the decomposition after round t, whose one constraint has weight w."""
        assert self.benchmark is not None
        kept = max(0.0, g(self.benchmark.x))  # rounding of the benchmark
        self.of_losses += w * (max(0.0, g(x)) - kept)
        self.excess += w * kept
        self.size += abs(w * g(x)) + abs(self.regret)
        surrogate = cast(CurrentSurrogate, self.surrogate)
        unit = surrogate.ranges.ratio * surrogate.ranges.violation
        now = unit * surrogate.potential.value(surrogate.queue, float(t))
        first = unit * surrogate.potential.value(surrogate.initial, 1.0)
        capped = w >= surrogate.ranges.ratio * getattr(surrogate.potential, "cap", math.inf)
        self.decomposes = not capped  # where the cap binds nothing is claimed from there on
        slack = self.excess + SLACK * (1.0 + self.size)
        if not self.broken and now > first + self.of_losses + slack:
            self.broken = t

    def end(self) -> Iterator[str]:
        """Say what does not hold after the last round."""
        if self.broken:
            yield f"the decomposition fails from round {self.broken} on"
        X = self.policy.decision_set
        total, inner, price, size, excess = np.zeros(X.dim), 0.0, 0.0, 0.0, 0.0
        for t, (x, f, parts) in enumerate(self.played, start=1):
            s = f.grad(x)
            for k, w in self.multipliers.of(t).items():
                g = parts[k]
                s = s + w * g.grad
                price += w * g.value
                size += abs(w * g.value)
                if self.benchmark is not None:  # which violates the tangent by no more than g
                    excess += w * max(0.0, g.value + float(g.grad @ (self.benchmark.x - x)))
            total += s
            inner += float(s @ x)
            size += float(np.linalg.norm(s)) * (1.0 + float(np.linalg.norm(x)))
        said, made = self.policy.certificate(), inner - X.minimum(total) - price
        slack = SLACK * (1.0 + size)
        if not math.isclose(said, made, rel_tol=0.0, abs_tol=slack):
            yield f"the certificate is {said!r}, the rounds give {made!r}"
        if self.benchmark is not None and self.regret > made + excess + slack:
            yield f"the regret {self.regret:.6g} is above the certificate {made:.6g}"


def __dir__() -> list[str]:
    return __all__
