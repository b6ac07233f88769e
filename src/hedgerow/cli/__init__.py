"""The command line, `hedgerow`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or print which extra it needs."""
    try:
        from hedgerow.cli.app import app
    except ImportError as missing:
        if sys.argv[1:2] == ["doctor"]:
            sys.exit(_doctor(*sys.argv[2:3]))
        if missing.name not in ("matplotlib", "rich", "typer"):
            raise
        sys.exit(
            f"hedgerow: the command line needs {missing.name}; "
            'install it with: pip install ".[cli]"'
        )
    app()


def _doctor(store: str = "") -> int:
    """Print what the doctor finds where the command line itself cannot be imported."""
    from hedgerow.cli.diagnosis import diagnosis

    found = diagnosis(store)
    sys.stdout.write("".join(f"{finding}\n" for finding in found))
    return int(any(finding.remedy for finding in found))
