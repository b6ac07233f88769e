"""What a file would do, in words, and whether its source and target can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hedgerow.steer.readings import EndOfReadings, Observer, SourceError
from hedgerow.steer.settings import Settings
from hedgerow.steer.sources import make_source
from hedgerow.steer.targets import TargetError, make_target
from hedgerow.steer.weights import WHOLE, shares_of


def plan(settings: Settings) -> Iterator[str]:
    """Yield what the file says, one line each."""
    safety = settings.safety
    yield (
        f"Session {settings.session} in {settings.store}: a decision every {settings.interval:g} s."
    )
    for backend in settings.backends:
        price = (
            "price read from the source" if backend.price is None else f"price {backend.price:g}"
        )
        yield f"  {backend.name}: {price}, at least {100.0 * backend.min_share:g} % of the traffic"
    for limit in settings.limits:
        yield f"  {limit}, in all but {100.0 * limit.bad_intervals:g} % of intervals"
    source, target = settings.source.kind, settings.target.kind
    yield f"Readings from {source}; weights, which sum to {WHOLE}, to {target}."
    yield f"A share changes by at most {100.0 * safety.max_change:g} % of the traffic per interval."
    if settings.fallback is None:
        yield "Without readings the last weights stay."
    else:
        pairs = zip(settings.names, settings.fallback.tolist(), strict=True)
        named = ", ".join(f"{name} {weight}" for name, weight in pairs)
        yield f"After {safety.fallback_after} failed intervals the weights go to {named}."


def try_out(settings: Settings) -> Iterator[tuple[str, bool]]:
    """Read target and source once; yield a line for each, and whether it worked."""
    shares = shares_of(settings.equal)
    try:
        found = make_target(settings).read()
        if found is None:
            yield "The target does not tell which weights are in force.", True
        else:
            shares = shares_of(found)
            yield f"Weights in force: {', '.join(_pairs(settings, found.tolist()))}.", True
    except (TargetError, ValueError) as error:
        yield f"The target cannot be used: {error}.", False
    try:
        interval = Observer(settings).take(make_source(settings).read(), shares)
        for row, limit in zip(interval.limits, settings.limits, strict=True):
            values = [f"{value:.4g}" for value in row.tolist()]
            yield f"{limit.name} now: {', '.join(_pairs(settings, values))}.", True
    except EndOfReadings:
        yield "The source has no readings: the replayed file is empty.", False
    except (SourceError, ValueError) as error:
        yield f"The source cannot be used: {error}.", False


def _pairs(settings: Settings, values: Sequence[object]) -> list[str]:
    return [f"{name} {value}" for name, value in zip(settings.names, values, strict=True)]
