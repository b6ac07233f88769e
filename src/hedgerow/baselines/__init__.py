"""Every method that is not the paper's own, one file per paper family, and the registry of all."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
