"""The registry of methods: the paper's, its rivals, two floors, and those of other packages.

A method is known here by `@baseline` beside the function that builds it, in a module of
`hedgerow.policies` or `hedgerow.baselines`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import partial
from inspect import Parameter
from typing import Any

import hedgerow.baselines
import hedgerow.policies
from hedgerow.baselines.fixed_actions import (
    best_of_yesterday,
    cheapest_path,
    ecmp,
    fixed,
    shortest_path,
)
from hedgerow.baselines.last_optimum import last_round
from hedgerow.baselines.pi_control import proportional_integral
from hedgerow.baselines.threshold import threshold_rule
from hedgerow.imports import is_path, load_named, plugin_names
from hedgerow.inputs import Vector
from hedgerow.policies.method import NOT_STATED, declared
from hedgerow.policies.method import Constants as Constants
from hedgerow.policies.method import Method as Method
from hedgerow.policies.method import baseline as baseline
from hedgerow.policies.presets import Preset
from hedgerow.policies.violated_share import ViolatedShare
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

GROUP = "hedgerow.methods"
"""The entry points by which an installed package adds methods."""
VARIADIC = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
ORDER = (
    "projection_free_coco",
    "projection_free_coco_plain",
    "projection_free_long_term",
    "projection_free_bandit",
    "ftpl_coco",
    "sinha_vaze_2024",
    "sarkar_sinha_2025",
    "sarkar_np_ogd",
    "ferreira_clasp",
    "lu_bagel",
    "wang_2025",
    "wang_2025_bandit",
    "garber_kretzu_2024_dpp",
    "garber_kretzu_2024_lpm",
    "garber_kretzu_2024_bandit",
    "guo_recoo",
    "yi_2023",
    "yi_2021",
    "yu_neely_2020",
    "liakopoulos_cold",
    "yuan_lamperski_2018",
    "sun_safe",
    "jenatton_2016",
    "mahdavi_2012",
    "follow_the_leader_feasible",
    "unconstrained",
)
"""The order of the tables; methods that are not named here follow, by name."""


def _declared_methods() -> Iterator[Method]:
    """Yield the methods of all modules of the two packages."""
    for package in (hedgerow.policies, hedgerow.baselines):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if info.name == __name__:
                continue
            for value in vars(importlib.import_module(info.name)).values():
                if (method := declared(value)) is not None:
                    yield method


def _in_order(methods: Iterator[Method]) -> Mapping[str, Method]:
    named = {method.name: method for method in methods}
    return {name: named[name] for name in (*ORDER, *sorted(named.keys() - {*ORDER}))}


class _Methods(dict[str, Method]):
    """Methods by name; a name that is not there gets a suggestion."""

    def __missing__(self, name: str) -> Method:
        near = get_close_matches(str(name), self, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`hedgerow methods` lists them"
        raise KeyError(f"there is no method {name!r}; {hint}")


METHODS: Mapping[str, Method] = _Methods(_in_order(_declared_methods()))
"""Every method of the library, by name."""

TODAY: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(build, regret="none", ccv="none", source=source, per_round=work, needs="none")
        for build, source, work in (
            (shortest_path, "one path of least latency for ever, or of fewest links", "nothing"),
            (cheapest_path, "one path of least price for ever", "nothing"),
            (ecmp, "equal splits over the paths of fewest links, RFC 2992", "nothing"),
            (
                best_of_yesterday,
                "the best path of the day before, Juttner et al. 2001",
                "nothing; a few linear minimisations a day",
            ),
            (
                threshold_rule,
                "the cheapest option that was under the limit less a margin in the last round",
                "a few linear minimisations, none where vertices are listed",
            ),
            (
                proportional_integral,
                "PI control of the share of the safe option, Astrom and Hagglund 2006",
                "2 linear minimisations",
            ),
            (
                last_round,
                "the cheapest action within the limits of the last round",
                "a few linear minimisations, or 1 linear programme",
            ),
        )
    )
}
"""Current practice and engineering rules: methods, but not rivals, so "all" leaves them out."""


def fixed_method(name: str, action: Sequence[float] | Sequence[str] | str) -> Method:
    """Return the method that plays one action for ever, under a name of the user's."""
    shown = action if isinstance(action, str) else " > ".join(map(str, action))
    return Method(
        partial(fixed, x=action),
        regret="none",
        ccv="none",
        source=f"one action for ever, {shown:.80}",
        per_round="nothing",
        needs="none",
        confidence="given",
        label=name,
    )


@dataclass(frozen=True)
class ShareMethod(Method):
    """A method whose policy is wrapped in `ViolatedShare`.

    Attributes:
        share: the allowed share of violated rounds.

    """

    share: float = 0.0

    def policy(
        self,
        decision_set: DecisionSet,
        horizon: int,
        seed: int,
        preset: Preset,
        constants: Constants | None = None,
        eagerness: float = 1.0,
        edges: Mapping[str, Vector] | None = None,
    ) -> ResumablePolicy[Any, Any]:
        """Build the policy as its method does, and wrap it."""
        inner = super().policy(decision_set, horizon, seed, preset, constants, eagerness, edges)
        return ViolatedShare(inner, self.share)


def share_method(name: str, method: str, share: float) -> Method:
    """Return a method with an allowed share of violated rounds, under a name of the user's."""
    inner = find_method(method)
    known = {field.name: getattr(inner, field.name) for field in fields(Method)}
    source = f"{method} with at most {100.0 * share:g} % of rounds violated"
    stated = {"regret": NOT_STATED, "ccv": NOT_STATED, "source": source, "label": name}
    return ShareMethod(**{**known, **stated}, share=share)


GIVEN = ("horizon", "preset", "seed", "rng", "lengths", "prices")
"""Arguments that an experiment gives itself, so that no file sets them."""


def constant_names(method: Method) -> list[str] | None:
    """Return the constants that an experiment file may set; None where it takes any."""
    _, *parameters = inspect.signature(method.build).parameters.values()
    if any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters if p.name not in GIVEN and p.kind not in VARIADIC]


def constants_method(name: str, method: str, constants: Mapping[str, Any]) -> Method:
    """Return a method with constants of the user's; eagerness is given when the policy is built."""
    inner = find_method(method)
    rest = {key: value for key, value in constants.items() if key != "eagerness"}
    said = ", ".join(f"{key} = {value}" for key, value in rest.items())
    remark = "; ".join(part for part in (inner.remark, said) if part)
    return replace(inner, build=partial(inner.build, **rest), label=name, remark=remark)


def find_method(name: str) -> Method:
    """Return a method by its name here, its name in an installed package, or its import path.

    A function that is not declared by `baseline` sees gradients, and nothing is stated about it.

    >>> find_method("hedgerow.baselines:liakopoulos_cold").regret
    'T^{1/2}'
    >>> find_method("guo_reco")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no method 'guo_reco' (did you mean 'guo_recoo'?); ...

    """
    if name in METHODS or name in TODAY:
        return METHODS.get(name) or TODAY[name]
    return _outside(load_named(name, GROUP, "method", method_names), name)


def method_names() -> list[str]:
    """Return the names of all methods, those of installed packages last."""
    ours = [*METHODS, *TODAY]
    return [*ours, *(name for name in plugin_names(GROUP) if name not in ours)]


def installed_method(name: str) -> Method | None:
    """Return a method of the library or of an installed package, or None where there is none.

    Import paths are not followed: reading results runs no code that the results name.
    """
    try:
        return None if is_path(name) else find_method(name)
    except ValueError:
        return None


def _outside(build: Callable[..., Any], name: str) -> Method:
    """Return the method that a function from outside builds; it must ask for what we can give."""
    method = replace(declared(build) or Method(build), label=name)
    given = ["horizon", "preset", "seed"]
    if method.sees == "values":
        given += ["lipschitz", "bound"]
    parameters = list(inspect.signature(build).parameters.values())
    if not parameters or parameters[0].kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
        raise ValueError(f"{name!r} must take the decision set as its first argument")
    asked = [p.name for p in parameters[1:] if p.default is p.empty and p.kind not in VARIADIC]
    if not set(asked) <= set(given):
        raise ValueError(
            f"{name!r} needs {', '.join(asked)}; what can be given is {', '.join(given)}, "
            "so give the others a default"
        )
    return method
