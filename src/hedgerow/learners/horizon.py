"""What happens beyond the horizon that steps were made for."""

from __future__ import annotations

import warnings


def warn_beyond(round_number: int, horizon: int | None) -> None:
    """Warn once, in the first round after the horizon: play goes on, the guarantee does not."""
    if round_number - 1 == horizon:
        warnings.warn(
            f"round {round_number} is beyond the horizon {horizon} that the steps were made for; "
            "play goes on, the guarantee ends",
            stacklevel=3,
        )
