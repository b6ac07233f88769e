"""The generated parts of the note: python tools/note_table.py writes them beside note.tex."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTE = ROOT / "docs" / "note"
METHODS = {
    "default": "default",
    "plain": "plain",
    "sinha_vaze_2024": "Sinha--Vaze",
    "wang_2025": "Wang",
    "guo_recoo": "RECOO",
}
"""The columns: names in the evidence, and in the table."""


def note_table(evidence: dict[str, Any]) -> str:
    """Return the table in LaTeX: CCV / regret, one line for each game and each measured network."""
    lines = []
    for part in ("games", "measured"):
        for name, played in evidence.get(part, {}).items():
            lines.append([name, *(_cell(played.get(method)) for method in METHODS)])
    return _tabular(["", *METHODS.values()], lines)


def growth_table(evidence: dict[str, Any]) -> str:
    """Return the exponents in LaTeX, one line for each game of growing length."""
    lines = [
        [name, _horizons(fit["rows"]), _exponent(fit["ccv"]), _exponent(fit["regret"])]
        for name, fit in evidence.get("growth", {}).items()
    ]
    return _tabular(["", "$T$", "CCV", r"certificate$^+ + \sqrt T$"], lines)


def digest(note: Path, evidence: dict[str, Any]) -> str:
    """Return the SHA-256 of all that the note is made of; its PDF has it as SourceDigest."""
    parts = [note / "note.tex", note / "rates.tex"]
    texts = [part.read_text(encoding="utf-8") for part in parts if part.is_file()]
    whole = json.dumps([*texts, note_table(evidence), growth_table(evidence)])
    return hashlib.sha256(whole.encode()).hexdigest()


def evidence_of_the_default() -> dict[str, Any]:
    """Return what evidence/default.py found."""
    found: dict[str, Any] = json.loads((ROOT / "evidence" / "default.json").read_text("utf-8"))
    return found


def _tabular(head: list[str], lines: list[list[str]]) -> str:
    rows = [" & ".join(cells).replace("_", r"\_") + r" \\" for cells in [head, *lines]]
    begin = r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}"
    framed = [begin, r"\hline", rows[0], r"\hline", *rows[1:], r"\hline", r"\end{tabular}"]
    return "\n".join([*framed, ""])


def _cell(row: dict[str, float] | None) -> str:
    if row is None:
        return "--"
    regret = f"${row['regret']:.1f}$" if row.get("regret") is not None else "--"
    return f"{row['ccv']:.2f} / {regret}"


def _horizons(rows: list[list[float]]) -> str:
    first, last = min(row[0] for row in rows), max(row[0] for row in rows)
    return f"{first:,.0f} to {last:,.0f}"


def _exponent(fit: list[float]) -> str:
    return rf"${fit[0]:.2f} \pm {fit[1]:.2f}$"


def main() -> None:
    """Write the tables and the digest beside the note."""
    evidence = evidence_of_the_default()
    made = {
        "table.tex": note_table(evidence),
        "growth.tex": growth_table(evidence),
        "source.tex": rf"\newcommand{{\sourcedigest}}{{{digest(NOTE, evidence)}}}" + "\n",
    }
    for name, text in made.items():
        (NOTE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
