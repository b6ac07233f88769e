"""Problems: sequences of rounds with a feasible point, one class per application."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
