"""The command line, `hedgerow`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or print which extra it needs."""
    try:
        from hedgerow.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("matplotlib", "rich", "typer"):
            raise
        sys.exit(
            f"hedgerow: the command line needs {missing.name}; "
            'install it with: pip install ".[cli]"'
        )
    app()
