"""Tables for LaTeX with booktabs, with every caveat of a number in a footnote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hedgerow.report.escaping import in_latex
from hedgerow.report.naming import work_note
from hedgerow.report.picture import preset_title
from hedgerow.report.provenance import how_far, mixture
from hedgerow.report.summary import (
    WHICH,
    Mean,
    MethodConfig,
    ProblemAtHorizon,
    Row,
    Summary,
    Which,
    representatives,
    three_digits,
)
from hedgerow.report.verdicts import IGNORED

VACUOUS = "the theorem's constants are vacuous at this horizon"
IGNORES = f"ignores the constraint: a CCV of {IGNORED:g} % or more"
GENERAL = (
    "Regret: cost above that of the best fixed action that satisfies every round, in % of that "
    "action's cost or of the unconstrained action's, whichever is larger. CCV: cumulative "
    "constraint violation, in % of the unconstrained action's. ±: half the 95 % interval over "
    f"seeds. Bold: best, underlined: second, of all methods with a CCV below {IGNORED:g} %. Ranks: "
    "by regret / by CCV. Calls: linear minimisations and projections. c: compiled; times of other "
    "rows are of Python code."
)


def as_latex(summary: Summary, rows: Sequence[Row]) -> str:
    """Return a booktabs table, a block for each problem and horizon, and notes below it.

    The best regret and CCV of each problem and preset are bold and the second are underlined,
    among all methods that played and do not ignore the constraint. Letters lead to the notes.

    Args:
        summary: of the folder.
        rows: what to show.

    """
    marks, notes = _marks(summary.rows), _Notes()
    most = max((row.runs for row in rows), default=0)
    # A column that says the same in every row is a note.
    several = len({row.config.preset for row in rows}) > 1
    tuned = len({row.config.eagerness for row in rows}) > 1
    heads = ["Method", *(["Constants"] if several else []), *(["$e$"] if tuned else [])]
    heads += [r"Regret (\%)", r"CCV (\%)", "Ranks", "Calls/round", r"$\mu$s/round"]
    lines = [
        r"% needs \usepackage{booktabs}; keep the notes below the table: they are part of it",
        rf"\begin{{tabular}}{{{'l' * (1 + several)}{'r' * (len(heads) - 1 - several)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
    ]
    last = None
    for row in rows:
        if row.place != last:
            last = row.place
            title = f"{in_latex(row.place.problem)}, $T={row.place.horizon}$"
            lines += [r"\midrule", rf"\multicolumn{{{len(heads)}}}{{l}}{{\emph{{{title}}}}} \\"]
        letters = notes.letters(_caveats(summary, row, most))
        name = in_latex(summary.names.short(*row.config[:2]))
        cells = (
            name + (rf"\textsuperscript{{{letters}}}" if letters else ""),
            *([in_latex(row.config.preset)] if several else []),
            *([f"{row.config.eagerness:g}"] if tuned else []),
            _plus_minus(row.regret, marks.get((row.place, row.config, "regret"))),
            _plus_minus(row.ccv, marks.get((row.place, row.config, "ccv"))),
            f"{row.rank[0]}/{row.rank[1]}",
            f"{row.oracle_calls + row.projections:.2f}",
            three_digits(row.microseconds) + (" c" if row.ran == "compiled" else ""),
        )
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\par\smallskip\noindent"]
    lines += [r"\begin{minipage}{\linewidth}\footnotesize\raggedright"]
    lines += [rf"\textsuperscript{{{letter}}} {in_latex(text)}." for text, letter in notes.items()]
    lines += [in_latex(text).replace("±", r"$\pm$") for text in _general(summary, rows, most)]
    return "\n".join([*lines, r"\end{minipage}", ""])


class _Notes(dict[str, str]):
    """Notes with the letter of each, in the order in which they are first needed."""

    def letters(self, texts: Sequence[str]) -> str:
        for text in texts:
            self.setdefault(text, _letter(len(self)))
        return ",".join(sorted(self[text] for text in texts))


def _letter(k: int) -> str:
    """Return the k-th letter, then aa, ab and so on.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'aa')
    """
    return chr(ord("a") + k) if k < 26 else _letter(k // 26 - 1) + _letter(k % 26)


def _caveats(summary: Summary, row: Row, most: int) -> list[str]:
    """Return what a reader must know of one row's numbers."""
    method, preset, _ = row.config
    short, bare = summary.names.short(method, preset), summary.names.bare(method, preset)
    found = [bare[len(short) :].strip(" ()")] if bare != short else []
    found += [part for part in summary.names.remarks(method, preset).split("; ") if part]
    found += [note] if (note := work_note(method)) else []
    runs = [run.record for run in summary.runs[row.place, row.config]]
    if any("certificate" not in note for record in runs for note in record.get("notes", ())):
        found.append(VACUOUS)
    if row.ccv.value >= IGNORED:
        found.append(IGNORES)
    if row.runs < most:
        found.append(f"{row.runs} seed{'s' if row.runs > 1 else ''}")
    return found


def _general(summary: Summary, rows: Sequence[Row], most: int) -> list[str]:
    """Return the notes on the whole table: units, tuning, refusals, and what is missing."""
    experiment, found = summary.results.experiment, [GENERAL]
    found.append(f"Means over {most} seed{'s' if most != 1 else ''}, unless a note says otherwise.")
    presets = {row.config.preset for row in rows}
    if len(presets) == 1:
        found.append(f"All methods have {preset_title(str(*presets))}.")
    if experiment.get("selection"):
        found.append("Eagerness (e) was tuned for each method on other seeds or earlier rounds.")
    else:
        values = {row.config.eagerness for row in rows}
        every = f" is {min(values):g}" if len(values) == 1 else " is given in the column e"
        found.append(f"No method was tuned: eagerness{every}, where a method has it.")
    shown = {(row.place, row.config.preset) for row in rows}
    refused: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, config, reason in summary.refusals:
        if (place, config.preset) in shown:
            name = summary.names.short(config.method, config.preset)
            key = place.problem, reason.split(";")[0]
            refused[key] += [name] if name not in refused[key] else []
    found += [
        f"Refused {problem}: {', '.join(names)} ({reason})."
        for (problem, reason), names in refused.items()
    ]
    comparators = {
        (run.record["problem"], str(run.benchmark["comparator"]))
        for run in summary.results.runs
        if run.benchmark is not None and run.benchmark.get("comparator")
    }
    found += [f"Regret on {name} is against {other}." for name, other in sorted(comparators)]
    left_out = sum(
        game.runs for game in summary.unjudged if game.place in {row.place for row in rows}
    )
    found += [f"Left out: {left_out} runs that have no benchmark."] if left_out else []
    far, mixed = how_far(summary.results), mixture(summary.results)
    found += [f"{far}."] if "not finished" in far else []
    return [*found, f"{mixed}."] if mixed else found


def _marks(rows: Sequence[Row]) -> dict[tuple[ProblemAtHorizon, MethodConfig, Which], str]:
    """Return the command for each best and second number of a problem and preset."""
    fields: dict[tuple[ProblemAtHorizon, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.ccv.value < IGNORED:
            fields[row.place, row.config.preset].append(row)
    found = {}
    for field in fields.values():
        chosen = representatives(row.config for row in field)
        kept = [row for row in field if row.config in chosen]
        for which in WHICH:
            values = {row.config: getattr(row, which).value for row in kept}
            levels = sorted(set(values.values()))[:2]
            for row in kept:
                if values[row.config] in levels:
                    command = (r"\mathbf", r"\underline")[levels.index(values[row.config])]
                    found[row.place, row.config, which] = command
    return found


def _plus_minus(mean: Mean, mark: str | None = None) -> str:
    value, *half = str(mean).split(" ± ")
    shown = f"{mark}{{{value}}}" if mark and value else value
    return "$" + r" \pm ".join([shown, *half]) + "$"
