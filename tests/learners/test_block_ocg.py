"""One `AdaptiveOCG` for each factor of a product, in one step."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import capped_regret
from hedgerow.feedback import EvalGrad
from hedgerow.functions import Linear
from hedgerow.learners import AdaptiveOCG, BlockOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, StepRule
from hedgerow.problems.problem import RecordedProblem
from hedgerow.sets import Box, DagPaths, L1Ball, L2Ball, Product, Simplex, UnitFlow
from hedgerow.testing import check_learner

DIAMOND = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("t", "x")]
PRODUCTS = {
    "simplices": lambda: Product(Simplex(3), Simplex(1), Simplex(12, total=2.0), Simplex(2)),
    "one": lambda: Product(Simplex(4)),
    "points": lambda: Product(Simplex(1), Simplex(1)),
    "mixed": lambda: Product(Simplex(3), L1Ball(2), Box([0.0, 1.0], [2.0, 1.0]), L2Ball(3)),
    "paths": lambda: Product(DagPaths(DIAMOND, "s", "t"), Simplex(2)),
    "flows": lambda: Product(UnitFlow(DIAMOND, "s", "t"), UnitFlow(DIAMOND, "s", "b")),
}
STEPS: dict[str, StepRule] = {
    "certificate": CertificateSteps(),
    "capped": CertificateSteps(0.1, 0.05, 0.5),
    "rms": RmsSteps(),
    "paper": PaperSteps(1000),
}


def gradients(X: Product, seed: int, rounds: int) -> list[np.ndarray]:
    """Gradients whose blocks differ in size by factors of 10, some of them zero."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([np.full(F.dim, 10.0 ** (k % 4)) for k, F in enumerate(X.factors)])
    quiet = [rng.random(len(X.factors)) < 0.2 for _ in range(rounds)]
    told = [sizes * rng.standard_normal(X.dim) for _ in range(rounds)]
    for g, zero in zip(told, quiet, strict=True):
        for part, is_zero in zip(X.parts(g), zero, strict=True):
            part *= 0.0 if is_zero else 1.0
    return told


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_the_blocks_play_as_independent_learners_bit_for_bit(name: str, steps: str) -> None:
    X = PRODUCTS[name]()
    whole = BlockOCG(X, STEPS[steps])
    each = [AdaptiveOCG(F, STEPS[steps]) for F in X.factors]
    for learner in each:
        learner.takes_ones = False  # a product answers with whole vertices
    for g in gradients(X, 1, 60):
        whole.tell(EvalGrad(0.0, g))
        for learner, part in zip(each, X.parts(g), strict=True):
            learner.tell(EvalGrad(0.0, part.copy()))
        assert (whole.ask() == np.concatenate([learner.ask() for learner in each])).all()
    for numbers, learner in zip(whole.block_rules, each, strict=True):
        assert (numbers == learner.rule_numbers).all()


def test_one_regulariser_for_all_blocks_would_be_noticed() -> None:
    X = PRODUCTS["simplices"]()
    whole, shared = BlockOCG(X), AdaptiveOCG(X, CertificateSteps())
    for g in gradients(X, 1, 20):
        whole.tell(EvalGrad(0.0, g))
        shared.tell(EvalGrad(0.0, g))
    assert np.abs(whole.ask() - shared.ask()).max() > 1e-3


@pytest.mark.parametrize("steps", ["certificate", "rms"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_it_conforms(name: str, steps: str) -> None:
    check_learner(lambda: BlockOCG(PRODUCTS[name](), STEPS[steps]))


def test_it_starts_where_it_is_told() -> None:
    learner = BlockOCG(Product(Simplex(2), Simplex(2)), start=[1.0, 0.0, 0.25, 0.75])
    assert learner.ask().tolist() == learner.first_play.tolist() == [1.0, 0.0, 0.25, 0.75]


def test_a_set_without_blocks_is_refused() -> None:
    with pytest.raises(TypeError, match="plays on a Product, got a Simplex; use AdaptiveOCG"):
        BlockOCG(Simplex(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("react", [False, True])
def test_every_block_keeps_theorem_e_and_the_sum_is_never_above_that_of_one_block(
    react: bool,
) -> None:
    X = Product(Simplex(2), Simplex(6), Simplex(3, total=4.0))
    learner, rng = BlockOCG(X), np.random.default_rng(3)
    scale, inner, S = np.repeat([1.0, 9.0, 0.1], [2, 6, 3]), np.zeros(3), np.zeros(X.dim)
    norms = []
    for _ in range(400):
        x = learner.ask()
        s = scale * ((x - X.start()) * 8.0 if react else rng.standard_normal(X.dim))
        inner += [float(a @ b) for a, b in zip(X.parts(s), X.parts(x), strict=True)]
        S += s
        norms.append([F.tangent_norm(p) for F, p in zip(X.factors, X.parts(s), strict=True)])
        learner.tell(EvalGrad(0.0, s))
    sizes, largest = (np.array(norms) ** (4 / 3)).sum(axis=0), np.max(norms, axis=0)
    lowest = [F.minimum(p) for F, p in zip(X.factors, X.parts(S), strict=True)]
    for b, (F, x1) in enumerate(zip(X.factors, X.parts(learner.first_play), strict=True)):
        bound = capped_regret(F.diameter, sizes[b], largest[b], radius=F.radius_around(x1))
        assert inner[b] - lowest[b] <= bound
    assert inner.sum() - sum(lowest) <= learner.bound
    of_blocks = sum(F.diameter * P**0.75 for F, P in zip(X.factors, sizes, strict=True))
    of_all = X.diameter * (np.linalg.norm(norms, axis=1) ** (4 / 3)).sum() ** 0.75
    assert of_blocks <= of_all


def test_a_policy_of_blocks_runs_in_the_compiled_loop_as_by_ask_and_tell() -> None:
    X, rng = PRODUCTS["simplices"](), np.random.default_rng(0)
    rounds = [(Linear(rng.random(X.dim)), Linear(rng.random(X.dim), -1.5)) for _ in range(50)]
    problem = RecordedProblem(X, rounds)
    compiled, by_turns = (hr.projection_free_coco(X, tracking=False) for _ in range(2))
    assert isinstance(compiled.learner, BlockOCG)
    trace = hr.simulate(compiled, problem)
    steps = hr.Trace.of(hr.play(by_turns, problem))
    assert trace.compiled
    assert (compiled.ask() == by_turns.ask()).all()
    assert (trace.costs == steps.costs).all()
    assert compiled.certificate() == by_turns.certificate()


def test_many_small_simplices_are_one_compiled_call() -> None:
    X = Product(*[Simplex(3)] * 2000)
    learner = BlockOCG(X)
    assert not learner.step_table.in_python
    g = np.random.default_rng(0).standard_normal(X.dim)
    learner.tell(EvalGrad(0.0, g))
    assert (X.lmo(g) == learner.ask()).mean() > 0.9  # the first step goes far
    assert X.contains(learner.ask())
