"""Write licences.md: the licence of every package that is pinned, and who asks for it.

All of them must be installed: `make licences`.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "licences.md"
LOCKS = tuple(ROOT / "requirements" / f"{name}.txt" for name in ("test", "docs", "bench"))
RUNTIME = ("core", "cli", "lp", "qp", "cluster", "frames", "graphs", "gymnasium", "data", "live")
"""What users may install: `all` is these together."""
ALONE = ("litellm",)
"""What users may install, too, but needs other versions than those of the locks."""
OTHERS = ("test", "docs", "make", "dev", "bench")
TEXT = """\
# Licences

Hedgerow is under the MIT licence. It ships no other package. What it is installed with, pinned in
[requirements/](../../requirements/test.txt), has these licences, as each package declares them; the
last column says which extra asks for it ("core" needs none, "make" builds the package and the
locks).

Only the extras {gpl_extras} ask for packages that name the GNU General Public License,
namely {gpl}. Tests and benchmarks compare with igraph and quadprog. docutils builds
the site; it is in the public domain but for a few files. No module of the library imports them.

| package | licence | for |
|---|---|---|
{rows}

This page is written by `make licences`.
"""


def pinned() -> dict[str, Requirement]:
    """Return the requirements of all locks by name."""
    lines = "\n".join(lock.read_text("utf-8") for lock in LOCKS)
    found = [Requirement(line) for line in re.findall(r"^(\w[^\\\n]*?) *\\$", lines, re.MULTILINE)]
    return {canonicalize_name(one.name): one for one in found}


def project() -> dict[str, list[str]]:
    """Return what the project itself, each extra and each group asks for."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = table["project"]["optional-dependencies"] | table["dependency-groups"]
    return asked | {"core": table["project"]["dependencies"]}


def closure(extra: str) -> set[str]:
    """Return all packages that an extra brings along on this machine, with those of the core."""
    asked = project()
    waiting = [Requirement(line) for line in asked[extra] + asked["core"] * (extra != "make")]
    seen: set[tuple[str, str]] = set()
    while waiting:
        one = waiting.pop()
        for feature in ("", *one.extras):
            if (key := (canonicalize_name(one.name), feature)) in seen:
                continue
            seen.add(key)
            if key[0] == "hedgerow":
                waiting += [Requirement(line) for line in asked[feature or "core"]]
                continue
            for line in metadata.requires(one.name) or []:
                needed = Requirement(line)
                if needed.marker is None or needed.marker.evaluate({"extra": feature}):
                    waiting.append(needed)
    return {name for name, _ in seen} - {"hedgerow"}


def licence(name: str) -> str:
    """Return what an installed package declares: an expression, a classifier, or a first line."""
    declared = metadata.metadata(name)
    if "License-Expression" in declared:
        return str(declared["License-Expression"])
    names = [c.split(" :: ")[-1] for c in declared.get_all("Classifier", []) if "License ::" in c]
    lines = [line.strip() for line in declared.get("License", "").splitlines() if line.strip()]
    return " and ".join(names) or (lines[0] if lines else "not declared")


def is_gpl(declared: str) -> bool:
    """Whether a licence is one of the GNU General Public Licenses, the Lesser ones left aside."""
    strict = declared.replace("LGPL", "").replace("Lesser General Public License", "")
    return "GPL" in strict or "General Public License" in strict


def page() -> str:
    """Return the text of the page."""
    extras = {extra: closure(extra) for extra in (*RUNTIME, *OTHERS)}
    rows, gpl, gpl_extras = [], [], set()
    for name in sorted(n for n, one in pinned().items() if not one.marker or one.marker.evaluate()):
        declared, core = licence(name), name in extras["core"]
        users = ["core"] if core else [extra for extra, needed in extras.items() if name in needed]
        rows.append(f"| {name} | {declared} | {', '.join(users)} |")
        if is_gpl(declared):
            gpl.append(name)
            gpl_extras.update(users)
    order = [f"`{extra}`" for extra in OTHERS if extra in gpl_extras]
    return TEXT.format(gpl_extras=_listed(order), gpl=_listed(gpl), rows="\n".join(rows))


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
