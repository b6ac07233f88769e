"""Check a run file: recompute regret, CCV and certificate from its rounds. It needs NumPy alone.

Copy this file anywhere and run `python verification.py FILE`. It shares no code with what plays.
docs/reference/run-files.md describes the format and what a check shows.

A run file is a zip whose members are stored as they are: a JSON header and arrays of float64. Its
last 64 bytes, the zip's comment, are the SHA-256 of all others. Every sum below is rounded
correctly, once (`math.fsum`), so all machines find the same bits and numbers are compared exactly.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Arrays: TypeAlias = dict[str, Array]

HEADER, FORMAT, DIGEST = "hedgerow-run.json", ["hedgerow run", 1], 64
ROUNDING = 1e-9
"""A point may be outside the set by this much, relative to the size of the terms."""
PROVED = 1e-6
"""A comparator is the best one if no other can be cheaper by more than this share of the costs."""


class TamperedRunError(ValueError):
    """A file that is no run file, was changed, or states what its rounds do not give."""


def verify_run(path: str | Path) -> dict[str, Any]:
    """Return the checked results of a run file, or raise `TamperedRunError`.

    Beside them, "stated" has what cannot be recomputed, names and counts, and "sha256" the file's
    digest, which identifies it.
    """
    content = Path(path).read_bytes()
    header, arrays = read_run(content)
    try:
        check_shapes(arrays)
        check_points(arrays)
        found = results_of(arrays)
    except TamperedRunError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise TamperedRunError(f"its parts do not fit together ({error!r})") from None
    stated = header["results"]
    if not isinstance(stated, dict) or set(stated) != set(found):
        raise TamperedRunError(f"its results must be {sorted(found)}")
    for name, value in found.items():
        if stated[name] != value or isinstance(stated[name], bool):
            raise TamperedRunError(f"it states {name} {stated[name]}, its rounds give {value}")
    check_bound(arrays, found)
    return {**found, "stated": header["stated"], "sha256": content[-DIGEST:].decode()}


def read_run(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file whose digest is right."""
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise TamperedRunError("it was cut or changed after it was written, or is no run file")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            names = parts.namelist()
            if any(part.compress_type or part.flag_bits & 1 for part in parts.infolist()):
                raise ValueError("a member is compressed or encrypted")
            members = {name: parts.read(name) for name in names}
        header = json.loads(members.pop(HEADER), parse_constant=_refuse_constant)
        arrays = {name.removesuffix(".npy"): _array(data) for name, data in members.items()}
        if len(arrays) + 1 != len(names):
            raise ValueError("a member occurs twice")
        keys = {"format", "results", "stated"}
        if not isinstance(header, dict) or set(header) != keys or header["format"] != FORMAT:
            raise ValueError(f"the header must have {sorted(keys)} and format {FORMAT}")
    except (KeyError, ValueError, RecursionError, NotImplementedError, zipfile.BadZipFile) as error:
        raise TamperedRunError(f"it is no run file ({error})") from None
    return header, arrays


def _array(content: bytes) -> Array:
    """Return an array of finite float64; its declared size must be the size that it has."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array is not in the format 1.0")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    left = len(content) - stream.tell()
    if dtype != np.float64 or by_columns or 8 * math.prod(shape) != left:
        raise ValueError(f"an array of {dtype} and shape {shape} has {left} bytes")
    array: Array = np.frombuffer(stream.read(), np.float64).reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError("an array holds NaN or infinite entries")
    return array


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def check_shapes(arrays: Arrays) -> None:
    """Refuse arrays that are missing, unknown or of another shape."""
    T, K, n = arrays["constraints"].shape
    shapes: dict[str, tuple[int, ...]] = {
        "decisions": (T, n), "costs": (T, n), "cost_offsets": (T,), "cost_values": (T,),
        "constraints": (T, K, n), "constraint_offsets": (T, K), "constraint_values": (T, K),
    }  # fmt: skip
    m = len(arrays["limit"])
    shapes |= {"lower": (n,), "upper": (n,), "limit": (m,), "is_equation": (m,)}
    shapes |= dict.fromkeys(("row", "column", "entry"), arrays["entry"].shape[:1])
    if "weights" in arrays:
        shapes |= {"weights": (T, K), "unavoidable": (T, K), "certificate_dual": (m,)}
        shapes["unavoidable_duals"] = (int((arrays["unavoidable"] > 0.0).sum()), m)
    if "comparator" in arrays:
        shapes |= {"comparator": (n,), "multipliers": (T, K), "comparator_dual": (m,)}
    found = {name: array.shape for name, array in arrays.items()}
    if found != shapes or not min(T, K, n):
        wrong = min(name for name in {*found, *shapes} if found.get(name) != shapes.get(name))
        raise TamperedRunError(f"its array {wrong!r} is missing, unknown or of another shape")
    for name, end in (("row", m), ("column", n), ("is_equation", 2)):
        index = arrays[name]
        if (index != np.floor(index)).any() or ((index < 0) | (index >= end)).any():
            raise TamperedRunError(f"its array {name!r} must hold whole numbers below {end}")


def check_points(arrays: Arrays) -> None:
    """Check that all decisions, and the comparator, are points of the set."""
    for t, x in enumerate(arrays["decisions"], start=1):
        if not contains(arrays, x):
            raise TamperedRunError(f"the decision of round {t} is outside the set")
    if "comparator" in arrays and not contains(arrays, arrays["comparator"]):
        raise TamperedRunError("the comparator is outside the set")


def contains(arrays: Arrays, x: Array) -> bool:
    """Whether a point is in the set, up to rounding."""
    slack = ROUNDING * max(1.0, float(np.abs(x).max()))
    if (x < arrays["lower"] - slack).any() or (x > arrays["upper"] + slack).any():
        return False
    m, rows = len(arrays["limit"]), arrays["row"].astype(int)
    terms = arrays["entry"] * x[arrays["column"].astype(int)]
    above = np.bincount(rows, terms, m) - arrays["limit"]
    size = 1.0 + np.bincount(rows, np.abs(terms), m) + np.abs(arrays["limit"])
    outside = np.where(arrays["is_equation"] == 1.0, np.abs(above), above) > ROUNDING * size
    return not outside.any()


def lowest(arrays: Arrays, direction: Array, dual: Array) -> float:
    """Return a lower bound of <direction, x> over the set.

    It follows from any dual vector y, with y <= 0 for inequalities, by weak duality:
    <limit, y> + min over lower <= x <= upper of <direction - rows' y, x>. Another y makes the
    bound worse, never wrong.
    """
    rows, columns = (arrays[name].astype(int) for name in ("row", "column"))
    y = np.where(arrays["is_equation"] == 1.0, dual, np.minimum(0.0, dual))
    reduced = direction - np.bincount(columns, arrays["entry"] * y[rows], len(direction))
    best = np.minimum(reduced * arrays["lower"], reduced * arrays["upper"])
    return math.fsum([*(arrays["limit"] * y), *best])


def values(slopes: Array, offsets: Array, x: Array) -> Array:
    """Return <slope, x> + offset for each row; x is one point, or one for each row."""
    products = (slopes * x).tolist()
    rows = zip(products, offsets.tolist(), strict=True)
    return np.array([math.fsum([*row, offset]) for row, offset in rows])


def weighted(arrays: Arrays, w: Array) -> Array:
    """Return grad f_t + sum over k of w_tk grad g_tk for each round."""
    s = arrays["costs"].copy()
    for k in range(w.shape[1]):
        s += w[:, k, None] * arrays["constraints"][:, k]
    return s


def column_sums(rows: Array) -> Array:
    """Return the sum of all rows, each entry rounded once."""
    return np.array([math.fsum(column) for column in rows.T.tolist()])


def total(terms: Array) -> float:
    """Return the sum of all entries, rounded once."""
    return math.fsum(terms.ravel().tolist())


def results_of(arrays: Arrays) -> dict[str, Any]:
    """Recompute every result from the rounds; refuse recorded values that they do not give."""
    g = arrays["constraint_values"]
    for name, found in values_of(arrays, arrays["decisions"]).items():
        if (wrong := np.argwhere(found != arrays[name])).size:
            raise TamperedRunError(f"its {name} of round {wrong[0][0] + 1} are not the round's")
    results: dict[str, Any] = {
        "cost": total(arrays["cost_values"]),
        "ccv": [total(np.maximum(g[:, k], 0.0)) for k in range(g.shape[1])],
        "violated_rounds": int((g.max(axis=1) > 0.0).sum()),
    }
    if "weights" in arrays:
        results["certificate"] = _certificate(arrays)
    if "comparator" in arrays:
        results |= _compared(arrays, results["cost"])
    return results


def values_of(arrays: Arrays, x: Array) -> Arrays:
    """Return the values of all costs and constraints, at one point or at one for each round."""
    a, b = arrays["constraints"], arrays["constraint_offsets"]
    return {
        "cost_values": values(arrays["costs"], arrays["cost_offsets"], x),
        "constraint_values": np.column_stack(
            [values(a[:, k], b[:, k], x) for k in range(a.shape[1])]
        ),
    }


def _certificate(arrays: Arrays) -> float:
    """Return sum <s_t, x_t> - min over X of <sum s_t, x> - sum w_t (g_t(x_t) - u_t).

    Here s_t = grad f_t + w_t grad g_t, w_t >= 0 is the weight, and u_t the part of the violation
    that no action avoids. It bounds the regret against every action that satisfies all rounds.
    """
    w, u, g = (arrays[name] for name in ("weights", "unavoidable", "constraint_values"))
    if (w < 0.0).any() or (u < 0.0).any():
        raise TamperedRunError("its weights and unavoidable parts must be at least 0")
    proofs = iter(arrays["unavoidable_duals"])
    for t, k in np.argwhere(u > 0.0):
        slope, offset = arrays["constraints"][t, k], float(arrays["constraint_offsets"][t, k])
        least = lowest(arrays, slope, next(proofs)) + offset
        if u[t, k] > least + ROUNDING * (1.0 + abs(g[t, k])):
            raise TamperedRunError(f"round {t + 1} leaves out more violation than no action avoids")
    s = weighted(arrays, w)
    least = lowest(arrays, column_sums(s), arrays["certificate_dual"])
    return math.fsum([total(s * arrays["decisions"]), -least, -total(w * (g - u))])


def _compared(arrays: Arrays, cost: float) -> dict[str, float]:
    """Compare with the comparator, and prove by multipliers how good it is at most."""
    best, y = arrays["comparator"], arrays["multipliers"]
    if (y < 0.0).any():
        raise TamperedRunError("its multipliers must be at least 0")
    costs, violations = values_of(arrays, best).values()
    paid = total(costs)
    least = lowest(arrays, column_sums(weighted(arrays, y)), arrays["comparator_dual"])
    offsets = [total(arrays["cost_offsets"]), total(y * arrays["constraint_offsets"])]
    return {
        "regret": cost - paid,
        "comparator_cost": paid,
        "comparator_violation": max(0.0, float(violations.max())),
        "comparator_gap": math.fsum([paid, -least, *(-offset for offset in offsets)]),
    }


def check_bound(arrays: Arrays, found: dict[str, Any]) -> None:
    """Refuse a comparator that violates a round or is not the best, and a broken certificate."""
    if (best := arrays.get("comparator")) is None:
        return
    terms = np.abs(arrays["constraints"] * best).sum(axis=2) + np.abs(arrays["constraint_offsets"])
    if found["comparator_violation"] > ROUNDING * 10.0 * max(1.0, float(terms.max())):
        raise TamperedRunError("the comparator does not satisfy every round")
    size = total(np.abs(arrays["costs"] * best)) + total(np.abs(arrays["cost_offsets"]))
    if abs(found["comparator_gap"]) > PROVED * max(size, 1e-300):
        raise TamperedRunError("it is not proved that the comparator is the best one")
    if "certificate" in found:
        w, u = arrays["weights"], arrays["unavoidable"]
        g = values_of(arrays, best)["constraint_values"]
        excess = total(w * np.maximum(0.0, g - u))
        slack = excess + ROUNDING * (size + total(np.abs(w * arrays["constraint_values"])) + 1.0)
        if found["regret"] > found["certificate"] + slack:
            raise TamperedRunError("the regret is above the certificate")


def describe(found: dict[str, Any]) -> str:
    """Return checked results in one line; equal digests mean equal files."""
    ccv = ", ".join(f"{one:.6g}" for one in found["ccv"])
    parts = [f"cost {found['cost']:.6g}, CCV {ccv}, {found['violated_rounds']} violated rounds"]
    parts += [f"{name} {found[name]:.6g}" for name in ("regret", "certificate") if name in found]
    return ", ".join([*parts, f"sha256 {found['sha256'][:16]}"])


def main(paths: Sequence[str]) -> int:
    """Check files, one line for each; return 1 if one is refused."""
    refused = 0
    for path in paths:
        try:
            line = f"{path}: holds: {describe(verify_run(path))}"
        except (OSError, ValueError) as error:
            refused, line = 1, f"{path}: refused: {error}"
        sys.stdout.write(line + "\n")
    return refused


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
