"""Lines on the terminal: what stands in them comes from users and files, so nothing is markup."""

from __future__ import annotations

from rich.console import Console

from hedgerow.report.escaping import in_table


def say(line: str) -> None:
    """Print one line on stdout."""
    Console().print(in_table(line), soft_wrap=True)


def complain(sentence: str) -> None:
    """Print one sentence on stderr, under our name."""
    tell_aside(f"hedgerow: {sentence}")


def tell_aside(line: str) -> None:
    """Print one line on stderr."""
    Console(stderr=True).print(in_table(line), soft_wrap=True)


def counted(number: int, noun: str) -> str:
    """Return how many there are, in words that agree.

    >>> counted(1, "run"), counted(12, "benchmark")
    ('1 run', '12 benchmarks')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
