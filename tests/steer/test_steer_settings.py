"""Broken files: each is one clear sentence, and weights stay untouched."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.steer.settings import read_settings
from steer_files import GOOD, settings_of

PROMETHEUS = '''kind = "prometheus"
url = "http://127.0.0.1:9"
[source.queries]
latency = "x"'''
SOURCE = 'kind = "command"\ncommand = ["readings"]'
TARGET = 'kind = "file"\npath = "weights.json"'
HAPROXY = 'kind = "haproxy"\nsocket = "s.sock"\nbackend = "web"'
ENVOY = 'format = "envoy"\n[target.endpoints]\n'


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


BROKEN = {
    "not TOML": ("session = ", "this is not TOML"),
    "empty": ("", "lacks the key 'session'"),
    "binary": ("\udcff\udcfe", "this is not TOML"),
    "nested": ("a = " + "[" * 2000 + "]" * 2000, "nested too deeply"),
    "huge": ("# " + "x" * (1 << 20), "at most 1048576"),
    "misspelt key": (changed("interval", "intervals"), "unknown key 'intervals' (did you mean"),
    "no interval": (changed("interval = 10", ""), "lacks the key 'interval'"),
    "interval 0": (changed("interval = 10", "interval = 0"), "interval must be above 0, got 0"),
    "interval as text": (changed("= 10", '= "10s"'), "interval must be a finite number"),
    "infinite interval": (changed("= 10", "= inf"), "interval must be a finite number"),
    "session with a slash": (changed('"shop"', '"../shop"'), "session must be of letters"),
    "backends no list": (changed("[[backends]]\nname", "[backends]\nname"), "not TOML"),
    "one backend": (
        GOOD[: GOOD.index('[[backends]]\nname = "eu-2"')] + GOOD[GOOD.index("[[limits]]") :],
        "backends must be 2 to 200 tables, got 1",
    ),
    "same name twice": (changed('"eu-2"', '"eu-1"'), "backends[1].name is 'eu-1', as is that of"),
    "negative price": (
        changed("price = 4.0", "price = -4.0"),
        "backends[0].price must be at least",
    ),
    "price as text": (
        changed("price = 4.0", 'price = "4 $"'),
        "backends[0].price must be a finite",
    ),
    "minimum shares above 1": (
        changed("= 0.02", "= 0.99"),
        "min_share of all backends sum to 1.01",
    ),
    "minimum share 1": (changed("= 0.02", "= 1.0"), "min_share must be at least 0 and below 1"),
    "unknown key of a backend": (
        changed("price = 4.0", "cost = 4.0"),
        "backends[0] has an unknown",
    ),
    "no limits": (
        changed("[[limits]]", "[[limit]]"),
        "unknown key 'limit' (did you mean 'limits'?)",
    ),
    "limit 0": (
        changed("at_most = 120", "at_most = 0"),
        "limits[0].at_most must be above 0, got 0",
    ),
    "limit NaN": (changed("at_most = 120", "at_most = nan"), "limits[0].at_most must be a finite"),
    "limit named price": (changed('"latency"', '"price"'), "which means another reading"),
    "bad intervals in percent": (
        changed("at_most = 120", "at_most = 120\nbad_intervals = 5"),
        "limits[0].bad_intervals must be at least 0 and below 1, got 5",
    ),
    "no kind": (changed('kind = "command"\n', ""), "source lacks the key 'kind'; give one of"),
    "unknown kind": (changed('"command"', '"promethes"'), "(did you mean 'prometheus'?)"),
    "command as text": (changed('["readings"]', '"readings"'), "source.command must be a list"),
    "url without scheme": (
        changed(SOURCE, PROMETHEUS.replace("http://", "")),
        "source.url must begin with http:// or https://",
    ),
    "no query for a limit": (
        changed(SOURCE, PROMETHEUS.replace("latency", "price")),
        "source.queries lacks a query for the limit 'latency'",
    ),
    "query for nothing": (
        changed(SOURCE, PROMETHEUS + '\nlatencies = "x"'),
        "got 'latencies' (did you mean 'latency'?)",
    ),
    "statistics that HAProxy lacks": (
        changed(SOURCE, HAPROXY).replace('"latency"', '"p99"'),
        "must be one of 'latency', 'errors'; got 'p99'",
    ),
    "names that HAProxy cannot have": (
        changed(TARGET, HAPROXY.replace('"web"', '"web; shutdown"')),
        "HAProxy's names are of letters, digits",
    ),
    "no price": (changed(SOURCE, PROMETHEUS).replace("price = 4.0", ""), "(eu-1) has no price"),
    "unknown format": (
        changed(TARGET, TARGET + '\nformat = "yaml"'),
        "target.format must be one of",
    ),
    "no endpoints": (changed(TARGET, TARGET + '\nformat = "envoy"'), "lacks the backend 'eu-1'"),
    "endpoint without port": (
        changed(TARGET, TARGET + "\n" + ENVOY + 'eu-1 = "a"\neu-2 = "b:1"\nus-1 = "c:1"'),
        "target.endpoints.eu-1 must be HOST:PORT, got 'a'",
    ),
    "folder of the target": (changed("weights.json", "no/such/w.json"), "for target.path; make it"),
    "folder of the store": (changed("shop.db", "no/such/s.db"), "for the store; make it first"),
    "change above 1": (
        changed("[safety]", "[safety]\nmax_change = 20"),
        "max_change must be 1/256 to 1",
    ),
    "fallback of a stranger": (changed("{eu-1", "{eu-9"), "safety.fallback: must be one of 'eu-1'"),
    "fallback of two": (changed(", us-1 = 0.25", ""), "safety.fallback lacks the backend 'us-1'"),
    "fallback of zeros": (
        changed("{eu-1 = 0.5, eu-2 = 0.25, us-1 = 0.25}", "{eu-1 = 0, eu-2 = 0, us-1 = 0}"),
        "safety.fallback must give some backend a share above 0",
    ),
    "port": (GOOD + "[metrics]\nport = 99999", "metrics.port must be a port, 1 to 65535"),
    "unset variable": (
        changed(TARGET, 'kind = "http"\nurl = "http://127.0.0.1:9"\nheaders = {a = "${NO_SUCH}"}'),
        "needs the environment variable NO_SUCH",
    ),
    "body with a stranger": (
        changed(TARGET, 'kind = "http"\nurl = "http://127.0.0.1:9"\nbody = {w = "$weight:eu-9"}'),
        "target.body names a backend 'eu-9'",
    ),
}


def test_there_are_thirty_or_more():
    assert len(BROKEN) >= 30


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence(name, tmp_path):
    text, sentence = BROKEN[name]
    path, weights = tmp_path / "shop.toml", tmp_path / "weights.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    weights.write_text('{"weights": {"eu-1": 1, "eu-2": 2, "us-1": 3}}')
    before = weights.read_bytes()
    done = CliRunner().invoke(app, ["steer", str(path), "--once"])
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("hedgerow: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert weights.read_bytes() == before
    assert not (tmp_path / "shop.db").exists()


def test_a_missing_file_is_one_sentence(tmp_path):
    done = CliRunner().invoke(app, ["steer", str(tmp_path / "none.toml")])
    assert done.exit_code == 2
    assert "no such file" in done.stderr


def test_a_good_file(tmp_path):
    path = tmp_path / "shop.toml"
    path.write_text(GOOD)
    settings = read_settings(path)
    assert settings.names == ("eu-1", "eu-2", "us-1")
    assert settings.least.tolist() == [3, 3, 6]
    assert settings.fallback.tolist() == [128, 64, 64]
    assert settings.equal.sum() == 256
    assert settings.store == str(tmp_path / "shop.db")
    assert settings_of(tmp_path).names == settings.names


def test_check_writes_nothing(tmp_path):
    path = tmp_path / "shop.toml"
    path.write_text(changed('["readings"]', '["echo", "{}"]'))
    done = CliRunner().invoke(app, ["steer", str(path), "--check"])
    assert done.exit_code == 1
    assert "eu-1: price 4, at least 1 % of the traffic" in done.stdout
    assert "latency at most 120 ms, in all but 1 % of intervals" in done.stdout
    assert (
        "The source cannot be used: backends with 0 % of the traffic were observed" in done.stdout
    )
    assert "Nothing was written." in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop.toml"]
