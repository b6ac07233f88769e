"""The loop: read, report, ask, bound the change, write, verify, explain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from hedgerow.live.decision import Decision
from hedgerow.live.lease import Lease, LeaseHeldError
from hedgerow.live.opening import open_session
from hedgerow.live.session import Session
from hedgerow.live.store import Store, StoreError
from hedgerow.steer.explanation import changes, reasons
from hedgerow.steer.metrics import SteerMetrics
from hedgerow.steer.policy import steering_policy
from hedgerow.steer.readings import EndOfReadings, Flags, Observer, SourceError
from hedgerow.steer.safety import Safety, as_whole
from hedgerow.steer.settings import Settings
from hedgerow.steer.sources import Source, make_source
from hedgerow.steer.targets import Target, TargetError, make_target
from hedgerow.steer.weights import WHOLE, Weights, shares_of, without_down

LEASE = 3.0
"""How long a lease holds, in intervals; at least 30 s."""
WHOLE_INTERVAL = 0.9
"""A decision is reported once its weights were in force for this part of an interval."""


def begin_session(settings: Settings, store: Store) -> Session:
    """Begin or resume the session of a file."""
    bad = [limit.bad_intervals for limit in settings.limits]
    policy = steering_policy(settings.min_shares, bad, settings.safety.max_change)
    # a new release may decide differently; its changes are bounded, too
    return open_session(store, settings.session, policy, labels=settings.names, upgrade=True)


@dataclass
class Steering:
    """One file at work.

    Args:
        settings: the file.
        session: its durable session.
        source: where readings come from.
        target: where weights go; None to decide and record without writing.
        say: is called with one line for each interval.
        clock: seconds since 1970.

    """

    settings: Settings
    session: Session
    source: Source
    target: Target | None
    say: Callable[[str], None]
    metrics: SteerMetrics
    clock: Callable[[], float] = time.time
    decision: Decision | None = None
    since: float | None = None
    written: Weights | None = None
    up: Flags | None = None
    safety: Safety = field(init=False)
    observer: Observer = field(init=False)

    def __post_init__(self) -> None:
        self.safety, self.observer = Safety(self.settings), Observer(self.settings)

    def tick(self) -> str:
        """Do the work of one interval and return its outcome: one word."""
        try:
            outcome, line = self._decide()
            self.safety.failed = 0
        except (SourceError, TargetError, StoreError) as error:
            self.safety.failed += 1
            if isinstance(error, StoreError):
                self.decision = None  # a commit may have been made: ask the store what is open
            outcome, line = self._hold(str(error))
        self.metrics.count(outcome)
        self.say(line)
        return outcome

    def _decide(self) -> tuple[str, str]:
        """Read, report, ask and write."""
        decision = self._open_decision()
        found = self._in_force()
        interval = self.observer.take(self.source.read(), shares_of(found))
        told = self._was_in_force(decision, found)
        self.up = interval.up
        if told:
            cost, limits = interval.feedback(decision.action, self.settings)
            self.session.tell(decision.id, cost, limits if len(limits) > 1 else limits[0])
            self.decision = None
            decision = self._open_decision()
        after = self._write(found, self._wanted(decision))
        self.metrics.observe(interval, found)
        self.metrics.show(after)
        policy: Any = self.session.policy  # `BoundedWeights` around `ViolatedShare`
        why = reasons(interval, found, policy.policy.margin, policy.binding(), self.settings)
        line = f"{changes(found, after, self.settings)}: {why}"
        if told:
            return "decided", line
        return "waiting", f"{line} (not reported: the decision was not in force for an interval)"

    def _open_decision(self) -> Decision:
        """Return the decision that has no feedback yet: the same one after a crash."""
        if self.decision is None:
            key = f"interval {self.session.status().answered + 1}"
            self.decision, self.since = self.session.ask(key), None
        return self.decision

    def _was_in_force(self, decision: Decision, found: Weights) -> bool:
        """Whether the decision's weights were in force for an interval, so that it is reported."""
        since = decision.time if self.since is None else self.since
        long_enough = self.clock() - since >= WHOLE_INTERVAL * self.settings.interval
        return long_enough and np.array_equal(found, self._wanted(decision))

    def _wanted(self, decision: Decision) -> Weights:
        """Return the weights of a decision, with the least for backends that are down."""
        weights = weights_of(decision)
        if self.up is None:
            return weights
        return without_down(weights, self.up, self.settings.least)

    def _in_force(self) -> Weights:
        """Return the weights in force; where a target cannot be read, those written last.

        Without a target they are those of the decision, and before anything was written to a
        target that cannot be read they are equal ones.
        """
        if self.target is None:
            return self._wanted(self._open_decision())
        found = self.target.read()
        if found is None and self.written is None:
            self.since = self.clock()  # whatever is in force, the decision is not known to be
            return self.settings.equal
        return as_whole(self.written if found is None else found)  # type: ignore[arg-type]

    def _write(self, found: Weights, wanted: Weights) -> Weights:
        """Write one bounded step towards the weights that are wanted; return what is in force."""
        step = self.safety.step(found, wanted)
        if self.target is not None and not (
            np.array_equal(step, found) and self.written is not None
        ):
            self.target.write(step)
        if not np.array_equal(step, found):
            self.since = self.clock()
        self.written = step
        return step

    def _hold(self, why: str) -> tuple[str, str]:
        """Hold the last weights, or go to the configured ones after many failures."""
        if not self.safety.is_falling_back:
            return "held", f"weights held: {why}"
        fallback = self.settings.fallback
        assert fallback is not None
        try:
            found = self._in_force()
            after = self._write(found, fallback)
        except TargetError as error:
            also = "" if str(error) == why else f"; {error}"
            return "held", f"weights held: {why}{also}"
        self.metrics.show(after)
        return "fallback", f"{changes(found, after, self.settings)}: falling back, {why}"


def weights_of(decision: Decision) -> Weights:
    """Return a decision as whole weights."""
    return np.rint(decision.action * WHOLE).astype(np.int64)


def steer(
    settings: Settings,
    say: Callable[[str], None],
    *,
    shadow: bool = False,
    once: bool = False,
    stop: Event | None = None,
) -> None:
    """Steer until told to stop, or until a replayed file ends.

    Args:
        settings: the file.
        say: is called with one line for each interval.
        shadow: decide and record, without writing weights.
        once: end after one interval.
        stop: ends it when it is set.

    """
    stop = stop or Event()
    source, target = make_source(settings), make_target(settings)
    metrics = SteerMetrics(settings)
    with Store(settings.store) as store:
        session = begin_session(settings, store)
        with Lease(session, max(LEASE * settings.interval, 30.0)) as lease:
            metrics.serve()
            at_start = target.read() if settings.safety.restore and not shadow else None
            work = Steering(settings, session, source, None if shadow else target, say, metrics)
            try:
                _run(work, lease, once, stop)
            except LeaseHeldError:
                at_start = None  # another process acts
                raise
            finally:
                if at_start is not None:
                    target.write(at_start)
                    say("the weights found at the start are in force again")


def _run(work: Steering, lease: Lease, once: bool, stop: Event) -> None:
    """Tick at every interval; a replayed file needs no waiting."""
    replayed = work.settings.source.kind == "csv"
    if replayed:
        work.clock = _Steps(work.settings.interval)
    next_tick = time.monotonic()
    while not stop.is_set():
        try:
            lease.renew()
        except StoreError as error:  # without a lease nothing is written
            work.metrics.count("held")
            work.say(f"weights held: {error}")
        else:
            try:
                work.tick()
            except EndOfReadings:
                return
        if once:
            return
        next_tick = max(next_tick + work.settings.interval, time.monotonic())
        if not replayed:
            stop.wait(next_tick - time.monotonic())


class _Steps:
    """A clock that goes on by more than an interval with each reading of it."""

    def __init__(self, interval: float):
        self._now, self._step = time.time(), interval

    def __call__(self) -> float:
        self._now += self._step
        return self._now
