"""Sums over vectors, added up in one fixed order: objects and compiled loops get the same bits.

Every sum runs in eight lanes, entries 0, 8, 16, ... in the first, and ends with the entries that
fill no eight; sums of the same vectors share one pass. BLAS would add in an order of its own, which
depends on the machine.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, prefetch, store, vabs

Array = Any
two = types.UniTuple(number, 2)
three = types.UniTuple(number, 3)
four = types.UniTuple(number, 4)
six = types.UniTuple(number, 6)
four_vectors = types.UniTuple(write, 4)


@kernel(number, read, read)
def dot(a: Array, b: Array) -> float:
    """Return <a, b>."""
    lanes, rest = broadcast(0.0), 0.0
    whole = len(a) - len(a) % WIDTH
    for i in range(0, whole, WIDTH):
        lanes += load(a, i) * load(b, i)
    for i in range(whole, len(a)):
        rest += a[i] * b[i]
    return hsum(lanes) + rest


@kernel(nothing, write, read)
def copy(to: Array, given: Array) -> None:
    """Write a vector to the beginning of another."""
    for i in range(len(given)):
        to[i] = given[i]


@kernel(number, read)
def mean_of(a: Array) -> float:
    """Return the mean of a."""
    whole = len(a) - len(a) % WIDTH
    lanes, rest = broadcast(0.0), 0.0
    for i in range(0, whole, WIDTH):
        lanes += load(a, i)
    for i in range(whole, len(a)):
        rest += a[i]
    return (hsum(lanes) + rest) / len(a)


@kernel(two, read)
def spread_of(a: Array) -> tuple[float, float]:
    """Return the mean of a, and the sum of squares about it."""
    whole, mean = len(a) - len(a) % WIDTH, mean_of(a)
    lanes, rest, means = broadcast(0.0), 0.0, broadcast(mean)
    for i in range(0, whole, WIDTH):
        e = load(a, i) - means
        lanes += e * e
    for i in range(whole, len(a)):
        rest += (a[i] - mean) * (a[i] - mean)
    return mean, hsum(lanes) + rest


@kernel(four, read, read, read, read, read)
def dots_and_norms_ahead(
    a: Array, c: Array, x: Array, next_a: Array, next_c: Array
) -> tuple[float, float, float, float]:
    """Return <a, x>, <c, x>, ||a||^2 and ||c||^2, and have the next two rows fetched meanwhile.

    Between two rounds the processor forgets that rows follow each other, and would wait for each.
    """
    f = g = p = q = broadcast(0.0)
    f1 = g1 = p1 = q1 = 0.0
    whole = len(a) - len(a) % WIDTH
    for i in range(0, whole, WIDTH):
        prefetch(next_a, i)
        prefetch(next_c, i)
        A, C, X = load(a, i), load(c, i), load(x, i)
        f += A * X
        g += C * X
        p += A * A
        q += C * C
    for i in range(whole, len(a)):
        f1 += a[i] * x[i]
        g1 += c[i] * x[i]
        p1 += a[i] * a[i]
        q1 += c[i] * c[i]
    return hsum(f) + f1, hsum(g) + g1, hsum(p) + p1, hsum(q) + q1


@kernel(four, read, read, read)
def dots_and_norms(a: Array, c: Array, x: Array) -> tuple[float, float, float, float]:
    """Return <a, x>, <c, x>, ||a||^2 and ||c||^2."""
    return dots_and_norms_ahead(a, c, x, a, c)


@kernel(two, write, read, read, number, read)
def mix(s: Array, a: Array, c: Array, w: float, x: Array) -> tuple[float, float]:
    """Write a + w c into s; return <s, x> and ||s||^2."""
    f = p = broadcast(0.0)
    f1 = p1 = 0.0
    weight, whole = broadcast(w), len(s) - len(s) % WIDTH
    for i in range(0, whole, WIDTH):
        S = load(a, i) + weight * load(c, i)
        f += S * load(x, i)
        p += S * S
        store(s, i, S)
    for i in range(whole, len(s)):
        s[i] = a[i] + w * c[i]
        f1 += s[i] * x[i]
        p1 += s[i] * s[i]
    return hsum(f) + f1, hsum(p) + p1


@kernel(three, read, read, read)
def descent(d: Array, x: Array, v: Array) -> tuple[float, float, float]:
    """Return <d, x - v>, the sum of the absolute values of its terms, and ||x - v||^2."""
    p = a = q = broadcast(0.0)
    p1 = a1 = q1 = 0.0
    whole = len(d) - len(d) % WIDTH
    for i in range(0, whole, WIDTH):
        e = load(x, i) - load(v, i)
        term = load(d, i) * e
        p += term
        a += vabs(term)
        q += e * e
    for i in range(whole, len(d)):
        e1 = x[i] - v[i]
        p1 += d[i] * e1
        a1 += abs(d[i] * e1)
        q1 += e1 * e1
    return hsum(p) + p1, hsum(a) + a1, hsum(q) + q1


@kernel(two, read, read, read)
def place(S: Array, x: Array, x1: Array) -> tuple[float, float]:
    """Return <S, x> and ||x - x_1||^2."""
    v = q = broadcast(0.0)
    v1 = q1 = 0.0
    whole = len(S) - len(S) % WIDTH
    for i in range(0, whole, WIDTH):
        X = load(x, i)
        e = X - load(x1, i)
        v += load(S, i) * X
        q += e * e
    for i in range(whole, len(S)):
        v1 += S[i] * x[i]
        q1 += (x[i] - x1[i]) * (x[i] - x1[i])
    return hsum(v) + v1, hsum(q) + q1
