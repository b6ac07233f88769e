"""No overshoot: after a violation a decision approaches its target in steps that double."""

from __future__ import annotations

import math

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow.inputs import Vector
from hedgerow.kernels.ocg import move
from hedgerow.kernels.vectors import copy, descent

Array = Vector
MOST = 4.0
"""The most that the step after a violation gains, in units of what the violation cost, w_t v_t.
The loss that learners see goes on falling where the constraint is satisfied, while f + w g^+ pays
nothing there: a step that gains much more was made for the line, not for the constraint. Found on
development games with 2, 3, 4, 6 and 8; smaller ones hold back useful steps as well."""
LEAST = 0.125
"""The least share of the way that a step goes: a violation that is only rounding does not stop it,
and a decision is where it wants to be within a few rounds."""
FASTER = 2.0
"""How many times as far as the last step the next one may go, while the target is not reached."""


@kernel(number, number, number, number, number)
def share_of_step(gain: float, far: float, worth: float, last: float) -> float:
    """Return the share of a step of length far that is gone, if all of it gains <s, x - x'> = gain.

    After a violation, worth = w_t v_t > 0, it gains at most MOST worth, unless that is less than
    LEAST of the way. Otherwise, if the last step was cut, last > 0, it is at most FASTER times as
    long.
    """
    if worth > 0.0:
        return max(LEAST, MOST * worth / gain) if gain > MOST * worth else 1.0
    return FASTER * last / far if far > FASTER * last else 1.0


@kernel(number, write, read, read, number, number)
def approach(x: Array, target: Array, s: Array, worth: float, last: float) -> float:
    """Move x to the target, or a share of the way; return how far if the step was cut, else 0."""
    gain, _, far2 = descent(s, x, target)
    far = math.sqrt(far2)
    share = share_of_step(gain, far, worth, last)
    if share == 1.0:
        copy(x, target)
        return 0.0
    move(x, target, share)
    return share * far
