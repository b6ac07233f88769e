"""The note's tables say what the evidence says, its constants what the formulas give."""

from __future__ import annotations

import re

import numpy as np
import pytest

from documents import DOCS
from note_table import digest, evidence_of_the_default, growth_table, note_table

NOTE = DOCS / "note"


def test_a_line_for_each_game_and_a_dash_for_what_is_absent():
    row = {"ccv": 1.234, "regret": -5.67}
    evidence = {"games": {"a_game": {"default": row}}, "robustness": {"none": {"default": row}}}
    lines = note_table(evidence).splitlines()
    assert lines[4] == r"a\_game & 1.23 / $-5.7$ & -- & -- & -- & -- \\"
    assert len(lines) == 7  # two of the frame, a head, three rules and the game


def test_measured_networks_follow_the_games():
    row = {"plain": {"ccv": 0.5, "regret": 2.0}}
    lines = note_table({"measured": {"net": row}, "games": {"game": row}}).splitlines()
    assert [line.split(" & ")[0] for line in lines[4:6]] == ["game", "net"]
    assert lines[5].split(" & ")[2] == "0.50 / $2.0$"


def test_exponents_have_their_intervals():
    fit = {"rows": [[1000, 1.0, 2.0], [64000, 3.0, 4.0]], "ccv": [0.5, 0.01], "regret": [0.4, 0.1]}
    lines = growth_table({"growth": {"a_game": fit}}).splitlines()
    assert lines[4] == r"a\_game & 1,000 to 64,000 & $0.50 \pm 0.01$ & $0.40 \pm 0.10$ \\"


def test_the_pdf_was_made_from_these_sources():
    pdf = (NOTE / "note.pdf").read_bytes()
    (found,) = re.findall(rb"/SourceDigest \((\w+)\)", pdf)
    assert found.decode() == digest(NOTE, evidence_of_the_default()), "make note renews the PDF"
    assert len(pdf) < 500_000


def test_every_source_counts(tmp_path):
    evidence = {"games": {"game": {"plain": {"ccv": 0.5, "regret": 2.0}}}}
    (tmp_path / "note.tex").write_text("A note.")
    found = {digest(tmp_path, {}), digest(tmp_path, evidence)}
    (tmp_path / "rates.tex").write_text("Rates.")
    found.add(digest(tmp_path, evidence))
    (tmp_path / "note.tex").write_text("Another note.")
    found.add(digest(tmp_path, evidence))
    assert len(found) == 4


def last(q, omega):
    """n(omega) of the note: what the weights of power q - 1 can cost, in units of m_T."""
    p = q / (q - 1)
    return (((1 + omega) ** p - 1) / p) ** (1 / p)


def rounded_up(value, digits):
    return f"{np.ceil(value * 10**digits) / 10**digits:.{digits}f}"


def test_the_constants_of_the_weights():
    text, omega = (NOTE / "note.tex").read_text("utf-8"), np.linspace(0.0, 5.0, 500_001)
    said = re.search(r"at most \$([\d.]+)\$, \$([\d.]+)\$ and \$([\d.]+)\$ for \$q=4\$", text)
    assert said is not None
    for q, c1 in zip((4, 3, 2), said.groups(), strict=True):
        most = (last(q, omega) - omega).max()
        assert most <= float(c1) < most + 1e-3


def schedule(q, a, rho):
    """C of the schedule at the best kappa."""
    p = q / (q - 1)
    return q * p * rho * ((q - 1) * rho * a ** (1 / (q - 1))) ** (-1 / p)


def test_the_constants_of_the_schedule():
    text = (NOTE / "note.tex").read_text("utf-8")
    any_set = ", ".join(f"${rounded_up(schedule(4, 1, rho), 2)}$" for rho in (0.25, 0.5, 1.0))
    assert rf"$C\le{any_set[1:]} for $q=4$" in text
    assert rf"$C\le{rounded_up(schedule(3, 1, 0.25), 2)}$ on a ball with $q=3$" in text
    assert schedule(2, 0.1, 0.3) == pytest.approx(4 * (0.3 / 0.1) ** 0.5)
    # the simplex of 20 vertices from its centre: rho = 19/40, a = 1/40 with away steps
    away, plain = schedule(2, 1 / 40, 19 / 40), schedule(4, 1, 19 / 40)
    assert f"${rounded_up(away, 1)}D" in text
    assert f"${rounded_up(plain, 2)}D" in text
    assert rf"$T\approx{round((away / plain) ** 4, -2):.0f}$" in text


def leading(q, rho, c):
    """The least factor of a^{-1/q} D P^{1/q'} in the bound of the rule for all sets."""
    theta = np.linspace(0.0, c / rho, 200_001)[1:-1]
    bounds = (c + rho) / (c - theta * rho) * (1 + theta) * ((c + rho) / (q * theta)) ** (1 / q)
    return bounds.min()


@pytest.mark.parametrize("q", [2, 3, 4])
def test_the_constants_of_the_rule_for_all_sets(q):
    text = (NOTE / "note.tex").read_text("utf-8")
    said = [float(n) for n in re.findall(rf"^\$q={q}\$ & (.*?)\\\\", text, re.M)[0].split(" & ")]
    quarter, half, one = ([(rho, c) for c in (1.0, 0.03)] for rho in (0.25, 0.5, 1.0))
    at = [quarter[0], (0.25, 0.3), quarter[1], *half, *one]
    assert said == pytest.approx([leading(q, *where) for where in at], rel=2e-3)
