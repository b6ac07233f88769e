"""The generated parts of every page.

A part stands between `<!-- name -->` and `<!-- /name -->`, and is what its function returns now.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import advice_tables as advice
import evidence_tables as evidence
import limits_tables as limits
import litellm_replay as litellm
import page_tables as pages
import performance_tables as performance
import rates_tables as rates
import scale_tables as scale
import steer_tables as steer
import traffic_tables as traffic
from cli_reference import cli_markdown
from hedgerow.report.catalogue import catalogue_markdown, methods_markdown
from tables import facts

PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "appendix/fair.md": {
        "setting": evidence.setting,
        "fair": evidence.fair,
        "ranks": evidence.ranks,
        "tests": evidence.tests,
    },
    "appendix/games.md": {
        "games": pages.default_games,
        "switches": pages.default_switches,
        "measured": pages.default_measured,
        "growth": pages.default_growth,
        "robustness": pages.default_robustness,
    },
    "appendix/rivals.md": {
        "rivals": evidence.rivals,
        "restarts": evidence.restarts,
        "pairs": evidence.restart_pairs,
    },
    "appendix/steer.md": {
        "counts": steer.counts,
        "middle": steer.middle,
        "replayed": steer.replayed,
        "real": steer.real,
    },
    "appendix/verdicts.md": {"verdicts": evidence.verdicts},
    "explanation/adversary.md": {"searched": pages.searched},
    "explanation/choosing.md": {"measured": pages.measured},
    "explanation/performance.md": {
        "speed": performance.speed,
        "growth": performance.growth,
        "warm": performance.warm,
        "parts": performance.round_parts,
        "orders": performance.orders,
        "runs": performance.runs,
        "compiled": performance.compiled,
    },
    "explanation/rates.md": {
        "bounds": rates.bounds,
        "counts": rates.counts,
        "attack": rates.attack,
        "summary": rates.summary,
    },
    "explanation/simple-rules.md": {"rules": pages.simple_rules},
    "explanation/unattainable.md": {"caps": limits.caps},
    "how-to/advice.md": {
        "measured": advice.measured,
        "generated": advice.generated,
        "hostile": advice.hostile,
    },
    "how-to/experiments.md": {
        "kills": partial(facts, "kill_test.json"),
        "sweep": partial(facts, "sweep_2000.json"),
    },
    "how-to/litellm.md": {"setting": litellm.setting, "replay": litellm.replay},
    "how-to/live.md": {
        "kills": partial(facts, "kill_live.json"),
    },
    "how-to/live-service.md": {
        "service": pages.service,
        "lost": partial(facts, "kill_service.json"),
    },
    "how-to/several-constraints.md": {"parts": limits.many_parts},
    "how-to/scale.md": {
        "paths": scale.paths,
        "game": scale.game,
        "growth": scale.growth,
        "solvers": scale.solvers,
        "equal": scale.at_equal_violation,
        "dask": scale.dask,
    },
    "how-to/traffic.md": {
        "abilene": partial(traffic.measured, "abilene"),
        "geant": partial(traffic.measured, "geant"),
        "generated": traffic.generated,
        "scale": traffic.scale,
        "products": traffic.products,
    },
    "how-to/violated-share.md": {"shares": pages.shares},
    "reference/cli.md": {"commands": cli_markdown},
    "reference/methods.md": {"methods": methods_markdown},
    "reference/problems.md": {"problems": pages.problems, "pairs": pages.pairs},
    "reference/sets.md": {"catalogue": catalogue_markdown},
}
MARKED = re.compile(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", re.DOTALL)


def renewed(name: str, page: str) -> str:
    """Return a page with every generated part made anew."""
    made = PARTS.get(name, {})

    def fresh(part: re.Match[str]) -> str:
        mark = part[1]
        if mark not in made:
            raise ValueError(f"docs/{name} has a part {mark!r} that tools/parts.py does not make")
        return f"<!-- {mark} -->\n\n{made[mark]()}\n\n<!-- /{mark} -->"

    if missing := made.keys() - set(MARKED.findall(page)):
        raise ValueError(f"docs/{name} has no place for {', '.join(sorted(missing))}")
    return MARKED.sub(fresh, page)
