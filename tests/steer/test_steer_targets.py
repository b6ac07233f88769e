"""Targets: files of three formats, replaced whole, and requests with retries."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from hedgerow.steer.targets import TargetError, make_target
from steer_files import GOOD, settings_of

FILE = 'kind = "file"\npath = "weights.json"'
WEIGHTS = np.array([100, 150, 6])
ENVOY = (
    FILE
    + """
format = "envoy"
cluster = "shop"
endpoints = {eu-1 = "10.0.0.1:80", eu-2 = "10.0.0.2:80", us-1 = "10.0.0.3:8080"}"""
)
ROUTE = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "shop"},
    "spec": {
        "rules": [
            {"backendRefs": [{"name": name, "port": 80} for name in ("us-1", "eu-1", "eu-2", "x")]}
        ]
    },
}


def target(folder, table):
    return make_target(settings_of(folder, GOOD.replace(FILE, table)))


@pytest.mark.parametrize("table", [FILE, ENVOY])
def test_a_file_holds_the_weights_and_is_read_back(table, tmp_path):
    made = target(tmp_path, table)
    assert made.read() is None
    made.write(WEIGHTS)
    assert made.read().tolist() == WEIGHTS.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["weights.json"]


def test_envoy_reads_a_cluster_load_assignment(tmp_path):
    target(tmp_path, ENVOY).write(np.array([256, 0, 0]))
    (found,) = json.loads((tmp_path / "weights.json").read_text())["resources"]
    assert found["@type"].endswith("endpoint.v3.ClusterLoadAssignment")
    assert found["cluster_name"] == "shop"
    (one,) = found["endpoints"][0]["lb_endpoints"]  # Envoy refuses a weight of 0
    assert one["load_balancing_weight"] == 256
    assert one["endpoint"]["address"]["socket_address"] == {"address": "10.0.0.1", "port_value": 80}


def test_an_http_route_keeps_everything_else(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(ROUTE))
    made = target(tmp_path, FILE + '\nformat = "httproute"')
    assert made.read().tolist() == [1, 1, 1]
    made.write(WEIGHTS)
    found = json.loads(path.read_text())
    references = found["spec"]["rules"][0]["backendRefs"]
    assert [one.get("weight") for one in references] == [6, 100, 150, None]
    for one in references:
        one.pop("weight", None)
    assert found == ROUTE


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("no JSON", "must hold JSON"),
        ("{}", "must hold an HTTPRoute with spec.rules[0].backendRefs"),
        (json.dumps(ROUTE).replace('"eu-1"', '"eu-7"'), "has no backendRef 'eu-1'"),
    ],
)
def test_an_http_route_that_cannot_be_used(content, sentence, tmp_path):
    (tmp_path / "weights.json").write_text(content)
    with pytest.raises(TargetError) as caught:
        target(tmp_path, FILE + '\nformat = "httproute"')
    assert sentence in str(caught.value)
    assert (tmp_path / "weights.json").read_text() == content


@pytest.mark.parametrize("content", ["[]", '{"weights": 5}', '{"weights": {"eu-1": "x"}}'])
def test_a_file_with_other_content_is_not_overwritten(content, tmp_path):
    (tmp_path / "weights.json").write_text(content)
    with pytest.raises(TargetError, match="does not hold weights"):
        target(tmp_path, FILE).read()


def test_a_folder_that_went_away(tmp_path):
    (tmp_path / "sub").mkdir()
    made = target(tmp_path, FILE.replace("weights.json", "sub/w.json"))
    (tmp_path / "sub").rmdir()
    with pytest.raises(TargetError, match="cannot be written: no such file"):
        made.write(WEIGHTS)


@pytest.fixture
def hook():
    class Hook(BaseHTTPRequestHandler):
        codes, seen = [], []

        def do_PATCH(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            Hook.seen.append((self.headers.get("Authorization"), json.loads(body)))
            self.send_response(Hook.codes.pop(0) if Hook.codes else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, Hook
    server.shutdown()
    server.server_close()


def patched(port, more=""):
    return (
        f'kind = "http"\nurl = "http://127.0.0.1:{port}/"\nmethod = "PATCH"\n'
        f'headers = {{Authorization = "Bearer ${{STEER_TOKEN}}"}}\n{more}'
    )


def test_a_request_is_tried_again_after_a_failure_of_the_server(hook, tmp_path, monkeypatch):
    monkeypatch.setenv("STEER_TOKEN", "secret")
    monkeypatch.setattr("hedgerow.steer.targets.http.PAUSE", 0.0)
    port, seen = hook
    seen.codes[:] = [503, 500]
    made = target(
        tmp_path, patched(port, 'body = {spec = [{w = "$weight:us-1", s = "$share:eu-1"}]}')
    )
    made.write(np.array([128, 122, 6]))
    assert made.read() is None
    assert seen.seen == [("Bearer secret", {"spec": [{"w": 6, "s": 0.5}]})] * 3


def test_a_request_that_is_refused_is_not_repeated(hook, tmp_path, monkeypatch):
    monkeypatch.setenv("STEER_TOKEN", "secret")
    port, seen = hook
    seen.codes[:] = [403, 200]
    with pytest.raises(TargetError, match="did not take the weights: HTTP 403"):
        target(tmp_path, patched(port)).write(WEIGHTS)
    assert len(seen.seen) == 1
    assert seen.seen[0][1] == {"weights": {"eu-1": 100, "eu-2": 150, "us-1": 6}}


def test_nobody_listens(tmp_path, monkeypatch):
    monkeypatch.setenv("STEER_TOKEN", "secret")
    monkeypatch.setattr("hedgerow.steer.targets.http.PAUSE", 0.0)
    with pytest.raises(TargetError, match="did not take the weights"):
        target(tmp_path, patched(9)).write(WEIGHTS)
