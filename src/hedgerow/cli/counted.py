"""Numbers with their noun."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return how many there are, in words that agree.

    >>> counted(1, "run"), counted(12, "benchmark")
    ('1 run', '12 benchmarks')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
