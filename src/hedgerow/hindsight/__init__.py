"""The best fixed action in hindsight, with a proof of how good it is."""

from hedgerow.hindsight.best_action import hindsight
from hedgerow.hindsight.curves import prefix_benchmarks, regret_curve

__all__ = ["hindsight", "prefix_benchmarks", "regret_curve"]
