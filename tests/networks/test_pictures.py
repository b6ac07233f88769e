"""What pictures of networks show: names, arrows, ends, widths, colours, maps, series."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.dates import num2date
from matplotlib.patches import FancyArrowPatch
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.networks import EdgeColumns, Network, Quantity, Topology, read_edges
from hedgerow.report import draw_network, draw_series
from hedgerow.report.layout import layout
from hedgerow.report.network_figure import MOST_PANELS, network_figure, series_figure
from operator_case import LINKS, SITES, operator_csv, places_csv

COLUMNS = EdgeColumns("site_a", "site_b", time="time")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    operator_csv(folder / "links.csv", minutes=300)
    places_csv(folder / "sites.csv")
    return folder


@pytest.fixture(scope="module")
def operator(folder):
    return read_edges(folder / "links.csv", COLUMNS, route=("Lisbon", "Warsaw"))


def many(nodes=200, edges=600):
    rng = np.random.default_rng(0)
    pairs = rng.permutation(nodes * nodes)
    pairs = pairs[pairs // nodes != pairs % nodes][:edges]
    latency = rng.uniform(1.0, 9.0, edges)
    return Network(
        tuple(f"n{i}" for i in range(nodes)),
        np.column_stack([pairs // nodes, pairs % nodes]),
        latency, "measured", source=3, target=4,
        latency_series=latency * rng.uniform(0.9, 1.1, (30, edges)),
    )  # fmt: skip


def arrows(figure):
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]


def names(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_ten_nodes_have_their_names_and_every_edge_its_arrow(operator):
    figure = network_figure(operator, "latency", None)
    figure.canvas.draw()
    others = sorted(set(SITES) - {"Lisbon", "Warsaw"})
    assert sorted(names(figure)) == sorted([*others, "Lisbon (source)", "Warsaw (target)"])
    drawn = arrows(figure)
    assert len(drawn) == len(LINKS)
    places = layout(operator).places
    for (
        patch,
        (u, v),
    ) in zip(drawn, operator.edges, strict=True):
        (a, b), style = patch._posA_posB, patch.get_arrowstyle()
        np.testing.assert_allclose([a, b], places[[u, v]])
        assert "CurveFilledB" in type(style).__name__, "the head is at the target"


def test_quantities_are_width_and_colour(operator):
    figure = network_figure(operator, "latency", "price_eur")
    widths = [patch.get_linewidth() for patch in arrows(figure)]
    prices = operator.quantities["price_eur"].values
    assert np.argsort(widths).tolist() == np.argsort(prices).tolist()
    said = f"width: price_eur, from {prices.min():.3g} to {prices.max():.3g}"
    assert said in figure.axes[0].get_title(loc="left")
    shade = [sum(patch.get_edgecolor()[:3]) for patch in arrows(figure)]
    assert np.corrcoef(shade, operator.latency_ms)[0, 1] < -0.9, "darker is slower"
    flat = network_figure(operator, "price_eur", "")
    assert len({patch.get_linewidth() for patch in arrows(flat)}) == 1
    with pytest.raises(ValueError, match="no quantity 'loss'; it has latency, price_eur"):
        network_figure(operator, "loss", None)


def test_directions_that_are_alike_share_a_line_and_others_are_bent(folder):
    both = read_edges(folder / "links.csv", COLUMNS, both_ways=True)
    drawn = arrows(network_figure(both, "latency", None))
    assert len(drawn) == len(LINKS)
    assert {type(patch.get_arrowstyle()).__name__ for patch in drawn} == {"Curve"}
    pair = Network(("a", "b"), [(0, 1), (1, 0)], [1.0, 5.0], "measured")
    there, back = arrows(network_figure(pair, "latency", None))
    assert there.get_connectionstyle().rad == back.get_connectionstyle().rad > 0.0


def test_names_on_a_crowded_map_do_not_cover_each_other():
    zoo = Topology.shipped("topozoo/Geant2012")
    network = Network(
        zoo.nodes, zoo.edges, zoo.latency_ms, "proxy:distance",
        source=0, target=5, coordinates=zoo.positions[:, ::-1],
    )  # fmt: skip
    figure = network_figure(network, "latency", None)
    assert "without heads where both ways are alike" in figure.axes[0].get_title(loc="left")
    figure.draw_without_rendering()
    written = [t for t in figure.axes[0].texts if t.get_text()]
    assert len(written) == len(network.nodes)
    boxes = [t.get_window_extent() for t in written]
    pairs = [(a, b) for k, a in enumerate(boxes) for b in boxes[k + 1 :]]
    covered = [max(0.0, min(a.x1, b.x1) - max(a.x0, b.x0)) *
               max(0.0, min(a.y1, b.y1) - max(a.y0, b.y0)) for a, b in pairs]  # fmt: skip
    assert max(covered) < 0.1 * min(box.width * box.height for box in boxes)


def test_two_hundred_nodes_are_lines_with_few_names():
    network = many()
    figure = network_figure(network, "latency", None)
    assert not arrows(figure)
    (lines,) = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    assert len(lines.get_segments()) == 600
    assert {"n3 (source)", "n4 (target)"} <= set(names(figure))
    assert len(names(figure)) <= 8
    assert "heads not drawn" in figure.axes[0].get_title(loc="left")


def test_a_map_where_coordinates_are_known(operator, folder):
    network = read_edges(folder / "links.csv", COLUMNS, places=folder / "sites.csv")
    placed = layout(network)
    assert placed.is_map
    for name, (x, y) in zip(network.nodes, placed.places.tolist(), strict=True):
        assert (y, x) == SITES[name], "longitude to the right, latitude upward"
    figure = network_figure(network, "latency", None)
    figure.canvas.draw()
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert {"5°W", "10°E"} <= set(labels)
    assert not layout(operator).is_map
    unknown = network.coordinates.copy()
    unknown[network.nodes.index("Madrid")] = np.nan
    placed = layout(Network(network.nodes, network.edges, network.latency_ms, "measured",
                            coordinates=unknown)).places  # fmt: skip
    near = [SITES[name] for name in ("Lisbon", "Paris", "Milan")]
    np.testing.assert_allclose(placed[network.nodes.index("Madrid")], np.mean(near, axis=0)[::-1])


def test_without_a_map_distances_follow_latency_and_the_source_is_left(operator):
    places = layout(operator).places
    u, v = operator.edges.T
    drawn = np.linalg.norm(places[u] - places[v], axis=1)
    assert np.corrcoef(drawn, operator.latency_ms)[0, 1] > 0.95
    assert places[operator.source, 0] < places[operator.target, 0] - 0.5
    assert np.abs(places).max() <= 1.0 + 1e-12


@pytest.mark.parametrize(
    "network",
    [
        Network(("a", "b"), [(0, 1)], [0.0], "measured"),
        Network(("a", "b", "c", "d"), [(0, 1), (2, 3)], [1.0, 1.0], "measured"),
        Network(("a", "b"), [(0, 1)], [1.0], "measured",
                quantities={"x": Quantity([np.nan], "measured")}),
        Network(("a", "b", "c"), [(0, 1), (1, 2)], [1.0, 3.0], "measured", hub=1),
        Network(("a", "b"), [(0, 1)], [1.0], "measured", coordinates=[[1.0, 1.0], [1.0, 1.0]]),
    ],
    ids=["no latency", "pieces", "nothing known", "hub", "one place"],
)  # fmt: skip
def test_odd_networks_are_drawn(network, tmp_path):
    path = draw_network(network, str(tmp_path / "n.png"))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_series_have_a_panel_for_each_edge(operator):
    figure = series_figure(operator, "latency")
    whole, *panels = figure.axes
    titles = [ax.get_title(loc="left") for ax in panels]
    pairs = [" → ".join(operator.nodes[i] for i in edge) for edge in operator.edges.tolist()]
    assert titles == pairs
    for e, ax in enumerate(panels):
        (line,) = ax.lines
        np.testing.assert_array_equal(line.get_ydata(), operator.latency_series[:, e])
        assert ax.get_ylim() == panels[0].get_ylim(), "one scale"
    np.testing.assert_allclose(
        whole.lines[0].get_ydata(), np.median(operator.latency_series, axis=1)
    )
    first = num2date(whole.lines[0].get_xdata()[0])
    assert first.isoformat() == "2026-03-02T00:00:00+00:00"


def test_many_series_show_those_that_vary_most():
    network = many()
    changed = network.latency_series.copy()
    changed[15:, 7] *= 50.0
    network = Network(network.nodes, network.edges, network.latency_ms, "measured",
                      latency_series=changed)  # fmt: skip
    figure = series_figure(network, "latency")
    assert len(figure.axes) == 1 + MOST_PANELS
    titles = [ax.get_title(loc="left") for ax in figure.axes[1:]]
    u, v = network.edges[7]
    assert f"{network.nodes[u]} → {network.nodes[v]}" in titles
    assert f"the {MOST_PANELS} of 600 edges" in figure.axes[0].get_title(loc="left")


def test_a_long_series_is_drawn_in_parts(tmp_path):
    series = np.arange(4000.0).reshape(-1, 1) + 1.0
    series[30] = np.nan
    network = Network(("a", "b"), [(0, 1)], [1.0], "measured", latency_series=series)
    (line,) = series_figure(network, "latency").axes[1].lines
    assert len(line.get_ydata()) == 1334
    assert line.get_ydata()[0] == 2.0
    with pytest.raises(ValueError, match="no series of 'loss'; it has latency"):
        draw_series(network, "loss", tmp_path / "a.png")


def test_every_series_is_shown_by_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loss = np.random.default_rng(0).random((30, 2))
    network = Network(
        ("a", "b", "c"), [(0, 1), (1, 2)], [1.0, 2.0], "measured",
        latency_series=1.0 + loss, times=1.7e9 + 60.0 * np.arange(30),
        quantities={"loss %": Quantity(loss[0], "measured", loss)},
    )  # fmt: skip
    network.save("n.json")
    result = CliRunner().invoke(app, ["network", "show", "n.json", "--colour", "loss %"])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    for name in ("network", "series-latency", "series-loss"):
        assert f"Figure: out/{name}.png" in result.stdout
        assert (tmp_path / f"out/{name}.png").read_bytes().startswith(b"\x89PNG")
