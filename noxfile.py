#!/usr/bin/env -S uv run
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Tasks by name for those who use nox: `nox -l` lists them. Each is a target of the Makefile.

`make` sets up the pinned environment itself, so no session makes one of its own.
"""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Run the linters: ruff, mypy, import-linter, spelling, pages, workflows, sp-repo-review."""
    session.run("make", "lint", external=True)


@nox.session(default=True)
def test(session: nox.Session) -> None:
    """Run the linters and all tests."""
    session.run("make", "test", external=True)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Write the generated parts of pages and build the site."""
    session.run("make", "docs", external=True)


@nox.session(default=False)
def demo(session: nox.Session) -> None:
    """Reproduce the comparison of the paper."""
    session.run("make", "demo", external=True)


if __name__ == "__main__":
    nox.main()
