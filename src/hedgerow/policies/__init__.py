"""Policies: ask and tell with cost and constraint, one file per paper or family."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
