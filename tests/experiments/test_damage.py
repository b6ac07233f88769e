"""Damaged files: a reader names the file in one sentence, the next sweep makes it again."""

from __future__ import annotations

import json
import shutil
from io import BytesIO

import numpy as np
import pytest
from small_experiment import TEXT, invoked, results_of, small, written

from hedgerow.experiments.executors import serial
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep

TINY = TEXT.replace("[60]", "[10]").replace("[20, 21]", "[20]").replace(', "theory"', "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    assert (
        invoked("run", written(folder, TINY), "-o", folder / "out", "--workers", 1).exit_code == 0
    )
    return folder


@pytest.fixture
def folder(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    return shutil.copytree(whole / "out", tmp_path / "out")


def changed(**values):
    return lambda text: json.dumps(json.loads(text) | values)


def without(key):
    return lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != key})


ANY = {
    "empty": lambda _: "",
    "cut short": lambda text: text[: len(text) // 2],
    "no text": lambda _: b"\xff\xfe\x00",
    "null": lambda _: "null",
    "a list": lambda _: "[]",
    "nested": lambda _: "[" * 100_000,
    "many digits": lambda _: '{"id": ' + "1" * 5000 + "}",
    "NaN": lambda text: text.replace('"id"', '"x": NaN, "id"').replace(
        '"name"', '"x": NaN, "name"'
    ),
}
BOTH = {
    "no id": without("id"),
    "another id": changed(id="another"),
    "no problem": changed(problem=None),
    "horizon 0": changed(horizon=0),
    "horizon half": changed(horizon=2.5),
    "no seed": without("seed"),
    "seed below": changed(seed=-1),
    "status": changed(status="finished"),
    "sources": changed(sources=["a"]),
    "cost too large": changed(cost=10**400),
    "another cost": changed(cost=0.0),
    "another seed": changed(seed=21),
    "another dimension": changed(dim=99),
    "another checksum": changed(checksum="0" * 64),
    "an infinite number that nobody reads": lambda text: text.replace('"id"', '"x": 1e999, "id"'),
    "cost infinite": lambda text: text.replace('"cost"', '"cost": 1e999, "price"', 1),
    "cost a text": changed(cost="1"),
    "cost a truth value": changed(cost=True),
}
RUNS = {
    "no cost": without("cost"),
    "null cost": changed(cost=None),
    "no ccv": without("ccv"),
    "ccv of one constraint": changed(ccv_each=[1.0]),
    "ccv of each, a number": changed(ccv_each=2.0),
    "ccv of each, a text": changed(ccv_each=[1.0, "2"]),
    "calls": changed(oracle_calls=1.5),
    "projections": without("projections"),
    "method": changed(method=7),
    "preset": changed(preset=[]),
    "eagerness 0": changed(eagerness=0),
    "benchmark": changed(benchmark=None),
    "constants": changed(constants="exact"),
    "how": changed(constants={"how": 1}),
    "refused without a reason": changed(status="refused"),
}
BENCHMARKS = {
    "no cost": without("cost"),
    "null cost": changed(cost=None),
    "no blind": changed(blind=None),
    "blind": changed(blind={"cost": 1.0}),
    "refused without a reason": changed(status="refused", reason=None),
}
EXPERIMENTS = {
    "no format": without("format"),
    "no methods": without("methods"),
    "methods": changed(methods="all"),
    "presets": changed(presets=[1]),
    "seeds": changed(seeds=[1, 1]),
    "no problems": changed(problems=[]),
    "problems": changed(problems=[1]),
    "label": changed(problems=[{"label": 1}]),
    "name": changed(name=None),
    "selection": changed(selection=[1]),
}


def array(change):
    def damaged(content):
        buffer = BytesIO()
        np.save(buffer, change(np.load(BytesIO(content))))
        return buffer.getvalue()

    return damaged


def archive(content):
    buffer = BytesIO()
    np.savez(buffer, a=np.load(BytesIO(content)))
    return buffer.getvalue()


def put(value, *at):
    def change(curves):
        curves[at] = value
        return curves

    return array(change)


ARRAYS = {
    "empty": lambda _: b"",
    "header cut short": lambda content: content[:40],
    "data cut short": lambda content: content[:-8],
    "text": lambda _: b"1 2 3",
    "archive": archive,
    "objects": array(lambda curves: curves.astype(object)),
    "words": array(lambda curves: curves.astype(str)),
    "three rows": array(lambda curves: curves[:3]),
    "one dimension": array(lambda curves: curves[0]),
    "nothing": array(lambda curves: curves[:, :0]),
    "another cost": put(0.0, 1, 3),
    "a round less": array(lambda curves: curves[:, :-1]),
    "a round left out": array(lambda curves: np.delete(curves, 4, axis=1)),
    "backwards": array(lambda curves: curves[:, ::-1]),
    "NaN": put(np.nan, 1, 2),
    "infinite": put(np.inf, 2, -1),
    "declares too much": lambda content: content.replace(b"(4, 10)", b"(4,999)"),
}
RECORDS = {"runs": ANY | BOTH | RUNS, "benchmarks": ANY | BOTH | BENCHMARKS}
JSON = [(place, name) for place, damages in RECORDS.items() for name in damages]


def one_sentence(result, path):
    """The refusal names the file, says what to do, and is no traceback."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"hedgerow: {path} is damaged (")
    assert line.endswith("); run the experiment again, which makes it again")


def spoil(path, damage):
    content = path.read_bytes()
    found = damage(content if path.suffix == ".npy" else content.decode())
    path.write_bytes(found.encode() if isinstance(found, str) else found)
    assert path.read_bytes() != content
    return path


@pytest.mark.parametrize(("place", "damage"), JSON)
def test_a_record(place, damage, folder, whole):
    which = {"runs": "*unconstrained*.json", "benchmarks": "iid*.json"}[place]
    path = spoil(min((folder / place).glob(which)), RECORDS[place][damage])
    one_sentence(invoked("report", folder), path)
    again = invoked("run", whole / "small.toml", "-o", folder, "--workers", 1)
    assert again.exit_code == 0, again.output
    assert again.stderr.startswith(f"hedgerow: {path} was damaged (")
    assert len(again.stderr.splitlines()) == 1
    assert results_of(folder) == results_of(whole / "out")


@pytest.mark.parametrize("place", ["runs", "benchmarks"])
@pytest.mark.parametrize("damage", ARRAYS)
def test_curves(damage, place, folder, whole):
    path = spoil(sorted((folder / place).glob("halfspace*coco*.npy"))[0], ARRAYS[damage])
    results = Results(folder)
    run = next(r for r in results.runs if r.record["id"] == path.stem)
    if damage == "a round left out":
        t = results.curves(run)[0] if place == "benchmarks" else results.benchmark_curves(run)[0]
        assert t.size == 10
    with pytest.raises(ValueError, match=r"is damaged \(.*; run the experiment again") as caught:
        results.curves(run) if place == "runs" else results.benchmark_curves(run)
    assert str(caught.value).startswith(str(path))
    tally = sweep(small(whole, TINY), folder, serial)
    assert (tally.ran, len(tally.damaged)) == (1, 1)
    assert results_of(folder) == results_of(whole / "out")


def test_a_record_without_a_checksum_is_read(folder):
    """As older releases wrote them."""
    before = {run.record["id"]: (run.regret, run.record["ccv"]) for run in Results(folder).runs}
    for path in (*folder.glob("runs/*.json"), *folder.glob("benchmarks/*.json")):
        record = json.loads(path.read_text())
        assert len(record.pop("checksum")) == 64
        del record["curves_sha256"]
        path.write_text(json.dumps(record))
    results = Results(folder)
    assert {run.record["id"]: (run.regret, run.record["ccv"]) for run in results.runs} == before
    done = [run for run in results.runs if run.record["status"] == "done"]
    assert all(results.curves(run).shape == (4, 10) for run in done)


@pytest.mark.parametrize("suffix", ["json", "npy"])
@pytest.mark.parametrize("place", ["runs", "benchmarks"])
def test_a_file_that_is_gone(place, suffix, folder, whole):
    """Also the benchmark of a game that reacted, which only its run can make again."""
    for kind in ("iid", "halfspace"):
        sorted((folder / place).glob(f"{kind}*.{suffix}"))[0].unlink()
    tally = sweep(small(whole, TINY), folder, serial)
    assert tally.ran == 2
    assert results_of(folder) == results_of(whole / "out")


@pytest.mark.parametrize("damage", ANY | EXPERIMENTS)
def test_an_experiment(damage, folder, whole):
    path = spoil(folder / "experiment.json", (ANY | EXPERIMENTS)[damage])
    one_sentence(invoked("report", folder), path)
    again = invoked("run", whole / "small.toml", "-o", folder, "--workers", 1, "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["ran"] == 0
    assert results_of(folder) == results_of(whole / "out")


def test_an_experiment_that_is_gone_is_written_again(folder, whole):
    (folder / "experiment.json").unlink()
    missing = invoked("report", folder)
    assert missing.exit_code == 2
    assert "it has no experiment.json; give the folder of a sweep, or run" in missing.stderr
    assert sweep(small(whole, TINY), folder, serial).ran == 0
    assert results_of(folder) == results_of(whole / "out")


@pytest.mark.parametrize("change", [("n = 4", "n = 5"), ("[20]", "[21]"), ('"ftpl_coco", ', "")])
def test_a_damaged_experiment_is_not_replaced_by_another(change, folder, tmp_path):
    path = spoil(folder / "experiment.json", ANY["empty"])
    before = results_of(folder)
    other = small(tmp_path, TINY.replace(*change))
    with pytest.raises(ValueError, match=r"experiment.json is damaged .* of another experiment"):
        sweep(other, folder, serial)
    assert results_of(folder) == before
    assert path.read_bytes() == b""


def test_another_format_is_not_called_damage(folder, whole):
    spoil(folder / "experiment.json", changed(format=2))
    for command in (("report", folder), ("run", whole / "small.toml", "-o", folder)):
        result = invoked(*command)
        assert result.exit_code == 2
        assert "has format 2, this release reads 1; read it with the release" in result.stderr


@pytest.mark.parametrize(
    "line",
    [b"5", b"null", b'{"place": "runs"}', b"\xff", b"[" * 10_000, b'{"place": "runs", "id": [],'
     b' "seconds": "x", "compiled": true}', b'{"place": "runs", "id": "a", "seconds": NaN, '
     b'"compiled": true}', b'{"place": "runs", "id": "a", "seconds": -1, "compiled": true}'],
)  # fmt: skip
def test_damaged_times_are_left_out(line, folder):
    before = Results(folder).timings()
    with (folder / "timings.jsonl").open("ab") as file:
        file.write(b"\n" + line)
    assert Results(folder).timings() == before
    assert before


def test_a_damaged_choice_is_made_again(tmp_path):
    text = TINY.split('[[problems]]\nkind = "halfspace_box"')[0]
    text += "\n[tune]\nseeds = [0]\neagerness = [1]\nrule = 'sum'"
    tune = ("tune", written(tmp_path, text), "-o", tmp_path / "out", "--workers", 1, "--json")
    assert invoked(*tune).exit_code == 0
    path = tmp_path / "out/selection.json"
    chosen = path.read_bytes()
    for damage in (ANY["cut short"], ANY["null"], without("rule"), changed(train_seeds=3)):
        spoil(path, damage)
        again = invoked(*tune)
        assert again.exit_code == 0, again.output
        assert json.loads(again.stdout)["ran"] == 0
        assert path.read_bytes() == chosen
