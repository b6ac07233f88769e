from .best_action import hindsight as hindsight
from .best_action import hindsight_steps as hindsight_steps
from .curves import prefix_benchmarks as prefix_benchmarks
from .curves import regret_curve as regret_curve
from .intervals import IntervalRegret as IntervalRegret
from .intervals import interval_regret as interval_regret
from .switching import (
    SwitchingBenchmark as SwitchingBenchmark,
)
from .switching import (
    switching_benchmark as switching_benchmark,
)
