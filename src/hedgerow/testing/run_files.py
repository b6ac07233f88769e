"""Play a game and write its run file, which `verify_run` checks without this library."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.files import WRITTEN, add_digest, replace_files
from hedgerow.functions import Function, Linear, parts_of
from hedgerow.games.simulation import check_match, feedback_of, turn
from hedgerow.inputs import Vector
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.parts import Feedback, Policy
from hedgerow.protocols.trace import Trace
from hedgerow.release import this_release
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription, Rows
from hedgerow.sets.solvers import linear_programme
from hedgerow.testing.multipliers import Multipliers, has_proof
from hedgerow.testing.verification import (
    DIGEST,
    FORMAT,
    HEADER,
    column_sums,
    results_of,
    values_of,
    weighted,
)

CLOSE = 1e-7
"""The policy's certificate and that of the file may differ by this share of their terms."""
ACTIVE = 1e-6
"""Rounds in which the comparator is this close to the limit may have a multiplier."""


def record_run(
    policy: Policy[Any, Any],
    problem: Problem,
    path: str | os.PathLike[str],
    *,
    benchmark: Benchmark | None = None,
    feedback: Feedback | None = None,
) -> Trace:
    """Play a game to its end and write all of it to a run file.

    The file holds the set, every round, every decision, and a proof of each result. `hedgerow
    verify FILE` recomputes regret, CCV and certificate from the rounds. All rounds must be
    linear, and the set must have a linear description in its own coordinates.

    Args:
        policy: a fresh one; a `Fallback` or `ConstrainedPolicy` also has a certificate in the file.
        problem: the rounds.
        path: the file, which is replaced whole.
        benchmark: the best action in hindsight, for the regret; left out, the file has none.
        feedback: what the policy observes; left out, `policy.feedback`.

    >>> import tempfile
    >>> from hedgerow.games.comparators.hindsight import hindsight
    >>> from hedgerow.policies.paper import projection_free_coco
    >>> from hedgerow.problems.synthetic import IidSimplex
    >>> from hedgerow.testing.verification import verify_run
    >>> problem = IidSimplex(n=3, horizon=50, seed=0)
    >>> path = Path(tempfile.mkdtemp()) / "game.run"
    >>> policy = projection_free_coco(problem.decision_set)
    >>> trace = record_run(policy, problem, path, benchmark=hindsight(problem))
    >>> found = verify_run(path)
    >>> abs(found["regret"] - trace.regret(hindsight(problem))) < 1e-9
    True

    """
    check_match(policy, problem)
    if benchmark is not None and (benchmark.status != "optimal" or benchmark.budget > 0.0):
        raise ValueError(
            f"the comparator must be the best action that satisfies every round, got "
            f"{benchmark.comparator} with status {benchmark.status!r}; leave benchmark out"
        )
    rows = _rows(problem.decision_set)
    observe = feedback_of(policy) if feedback is None else feedback
    multipliers = _fresh_multipliers(policy) if has_proof(policy) else None
    steps, rounds = [], []
    for t, functions in enumerate(problem.rounds(policy), start=1):
        rounds.append(_linear_round(functions, t))
        if multipliers is not None:
            x = policy.ask()
            multipliers.see(observe(functions[1], x), _parts_at(functions[1], x))
        steps.append(turn(policy, t, *functions, observe))
        if multipliers is not None:
            multipliers.add()
    trace = Trace.of(steps, problem)
    arrays = _as_arrays([step.x for step in steps], rounds) | _described(rows)
    if multipliers is not None:
        T, K = arrays["constraint_values"].shape
        arrays |= _certified(rows, arrays, multipliers.array(T, K))
    if benchmark is not None:
        arrays |= _compared(rows, arrays, benchmark)
    results = results_of(arrays)
    if multipliers is not None:
        _check_certificate(policy, results["certificate"], arrays)
    stated = {
        "policy": repr(policy)[:1000],
        "problem": repr(problem)[:1000],
        "release": this_release(),
        "oracle_calls": getattr(policy, "oracle_calls", None),
    }
    header = {"format": FORMAT, "results": results, "stated": stated}
    replace_files({Path(path): pack_run(header, arrays)})
    return trace


def _fresh_multipliers(policy: Any) -> Multipliers:
    """Refuse a policy whose certificate is about earlier rounds, too."""
    if played := policy.summary().rounds:
        raise ValueError(
            f"the policy has played {played} rounds; record a fresh policy, from its first round on"
        )
    return Multipliers(policy)


def pack_run(header: dict[str, Any], arrays: dict[str, Vector]) -> bytes:
    """Return the bytes of a run file; the same run makes the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as parts:
        parts.writestr(zipfile.ZipInfo(HEADER, WRITTEN), json.dumps(header, allow_nan=False))
        for name, array in sorted(arrays.items()):
            content = io.BytesIO()
            plain = np.ascontiguousarray(array, dtype=np.float64)
            np.lib.format.write_array(content, plain, version=(1, 0), allow_pickle=False)
            parts.writestr(zipfile.ZipInfo(f"{name}.npy", WRITTEN), content.getvalue())
        parts.comment = b"0" * DIGEST
    return add_digest(packed.getvalue()[:-DIGEST])


def _linear_round(functions: Round, t: int) -> tuple[Linear, tuple[Linear, ...]]:
    cost, constraint = functions
    parts = parts_of(constraint)
    for function in (cost, *parts):
        if not isinstance(function, Linear):
            raise ValueError(
                f"a run file has linear rounds, round {t} has a {type(function).__name__}; "
                "audit(steps, problem) checks games of every kind"
            )
    return cost, parts  # type: ignore[return-value]


def _as_arrays(decisions: list[Vector], rounds: list[Any]) -> dict[str, Vector]:
    """Return rounds and decisions as arrays, with their values in the file's own arithmetic."""
    if len({len(parts) for _, parts in rounds}) != 1:
        raise ValueError("a run file has equally many constraints in every round")
    limits = [parts for _, parts in rounds]
    arrays = {
        "decisions": np.array(decisions),
        "costs": np.array([cost.coefficients for cost, _ in rounds]),
        "cost_offsets": np.array([cost.offset for cost, _ in rounds]),
        "constraints": np.array([[part.coefficients for part in parts] for parts in limits]),
        "constraint_offsets": np.array([[part.offset for part in parts] for parts in limits]),
    }
    return arrays | values_of(arrays, arrays["decisions"])


def _rows(X: DecisionSet) -> Rows:
    """Return the linear description of a set, with finite bounds."""
    rows = X.rows() if X.supports(HasLinearDescription) else None
    if rows is None or rows.lift is not None or rows.shift is not None:
        raise ValueError(
            f"a run file needs a set with a linear description in its own coordinates, such as "
            f"Simplex, Box, DagPaths or Polytope, got {type(X).__name__}; "
            "audit(steps, problem) checks games on every set"
        )
    upper, lower = _finite(X, rows.upper, -1.0), _finite(X, rows.lower, 1.0)
    return replace(rows, lower=lower, upper=upper)


def _described(rows: Rows) -> dict[str, Vector]:
    """Return the set as arrays: equations, then inequalities, and bounds."""
    blocks = [(rows.A_eq, rows.b_eq, 1.0), (rows.A_ub, rows.b_ub, 0.0)]
    found: dict[str, list[Vector]] = {
        name: [] for name in ("row", "column", "entry", "limit", "is_equation")
    }
    begin = 0
    for matrix, limit, is_equation in blocks:
        if matrix is None or limit is None:
            continue
        entries = matrix.tocoo()
        parts = (entries.row + begin, entries.col, entries.data, limit)
        for name, part in zip(found, (*parts, np.full(limit.size, is_equation)), strict=True):
            found[name].append(np.asarray(part, dtype=np.float64))
        begin += limit.size
    arrays = {name: np.concatenate([np.zeros(0), *parts]) for name, parts in found.items()}
    return arrays | {"lower": rows.lower, "upper": rows.upper}


def _finite(X: DecisionSet, bounds: Vector, sign: float) -> Vector:
    """Replace infinite bounds by the least or the largest coordinate that a point has."""
    bounds = bounds.astype(np.float64)
    for i in np.flatnonzero(~np.isfinite(bounds)):
        bounds[i] = sign * X.minimum(sign * np.eye(1, X.dim, int(i))[0])
    return bounds


def _parts_at(constraint: Function, x: Vector) -> list[EvalGrad]:
    """Return value and gradient of each part of a constraint."""
    return [EvalGrad(part(x), part.grad(x)) for part in parts_of(constraint)]


def _certified(rows: Rows, arrays: dict[str, Vector], weights: Vector) -> dict[str, Vector]:
    """Return the weights, and a dual that proves the least value which the certificate needs.

    The format has room for parts of violations that no action avoids, which certificates of
    earlier releases left out.
    """
    return {
        "weights": weights,
        "unavoidable": np.zeros_like(weights),
        "unavoidable_duals": np.zeros((0, len(arrays["limit"]))),
        "certificate_dual": _duals(rows, column_sums(weighted(arrays, weights)))[0],
    }


def _compared(rows: Rows, arrays: dict[str, Vector], benchmark: Benchmark) -> dict[str, Vector]:
    """Return the comparator, with multipliers and a dual that prove that it is the best."""
    slopes, offsets = arrays["constraints"], arrays["constraint_offsets"]
    values = slopes @ benchmark.x + offsets
    near = values >= -ACTIVE * (1.0 + np.abs(slopes) @ np.abs(benchmark.x))
    y = np.zeros(values.shape)
    costs = column_sums(arrays["costs"])
    y[near] = np.maximum(0.0, -_duals(rows, costs, slopes[near], -offsets[near])[1])
    dual = _duals(rows, column_sums(weighted(arrays, y)))[0]
    return {"comparator": benchmark.x, "multipliers": y, "comparator_dual": dual}


def _duals(
    rows: Rows, cost: Vector, slopes: Vector | None = None, limits: Vector | None = None
) -> tuple[Vector, Vector]:
    """Minimise <cost, x> over the set and slopes x <= limits: duals of the set, then of these.

    The checker recomputes the bound that they prove, so nothing rests on the solver.
    """
    from scipy import sparse

    n, m = cost.size, 0 if rows.b_ub is None else rows.b_ub.size
    slopes, limits = (np.zeros((0, n)), np.zeros(0)) if slopes is None else (slopes, limits)
    assert limits is not None
    sizes = np.maximum(np.abs(slopes).max(axis=1, initial=0.0), 1e-300)
    unit = float(np.abs(cost).max(initial=0.0)) or 1.0
    own = sparse.csr_array((0, n)) if rows.A_ub is None else rows.A_ub
    result = linear_programme(
        cost / unit,
        sparse.csr_array(sparse.vstack([own, sparse.csr_array(slopes / sizes[:, None])])),
        np.concatenate([np.zeros(0) if rows.b_ub is None else rows.b_ub, limits / sizes]),
        rows.A_eq,
        rows.b_eq,
        rows.lower,
        rows.upper,
    )
    if result.status != 0:
        raise ValueError(f"the LP solver found no proof for the run file: {result.message}")
    inner = unit * result.ineqlin.marginals
    of_set = np.concatenate([unit * result.eqlin.marginals, inner[:m]])
    return of_set, inner[m:] / sizes


def _check_certificate(policy: Any, found: float, arrays: dict[str, Vector]) -> None:
    """Refuse to write a certificate other than the policy's own."""
    said = float(policy.certificate())
    terms = np.abs(weighted(arrays, arrays["weights"]) * arrays["decisions"]).sum()
    terms += np.abs(arrays["weights"] * arrays["constraint_values"]).sum()
    if not math.isclose(said, found, rel_tol=CLOSE, abs_tol=CLOSE * (1.0 + float(terms))):
        raise ValueError(
            f"the policy's certificate is {said:.6g}, its rounds give {found:.6g}; record a "
            "fresh policy, from its first round on"
        )
