"""A folder grows by methods, horizons, problems and constants, and refuses what contradicts it."""

from __future__ import annotations

import pytest
from small_experiment import invoked, small, written

from hedgerow.experiments.executors import serial
from hedgerow.experiments.extension import growth_sentence
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.report.provenance import expected_runs

TEXT = """
name = "small"
methods = ["sinha_vaze_2024", "unconstrained"]
horizons = [6]
seeds = [40, 41]

[[problems]]
kind = "iid_simplex"
n = 3
"""
MORE = (
    TEXT.replace('["sin', '["ftpl_coco", "sin')
    .replace("[6]", "[6, 9]")
    .replace("41]", "41, 42]")
    .replace("n = 3", 'n = 3\n\n[[problems]]\nkind = "halfspace_box"\nn = 2\nhorizons = [5]')
)


@pytest.fixture
def folder(tmp_path):
    sweep(small(tmp_path, TEXT), tmp_path / "out", serial)
    return tmp_path / "out"


def test_a_larger_file_adds_what_is_missing_and_says_so(tmp_path, folder):
    larger = small(tmp_path, MORE)
    assert growth_sentence(folder, larger.resolved()) == (
        f"{folder} has results already; this run adds the method ftpl_coco, the problem "
        "halfspace_box, the horizon 9 of iid_simplex and 1 seed."
    )
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    grown = sweep(larger, folder, serial)
    assert grown.before == 6  # four runs and two benchmarks
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    assert before.items() <= after.items()
    assert len(Results(folder).runs) == expected_runs(Results(folder).experiment) == 3 * 3 * 3
    sweep(larger, tmp_path / "fresh", serial)
    fresh = {path.name: path.read_bytes() for path in (tmp_path / "fresh/runs").iterdir()}
    assert fresh == {path.name: path.read_bytes() for path in (folder / "runs").iterdir()}
    for name in ("experiment.json",):
        assert (folder / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


def test_a_smaller_file_plays_nothing_and_takes_nothing_away(tmp_path, folder):
    sweep(small(tmp_path, MORE), folder, serial)
    stored = (folder / "experiment.json").read_bytes()
    smaller = small(tmp_path, TEXT)
    assert growth_sentence(folder, smaller.resolved()) == ""
    assert sweep(smaller, folder, serial).ran == 0
    assert (folder / "experiment.json").read_bytes() == stored


CONTRADICTIONS = {
    "n = 3": ("n = 4", "the problem 'iid_simplex' is another: its n is 3, here 4"),
    '"small"': ('"other"', "its name is 'small', here 'other'"),
    "[40, 41]": ("[41, 40]", r"its seeds begin with \[40, 41\], here with \[41, 40\]"),
    "seeds": (
        "constants.sinha_vaze_2024.eagerness = 2.0\nseeds",
        "sinha_vaze_2024 is another method: its constants are others",
    ),
    '["sinha_vaze_2024", ': (
        '["ftpl_coco", ',
        "also holds the method sinha_vaze_2024, which the experiment leaves out while it adds "
        "the method ftpl_coco",
    ),
}


@pytest.mark.parametrize("old", CONTRADICTIONS)
def test_what_contradicts_the_folder_is_named(tmp_path, folder, old):
    new, sentence = CONTRADICTIONS[old]
    stored = (folder / "experiment.json").read_bytes()
    with pytest.raises(ValueError, match=sentence):
        sweep(small(tmp_path, TEXT.replace(old, new)), folder, serial)
    assert (folder / "experiment.json").read_bytes() == stored


def test_an_edited_method_of_your_own_is_another(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "edited_method.py"
    code.write_text(
        "import hedgerow as hr\n\n\ndef mine(X):\n    return hr.policies.unconstrained(X)\n"
    )
    text = TEXT.replace('"unconstrained"', '"edited_method:mine"')
    sweep(small(tmp_path, text), tmp_path / "out", serial)
    code.write_text(code.read_text() + "# edited\n")
    with pytest.raises(ValueError, match="edited_method:mine is another method: its file was edit"):
        sweep(small(tmp_path, text), tmp_path / "out", serial)


def test_a_method_beside_the_file_is_found_and_plays_with_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside_the_file.py").write_text(
        "import hedgerow as hr\n\n\ndef mine(X, *, step=1.0):\n"
        "    return hr.projection_free_coco(X, eagerness=step)\n"
    )
    text = TEXT.replace('["sinha_vaze_2024", "unconstrained"]', '["all", "beside_the_file:mine"]')
    text = text.replace("seeds", 'without = ["lu_bagel"]\nseeds')
    text += '\n[constants."slow one"]\nmethod = "beside_the_file:mine"\nstep = 0.5\n'
    experiment = small(tmp_path, text)
    assert len(experiment.methods) == 25 + 2
    assert experiment.methods[-2:] == ("slow one", "beside_the_file:mine")
    assert "lu_bagel" not in experiment.methods
    code = dict(experiment.code)
    assert code["slow one"] == code["beside_the_file:mine"]


def test_constants_change_the_decisions_as_in_python(tmp_path):
    text = TEXT.replace('"unconstrained"]', '"twice", "projection_free_coco"]').replace(
        "[6]", "[40]"
    )
    text += "\n[constants.twice]\nmethod = 'sinha_vaze_2024'\neagerness = 2.0\n"
    text += "\n[constants.projection_free_coco]\ntracking = false\n"
    sweep(small(tmp_path, text), tmp_path / "out", serial)
    costs = {
        (r.record["method"], r.record["seed"]): r.record for r in Results(tmp_path / "out").runs
    }
    plain = text.split("\n[constants")[0].replace('"twice"', '"projection_free_coco_plain"')
    plain = plain.replace('"projection_free_coco"', '"unconstrained"').replace(
        "seeds", "eagerness = [1, 2]\nseeds"
    )
    sweep(small(tmp_path, plain), tmp_path / "plain", serial)
    other = {
        (r.record["method"], r.record["eagerness"], r.record["seed"]): r.record["cost"]
        for r in Results(tmp_path / "plain").runs
    }
    for seed in (40, 41):
        assert costs["twice", seed]["eagerness"] == 2.0
        assert costs["twice", seed]["cost"] == other["sinha_vaze_2024", 2.0, seed]
        assert (
            costs["projection_free_coco", seed]["cost"]
            == (other["projection_free_coco_plain", 1.0, seed])
        )
        assert costs["projection_free_coco", seed]["constants_given"] == {
            "method": "projection_free_coco",
            "values": {"tracking": False},
        }


MISTAKES = {
    "[constants.ftpl_coco]\nx = 1": "constants.ftpl_coco has an unknown constant 'x'",
    "[constants.wang_2025]\neagerness = 2.0": "constants.wang_2025 does not play",
    "[constants.unconstrained]\neagerness = 2.0": "has an unknown constant 'eagerness'",
    "[constants.sinha_vaze_2024]\neagerness = -1.0": "must be above 0",
    "[constants.sinha_vaze_2024]\nhorizon = 3": "has an unknown constant 'horizon'",
    "[constants.sinha_vaze_2024]": "sets no constant",
    "[constants.ftpl_coco]\nmethod = 'wang_2025'\neagerness = 2.0": "has the name of a method",
    "[constants.mine]\nmethod = 'sinha'\neagerness = 2.0": "constants.mine.method must be one of",
    "[constants]\nmine = 3": "constants.mine must be a table of constants",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_constants_are_one_sentence(tmp_path, mistake):
    with pytest.raises(ValueError, match=r"small\.toml: ") as refusal:
        small(tmp_path, f"{TEXT}\n{mistake}\n")
    assert MISTAKES[mistake] in str(refusal.value)


def test_the_command_says_what_it_adds(tmp_path, folder):
    path = written(tmp_path, TEXT.replace("[6]", "[6, 9]"))
    said = invoked("run", str(path), "--out", str(folder), "--workers", "1").stdout
    assert f"{folder} has results already; this run adds the horizon 9 of iid_simplex." in said
