"""Results of more than one state of the library: said wherever the results are."""

from __future__ import annotations

from hedgerow.experiments.results import Results


def mixture(results: Results) -> str:
    """Say which states of the library made the files of a folder; nothing where it was one."""
    if len(results.states) < 2:
        return ""
    parts = ", ".join(
        f"{count} files by sources {state or 'unknown'}"
        for state, count in results.states.most_common()
    )
    return f"A mixture: results of {len(results.states)} states of the library, {parts}"


def made_by(results: Results) -> str:
    """Return the state that made the whole folder, in brackets, or nothing."""
    (state,) = results.states if len(results.states) == 1 else (None,)
    return f" (sources {state})" if state else ""
