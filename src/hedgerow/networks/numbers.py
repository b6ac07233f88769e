"""Numbers written as text: only what every other program reads as the same number."""

from __future__ import annotations


def parse_number(text: str) -> float:
    """Return a number in ASCII digits; Python itself also takes 1_000 and digits of any script.

    >>> parse_number(" 1e3"), parse_number("-.5")
    (1000.0, -0.5)
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)
