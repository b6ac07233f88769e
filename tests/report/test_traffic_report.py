"""Maps and pages of traffic, and the commands that make them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli.app import app
from hedgerow.cli.traffic import _remove_vacuous
from hedgerow.networks import Topology
from hedgerow.policies import Certificate
from hedgerow.problems import TrafficEngineering, gravity_demands
from hedgerow.protocols.trace import Trace
from hedgerow.report.picture import Picture
from hedgerow.report.traffic import (
    draw_frames,
    draw_map,
    draw_moved,
    draw_topology,
    places,
    traffic_rows,
    used_in_round,
    write_traffic_page,
)

NODES = ("<b>", "$x", "c", "d")
RING = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def ring(spots=((0.0, 40.0), (10.0, 50.0), (20.0, 40.0), (10.0, 30.0))) -> Topology:
    edges = np.array([*RING, *((v, u) for u, v in RING)])
    positions = None if spots is None else np.array(spots)
    return Topology("ring", NODES, positions, edges, np.full(10, 2.0), np.full(10, 10.0))


def problem(rounds: int = 20) -> TrafficEngineering:
    return TrafficEngineering.from_network(ring(), gravity_demands(ring(), rounds, 0), k=3)


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_a_map_colours_links_by_utilisation_with_the_busiest_on_top() -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    used = np.linspace(0.9, 0.0, 10)
    lines = draw_map(figure.subplots(), ring(), used, 0.5, "title")
    assert lines.get_array().tolist() == sorted(used)
    assert (np.diff(lines.get_linewidths()) >= 0.0).all()
    assert lines.norm(0.5) == 0.5  # the limit is the middle of the colours
    forth, back = (np.array(lines.get_segments()[9 - k]) for k in (0, 5))  # links (0, 1), (1, 0)
    assert np.linalg.norm(forth - back[::-1], axis=1).min() > 0.0  # side by side


def test_places_keep_proportions_and_part_nodes_on_one_spot() -> None:
    spots = places(ring())
    assert np.ptp(spots[:, 0]) == pytest.approx(20.0 * np.cos(np.radians(40.0)))
    twins = places(ring(((0.0, 0.0), (0.0, 0.0), (5.0, 0.0), (5.0, 5.0))))
    assert np.linalg.norm(twins[0] - twins[1]) > 0.0
    assert np.linalg.norm(places(ring(None)), axis=1) == pytest.approx(np.ones(4))


def test_used_in_round_knows_of_failed_links() -> None:
    P = problem()
    x = P.decision_set.start()
    assert (used_in_round(P, x, 3) == P.loads.utilisation(x, P.demands[3])).all()
    left = np.full((P.horizon, 10), 0.5)
    failing = TrafficEngineering(
        P.decision_set, P.demands, P.latency, P.capacity, P.limit, available=left
    )
    assert used_in_round(failing, x, 3) == pytest.approx(2.0 * used_in_round(P, x, 3))


def test_pictures_are_written(tmp_path: Path) -> None:
    P = problem()
    x = P.decision_set.start()
    assert draw_topology(ring(), tmp_path / "a" / "map.png").read_bytes().startswith(b"\x89PNG")
    frames = draw_frames(ring(), {3: x, 1: x}, P, tmp_path / "frames.gif")
    assert frames.read_bytes().startswith(b"GIF8")
    assert draw_moved(P, x, tmp_path / "moved.png") is not None
    assert draw_moved(P, P.shortest, tmp_path / "none.png") is None


@pytest.mark.parametrize("limit", [0.4, 0.6])
def test_certificates_that_bound_nothing_become_sentences(limit: float) -> None:
    problem = SimpleNamespace(limit=limit, smallest_limit=0.5)
    certificates = {"good": Certificate(1.0), "poor": Certificate(9.0, most=8.0)}
    said = _remove_vacuous(problem, certificates)
    if limit < problem.smallest_limit:
        why = "says nothing here, because no fixed split satisfies the limit in all rounds."
        assert said == [f"The certificate of {name} {why}" for name in ("good", "poor")]
        assert certificates == {}
    else:
        why = "says nothing here, because no fixed action could have cost more than 8 less."
        assert said == [f"The certificate of poor {why}"]
        assert list(certificates) == ["good"]


def test_rows_and_page_tell_the_numbers_and_escape_names(tmp_path: Path) -> None:
    trace = Trace(np.array([1.0, 3.0]), np.array([-0.25, 0.5]), seconds=4e-6)
    rows = traffic_rows({"<i>": trace}, {"<i>": 1.0}, limit=0.5)
    assert rows == [["<i>", "2.000", "1.000", "0.500", "50.0", "+0.500", "2"]]
    picture = draw_topology(ring(), tmp_path / "map.png")
    pictures = [Picture(picture.stem, "<h>", "<c>")]
    page = write_traffic_page("<t>", ["<s>"], rows, pictures, tmp_path / "page.html")
    text = page.read_text()
    assert "&lt;i&gt;" in text
    assert "data:image/png;base64" in text
    assert not any(tag in text for tag in ("<i>", "<t>", "<s>", "<c>"))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    network, demands = tmp_path / "net.json", tmp_path / "demands.npz"
    X = ring()
    links = [
        {"source": NODES[u], "target": NODES[v], "capacity_mbps": 10.0, "latency_ms": ms}
        for (u, v), ms in zip(X.edges.tolist(), X.latency_ms.tolist(), strict=True)
    ]
    nodes = [{"id": name} for name in NODES]
    network.write_text(json.dumps({"name": "ring", "nodes": nodes, "links": links}))
    stack = gravity_demands(X, 30, 1, rounds_per_day=10)
    stack[4] = 0.0
    np.savez(demands, demands=stack)
    return network, demands


def test_run_traffic_on_measured_files(files, tmp_path: Path) -> None:
    network, demands = files
    out = tmp_path / "out"
    arguments = ("run", "traffic", "--network", network, "--demands", demands, "-o", out)
    told = invoke(*arguments)
    assert told.exit_code == 0, told.output
    for words in ("29 rounds", "1 empty round left out", "best for the last matrix", "Page:"):
        assert words in told.output
    assert "…" not in told.output, "nothing is cut off at 80 columns"
    assert {path.name for path in out.iterdir()} >= {"report.html", "map.png", "days.png"}
    found = json.loads(invoke(*arguments, "--json").stdout)
    P = TrafficEngineering.from_network(Topology.load(network), np.load(demands)["demands"])
    fixed = found["policies"]["shortest paths"]
    assert fixed["cost"] == pytest.approx(
        np.mean([f(P.shortest) for f, _ in P][:4] + [f(P.shortest) for f, _ in P][5:])
    )
    assert found["policies"]["projection_free_coco"]["certificate"] is not None
    assert found["hindsight"]["status"] == "optimal"
    assert hr.hindsight(P).cost / 29 == pytest.approx(found["hindsight"]["cost"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "traffic", "--workers", 2), "traffic runs in this process; leave out --workers"),
        (("run", "paper", "--demands", "x.npz"), "--demands, --pairs and --advice are for"),
        (("run", "traffic", "--network", "none.json"), "there is no file none.json"),
        (("data", "show", "topozoo/Nowhere"), "there is no network 'topozoo/Nowhere'"),
        (("data", "list", "nowhere"), "no network's name begins with 'nowhere'"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, sentence: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = invoke(*arguments)
    assert told.exit_code == 2
    assert sentence in " ".join(told.output.split())


def test_data_lists_and_shows_networks(tmp_path: Path) -> None:
    listed = invoke("data", "list", "sndlib/").output.split()
    assert "sndlib/abilene" in listed
    assert all(name.startswith("sndlib/") for name in listed)
    told = invoke("data", "show", "sndlib/abilene", "--out", tmp_path)
    assert "12 nodes, 30 directed links" in told.output
    assert "a matrix of 132 demands" in told.output
    assert (tmp_path / "sndlib-abilene.png").stat().st_size > 5000
