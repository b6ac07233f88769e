"""The best fixed action in hindsight, with a proof of how good it is."""

from hedgerow.hindsight.best_action import hindsight, hindsight_steps
from hedgerow.hindsight.curves import prefix_benchmarks, regret_curve

__all__ = ["hindsight", "hindsight_steps", "prefix_benchmarks", "regret_curve"]
