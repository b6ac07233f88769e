"""Every verdict follows from known numbers by one rule, and each can come out each way."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.results import Results
from hedgerow.report.page import verdict_section
from hedgerow.report.summary import Mean, ProblemAtHorizon, Summary, every
from hedgerow.report.tables import verdict_table
from hedgerow.report.verdicts import (
    CLAIMS,
    GARBER,
    OURS,
    SINHA,
    WANG,
    Game,
    Verdict,
    route_place,
    verdicts,
)
from made_results import Made, make_results

NAMES = [claim for claim, _ in CLAIMS]
LOWEST_REGRET, LOWEST_CCV, REGRET, CCV = NAMES[:4]
FLAT, WANG_WAVY, TWO_ORDERS, EACH_FASTER, SOMEWHAT, SIMILAR = NAMES[6], *NAMES[9:]
NOISE = (0.0, 1.0, -1.0, 0.5)


def around(value: float, spread: float = 1.0) -> tuple[float, ...]:
    return tuple(value + spread * noise for noise in NOISE)


def judged(at: Path, methods: dict[str, Made]) -> dict[str, Verdict]:
    summary = Summary(Results(make_results(at, methods)))
    place = route_place(summary)
    assert place is not None
    return {verdict.claim: verdict for verdict in verdicts(summary, place)}


def test_the_rule_has_three_answers():
    assert [Mean(x, 1.0, 4).below(0.0) for x in (-2.0, 2.0, -0.5, 0.5)] == [True, False, None, None]
    assert [Mean(x, 1.0, 4).above(0.0) for x in (-2.0, 2.0, -0.5)] == [False, True, None]
    assert Mean.of([-5.0]).below(0.0) is None
    assert Mean.of([]).below(0.0) is None
    assert every([True, False, None]) is False


@pytest.mark.parametrize(
    ("ours", "garber", "outcome", "words"),
    [
        (5.0, 9.0, "yes", "reproduced"),
        (9.0, 5.0, "no", "not reproduced"),
        (5.0, 5.2, "undecided", "undecided: 4 seeds"),
    ],
)
def test_less_regret_and_less_ccv(tmp_path, ours, garber, outcome, words):
    mixed = tuple(garber - noise for noise in NOISE)  # differences spread by 2 NOISE
    regret = judged(tmp_path / "a", {OURS: Made(around(ours)), GARBER: Made(mixed)})[REGRET]
    assert (regret.outcome, regret.parts[0].verdict) == (outcome, words)
    assert regret.verdict == f"{words} (practical constants)"
    methods = {OURS: Made(NOISE, ccv=around(ours)), GARBER: Made(NOISE, ccv=mixed)}
    assert judged(tmp_path / "b", methods)[CCV].outcome == outcome


def test_a_verdict_names_what_was_compared(tmp_path):
    """Algorithm 2 is the default here, and its rival a reconstruction."""
    folder = tmp_path / "made"
    found = judged(folder, {OURS: Made(around(5.0)), GARBER: Made(around(9.0))})
    ((part,), (flat,)) = found[REGRET].parts, found[FLAT].parts
    compared = (
        "Hedgerow (restricted master), against Garber and Kretzu 2024, Algorithm 3 (reconstruction)"
    )
    assert (part.outcome, part.compared) == ("yes", compared)
    assert flat.compared == "Hedgerow (restricted master)"
    summary = Summary(Results(folder))
    console = Console(width=200, file=io.StringIO())
    place = route_place(summary)
    console.print(verdict_table(verdicts(summary, place), place))
    assert compared in console.file.getvalue()
    assert compared in verdict_section(verdicts(summary, place), place)
    assert Game(summary, place, "theory").named(OURS) == "Sarkar et al. 2026, Algorithm 2"


def test_methods_are_compared_seed_by_seed(tmp_path):
    rough = (0.0, 30.0, -30.0, 15.0)
    ahead = tuple(x - 1.0 - 0.1 * n for x, n in zip(rough, NOISE, strict=True))
    verdict = judged(tmp_path, {OURS: Made(ahead), GARBER: Made(rough)})[REGRET]
    assert verdict.outcome == "yes"  # each mean's own interval is 39 wide
    assert "seed by seed: -1.01 ± 0.14 to garber_kretzu_2024_dpp" in verdict.parts[0].numbers


def test_one_seed_decides_nothing(tmp_path):
    verdict = judged(tmp_path, {OURS: Made([1.0]), GARBER: Made([50.0])})[REGRET]
    assert (verdict.outcome, verdict.parts[0].verdict) == ("undecided", "undecided: 1 seed")


def test_the_lowest_needs_two_rivals_and_beats_each(tmp_path):
    low, high = Made(around(1.0)), Made(tuple(9.0 - n for n in NOISE))
    same = Made(tuple(1.2 - n for n in NOISE))
    cases = {
        "untested": {SINHA: low, OURS: high},
        "yes": {SINHA: low, OURS: high, WANG: high},
        "no": {SINHA: high, OURS: low, WANG: same},
        "undecided": {SINHA: low, OURS: high, WANG: same},
    }
    for outcome, methods in cases.items():
        assert judged(tmp_path / outcome, methods)[LOWEST_REGRET].outcome == outcome
    assert judged(tmp_path / "ccv", cases["yes"])[LOWEST_CCV].outcome == "undecided"  # all equal


def test_a_regret_is_shown_with_the_violation_that_bought_it(tmp_path):
    bought = {OURS: Made(around(-20.0), ccv=(40.0,) * 4), GARBER: Made(around(5.0))}
    verdict = judged(tmp_path / "a", bought)[REGRET]
    assert verdict.parts[0].verdict == f"reproduced: bought with violation ({OURS})"
    assert "(CCV 40.0 ± 0 %)" in verdict.parts[0].numbers
    ignored = {OURS: Made(around(-20.0), ccv=(90.0,) * 4), GARBER: Made(around(5.0))}
    verdict = judged(tmp_path / "b", ignored)[REGRET]
    assert verdict.parts[0].verdict == f"reproduced: the constraint is ignored ({OURS})"
    honest = {OURS: Made(around(-20.0), ccv=(5.0,) * 4), GARBER: Made(around(5.0))}
    assert judged(tmp_path / "c", honest)[REGRET].parts[0].verdict == "reproduced"
    positive = {OURS: Made(around(2.0), ccv=(40.0,) * 4), GARBER: Made(around(50.0))}
    assert judged(tmp_path / "d", positive)[REGRET].parts[0].verdict == "reproduced"


@pytest.mark.parametrize(
    ("growth", "ours", "wang"),
    [
        ((0.2, 0.25, 0.15, 0.2), "yes", "no"),
        ((1.0, 0.9, 1.1, 1.0), "no", "yes"),
        ((0.2, 1.0, 0.5, 0.6), "undecided", "undecided"),
    ],
)
def test_flat_is_less_than_sqrt_t_adds(tmp_path, growth, ours, wang):
    made = Made(NOISE, growth=growth)
    found = judged(tmp_path, {OURS: made, WANG: made})
    assert (found[FLAT].outcome, found[WANG_WAVY].outcome) == (ours, wang)
    numbers = found[FLAT].parts[0].numbers
    assert "(sqrt(t) adds 13.4 %, T^{3/4} 19.4 %, linear 25 %)" in numbers


def test_the_share_of_the_last_quarter(tmp_path):
    methods = {OURS: Made(NOISE, growth=(1.0,) * 4), WANG: Made(NOISE, growth=(0.5,) * 4)}
    summary = Summary(Results(make_results(tmp_path, methods)))
    game = Game(summary, summary.places[0], "practical")
    assert game.last_quarter(OURS).mean.value == pytest.approx(25.0)
    assert game.last_quarter(WANG).mean.value == pytest.approx(13.4, abs=0.01)


def test_p_is_wilcoxons_over_paired_seeds_and_corrected_by_holm(tmp_path):
    from scipy import stats

    far = [float(k) for k in range(8)]
    near = [5.0 * (-1.0) ** k + k for k in range(8)]
    methods = {
        OURS: Made([0.0] * 8, ccv=[1.0] * 8, growth=[0.5] * 8),
        GARBER: Made([1.0 + x for x in far], ccv=[1.0 + x for x in near], growth=[0.5] * 8),
    }
    found = judged(tmp_path, methods)
    raw = {
        REGRET: stats.wilcoxon([-1.0 - x for x in far]).pvalue,
        CCV: stats.wilcoxon([-x for x in near]).pvalue,
    }
    flat = [
        verdict.parts[0].p for claim, verdict in found.items() if "flat" in claim and verdict.parts
    ]
    assert found[REGRET].parts[0].p == pytest.approx((2 + len(flat)) * raw[REGRET])
    assert found[CCV].parts[0].p >= raw[CCV]
    assert found[REGRET].outcome == "yes"
    assert found[REGRET].record()["parts"][0]["number"] == "-4.5 ± 2.0 points"


def test_a_claim_of_several_comparisons_takes_the_largest_p_or_corrects_the_smallest(tmp_path):
    low, high = [float(k) for k in range(8)], [10.0 + 2.0 * k for k in range(8)]
    one = Made(low, ccv=low, growth=[0.5] * 8)
    two = Made(high, ccv=high, growth=[0.5] * 8)
    same = [k + 3.0 * (-1.0) ** k for k in range(8)]
    mixed = Made(same, ccv=same, growth=[0.5] * 8)
    game = Game(Summary(Results(make_results(tmp_path, {SINHA: one, OURS: two, WANG: mixed}))),
                ProblemAtHorizon("random_network", 100), "practical")  # fmt: skip
    finding = dict(CLAIMS)[LOWEST_REGRET](game)
    assert finding.holds is None
    assert finding.p == game.lead(SINHA, WANG, "regret").p > game.lead(SINHA, OURS, "regret").p
    worst = dict(CLAIMS)[LOWEST_REGRET](
        Game(Summary(Results(make_results(tmp_path / "b", {SINHA: two, OURS: one, WANG: two}))),
             ProblemAtHorizon("random_network", 100), "practical")
    )  # fmt: skip
    assert worst.holds is False
    assert worst.p == 2 * 2.0**-7


def timed(seconds: float, compiled: bool | None, spread: float = 0.01) -> Made:
    factors = [1.0 + spread * noise for noise in NOISE]
    return Made(NOISE, seconds=[seconds * factor for factor in factors], compiled=compiled)


@pytest.mark.parametrize(
    ("garber", "verdict"),
    [
        (1.5, "reproduced"),
        (5.0, "not reproduced: far slower"),
        (0.7, "not reproduced"),
        (2.0, "undecided: 4 seeds"),
    ],
)
def test_somewhat_slower_has_two_ends(tmp_path, garber, verdict):
    fast, slow = timed(1.0, True), timed(garber, False, spread=-0.01)
    part = judged(tmp_path, {OURS: fast, GARBER: slow})[SOMEWHAT].parts[0]
    assert part.verdict == verdict
    assert part.numbers.startswith("garber_kretzu_2024_dpp (through play) takes ")
    assert part.numbers.endswith("times as long as projection_free_coco (compiled)")


@pytest.mark.parametrize(
    ("wang", "outcome"), [(0.8, "yes"), (1.9, "yes"), (3.0, "no"), (0.4, "no")]
)
def test_similar_is_within_a_factor_of_two(tmp_path, wang, outcome):
    found = judged(tmp_path, {OURS: timed(1.0, True), WANG: timed(wang, True)})
    assert found[SIMILAR].outcome == outcome


@pytest.mark.parametrize(
    ("sinha", "two_orders", "each"), [(150.0, "yes", "yes"), (50.0, "no", "yes"), (5.0, "no", "no")]
)
def test_how_much_slower_projections_are(tmp_path, sinha, two_orders, each):
    methods = {name: timed(1.0, True) for name in (OURS, WANG, GARBER)}
    found = judged(tmp_path, {SINHA: timed(sinha, False), **methods})
    assert (found[TWO_ORDERS].outcome, found[EACH_FASTER].outcome) == (two_orders, each)


def test_one_slow_projection_free_method_refutes_the_claim_about_each(tmp_path):
    methods = {OURS: timed(1.0, True), WANG: timed(30.0, True)}
    found = judged(tmp_path, {SINHA: timed(50.0, False), **methods})
    assert found[EACH_FASTER].outcome == "no"


def test_time_claims_without_times_are_not_tested(tmp_path):
    found = judged(tmp_path, {OURS: Made(NOISE), GARBER: Made(NOISE)})
    assert found[SOMEWHAT].outcome == "untested"


def test_claims_are_judged_on_routes_only(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    methods = {OURS: Made(NOISE), GARBER: Made(NOISE)}
    second = make_results(tmp_path / "a", methods, ("iid_simplex", "shortest_path"))
    place = route_place(Summary(Results(second)))
    assert place is not None
    assert place.problem == "shortest_path"
    other = make_results(tmp_path / "b", methods, ("iid_simplex",))
    assert route_place(Summary(Results(other))) is None
    for folder, there in ((second, True), (other, False)):
        out = CliRunner().invoke(app, ["report", str(folder), "--json"])
        assert ("verdicts" in json.loads(out.stdout)) is there
        page = (folder / "report" / "report.html").read_text(encoding="utf-8")
        assert ("#verdicts" in page and 'id="verdicts"' in page) is there
        said = CliRunner().invoke(app, ["report", str(folder)]).stdout
        assert ("The claims of Sarkar et al. 2026" in said) is there
