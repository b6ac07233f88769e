"""Named quantities of a network's edges, by round: as measured, gaps filled, perhaps scaled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_number
from hedgerow.networks.network import Network
from hedgerow.problems.variation import UniformScaling

HOPS = "hops"
UNITS = {"latency": "ms", "bandwidth": "Mbit/s", HOPS: "links"}


@dataclass(frozen=True, eq=False)
class EdgeQuantity:
    """One quantity of the edges of a problem.

    Attributes:
        name: as the network has it.
        unit: as people write it, empty where it is not known.
        rounds: values by round and edge; one row where they never change.
        base: the network's own value of each edge, without rounds.
        source: what is measured and what is not, in a few words.

    """

    name: str
    unit: str
    rounds: NDArray[np.float64]
    base: Vector
    source: str

    def at(self, t: int) -> Vector:
        """Return the values of round t, from 0; after the last row the first comes again."""
        row: Vector = self.rounds[t % len(self.rounds)]
        return row


def quantity_name(network: Network, asked: str) -> str:
    """Return the name that is meant: itself, or the one quantity that begins so.

    >>> from hedgerow.networks.quantities import Quantity
    >>> price = {"price_eur": Quantity([3.0], "measured")}
    >>> links = Network(("a", "b"), [(0, 1)], [5.0], "measured", quantities=price)
    >>> quantity_name(links, "price"), quantity_name(links, "latency")
    ('price_eur', 'latency')
    """
    known = _names(network)
    if asked in known:
        return asked
    longer = [name for name in known if name.startswith(f"{asked}_")]
    if len(longer) == 1:
        return longer[0]
    near = longer or get_close_matches(asked, known, n=1)
    hint = f"; perhaps you want {' or '.join(map(repr, near))}" if near else ""
    raise ValueError(
        f"the edges have no quantity {asked!r:.80}; there are {', '.join(known)}{hint}"
    )


def edge_quantity(
    network: Network,
    name: str,
    kept: NDArray[np.intp],
    *,
    outage: Vector | float | None = None,
    scaling: UniformScaling | None = None,
    rounds: int | None = None,
    rng: np.random.Generator | None = None,
) -> EdgeQuantity:
    """Return a quantity of the edges with these numbers.

    A round without a reading has the edge's last one; before its first reading an edge has its base
    value. An outage counts as `outage`.

    Args:
        network: where it comes from.
        name: of the quantity, as `quantity_name` returns it.
        kept: the numbers of the edges.
        outage: what an outage of each edge counts as; None, as the last reading.
        scaling: a law of random factors, for each edge and round.
        rounds: how many rounds are drawn, with `scaling`.
        rng: draws them.

    """
    base, series, label = _values(network, name)
    base = base[kept]
    if np.isnan(base).any():
        e = int(np.argmax(np.isnan(base)))
        a, b = (network.nodes[i] for i in network.edges[kept[e]])
        raise ValueError(
            f"the {name} of the link from {a} to {b} is not known; give it, or leave the link out"
        )
    table, said, gaps = base[None, :], "constant", np.zeros((1, base.size), np.bool_)
    if series is not None:
        found = series[:, kept]
        gaps, table = np.isnan(found), _filled(found, base)
        said = f"{len(table)} rounds as measured"
    out = lasting_outages(network, kept)
    if outage is not None and out is not None and len(table) in (1, len(out)):
        table, gaps = np.where(out, outage, table), gaps & ~out
        values = np.broadcast_to(outage, out.shape)[out]
        upto = f" to {values.max():.4g}" if values.max() > values.min() else ""
        said += f", {int(out.sum())} outages, counted as {values.min():.4g}{upto}"
    if missing := int(gaps.sum()):
        said += f", {missing} readings missing, counted as the last one before"
    if scaling is not None:
        if rng is None or rounds is None:
            raise ValueError("scaling needs rounds and a random generator")
        repeated = table[np.arange(rounds) % len(table)]
        table = repeated * rng.uniform(scaling.low, scaling.high, repeated.shape)
        said += f", {scaling.label(rounds)}"
    unit = UNITS.get(name, name.partition("_")[2])
    return EdgeQuantity(name, unit, table, base, f"{label}, {said}")


def _names(network: Network) -> list[str]:
    own = ["latency", *(["bandwidth"] if network.bandwidth_mbps is not None else [])]
    return [*own, *network.quantities, HOPS]


def _values(network: Network, name: str) -> tuple[Vector, NDArray[np.float64] | None, str]:
    """Return base values, series and label of a quantity."""
    if name == HOPS and HOPS not in network.quantities:
        return np.ones(len(network.edges)), None, "1 for each link"
    if name == "latency":
        return network.latency_ms, network.latency_series, network.latency_label
    if name == "bandwidth" and network.bandwidth_mbps is not None:
        return network.bandwidth_mbps, network.bandwidth_series, network.bandwidth_label or "given"
    quantity = network.quantities[name]
    return quantity.values, quantity.series, quantity.label


def lasting_outages(network: Network, kept: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Return by round and edge whether it is out, from an outage to the next reading; or None."""
    if network.outages is None or network.latency_series is None:
        return None
    out = network.outages[:, kept]
    if not out.any():
        return None
    state = np.where(out, 1.0, np.where(np.isnan(network.latency_series[:, kept]), np.nan, 0.0))
    return _filled(state, np.zeros(state.shape[1])) > 0.0


def _filled(series: NDArray[np.float64], base: Vector) -> NDArray[np.float64]:
    """Return a series without gaps."""
    missing = np.isnan(series)
    # Row 0 stands for the reading before the first; each gap then takes the last row without one.
    whole = np.vstack([base, series])
    last = np.where(np.vstack([np.zeros((1, base.size), np.bool_), missing]), 0, 1)
    row = np.maximum.accumulate(last * np.arange(len(whole))[:, None], axis=0)
    return np.take_along_axis(whole, row, axis=0)[1:]


def levels(given: Mapping[str, float] | str | None, name: str) -> dict[str, float]:
    """Return quantities and numbers, of a mapping or of words such as "latency=120, price=3".

    >>> levels("latency=120, price=3", "caps")
    {'latency': 120.0, 'price': 3.0}
    """
    if given is None:
        return {}
    if not isinstance(given, str):
        return {key: as_number(value, f"{name} of {key}") for key, value in given.items()}
    found = {}
    for word in given.replace(",", " ").split():
        key, equals, text = word.partition("=")
        try:
            found[key] = as_number(float(text), f"{name} of {key}")
        except ValueError:
            equals = ""
        if not (key and equals):
            raise ValueError(
                f"{name} must be quantities with numbers, as 'latency=120', got {word!r:.80}"
            )
    return found
