"""Games: round by round, to their end, and many at once."""

from hedgerow.play.many import simulate_many
from hedgerow.play.simulate import simulate, simulate_chunks
from hedgerow.play.turns import play

__all__ = ["play", "simulate", "simulate_chunks", "simulate_many"]
