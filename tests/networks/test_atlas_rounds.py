"""Atlas results in rounds, replies that come too soon, and folders of .txt."""

from __future__ import annotations

import json

import numpy as np
import pytest
from measurements import http, ping
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.networks import AtlasChoices, DataError, Network, read_atlas

START = 1_600_000_200  # a multiple of 15 minutes


def write(path, *results):
    path.write_text("\n".join(json.dumps(result) for result in results))
    return path


def test_rounds_have_the_median_of_their_readings(tmp_path):
    path = write(
        tmp_path / "a.json",
        ping(1, START + 1, 10.0), ping(1, START + 899, 14.0), ping(2, START, 30.0),
        ping(1, START + 900, 20.0), ping(2, START + 2 * 900, 50.0),
    )  # fmt: skip
    star = read_atlas(path, AtlasChoices(series="15min"))
    nan = np.nan
    assert star.nodes == ("192.0.2.1", "1", "2")
    np.testing.assert_array_equal(star.latency_series, [[12.0, 30.0], [20.0, nan], [nan, 50.0]])
    assert star.times.tolist() == [START, START + 900, START + 1800]
    assert star.latency_ms.tolist() == [14.0, 40.0], "the median of all readings, as without rounds"
    assert star.choices["rounds"] == "15min, the median of each"
    assert read_atlas(path).latency_series is None
    with pytest.raises(DataError, match="3 rounds of 2 edges make a series of 6 numbers"):
        read_atlas(path, AtlasChoices(series="15min", most_numbers=5))
    with pytest.raises(ValueError, match="series must be a span of time"):
        AtlasChoices(series="quarter")


def test_a_proxy_has_rounds_and_a_drawn_bandwidth_has_none(tmp_path):
    path = write(tmp_path / "a.json", http(1, START), http(1, START + 900, rt=200.0))
    proxy = read_atlas(path, AtlasChoices(series="15min", bandwidth="http_total"))
    np.testing.assert_allclose(proxy.bandwidth_series[:, 0], [0.08, 0.04])
    drawn = AtlasChoices(series="15min", bandwidth="synthetic:lognormal(50,0.8)")
    assert read_atlas(path, drawn).bandwidth_series is None


def test_rounds_from_the_command_line(tmp_path):
    path = write(tmp_path / "a.json", ping(1, START), ping(1, START + 1800))
    out = str(tmp_path / "n.json")
    command = ["ingest", "atlas", str(path), "--series", "15min", "-o", out]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "Series of latency: 3 rounds, 33.33% without a reading." in result.stdout
    assert "Rounds begin from 2020-09-13T12:30:00Z to 2020-09-13T13:00:00Z." in result.stdout
    assert len(Network.load(out).times) == 3


SOON = "a box on the way may answer in the target's name"


def test_a_reply_far_below_the_others_of_its_pair_is_flagged_and_kept(tmp_path):
    usual = [ping(p, START + t, 80.0 + p + t) for p in (1, 2) for t in range(4)]
    path = write(tmp_path / "a.json", *usual, ping(2, START + 9, 1.5))
    star = read_atlas(path)
    (remark,) = star.provenance["remarks"]
    assert remark.startswith("1 readings of 1 pairs lie below a fifth")
    assert SOON in remark
    assert "2 to 192.0.2.1, 1.5 ms beside 83 ms (a.json, result 9)" in remark
    assert star.provenance["kept"] == 9
    result = CliRunner().invoke(app, ["ingest", "atlas", str(path), "-o", str(tmp_path / "n.json")])
    assert SOON in result.stderr


def test_a_measurement_that_a_box_answers_is_flagged_though_it_has_most_readings(tmp_path):
    boxed = [ping(1, START + t, 1.0) for t in range(9)]
    true = [ping(1, START + t, 60.0, msm_id=8) for t in range(2)]
    (remark,) = read_atlas(write(tmp_path / "a.json", *boxed, *true)).provenance["remarks"]
    assert remark.startswith("9 readings of 1 pairs")
    assert "1 ms beside 60 ms" in remark


@pytest.mark.parametrize("rtts", [(80.0, 81.0, 20.0), (5.0, 4.9, 0.2), (300.0, 100.0, 90.0)])
def test_a_reply_that_is_merely_quick_is_not_flagged(rtts, tmp_path):
    path = write(tmp_path / "a.json", *(ping(1, START + t, rtt) for t, rtt in enumerate(rtts)))
    assert "remarks" not in read_atlas(path).provenance


def test_a_folder_of_text_files(tmp_path):
    write(tmp_path / "one.txt", ping(1))
    write(tmp_path / "two.json", ping(2))
    (tmp_path / "README.txt").write_text("Results of September.\n")
    star = read_atlas(tmp_path)
    assert star.nodes[1:] == ("1", "2")
    assert [file["name"] for file in star.provenance["files"]] == ["one.txt", "two.json"]
