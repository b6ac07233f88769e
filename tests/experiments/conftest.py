"""The example's plug-in, installed as a user installs it, into a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="session")
def plugin_site(tmp_path_factory):
    """Install the package with pip, offline, and return where it is."""
    site = tmp_path_factory.mktemp("plugin") / "site"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile")
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options,
         "--target", site, PLUGIN],
        check=True,
        timeout=120,
    )  # fmt: skip
    return site
