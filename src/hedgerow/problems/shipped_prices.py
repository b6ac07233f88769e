"""Price series that a public package ships: `universal-portfolios` on PyPI."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from hedgerow.inputs import Vector
from hedgerow.problems.portfolios import price_relatives

PACKAGE = "universal-portfolios"


def shipped_relatives(name: str) -> Vector:
    """Return the daily price relatives of a series of `universal-portfolios`.

    The package has the classic series of the field, such as "nyse_o" (36 stocks, 1962 to 1984) and
    "djia", as files of prices. They are read, the package is not imported: what it depends on is
    not needed.

    Args:
        name: of the series, such as "djia".

    Returns:
        Price relatives, days x assets: each day's prices over those of the day before.

    """
    try:
        folder = Path(str(distribution(PACKAGE).locate_file("universal/data")))
    except PackageNotFoundError:
        raise ModuleNotFoundError(
            f"price series come with the package {PACKAGE}, which is not installed; run "
            f"pip install {PACKAGE}"
        ) from None
    known = sorted(path.stem for path in folder.glob("*.csv"))
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    prices = price_relatives(folder / f"{name}.csv")  # positive numbers, read alike
    return prices[1:] / prices[:-1]
