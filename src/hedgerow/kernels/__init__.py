"""Compiled arithmetic; each module loads on first use. `hedgerow._engine` compiles it."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
