"""Follow the tutorial literally: save its files, run its commands, compare what they print.

    python tools/tutorial.py            # in this environment, the steps marked install left out
    python tools/tutorial.py --write    # the same, and write what was printed into the page
    python tools/tutorial.py --empty    # install included, in a copy of the repository

A program stands below a sentence that ends with its name, "...`day.py`:". A command stands after
"$ " in a block without a language, and what it prints stands below it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial" / "index.md"
FOLDER, PICTURE = "first", "day.png"
"""Where the page works, and the picture that it draws there and shows."""
BLOCK = re.compile(
    r"(?P<install><!-- install -->\n)?(?:`(?P<file>[\w.]+)`:\n\n)?"
    r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
COMMAND = re.compile(r"^\$ (?P<line>(?:.*\\\n)*.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One command of the page with what is shown below it, where that stands, and files before."""

    line: str
    shown: str
    begin: int
    end: int
    saved: tuple[tuple[str, str], ...] = ()


def steps_of(page: str, install: bool) -> list[Step]:
    """Return the commands of a page in order, each with the files to save before it."""
    steps, saved = [], list[tuple[str, str]]()
    for block in BLOCK.finditer(page):
        if block["file"]:
            saved.append((block["file"], block["text"]))
        elif not block["kind"] and (install or not block["install"]):
            for found in COMMAND.finditer(block["text"]):
                begin = block.start("text") + found.start("shown")
                shown = found["shown"]
                steps.append(Step(found["line"], shown, begin, begin + len(shown), tuple(saved)))
                saved.clear()
    return steps


def follow(steps: list[Step], at: Path, environment: Mapping[str, str]) -> list[str]:
    """Run the commands in one shell, save files where it is then, and return what each printed."""
    script = ""
    for step in steps:
        for name, text in step.saved:
            script += f"cat > {name} <<'END OF FILE'\n{text}END OF FILE\n"
        script += f"{step.line}\nprintf '\\0%d\\0' $?\n"
    done = subprocess.run(  # noqa: S603 - the commands of our own page
        ["bash", "-c", script],  # noqa: S607
        cwd=at,
        env={**environment, "COLUMNS": "80", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout.split("\0")[:-1]
    for step, code in zip(steps, printed[1::2], strict=True):
        if code != "0":
            raise RuntimeError(f"$ {step.line}\nended with {code}: {done.stderr}")
    return [re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE) for text in printed[::2]]


def differences(steps: list[Step], printed: list[str]) -> str:
    """Return where the page does not show what its commands print; empty if it does."""
    said: list[str] = []
    for step, text in zip(steps, printed, strict=True):
        if step.shown != text:
            lines = difflib.unified_diff(
                step.shown.splitlines(), text.splitlines(), "the page", step.line, lineterm=""
            )
            said += lines
    return "\n".join(said)


def renewed(page: str, steps: list[Step], printed: list[str]) -> str:
    """Return the page with what its commands print."""
    for step, text in reversed(list(zip(steps, printed, strict=True))):
        page = page[: step.begin] + text + page[step.end :]
    return page


def here() -> dict[str, str]:
    """Return the environment of this interpreter, with the sources beside this file."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}


def empty() -> dict[str, str]:
    """Return the environment without what this interpreter adds to it."""
    own = str(Path(sys.executable).parent)
    path = [part for part in os.environ["PATH"].split(os.pathsep) if part != own]
    left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PATH": os.pathsep.join(path)}


def copy_repository(at: Path) -> None:
    """Copy the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, at / name)


def renew_tutorial() -> None:
    """Write what the commands print now into the page, and the picture beside it."""
    page = PAGE.read_text(encoding="utf-8")
    steps = steps_of(page, install=False)
    with tempfile.TemporaryDirectory() as name:
        printed = follow(steps, Path(name), here())
        PAGE.write_text(renewed(page, steps, printed), encoding="utf-8")
        shutil.copy(Path(name) / FOLDER / PICTURE, PAGE.with_name(PICTURE))


def main() -> None:
    """Follow the page and say whether it shows what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the outputs into the page")
    parser.add_argument("--empty", action="store_true", help="install into an empty environment")
    asked = parser.parse_args()
    if asked.write:
        renew_tutorial()
        return
    page = PAGE.read_text(encoding="utf-8")
    steps = steps_of(page, install=asked.empty)
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        if asked.empty:
            copy_repository(at)
        printed = follow(steps, at, empty() if asked.empty else here())
        if said := differences(steps, printed):
            sys.exit(said)
    sys.stdout.write(f"{len(steps)} commands print what the page shows\n")


if __name__ == "__main__":
    main()
