"""Networks from measurement files, which record what was measured and what was generated."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
