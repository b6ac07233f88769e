from .best_action import hindsight as hindsight
from .best_action import hindsight_steps as hindsight_steps
from .regret_curves import IntervalRegret as IntervalRegret
from .regret_curves import interval_regret as interval_regret
from .regret_curves import prefix_benchmarks as prefix_benchmarks
from .regret_curves import regret_curve as regret_curve
from .switching import (
    SwitchingBenchmark as SwitchingBenchmark,
)
from .switching import (
    switching_benchmark as switching_benchmark,
)
