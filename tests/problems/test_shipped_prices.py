"""Price series of another package: read without importing it, refused in a sentence."""

import numpy as np
import pytest

from hedgerow.problems import Portfolio, shipped_relatives


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the same name and layout, whose code must not run."""
    (tmp_path / "universal_portfolios-9.0.dist-info").mkdir()
    record = tmp_path / "universal_portfolios-9.0.dist-info/METADATA"
    record.write_text("Metadata-Version: 2.1\nName: universal-portfolios\nVersion: 9.0\n")
    data = tmp_path / "universal/data"
    data.mkdir(parents=True)
    (tmp_path / "universal/__init__.py").write_text("raise RuntimeError\n")
    (data / "small.csv").write_text("A,B\n1.0,2.0\n1.5,1.0\n3.0,1.5\n")
    rng = np.random.default_rng(0)
    prices = np.cumprod(rng.uniform(0.9, 1.1, (90, 3)), axis=0)
    np.savetxt(data / "drawn.csv", prices, delimiter=",", header="A,B,C", comments="")
    monkeypatch.syspath_prepend(tmp_path)
    return prices


def test_relatives_are_quotients_of_successive_days(package):
    assert shipped_relatives("small").tolist() == [[1.5, 0.5], [2.0, 1.5]]
    found = shipped_relatives("drawn")
    np.testing.assert_allclose(found, package[1:] / package[:-1], rtol=1e-12)
    assert Portfolio.low_volatility(found, cap=1.1, window=20).horizon == 69


@pytest.mark.usefixtures("package")
def test_another_name_is_refused():
    with pytest.raises(ValueError, match="name must be one of drawn, small, got 'nyse'"):
        shipped_relatives("nyse")


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("hedgerow.problems.portfolios.PACKAGE", "no-such-package-here")
    with pytest.raises(ModuleNotFoundError, match="pip install no-such-package-here"):
        shipped_relatives("djia")
