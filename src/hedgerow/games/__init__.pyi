from .checkpoints import simulate_resumable as simulate_resumable
from .comparators.best_action import hindsight as hindsight
from .comparators.best_action import hindsight_steps as hindsight_steps
from .comparators.regret_curves import IntervalRegret as IntervalRegret
from .comparators.regret_curves import interval_regret as interval_regret
from .comparators.regret_curves import prefix_benchmarks as prefix_benchmarks
from .comparators.regret_curves import regret_curve as regret_curve
from .comparators.switching import (
    SwitchingBenchmark as SwitchingBenchmark,
)
from .comparators.switching import (
    switching_benchmark as switching_benchmark,
)
from .game_search import FoundGame as FoundGame
from .game_search import evaluate_game as evaluate_game
from .game_search import worst_game as worst_game
from .game_search import worst_game_steps as worst_game_steps
from .linear_game import LinearGame as LinearGame
from .many import simulate_many as simulate_many
from .simulation import play as play
from .simulation import simulate as simulate
from .simulation import simulate_chunks as simulate_chunks
