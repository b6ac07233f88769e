"""Presets: "practical" needs to know nothing, "theory" is a theorem's letter."""

from __future__ import annotations

from typing import Literal

from hedgerow.inputs import as_count, as_positive

Preset = Literal["practical", "theory"]
Lipschitz = float | tuple[float, float] | None


def check_preset(preset: str) -> None:
    """Refuse any other word."""
    if preset not in ("practical", "theory"):
        raise ValueError(f"preset must be 'practical' or 'theory', got {preset!r}")


def refuse_in_theory(**given: float | None) -> None:
    """Refuse what the theorem does not know."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"the theory preset is the paper's letter and takes no {name}; "
                "use preset='practical', or leave it out"
            )


def needed_horizon(horizon: int | None) -> int:
    """Return the horizon that the theory preset needs; T >= 8 makes log T >= 2 (erratum 5)."""
    if horizon is None:
        raise ValueError("the theory preset needs a horizon; preset='practical' needs none")
    return as_count(horizon, "horizon", least=8)


def needed_lipschitz(lipschitz: Lipschitz) -> float:
    """Return one bound for costs and constraints, which the theory preset needs."""
    if lipschitz is None:
        raise ValueError(
            "the theory preset needs lipschitz, a bound of all gradients' norms; "
            "preset='practical' learns it"
        )
    return max(_pair(lipschitz))


def given_ratio(lipschitz: Lipschitz) -> float | None:
    """Return the bound for costs over that for constraints, if given."""
    if lipschitz is None:
        return None
    cost, constraint = _pair(lipschitz)
    return cost / constraint


def _pair(lipschitz: float | tuple[float, float]) -> tuple[float, float]:
    cost, constraint = lipschitz if isinstance(lipschitz, tuple) else (lipschitz, lipschitz)
    return as_positive(cost, "lipschitz"), as_positive(constraint, "lipschitz")
