"""The note's table of measurements: python tools/note_table.py writes docs/note/table.tex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
METHODS = {
    "default": "default",
    "plain": "plain",
    "first default": "first",
    "sinha_vaze_2024": "Sinha--Vaze",
    "wang_2025": "Wang",
    "guo_recoo": "RECOO",
}
"""The columns: names in the evidence, and in the table."""


def note_table(evidence: dict[str, Any]) -> str:
    """Return the table in LaTeX: CCV / regret, one line for each game and each measured network."""
    lines = [
        r"\begin{tabular}{l" + "r" * len(METHODS) + "}",
        r"\hline",
        " & ".join(["", *METHODS.values()]) + r" \\",
        r"\hline",
    ]
    for part in ("games", "measured"):
        for name, played in evidence.get(part, {}).items():
            cells = [_cell(played.get(method)) for method in METHODS]
            lines.append(" & ".join([name.replace("_", r"\_"), *cells]) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _cell(row: dict[str, float] | None) -> str:
    if row is None:
        return "--"
    regret = f"${row['regret']:.1f}$" if row.get("regret") is not None else "--"
    return f"{row['ccv']:.2f} / {regret}"


def main() -> None:
    """Write the table beside the note."""
    evidence = json.loads((ROOT / "evidence" / "default.json").read_text(encoding="utf-8"))
    (ROOT / "docs" / "note" / "table.tex").write_text(note_table(evidence), encoding="utf-8")


if __name__ == "__main__":
    main()
