from .checkpoints import simulate_resumable as simulate_resumable
from .many import simulate_many as simulate_many
from .simulation import simulate as simulate
from .simulation import simulate_chunks as simulate_chunks
from .turns import play as play
