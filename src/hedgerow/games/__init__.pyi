from .many import simulate_many as simulate_many
from .simulate import simulate as simulate
from .simulate import simulate_chunks as simulate_chunks
from .turns import play as play
