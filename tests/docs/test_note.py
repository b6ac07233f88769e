"""The note's table says what the evidence says."""

from __future__ import annotations

from note_table import note_table


def test_a_line_for_each_game_and_a_dash_for_what_is_absent():
    row = {"ccv": 1.234, "regret": -5.67}
    evidence = {"games": {"a_game": {"default": row}}, "robustness": {"none": {"default": row}}}
    lines = note_table(evidence).splitlines()
    assert lines[4] == r"a\_game & 1.23 / $-5.7$ & -- & -- & -- & -- & -- \\"
    assert len(lines) == 7  # two of the frame, a head, three rules and the game


def test_measured_networks_follow_the_games():
    row = {"plain": {"ccv": 0.5, "regret": 2.0}}
    lines = note_table({"measured": {"net": row}, "games": {"game": row}}).splitlines()
    assert [line.split(" & ")[0] for line in lines[4:6]] == ["game", "net"]
    assert lines[5].split(" & ")[2] == "0.50 / $2.0$"
